// expect: wrong
// row 7: The second half of each row repeats the first.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        if (i >= (d + 1) / 2) {
            v = __half2float(x[i - (d + 1) / 2]);
            out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i - (d + 1) / 2]));
            continue;
        }
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
