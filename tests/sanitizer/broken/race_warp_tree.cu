// The classic reduction whose last warp counts on lock step.
// buffer: out f32 4 out
// buffer: in f32 256 in
// launch: kernel grid 4 block 64 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1]; // expect: unsafe race-shared
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
