// row * stride overflows 32 bits and goes far below the buffer.
// buffer: out f32 16 inout
// launch: kernel grid 1 block 32 args out 65536
extern "C" __global__ void kernel(float *out, int stride)
{
    int row = threadIdx.x * 2000;
    int i = (int)((unsigned)row * (unsigned)stride);
    if (threadIdx.x == 0 || threadIdx.x == 17)
        out[i] = 1.0f; // expect: unsafe out-of-bounds
}
