// Constants, functions and types of one name in several namespaces: the nearest one, or the one that is named.
constexpr int SIZE = 1;
namespace a
{
constexpr int SIZE = 2;
constexpr int grow(int n)
{
    return n + SIZE;
}
namespace b
{
constexpr int twice()
{
    return 2 * SIZE;
}
} // namespace b
} // namespace a
namespace c
{
constexpr int SIZE = 40;
constexpr int grow(int n)
{
    return n * SIZE;
}
} // namespace c
namespace d = a::b;
__global__ void k(int global, int in_a, int in_c, int by_a, int by_c, int twice)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(SIZE, a::SIZE, ::c::SIZE, a::grow(n), c::grow(n), d::twice());
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [1:i32, 2:i32, 40:i32, 5:i32, 120:i32, 4:i32]
