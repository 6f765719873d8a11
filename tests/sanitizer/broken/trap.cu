// A check that traps.
// buffer: out f32 32 inout
// buffer: in i32 32 in index
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(float *out, const int *in)
{
    if (in[threadIdx.x] > 30)
        __trap(); // expect: crashed trap
    out[threadIdx.x] = 1.0f;
}
