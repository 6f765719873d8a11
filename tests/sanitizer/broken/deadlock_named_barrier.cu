// Barrier 1 waits for 96 threads, and 64 come.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
extern "C" __global__ void kernel(float *out)
{
    asm volatile("bar.sync 1, 96;" ::: "memory"); // expect: unsafe divergent-barrier
    out[threadIdx.x] = 1.0f;
}
