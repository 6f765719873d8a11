// Recursion without an end.
// buffer: out i32 32 out
// launch: kernel grid 1 block 32 args out 1
__device__ __noinline__ int down(int n, int step)
{
    volatile int frame[16];
    frame[n & 15] = n;
    if (n < 0)
        return 0;
    return down(n + step, step) + frame[n & 15]; // expect: unsafe out-of-bounds
}

extern "C" __global__ void kernel(int *out, int step)
{
    out[threadIdx.x] = down(0, step);
}
