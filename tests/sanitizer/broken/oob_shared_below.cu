// The neighbour of the first thread lies before the array.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    float left = s[t - 1]; // expect: unsafe out-of-bounds
    out[t] = left;
}
