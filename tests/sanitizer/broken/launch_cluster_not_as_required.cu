// The kernel says clusters of two, the launch four.
// buffer: out f32 256 out
// launch: kernel grid 4 block 64 cluster 4 args out
// expect: launch-failed bad-launch

extern "C" __global__ void __cluster_dims__(2, 1, 1) kernel(float *out)
{
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}
