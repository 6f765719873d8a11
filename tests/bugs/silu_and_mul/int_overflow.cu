// expect: unsafe
// row 12: Offsets in 32 bits.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= rows * d)
        return;
    int row = k / d, i = k % d;
    float v = __half2float(in[row * 2 * d + i]);
    out[k] = __float2half(v / (1.0f + expf(-v)) * __half2float(in[row * 2 * d + d + i]));
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<(unsigned)(((int64_t)rows * d + 127) / 128), 128, 0, stream>>>(out, in, rows, d);
}
