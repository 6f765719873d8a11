// An attribute of the compiler may make another type of it.
__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    int __attribute__((mode(DI))) wide = n;
    k<<<1, 1, 0, stream>>>(sizeof(wide));
}

// run: n=3
// error 8:24 the attribute mode may change what this means; leave it out
