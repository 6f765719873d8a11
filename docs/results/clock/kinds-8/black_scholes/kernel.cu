#include <cuda_runtime.h>
// What options are worth, by Black and Scholes; a thread an option.
__device__ float below(float x)
{
    return 0.5f + 0.5f * erff(x * 0.70710678f);
}
__global__ void options(float *call, float *put, const float *price, const float *strike, const float *years, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float r = 0.02f, v = 0.3f, root = sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (r + 0.5f * v * v) * years[i]) / (v * root), d2 = d1 - v * root;
    float later = strike[i] * expf(-r * years[i]);
    call[i] = price[i] * below(d1) - later * below(d2);
    put[i] = later * (1.0f - below(d2)) - price[i] * (1.0f - below(d1));
}
extern "C" void black_scholes(float *call, float *put, const float *price, const float *strike, const float *years, int n, cudaStream_t stream)
{
    options<<<(n + 255) / 256, 256, 0, stream>>>(call, put, price, strike, years, n);
}
