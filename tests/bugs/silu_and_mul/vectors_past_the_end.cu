// expect: unsafe words past
// row 14: Whole vectors only: the last one reaches beyond the row.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int64_t n, int d)
{
    int64_t k = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (k >= n)
        return;
    for (int j = 0; j < 4; j++) {
        int64_t row = (k + j) / d, i = (k + j) % d;
        float a = __half2float(in[row * 2 * d + i]), b = __half2float(in[row * 2 * d + d + i]);
        out[k + j] = __float2half(a / (1.0f + expf(-a)) * b);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d; kernel<<<(n + 511) / 512, 128, 0, stream>>>(out, in, n, d);
}
