// The first block waits for the last one, which cannot start before the first ends.
// buffer: flag u32 1 inout zeros
// buffer: out f32 1 inout
// launch: kernel grid 4000 block 32 shared 200000 args flag out
extern "C" __global__ void kernel(volatile unsigned *flag, float *out)
{
    if (blockIdx.x == gridDim.x - 1) {
        if (threadIdx.x == 0)
            *flag = 1;
        return;
    }
    if (threadIdx.x == 0)
        while (*flag == 0) // expect: hung deadlock
            ;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *out = 1.0f;
}
