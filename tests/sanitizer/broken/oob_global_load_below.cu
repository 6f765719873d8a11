// Each thread reads its left neighbour; the first one reads one element before the beginning.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 2 block 128 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = in[i - 1]; // expect: unsafe out-of-bounds
    out[i] = left;
}
