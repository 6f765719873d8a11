// expect: not-understood words i64
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int d)
{
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, __half *in, long rows, int d, float scale, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
