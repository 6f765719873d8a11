// A flag in shared memory that nobody set decides a branch.
// buffer: out f32 32 inout
// launch: kernel grid 1 block 32 args out 0
extern "C" __global__ void kernel(float *out, int set)
{
    __shared__ int flag;
    if (set)
        flag = set;
    __syncthreads();
    if (flag) // expect: unsafe uninitialised
        out[threadIdx.x] = __expf(out[threadIdx.x]);
    __syncthreads();
}
