// expect: hung line 8
// row 25: Never ends.
#include <cstdint>
#include <cuda_fp16.h>
__device__ volatile int flag;
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    while (flag == 0) {
    }
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
