// printf from two lanes.
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out
#include <cstdio>

extern "C" __global__ void kernel(float *out)
{
    out[threadIdx.x] = 1.0f;
    if (threadIdx.x < 2)
        printf("thread %d of block %d\n", (int)threadIdx.x, (int)blockIdx.x);
}
