// Threads go round a loop with a barrier a different number of times.
// buffer: out f32 64 out
// buffer: in i32 64 in index
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float *out, const int *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = 0.0f;
#pragma unroll 1
    for (int k = 0; k < in[t]; k++) {
        s[t] += 1.0f;
        __syncthreads(); // expect: unsafe divergent-barrier
    }
    __syncthreads(); // expect: unsafe divergent-barrier
    out[t] = s[63 - t];
}
