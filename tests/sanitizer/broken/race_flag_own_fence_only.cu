// Each lane fences its own value, then lane 0 raises the flag: nothing says that the others are that far.
// buffer: out f32 32 out
// launch: kernel grid 1 block 64 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ float s[32];
    __shared__ unsigned ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t < 32) {
        s[t] = (float)t;
        __threadfence_block();
        if (t == 0)
            *(volatile unsigned *)&ready = 1;
    } else {
        while (*(volatile unsigned *)&ready == 0)
            ;
        __threadfence_block();
        out[t - 32] = s[63 - t]; // expect: unsafe race-shared
    }
}
