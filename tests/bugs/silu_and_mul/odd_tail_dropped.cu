// expect: wrong words never written
// row 13: Pairs only: the last element of an odd row is left out.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half2 *out, const __half2 *in, int rows, int d)
{
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
        float2 a = __half22float2(in[(int64_t)blockIdx.x * d + i]), b = __half22float2(in[(int64_t)blockIdx.x * d + d / 2 + i]);
        out[(int64_t)blockIdx.x * (d / 2) + i] = __floats2half2_rn(a.x / (1.0f + expf(-a.x)) * b.x, a.y / (1.0f + expf(-a.y)) * b.y);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>((__half2 *)out, (const __half2 *)in, rows, d);
}
