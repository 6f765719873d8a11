// The shift writes to out[-1].
// buffer: out f32 128 inout
// launch: kernel grid 1 block 128 args out
extern "C" __global__ void kernel(float *out)
{
    int i = threadIdx.x;
    out[i - 1] = 1.0f; // expect: unsafe out-of-bounds
}
