// The kernel writes to its input.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, float *in)
{
    float v = in[threadIdx.x] * 2.0f;
    in[threadIdx.x] = v; // expect: unsafe read-only-written
    out[threadIdx.x] = v;
}
