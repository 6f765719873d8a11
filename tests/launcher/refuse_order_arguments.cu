// ... and which argument; g++ begins at the last.
__global__ void k(int a, int b)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    int i = n;
    k<<<1, 32, 0, stream>>>(i++, i);
}

// run: n=3
// error 9:5 the order of evaluation counts here
