// sizeof does not evaluate; the type of ?: is that of both operands; enumerators and their types; literals.
__global__ void k(int a, int b, int c, int d, int e, int f, int g, long h)
{
}
enum Wide { BIG = 0xffffffff };
enum Wider { HUGE_ONE = 1ll << 40 };
static unsigned size()
{
    return 7;
}
template <typename... Args> static int count(Args... args)
{
    return (int)sizeof...(args);
}

extern "C" void go(int n, cudaStream_t stream)
{
    int i = 0;
    int size_of = sizeof(i++) + sizeof("abc") + sizeof(labs(n));
    bool is_less = (n ? -1 : size()) < 0;
    bool more = BIG > 0;
    k<<<1, 32, 0, stream>>>(i, size_of, is_less, more, sizeof(BIG), count(1, 2.0, n), 0.1f * 3 == 0.3f, HUGE_ONE);
}

// run: n=1
// launch k (1,1,1) (32,1,1) 0 [0:i32, 16:i32, 0:i32, 1:i32, 4:i32, 3:i32, 1:i32, 1099511627776:i64]
