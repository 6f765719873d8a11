// The whole kernel is a function, with moved pointers and template parameters that the arguments tell.
// transform: inline 0
// applies: line 22
// has: T *p2 = p + blockIdx.y * stride;
// has: float *m2 = m ? m + blockIdx.y * stride : NULL;
// has: p2[i] = (T)((float)p2[i] - rate * g[i]);
// has:     if (i >= n)
#include <cuda_runtime.h>

template <typename P> __device__ void update(P *p, float *m, const float *g, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    p[i] = (P)((float)p[i] - rate * g[i]);
    if (m)
        m[i] = g[i];
}

template <typename T> __global__ void work(T *p, float *m, const float *g, int n, long stride, float rate)
{
    update(p + blockIdx.y * stride, m ? m + blockIdx.y * stride : NULL, g, n, rate);
}

extern "C" void entry(float *p, float *m, const float *g, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(p, m, g, n, (long)n, 0.5f);
}
