// expect: launch-failed bad-launch
// Over a hundred live values a thread, 1024 threads: more registers than an SM has.
// buffer: out f32 1024 out
// buffer: in f32 131072 in
// launch: kernel grid 1 block 1024 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    float v[100];
#pragma unroll
    for (int k = 0; k < 100; k++)
        v[k] = in[k * 1024 + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 99; k >= 0; k--)
        sum = sum * v[k] + v[99 - k];
    out[threadIdx.x] = sum;
}
