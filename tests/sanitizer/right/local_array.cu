// A local array with indices that only run time knows.
// buffer: out i32 64 out
// buffer: in i32 64 in index
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(int *out, const int *in)
{
    int count[8];
    for (int k = 0; k < 8; k++)
        count[k] = 0;
#pragma unroll 1
    for (int k = 0; k < 64; k++)
        count[(in[k] + threadIdx.x) & 7] += in[k];
    out[threadIdx.x] = count[threadIdx.x & 7];
}
