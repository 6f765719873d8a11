// Lanes of a warp exchange through shared memory without __syncwarp.
// buffer: out f32 32 out
// buffer: in f32 32 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = s[t ^ 1]; // expect: unsafe race-shared
}
