// A barrier over the whole grid by a counter; all blocks are resident.
// buffer: out f32 512 out
// buffer: x f32 512 scratch
// buffer: in f32 512 in
// buffer: count u32 1 inout zeros
// launch: kernel grid 4 block 128 cooperative args out x in count
__device__ void grid_barrier(unsigned *count, unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile unsigned *)count < goal)
            ;
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void kernel(float *out, float *x, const float *in, unsigned *count)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    x[i] = in[i] * 2.0f;
    grid_barrier(count, gridDim.x);
    out[i] = x[(i + 128) % 512];
    grid_barrier(count, 2 * gridDim.x);
    x[i] = 0.0f;
}
