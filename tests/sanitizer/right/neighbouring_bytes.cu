// Neighbouring bytes and halves written by other lanes, warps and blocks.
// buffer: out u8 256 out
// buffer: halves f16 256 out
// launch: kernel grid 4 block 64 args out halves
#include <cuda_fp16.h>

extern "C" __global__ void kernel(unsigned char *out, __half *halves)
{
    int i = threadIdx.x * 4 + blockIdx.x;
    out[i] = (unsigned char)i;
    halves[i] = __float2half((float)i);
}
