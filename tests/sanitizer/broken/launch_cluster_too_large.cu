// Clusters of more than eight blocks need the kernel's permission.
// buffer: out f32 1024 out
// launch: kernel grid 16 block 64 cluster 16 args out
// expect: launch-failed bad-launch

extern "C" __global__ void kernel(float *out)
{
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}
