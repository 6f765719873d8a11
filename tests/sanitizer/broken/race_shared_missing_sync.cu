// Written by one warp, read by another, no barrier between.
// buffer: out f32 128 out
// buffer: in f32 128 in
// launch: kernel grid 1 block 128 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t]; // expect: unsafe race-shared
    out[t] = s[127 - t]; // expect: unsafe race-shared
}
