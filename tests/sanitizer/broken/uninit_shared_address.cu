// An index in shared memory that nobody set.
// buffer: out f32 32 inout
// launch: kernel grid 1 block 32 args out 0
extern "C" __global__ void kernel(float *out, int set)
{
    __shared__ int index[32];
    if (set)
        index[threadIdx.x] = 1;
    __syncwarp();
    out[index[threadIdx.x]] = 1.0f; // expect: unsafe uninitialised
}
