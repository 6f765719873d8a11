// Half of the shared array is never written, and goes to the output.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = in[t];
    __syncthreads();
    out[t] = s[t] * 2.0f; // expect: unsafe uninitialised
}
