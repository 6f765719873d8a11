// A condition on shared memory that nobody wrote, behind one that is false wherever that is so.
// buffer: out i32 64 out
// buffer: in i32 64 in index
// launch: kernel grid 1 block 64 args out in 20
extern "C" __global__ void kernel(int *out, const int *in, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n)
        s[t] = in[t];
    __syncthreads();
    int v = ((volatile int *)s)[t];
    out[t] = (t < n) & (v > 7) ? v : -1;
}
