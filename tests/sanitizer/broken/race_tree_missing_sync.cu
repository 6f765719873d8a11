// A tree in shared memory without the barrier in its loop.
// buffer: out f32 1 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 256 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
#pragma unroll 1
    for (int k = 128; k > 0; k >>= 1)
        if (t < k)
            s[t] += s[t + k]; // expect: unsafe race-shared
    __syncthreads();
    if (t == 0)
        out[0] = s[0];
}
