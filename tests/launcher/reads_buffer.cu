// The launcher decides by shapes and scalars; contents are not known when it runs.
__global__ void k(int n)
{
}

extern "C" void go(const int *p, int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(p[n]);
}

// run: n=3
// error 8:29 reads or writes a buffer's contents
