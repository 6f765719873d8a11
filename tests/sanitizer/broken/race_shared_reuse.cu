// The second round overwrites the buffer while others still read the first.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 128 args out in 2
extern "C" __global__ void kernel(float *out, const float *in, int rounds)
{
    __shared__ float s[128];
    int t = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        s[t] = in[k * 128 + t]; // expect: unsafe race-shared
        __syncthreads();
        out[k * 128 + t] = s[127 - t]; // expect: unsafe race-shared
    }
}
