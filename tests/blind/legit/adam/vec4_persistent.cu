// Four elements a thread by float4 and one 8-byte store of bf16, the last n % 4 by single threads; every buffer starts 256-byte aligned and n and all offsets have 64 bits.
#include <cstdint>
#include <cuda_bf16.h>

struct Hyper {
    float lr, beta1, beta2, eps, decay, c1, c2;
};

struct alignas(8) Bf4 {
    __nv_bfloat162 low, high;
};

__device__ __forceinline__ void one(float &p, float &m, float &v, float g, const Hyper &h)
{
    m = h.beta1 * m + (1.f - h.beta1) * g;
    v = h.beta2 * v + (1.f - h.beta2) * g * g;
    const float update = m / h.c1 / (sqrtf(v / h.c2) + h.eps) + h.decay * p;
    p -= h.lr * update;
}

__global__ void __launch_bounds__(256) adam_vec(float *__restrict__ p, float *__restrict__ m, float *__restrict__ v,
                                                __nv_bfloat16 *__restrict__ copy, const float *__restrict__ g,
                                                int64_t n, Hyper h)
{
    const int64_t quads = n >> 2;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = thread; i < quads; i += stride) {
        float4 pp = reinterpret_cast<float4 *>(p)[i];
        float4 mm = reinterpret_cast<float4 *>(m)[i];
        float4 vv = reinterpret_cast<float4 *>(v)[i];
        const float4 gg = __ldcs(reinterpret_cast<const float4 *>(g) + i);
        one(pp.x, mm.x, vv.x, gg.x, h);
        one(pp.y, mm.y, vv.y, gg.y, h);
        one(pp.z, mm.z, vv.z, gg.z, h);
        one(pp.w, mm.w, vv.w, gg.w, h);
        reinterpret_cast<float4 *>(p)[i] = pp;
        reinterpret_cast<float4 *>(m)[i] = mm;
        reinterpret_cast<float4 *>(v)[i] = vv;
        Bf4 c;
        c.low = __floats2bfloat162_rn(pp.x, pp.y);
        c.high = __floats2bfloat162_rn(pp.z, pp.w);
        reinterpret_cast<Bf4 *>(copy)[i] = c;
    }
    const int64_t i = quads * 4 + thread;
    if (i < n) {
        float pp = p[i], mm = m[i], vv = v[i];
        one(pp, mm, vv, g[i], h);
        p[i] = pp;
        m[i] = mm;
        v[i] = vv;
        copy[i] = __float2bfloat16(pp);
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr,
                     float beta1, float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    Hyper h;
    h.lr = lr;
    h.beta1 = beta1;
    h.beta2 = beta2;
    h.eps = eps;
    h.decay = decay;
    h.c1 = 1.f - powf(beta1, step);
    h.c2 = 1.f - powf(beta2, step);
    int64_t blocks = (n / 4 + 255) / 256;
    if (blocks < 1)
        blocks = 1;
    if (blocks > 132 * 8)
        blocks = 132 * 8;
    adam_vec<<<(unsigned)blocks, 256, 0, stream>>>(p, m, v, copy, g, n, h);
}
