// The tail of the output is not written.
// expect: unsafe uninitialised
// buffer: out f32 1000 out
// launch: kernel grid 7 block 128 args out 1000
extern "C" __global__ void kernel(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 1.0f;
}
