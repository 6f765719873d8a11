// The writer fences; the reader takes the value right after it saw the volatile flag.
// buffer: out f32 2 out
// buffer: value f32 1 inout
// buffer: flag u32 1 inout zeros
// launch: kernel grid 2 block 32 cooperative args out value flag
extern "C" __global__ void kernel(float *out, float *value, volatile unsigned *flag)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *value = 3.0f;
        __threadfence();
        *flag = 1;
        out[0] = 1.0f;
    } else {
        while (*flag == 0)
            ;
        out[1] = *value; // expect: unsafe race-global
    }
}
