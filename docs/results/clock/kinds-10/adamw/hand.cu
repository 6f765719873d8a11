#include <cuda_bf16.h>
#include <cuda_runtime.h>
// Four elements a thread in vectors; what all elements divide by is divided on the way in.
__device__ __forceinline__ float one(float p, float &m, float &v, float g, float keep, float by, float root)
{
    m = 0.9f * m + 0.1f * g;
    v = 0.999f * v + 0.001f * g * g;
    return p * keep - by * m / (sqrtf(v) * root + 1e-8f);
}
__global__ void step(float4 *__restrict__ param, float4 *__restrict__ mean, float4 *__restrict__ square,
                     uint2 *__restrict__ copy, const uint2 *__restrict__ grad, float keep, float by, float second,
                     int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    uint2 raw = __ldcs(&grad[i]);
    float4 p = param[i], m = mean[i], v = square[i];
    float root = rsqrtf(second);
    p.x = one(p.x, m.x, v.x, __uint_as_float(raw.x << 16), keep, by, root);
    p.y = one(p.y, m.y, v.y, __uint_as_float(raw.x & 0xffff0000u), keep, by, root);
    p.z = one(p.z, m.z, v.z, __uint_as_float(raw.y << 16), keep, by, root);
    p.w = one(p.w, m.w, v.w, __uint_as_float(raw.y & 0xffff0000u), keep, by, root);
    mean[i] = m;
    square[i] = v;
    param[i] = p;
    __nv_bfloat162 low = __floats2bfloat162_rn(p.x, p.y), high = __floats2bfloat162_rn(p.z, p.w);
    copy[i] = make_uint2(*(unsigned *)&low, *(unsigned *)&high);
}
extern "C" void adamw(float *param, float *mean, float *square, __nv_bfloat16 *copy, const __nv_bfloat16 *grad,
                      float rate, float decay, float first, float second, int n, cudaStream_t stream)
{
    step<<<(n / 4 + 255) / 256, 256, 0, stream>>>((float4 *)param, (float4 *)mean, (float4 *)square, (uint2 *)copy,
                                                  (const uint2 *)grad, 1.0f - rate * decay, rate / first, second,
                                                  n / 4);
}
