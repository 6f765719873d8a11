// A counter without atomics.
// buffer: count u32 1 inout zeros
// launch: kernel grid 2 block 64 args count
extern "C" __global__ void kernel(unsigned *count)
{
    *count += threadIdx.x + 1; // expect: unsafe race-global
}
