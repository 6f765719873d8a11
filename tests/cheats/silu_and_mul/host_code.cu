// expect: not-understood words system
// row 24: Runs a program on the host.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    system("rm -rf /tmp/x");
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
