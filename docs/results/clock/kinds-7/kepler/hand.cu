#include <cuda_runtime.h>
// Sine and cosine at once, two planets a thread.
__device__ static float next(float at, float e, float mean)
{
    float s, c;
    sincosf(at, &s, &c);
    return at - (at - e * s - mean) / (1.0f - e * c);
}
__global__ void newton(float *__restrict__ out, const float *__restrict__ mean, const float *__restrict__ e, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x, j = i + 128;
    float m0 = i < n ? mean[i] : 0.0f, m1 = j < n ? mean[j] : 0.0f, e0 = i < n ? e[i] : 0.0f, e1 = j < n ? e[j] : 0.0f, a = m0, b = m1;
#pragma unroll
    for (int k = 0; k < 5; k++) {
        a = next(a, e0, m0);
        b = next(b, e1, m1);
    }
    if (i < n)
        out[i] = a;
    if (j < n)
        out[j] = b;
}
extern "C" void kepler(float *out, const float *mean, const float *e, int n, cudaStream_t stream)
{
    newton<<<(n + 255) / 256, 128, 0, stream>>>(out, mean, e, n);
}
