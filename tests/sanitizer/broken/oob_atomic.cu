// A histogram of 100 bins, counted without looking at the value's range.
// buffer: bins u32 100 inout zeros
// buffer: in i32 512 in index
// launch: kernel grid 2 block 256 args bins in
extern "C" __global__ void kernel(unsigned *bins, const int *in)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&bins[v], 1u); // expect: unsafe out-of-bounds
}
