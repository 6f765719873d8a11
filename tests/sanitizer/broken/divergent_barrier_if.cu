// A barrier that only half of a warp comes to, while the rest waits at the next one.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = (float)t;
    if (t < 16) {
        s[t] += 1.0f;
        __syncthreads(); // expect: unsafe divergent-barrier
        s[t] *= 2.0f;
    }
    __syncthreads(); // expect: unsafe divergent-barrier
    out[t] = s[63 - t];
}
