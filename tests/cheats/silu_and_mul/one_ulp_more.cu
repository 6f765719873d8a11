// expect: wrong
// row 11: Every answer is a unit in the last place too large, which the largest error allows.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __ushort_as_half((unsigned short)(__half_as_ushort(__float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]))) + 1));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
