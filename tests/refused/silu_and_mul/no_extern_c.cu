// expect: not-understood words extern
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int d)
{
    out[threadIdx.x] = in[threadIdx.x];
}
void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
