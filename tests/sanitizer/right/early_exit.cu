// Threads without an element leave; the others go on through barriers.
// buffer: out f32 100 out
// buffer: in f32 100 in
// launch: kernel grid 1 block 128 args out in 100
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t >= n)
        return;
    s[t] = in[t];
    __syncthreads();
    float v = s[n - 1 - t];
    __syncthreads();
    s[t] = v + 1.0f;
    __syncthreads();
    out[t] = s[(t + 1) % n];
}
