// A static constant keeps what the first call gave it.
__global__ void k(int a)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    static const int first = n;
    k<<<1, 32, 0, stream>>>(first);
}

// run: n=1
// error 8:30 a static constant is made once, in the first call
