// 64 KiB of static shared memory.
// expect: compile-failed
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ float s[16384];
    s[threadIdx.x * 512] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x ^ 1) * 512];
}
