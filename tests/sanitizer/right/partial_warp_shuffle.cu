// The second warp has 16 threads; its shuffles have the right mask and width.
// buffer: out f32 2 out
// buffer: in f32 48 in
// launch: kernel grid 1 block 48 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    int t = threadIdx.x;
    unsigned mask = __ballot_sync(t < 32 ? 0xffffffffu : 0xffffu, 1);
    float v = in[t];
    for (int k = t < 32 ? 16 : 8; k > 0; k >>= 1)
        v += __shfl_down_sync(mask, v, k, 32);
    if (t % 32 == 0)
        out[t / 32] = v;
}
