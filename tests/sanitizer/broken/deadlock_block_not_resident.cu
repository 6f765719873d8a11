// A barrier over the whole grid, of which far fewer blocks fit the device at once: those wait for ones that cannot start.
// buffer: count u32 1 inout zeros
// buffer: out f32 1 inout
// launch: kernel grid 4000 block 32 shared 200000 args count out
extern "C" __global__ void kernel(unsigned *count, float *out)
{
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile unsigned *)count < gridDim.x) // expect: hung deadlock
            ;
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *out = 1.0f;
}
