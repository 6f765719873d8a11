// A constant's initial value sees its own namespace; f<>(x) means templates alone; a macro is not replaced within itself.
constexpr int Q = 4;
namespace M
{
constexpr int Q = 5;
namespace
{
constexpr int R = Q;
}
} // namespace M
static int s(int x)
{
    return 1;
}
template <typename T> static int s(T x)
{
    return 2;
}
__global__ void k(int a, int b, int c, int d, int e)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    int FIRST = 7;
#define FIRST SECOND
#define SECOND FIRST
    k<<<1, 32, 0, stream>>>(Q, M::R, s(1), s<>(1), FIRST + FIRST - 1);
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [4:i32, 5:i32, 1:i32, 2:i32, 13:i32]
