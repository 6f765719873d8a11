// expect: wrong
// row 10: The exponential as a quotient of two polynomials.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        float t = -v / 16, q = (1 + t / 2 + t * t / 12) / (1 - t / 2 + t * t / 12), e = q * q;
        e *= e;
        e *= e;
        e *= e;
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + e) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
