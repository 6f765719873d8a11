// 16-byte accesses with a scalar tail, and a head that is not aligned.
// buffer: out f32 1003 out
// buffer: in f32 1003 in
// launch: kernel grid 1 block 64 args out in 1003
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    int whole = n / 4;
    for (int i = threadIdx.x; i < whole; i += blockDim.x)
        ((float4 *)out)[i] = ((const float4 *)in)[i];
    for (int i = 4 * whole + threadIdx.x; i < n; i += blockDim.x)
        out[i] = in[i];
}
