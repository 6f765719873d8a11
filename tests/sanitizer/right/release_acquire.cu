// The same hand-over by st.release and ld.acquire.
// buffer: out f32 2 out
// buffer: value f32 1 scratch
// buffer: flag u32 1 inout zeros
// launch: kernel grid 2 block 32 cooperative args out value flag
extern "C" __global__ void kernel(float *out, float *value, unsigned *flag)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 1) {
        *value = 3.0f;
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
        out[0] = 1.0f;
    } else {
        unsigned seen;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        out[1] = *value;
    }
}
