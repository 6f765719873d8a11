// Overloads by what each argument needs, and only those that stand before the call.
__global__ void k(int a, int b, int c, int d, int e)
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
static int before(double x)
{
    return 3;
}
static int call_before(int n)
{
    return before(n);
}
static int before(int x)
{
    return 4;
}
template <typename T> static int g(T x)
{
    return 5;
}
static int g(long x)
{
    return 6;
}

extern "C" void go(int n, cudaStream_t stream)
{
    char small = 1;
    float single = 1;
    k<<<1, 32, 0, stream>>>(f(2.0f), call_before(n), before(small), g(n), g((long)single));
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [2:i32, 3:i32, 4:i32, 5:i32, 6:i32]
