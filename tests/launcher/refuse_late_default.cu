// The call before the second declaration means the other function.
static int f(int x, int y);
static int f(long x)
{
    return (int)x;
}
static int g(int a)
{
    return f(a);
}
static int f(int x, int y = 2)
{
    return x * 10 + y;
}
__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(g(n));
}

// run: n=3
// error 9:12 a later declaration of f adds a default argument; write all of them in the first one
