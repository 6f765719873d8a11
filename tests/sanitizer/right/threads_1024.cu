// The largest block, reduced by shuffles in two steps.
// buffer: out f32 2 out
// buffer: in f32 2048 in
// launch: kernel grid 2 block 1024 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 1024 + t];
    for (int k = 16; k > 0; k >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, k);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t >= 32)
        return;
    v = s[t];
    for (int k = 16; k > 0; k >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, k);
    if (t == 0)
        out[blockIdx.x] = v;
}
