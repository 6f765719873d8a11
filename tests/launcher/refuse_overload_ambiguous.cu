// int to long or double: no better one.
__global__ void k(int a)
{
}
static int f(long x)
{
    return 1;
}
static int f(double x)
{
    return 2;
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(f(n));
}

// run: n=3
// error 16:29 more than one function f fits these arguments
