// Blocks of 48: the second warp's shuffle reads lanes that do not exist.
// buffer: out f32 2 out
// buffer: in f32 48 in
// launch: kernel grid 1 block 48 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    float v = in[threadIdx.x];
    for (int k = 16; k > 0; k >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, k);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = v; // expect: unsafe uninitialised
}
