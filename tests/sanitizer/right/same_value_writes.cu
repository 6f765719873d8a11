// Many threads, and blocks, say the same thing.
// buffer: found u32 2 inout zeros
// buffer: in i32 512 in index
// launch: kernel grid 4 block 128 args found in
extern "C" __global__ void kernel(unsigned *found, const int *in)
{
    __shared__ int any;
    if (threadIdx.x == 0)
        any = 0;
    __syncthreads();
    if (in[blockIdx.x * 128 + threadIdx.x] & 1)
        any = 1;
    __syncthreads();
    if (any)
        found[0] = 1;
    if (threadIdx.x > 3)
        found[1] = 7;
}
