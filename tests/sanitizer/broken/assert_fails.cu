// An assertion that does not hold.
// buffer: out f32 32 inout
// buffer: in i32 32 in index
// launch: kernel grid 1 block 32 args out in
#include <assert.h>

extern "C" __global__ void kernel(float *out, const int *in)
{
    assert(in[threadIdx.x] < 31); // expect: crashed assertion-failed
    out[threadIdx.x] = 1.0f;
}
