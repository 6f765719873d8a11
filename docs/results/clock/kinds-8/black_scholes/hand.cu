#include <cuda_runtime.h>
// Four options a thread; a put from its call.
__device__ static float below(float x)
{
    return 0.5f + 0.5f * erff(x * 0.70710678f);
}
__device__ static void value(float *call, float *put, float price, float strike, float years)
{
    const float r = 0.02f, v = 0.3f;
    float root = sqrtf(years);
    float d1 = (logf(price / strike) + (r + 0.5f * v * v) * years) / (v * root);
    float later = strike * expf(-r * years), a = below(d1), b = below(d1 - v * root);
    *call = price * a - later * b;
    *put = later * (1.0f - b) - price * (1.0f - a);
}
__global__ void options(float4 *__restrict__ call, float4 *__restrict__ put, const float4 *__restrict__ price, const float4 *__restrict__ strike, const float4 *__restrict__ years, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    float4 p = price[i], s = strike[i], y = years[i], c, q;
    value(&c.x, &q.x, p.x, s.x, y.x);
    value(&c.y, &q.y, p.y, s.y, y.y);
    value(&c.z, &q.z, p.z, s.z, y.z);
    value(&c.w, &q.w, p.w, s.w, y.w);
    call[i] = c;
    put[i] = q;
}
extern "C" void black_scholes(float *call, float *put, const float *price, const float *strike, const float *years, int n, cudaStream_t stream)
{
    options<<<(n / 4 + 127) / 128, 128, 0, stream>>>((float4 *)call, (float4 *)put, (const float4 *)price, (const float4 *)strike, (const float4 *)years, n / 4);
}
