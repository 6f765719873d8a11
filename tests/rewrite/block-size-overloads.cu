// Functions that call others of their name are read once each, however often they are called.
// transform: block-size 512
// applies: line 34
// has: work<<<rows, 512, 0, stream>>>(out, in, d);
#include <cuda_runtime.h>

__device__ int as(int x) { asm("mov.b32 %0, %0;" : "+r"(x)); return x; }
__device__ int as(int x, int a) { return as(x) + as(a) + as(as(x)) + as(as(a)) + as(as(as(x))) + as(as(as(a))); }
__device__ int as(int x, int a, int b)
{
    return as(x, a) + as(as(x), b) + as(as(a), as(b)) + as(as(as(x)), a) + as(as(as(a)), b) + as(x, as(as(b)));
}
__device__ int as(int x, int a, int b, int c)
{
    return as(x, a, b) + as(as(x), b, c) + as(as(a), as(b), c) + as(as(as(x)), a, b) + as(as(as(a)), b, c);
}
__device__ int as(int x, int a, int b, int c, int d)
{
    return as(x, a, b, c) + as(as(x), b, c, d) + as(as(a), as(b), c, d) + as(as(as(x)), a, b, c) + as(x, a, b, d);
}
__device__ int as(int x, int a, int b, int c, int d, int e)
{
    return as(x, a, b, c, d) + as(as(x), b, c, d, e) + as(as(a), as(b), c, d, e) + as(as(as(x)), a, b, c, d);
}

__global__ void work(int *out, const int *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = as(in[blockIdx.x * d + i], i, d, 1, 2, 3);
}

extern "C" void entry(int *out, const int *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>(out, in, d);
}
