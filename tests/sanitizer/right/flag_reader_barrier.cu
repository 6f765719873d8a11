// One thread polls a volatile flag; the barrier behind it, without a fence, is what most grid barriers by hand have.
// buffer: out f32 64 out
// buffer: value f32 1 scratch
// buffer: flag u32 1 inout zeros
// launch: kernel grid 2 block 32 cooperative args out value flag
extern "C" __global__ void kernel(float *out, float *value, volatile unsigned *flag)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *value = 3.0f;
        __threadfence();
        *flag = 1;
    }
    if (threadIdx.x == 0)
        while (*flag == 0)
            ;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = *value;
}
