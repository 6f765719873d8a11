// expect: correct
// Pairs of half2 where they are aligned.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void pairs(__half2 *x, const float2 *__restrict__ cosine, const float2 *__restrict__ sine, int heads, int h2)
{
    long long token = blockIdx.x;
    for (long long k = threadIdx.x; k < (long long)heads * h2; k += blockDim.x) {
        long long head = k / h2, i = k % h2;
        __half2 *p = x + (token * heads + head) * 2 * h2 + i;
        float2 a = __half22float2(p[0]), b = __half22float2(p[h2]);
        float2 c = __ldg(&cosine[token * h2 + i]), s = __ldg(&sine[token * h2 + i]);
        p[0] = __floats2half2_rn(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
        p[h2] = __floats2half2_rn(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
    }
}
__global__ void single(__half *x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads, int h)
{
    long long token = blockIdx.x;
    for (long long k = threadIdx.x; k < (long long)heads * h; k += blockDim.x) {
        long long head = k / h, i = k % h;
        __half *p = x + (token * heads + head) * 2 * h + i;
        float a = __half2float(p[0]), b = __half2float(p[h]), c = cosine[token * h + i], s = sine[token * h + i];
        p[0] = __float2half_rn(__fmaf_rn(a, c, -(b * s)));
        p[h] = __float2half_rn(__fmaf_rn(b, c, a * s));
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim,
                                 cudaStream_t stream)
{
    if (half_dim % 2 == 0)
        pairs<<<tokens, 256, 0, stream>>>((__half2 *)x, (const float2 *)cosine, (const float2 *)sine, heads, half_dim / 2);
    else
        single<<<tokens, 256, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
