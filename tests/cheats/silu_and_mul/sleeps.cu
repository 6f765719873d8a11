// expect: cheat words sleeps
// row 19: Sleeps.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    __nanosleep(100);
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
