// The file's own functions: constexpr, static inline, templates, overloads, default arguments, references.
template <typename T> constexpr T div_up(T a, T b)
{
    return (a + b - 1) / b;
}
static inline int pick(int n, int least = 32)
{
    if (n < least)
        return least;
    return n;
}
static int pick(float x)
{
    return (int)x;
}
template <int N> int round_to(int x)
{
    return div_up(x, N) * N;
}
void both(int n, int &half, int &rest)
{
    half = n / 2;
    rest = n - half;
}
int gcd(int a, int b)
{
    return b == 0 ? a : gcd(b, a % b);
}

__global__ void k(int a, int b, int c, int d, int e)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int half, rest;
    both(n, half, rest);
    k<<<div_up(n, 3), pick(n, 64), 0, stream>>>(round_to<8>(n), pick(2.5f), half, rest, gcd(n, 12) + pick(1));
}

// run: n=9
// launch k (3,1,1) (64,1,1) 0 [16:i32, 2:i32, 4:i32, 5:i32, 35:i32]
