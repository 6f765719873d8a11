// Only the low half of each pair is set, both are stored.
// buffer: out f16 64 out
// buffer: in f16 64 in
// launch: kernel grid 1 block 32 args out in
#include <cuda_fp16.h>

extern "C" __global__ void kernel(__half2 *out, const __half2 *in)
{
    __shared__ __half s[64];
    s[2 * threadIdx.x] = __low2half(in[threadIdx.x]);
    __syncwarp();
    out[threadIdx.x] = ((const __half2 *)s)[threadIdx.x]; // expect: unsafe uninitialised
}
