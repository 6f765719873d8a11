// A lock that every thread takes, threads of one warp among them.
// buffer: sum f32 1 inout zeros
// buffer: lock u32 1 inout zeros
// launch: kernel grid 2 block 64 args sum lock
extern "C" __global__ void kernel(float *sum, unsigned *lock)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0u, 1u) == 0u) {
            __threadfence();
            *sum += 1.0f;
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        }
    }
}
