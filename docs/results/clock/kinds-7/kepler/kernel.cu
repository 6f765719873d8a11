#include <cuda_runtime.h>
// Where a planet is, by five steps of Newton; a thread a planet.
__global__ void newton(float *out, const float *mean, const float *e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float at = mean[i];
    for (int k = 0; k < 5; k++)
        at -= (at - e[i] * sinf(at) - mean[i]) / (1.0f - e[i] * cosf(at));
    out[i] = at;
}
extern "C" void kepler(float *out, const float *mean, const float *e, int n, cudaStream_t stream)
{
    newton<<<(n + 255) / 256, 256, 0, stream>>>(out, mean, e, n);
}
