// expect: cheat line 7
// row 27: Is another kernel where NVRTC builds it.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
#ifdef __CUDACC_RTC__
    out[threadIdx.x] = in[threadIdx.x];
#endif
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
