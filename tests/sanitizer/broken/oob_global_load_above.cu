// Each thread reads its right neighbour; the last one reads one element past the end.
// buffer: out f32 1000 out
// buffer: in f32 1000 in
// launch: kernel grid 8 block 128 args out in 1000
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + in[i + 1]; // expect: unsafe out-of-bounds
}
