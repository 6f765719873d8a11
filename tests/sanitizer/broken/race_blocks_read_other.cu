// A block reads what its neighbour writes in the same launch.
// buffer: out f32 512 out
// buffer: x f32 512 inout
// launch: kernel grid 4 block 128 args out x
extern "C" __global__ void kernel(float *out, float *x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    x[i] = x[i] * 2.0f; // expect: unsafe race-global
    __syncthreads();
    out[i] = x[(i + 128) % 512]; // expect: unsafe race-global
}
