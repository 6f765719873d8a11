// The hand-over between blocks has a fence, but one that reaches the own block only.
// buffer: out f32 2 out
// buffer: value f32 1 scratch
// buffer: flag u32 1 inout zeros
// launch: kernel grid 2 block 32 cooperative args out value flag
extern "C" __global__ void kernel(float *out, float *value, volatile unsigned *flag)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *value = 3.0f;
        __threadfence_block();
        *flag = 1;
        out[0] = 1.0f;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        out[1] = *value; // expect: unsafe race-global
    }
}
