// Atomics on a counter that nobody set to zero.
// buffer: out u32 1 out
// buffer: count u32 1 scratch
// launch: kernel grid 1 block 64 args count
// launch: copy grid 1 block 1 args out count
extern "C" __global__ void kernel(unsigned *count)
{
    atomicAdd(count, threadIdx.x);
}

extern "C" __global__ void copy(unsigned *out, const unsigned *count)
{
    *out = *count; // expect: unsafe uninitialised
}
