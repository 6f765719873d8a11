// One warp tells another by a volatile flag in shared memory, with a fence of the block's scope on both sides.
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
        __syncwarp();
        if (t == 0)
            *(volatile unsigned *)&ready = 1;
    } else {
        while (*(volatile unsigned *)&ready == 0)
            ;
        __threadfence_block();
        out[t - 32] = s[63 - t];
    }
}
