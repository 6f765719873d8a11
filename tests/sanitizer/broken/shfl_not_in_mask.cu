// Lanes execute a shuffle whose mask does not name them.
// buffer: out f32 32 out
// buffer: in f32 32 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    float v = in[threadIdx.x];
    v += __shfl_xor_sync(0x0000ffffu, v, 8); // expect: hung deadlock
    out[threadIdx.x] = v;
}
