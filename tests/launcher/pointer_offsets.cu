// Typed pointer arithmetic, casts of pointers, &p[i], differences.
#include <cuda_fp16.h>

__global__ void k(const float *a, float *b, const __half *c, const void *d, int e)
{
}

extern "C" void go(float *x, const __half *h, int n, cudaStream_t stream)
{
    const float *a = x + n;
    float *b = &x[2 * n] - 1;
    a++;
    const __half *c = reinterpret_cast<const __half *>(reinterpret_cast<const char *>(h) + 6);
    k<<<1, 1, 0, stream>>>(a, b, c, (const void *)(h + 4), a - x);
}

// run: n=10
// launch k (1,1,1) (1,1,1) 0 [x+44, x+76, h+6, h+8, 11:i32]
