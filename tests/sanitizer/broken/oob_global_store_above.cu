// <= instead of <: one element too many.
// buffer: out f32 1000 out
// launch: kernel grid 8 block 128 args out 1000
extern "C" __global__ void kernel(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = (float)i; // expect: unsafe out-of-bounds
}
