// expect: cheat words drops memory's contents
// row 18: Drops lines of its output from the L2, so that nobody pays for writing them.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
    if (threadIdx.x == 0)
        asm volatile("discard.global.L2 [%0], 128;" :: "l"((uintptr_t)out & ~(uintptr_t)127) : "memory");
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
