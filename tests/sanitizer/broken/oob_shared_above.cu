// The neighbour of the last thread lies past the static array.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[t] + s[t + 1]; // expect: unsafe out-of-bounds
}
