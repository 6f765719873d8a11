// Four elements at once in 64-bit indices, a struct of constants by value, the reciprocals of c1 and c2 taken in the kernel, streamed reads and writes.
#include <cuda_bf16.h>
#include <cstdint>

struct Rule {
    float lr, beta1, beta2, eps, decay, c1, c2;
    float rest1 = 0, rest2 = 0;
};

struct Cell {
    float p, m, v;
};

__device__ __forceinline__ Cell next(Cell c, float g, const Rule &r)
{
    c.m = fmaf(r.beta1, c.m, r.rest1 * g);
    c.v = r.beta2 * c.v + r.rest2 * g * g;
    c.p -= r.lr * (c.m / r.c1 / (sqrtf(c.v / r.c2) + r.eps) + r.decay * c.p);
    return c;
}

__global__ void __launch_bounds__(256) adam_kernel(float *__restrict__ p, float *__restrict__ m, float *__restrict__ v, __nv_bfloat16 *__restrict__ copy, const float *__restrict__ g, const int64_t n, const Rule r)
{
    const int64_t vectors = n / 4, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i <= vectors; i += step) {
        if (i < vectors) {
            float4 a = reinterpret_cast<float4 *>(p)[i], b = reinterpret_cast<float4 *>(m)[i], c = reinterpret_cast<float4 *>(v)[i], e = __ldcs(reinterpret_cast<const float4 *>(g) + i);
            Cell q[4] = {next(Cell{a.x, b.x, c.x}, e.x, r), next(Cell{a.y, b.y, c.y}, e.y, r), next(Cell{a.z, b.z, c.z}, e.z, r), next(Cell{a.w, b.w, c.w}, e.w, r)};
            __stcs(reinterpret_cast<float4 *>(p) + i, make_float4(q[0].p, q[1].p, q[2].p, q[3].p));
            __stcs(reinterpret_cast<float4 *>(m) + i, make_float4(q[0].m, q[1].m, q[2].m, q[3].m));
            __stcs(reinterpret_cast<float4 *>(v) + i, make_float4(q[0].v, q[1].v, q[2].v, q[3].v));
            union { __nv_bfloat162_raw h[2]; uint2 u; } w;
            w.h[0] = __floats2bfloat162_rn(q[0].p, q[1].p);
            w.h[1] = __floats2bfloat162_rn(q[2].p, q[3].p);
            reinterpret_cast<uint2 *>(copy)[i] = w.u;
        } else {
            for (int64_t j = vectors * 4; j < n; j++) {
                Cell q = next(Cell{p[j], m[j], v[j]}, g[j], r);
                p[j] = q.p;
                m[j] = q.m;
                v[j] = q.v;
                copy[j] = __float2bfloat16(q.p);
            }
        }
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1, float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    Rule r = {lr, beta1, beta2, eps, decay, 1.f - powf(beta1, step), 1.f - powf(beta2, step)};
    r.rest1 = 1.f - beta1;
    r.rest2 = 1.f - beta2;
    const int64_t wanted = (n / 4 + 1 + 255) / 256;
    adam_kernel<<<(unsigned)(wanted > 2112 ? 2112 : wanted), 256, 0, stream>>>(p, m, v, copy, g, n, r);
}
