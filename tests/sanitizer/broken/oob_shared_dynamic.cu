// The launch gives half the dynamic shared memory that the kernel uses.
// buffer: out f32 128 out
// buffer: in f32 128 in
// launch: kernel grid 1 block 128 shared 256 args out in
extern __shared__ float s[];

extern "C" __global__ void kernel(float *out, const float *in)
{
    int t = threadIdx.x;
    s[t] = in[t]; // expect: unsafe out-of-bounds
    __syncthreads();
    out[t] = s[127 - t];
}
