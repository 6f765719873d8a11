// A lock taken twice by the same thread.
// buffer: lock u32 1 inout zeros
// buffer: out f32 1 inout
// launch: kernel grid 1 block 1 args lock out
extern "C" __global__ void kernel(unsigned *lock, float *out)
{
    while (atomicCAS(lock, 0u, 1u) != 0u)
        ;
    while (atomicCAS(lock, 0u, 1u) != 0u) // expect: hung deadlock
        ;
    *out += 1.0f;
    atomicExch(lock, 0u);
}
