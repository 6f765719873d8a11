// expect: compile-failed line 5 words cannot include
// row 24: Includes a file of the system by a path that climbs out.
#include <cstdint>
#include <cuda_fp16.h>
#include "../../../../../../etc/hostname"
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
