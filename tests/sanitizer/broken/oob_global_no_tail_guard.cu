// No guard for the last block, 24 threads of which have no element.
// buffer: out f16 1000 out
// buffer: in f16 1000 in
// launch: kernel grid 8 block 128 args out in
#include <cuda_fp16.h>

extern "C" __global__ void kernel(__half *out, const __half *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half x = in[i]; // expect: unsafe out-of-bounds
    out[i] = x;
}
