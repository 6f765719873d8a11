// A grid of three blocks cannot be cut into clusters of two.
// buffer: out f32 192 out
// launch: kernel grid 3 block 64 cluster 2 args out
// expect: launch-failed bad-launch

extern "C" __global__ void kernel(float *out)
{
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}
