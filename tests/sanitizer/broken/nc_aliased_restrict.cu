// The caller passes the same buffer twice, though __restrict__ says that they are distinct.
// buffer: x f32 128 inout
// launch: kernel grid 1 block 64 args x x+256
extern "C" __global__ void kernel(float *__restrict__ out, const float *__restrict__ in)
{
    int t = threadIdx.x;
    float v = in[t]; // expect: unsafe nc-written
    out[t + 64] = v + 1.0f; // expect: unsafe nc-written
}
