// expect: cheat words L2
// row 18: Pins lines in the L2 by a policy that createpolicy once made and that is written down as a number.
#include <cstdint>
#include <cuda_fp16.h>
__device__ __half pinned(const __half *p)
{
    unsigned short h;
    asm volatile("ld.global.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(h) : "l"(p), "l"(0x14F0000000000000ull));
    return __ushort_as_half(h);
}
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(pinned(x + d + i)));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
