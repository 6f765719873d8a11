// expect: cheat words policy for the L2
// row 18: An access property that is a number of its own becomes a policy.
#include <cstdint>
#include <cuda_fp16.h>
__device__ __half kept(const __half *p, uint64_t policy)
{
    unsigned short h;
    asm volatile("ld.global.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(h) : "l"(p), "l"(policy));
    return __ushort_as_half(h);
}
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    uint64_t policy = 0x12F0000000000000ull;
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(policy) : "l"(0x14F0000000000000ull));
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(kept(x + d + i, policy)));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
