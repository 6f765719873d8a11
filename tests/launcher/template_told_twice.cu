template <typename T> constexpr T div_up(T a, T b)
{
    return (a + b - 1) / b;
}
__global__ void k(long n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    if (n > 10)
        n = div_up(n, 4L);
    k<<<1, 1, 0, stream>>>(div_up<long>(n, 4L));
}

// run: n=9
// launch k (1,1,1) (1,1,1) 0 [3:i64]
// run: n=11
// error 12:13 has template parameters that these arguments do not give (T)
