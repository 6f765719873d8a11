// __syncwarp with a full mask in a branch that half of the warp takes, the other half in a loop that waits for it.
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ volatile int ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x < 16) {
        __syncwarp();
        ready = 1;
    } else {
        while (ready == 0) // expect: hung deadlock
            ;
    }
    out[threadIdx.x] = 1.0f;
}
