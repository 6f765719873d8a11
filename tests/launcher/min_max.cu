// min and max of CUDA and of std, and std's demand for equal types.
#include <algorithm>

__global__ void k(int a, long b, unsigned c, int d)
{
}

extern "C" void go(float *p, int n, long m, cudaStream_t stream)
{
    int blocks = std::min(n, 1024);
    long most = max((long)n, m);
    int clamped = std::clamp(n, 2, 5);
    if (n == 99)
        most = std::max(n, m);
    k<<<std::max<long>(n, 1L), 1, 0, stream>>>(blocks, most, min(n, 7u), clamped + std::min({9, n, 4}));
}

// run: n=5000 m=70
// launch k (5000,1,1) (1,1,1) 0 [1024:i32, 5000:i64, 7:u32, 9:i32]
// run: n=99 m=1
// error 14:16 std::max of int and long does not compile
