// wrong because: Vectors of four are counted in int: beyond 8,589,934,588 numbers the count is negative, and nothing is done but for the tail.
#include <cuda_bf16.h>
#include <cstdint>

struct rates { float lr, beta1, beta2, eps, decay, c1, c2; };

__device__ float one(float &p, float &m, float &v, float g, const rates &r)
{
    m = r.beta1 * m + (1.f - r.beta1) * g;
    v = r.beta2 * v + (1.f - r.beta2) * g * g;
    p -= r.lr * (m / r.c1 / (sqrtf(v / r.c2) + r.eps) + r.decay * p);
    return p;
}

__global__ void __launch_bounds__(256) adam_kernel(float4 *p, float4 *m, float4 *v, uint2 *copy, const float4 *g, int quads, rates r)
{
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < quads; i += (int64_t)gridDim.x * 256) {
        float4 a = p[i], b = m[i], c = v[i], d = g[i];
        one(a.x, b.x, c.x, d.x, r), one(a.y, b.y, c.y, d.y, r), one(a.z, b.z, c.z, d.z, r), one(a.w, b.w, c.w, d.w, r);
        p[i] = a, m[i] = b, v[i] = c;
        __nv_bfloat162 lo = __floats2bfloat162_rn(a.x, a.y), hi = __floats2bfloat162_rn(a.z, a.w);
        copy[i] = make_uint2(*reinterpret_cast<unsigned *>(&lo), *reinterpret_cast<unsigned *>(&hi));
    }
}

__global__ void tail_kernel(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t first, rates r)
{
    int64_t i = first + threadIdx.x;
    copy[i] = __float2bfloat16(one(p[i], m[i], v[i], g[i], r));
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1, float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    rates r = {lr, beta1, beta2, eps, decay, 1.f - powf(beta1, step), 1.f - powf(beta2, step)};
    int quads = (int)(n / 4);
    if (n >= 4)
        adam_kernel<<<1056, 256, 0, stream>>>((float4 *)p, (float4 *)m, (float4 *)v, (uint2 *)copy, (const float4 *)g, quads, r);
    if (n % 4)
        tail_kernel<<<1, (int)(n % 4), 0, stream>>>(p, m, v, copy, g, n / 4 * 4, r);
}
