// C, functional and named casts.
#include <cstdint>

__global__ void k(int a, int b, unsigned c, float d, int64_t e, unsigned char f, bool g)
{
}

extern "C" void go(const float *p, float *q, int n, cudaStream_t stream)
{
    k<<<dim3(unsigned(n)), int{32}, size_t(0), stream>>>((int)3.99f, static_cast<int>(-2.5), unsigned(n) * 2u, float(n) / 4,
                                                         (int64_t)n << 33, (unsigned char)(n + 300), bool(n));
}

// run: n=3
// launch k (3,1,1) (32,1,1) 0 [3:i32, -2:i32, 6:u32, 0.75:f32, 25769803776:i64, 47:u8, 1:bool]
