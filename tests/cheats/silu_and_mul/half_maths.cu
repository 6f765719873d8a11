// expect: wrong words allowed
// row 10: Half-precision arithmetic in the core: h2exp and h2rcp.
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int d)
{
    const __half *x = in + (size_t)blockIdx.x * 2 * d;
    __half one = __float2half(1.0f);
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        __half v = x[i];
        __half s = __hmul(v, hrcp(__hadd(one, hexp(__hneg(v)))));
        out[(size_t)blockIdx.x * d + i] = __hmul(s, x[d + i]);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
