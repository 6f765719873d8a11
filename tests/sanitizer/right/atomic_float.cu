// Floating-point atomics of all blocks on one sum, in shared memory first.
// gpu: near 32, the order of the additions is not fixed
// buffer: sum f32 1 inout zeros
// buffer: in f32 512 in
// launch: kernel grid 4 block 128 args sum in
extern "C" __global__ void kernel(float *sum, const float *in)
{
    __shared__ float s;
    if (threadIdx.x == 0)
        s = 0.0f;
    __syncthreads();
    atomicAdd(&s, in[blockIdx.x * 128 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, s);
}
