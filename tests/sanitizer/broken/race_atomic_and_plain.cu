// Counted by atomics, read before the other warps are done.
// buffer: out u32 4 out
// launch: kernel grid 1 block 128 args out
extern "C" __global__ void kernel(unsigned *out)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, threadIdx.x); // expect: unsafe race-shared
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = count; // expect: unsafe race-shared
}
