// Alignment tests see the real address of each buffer.
#include <cstdint>

__global__ void scalar(const float *p, int n)
{
}
__global__ void vec4(const float4 *p, int n)
{
}

static bool aligned(const void *p, size_t to)
{
    return reinterpret_cast<uintptr_t>(p) % to == 0;
}

extern "C" void go(const float *p, float *q, int n, cudaStream_t stream)
{
    if (n % 4 == 0 && aligned(p, 16) && ((uintptr_t)q & 15) == 0)
        vec4<<<1, 32, 0, stream>>>((const float4 *)p, n / 4);
    else
        scalar<<<1, 32, 0, stream>>>(p, n);
}

// run: n=8
// launch vec4 (1,1,1) (32,1,1) 0 [p, 2:i32]
// run: n=8 p@4
// launch scalar (1,1,1) (32,1,1) 0 [p, 8:i32]
// run: n=8 q@8
// launch scalar (1,1,1) (32,1,1) 0 [p, 8:i32]
// run: n=6
// launch scalar (1,1,1) (32,1,1) 0 [p, 6:i32]
