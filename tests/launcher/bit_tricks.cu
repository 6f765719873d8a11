// Rounding, alignment and powers of two by bit operations.
#include <cstdint>
template <typename T> __host__ __device__ constexpr T round_up(T x, T to)
{
    return (x + to - 1) & ~(to - 1);
}
__global__ void k(size_t a, int b, unsigned c, int d, uint64_t e)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    const size_t bytes = round_up<size_t>(n * sizeof(float), 256);
    int low = n & -n;
    unsigned mask = (1u << (n % 32)) - 1u;
    int inverted = ~n >> 1;
    uint64_t high = (uint64_t)n << 40 | 0xffu;
    k<<<1, 1, 0, stream>>>(bytes, low, mask, inverted, high);
}

// run: n=100
// launch k (1,1,1) (1,1,1) 0 [512:u64, 4:i32, 15:u32, -51:i32, 109951162777855:u64]
