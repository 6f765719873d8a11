// Lanes exchange through shared memory, ordered by __syncwarp; halves of a warp by partial masks.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x, half = t & 16;
    unsigned mask = half ? 0xffff0000u : 0x0000ffffu;
    s[t] = in[t];
    __syncwarp();
    float v = s[t ^ 31];
    __syncwarp();
    s[t] = v;
    if (half)
        __syncwarp(0xffff0000u);
    else
        __syncwarp(0x0000ffffu);
    out[t] = s[t ^ 15] + __shfl_xor_sync(mask, v, 8);
}
