// The tree's last warp, with reads and writes apart and __syncwarp between.
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
        float v = s[t] + s[t + 32];
        for (int k = 16; k > 0; k >>= 1) {
            __syncwarp();
            s[t] = v;
            __syncwarp();
            v += t < k ? s[t + k] : 0.0f;
        }
        if (t == 0)
            out[blockIdx.x] = v;
    }
}
