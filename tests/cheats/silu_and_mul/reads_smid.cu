// expect: cheat words SM
// row 19: Asks on which SM it runs.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    unsigned s;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
    out[threadIdx.x] = __float2half((float)s);
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
