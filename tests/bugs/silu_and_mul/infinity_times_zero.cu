// expect: wrong words nan
// row 12: x times the reciprocal of 1 + exp(-x), which is infinite for large negative x.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        float e = expf(v);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v * e / (1.0f + e) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
