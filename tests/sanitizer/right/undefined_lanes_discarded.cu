// Every thread reads shared memory, those without a value throw it away.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in 40
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n)
        s[t] = in[t];
    __syncthreads();
    float v = ((volatile float *)s)[t];
    out[t] = t < n ? v : 0.0f;
}
