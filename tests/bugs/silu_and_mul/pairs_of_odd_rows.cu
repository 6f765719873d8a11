// expect: unsafe words not aligned
// row 14: Pairs in odd rows, which are not aligned.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half2 *x = (const __half2 *)(in + (int64_t)blockIdx.x * 2 * d);
    const __half2 *g = (const __half2 *)(in + (int64_t)blockIdx.x * 2 * d + d);
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
        float2 a = __half22float2(x[i]), b = __half22float2(g[i]);
        ((__half2 *)(out + (int64_t)blockIdx.x * d))[i] = __floats2half2_rn(a.x / (1.0f + expf(-a.x)) * b.x, a.y / (1.0f + expf(-a.y)) * b.y);
    }
    if (d % 2 && threadIdx.x == 0) {
        float a = __half2float(in[(int64_t)blockIdx.x * 2 * d + d - 1]), b = __half2float(in[(int64_t)blockIdx.x * 2 * d + 2 * d - 1]);
        out[(int64_t)blockIdx.x * d + d - 1] = __float2half(a / (1.0f + expf(-a)) * b);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
