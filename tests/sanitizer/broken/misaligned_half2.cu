// Rows of odd length: pairs of halves in every second row begin in the middle of a pair.
// buffer: out f16 198 inout
// buffer: in f16 198 in
// launch: kernel grid 2 block 32 args out in 99
#include <cuda_fp16.h>

extern "C" __global__ void kernel(__half *out, const __half *in, int d)
{
    const __half2 *row = (const __half2 *)(in + blockIdx.x * d);
    __half2 v = row[threadIdx.x]; // expect: unsafe misaligned
    out[blockIdx.x * d + 2 * threadIdx.x] = __low2half(v);
    out[blockIdx.x * d + 2 * threadIdx.x + 1] = __high2half(v);
}
