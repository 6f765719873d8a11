// expect: wrong
// row 12: Vectors of four are counted in int: from 2^33 elements on no block does anything.
#include <cuda_bf16.h>
#include <cstdint>

struct Step { float lr, beta1, beta2, eps, decay, c1, c2; };

__device__ __forceinline__ void step(float &p, float &m, float &v, float g, const Step &s)
{
    m = s.beta1 * m + (1.f - s.beta1) * g;
    v = s.beta2 * v + (1.f - s.beta2) * g * g;
    float update = m / s.c1 / (sqrtf(v / s.c2) + s.eps) + s.decay * p;
    p -= s.lr * update;
}

__global__ void __launch_bounds__(256) adam_kernel(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, Step s)
{
    int vectors = (int)(n / 4);
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; (int)i < vectors; i += gridDim.x * 256) {
        float4 a = reinterpret_cast<float4 *>(p)[i], b = reinterpret_cast<float4 *>(m)[i], c = reinterpret_cast<float4 *>(v)[i];
        float4 e = __ldcs(reinterpret_cast<const float4 *>(g) + i);
        step(a.x, b.x, c.x, e.x, s);
        step(a.y, b.y, c.y, e.y, s);
        step(a.z, b.z, c.z, e.z, s);
        step(a.w, b.w, c.w, e.w, s);
        reinterpret_cast<float4 *>(p)[i] = a;
        reinterpret_cast<float4 *>(m)[i] = b;
        reinterpret_cast<float4 *>(v)[i] = c;
        __nv_bfloat162 h[2] = {__floats2bfloat162_rn(a.x, a.y), __floats2bfloat162_rn(a.z, a.w)};
        reinterpret_cast<uint2 *>(copy)[i] = *reinterpret_cast<uint2 *>(h);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) {
        int64_t i = n / 4 * 4 + threadIdx.x;
        float a = p[i], b = m[i], c = v[i];
        step(a, b, c, g[i], s);
        p[i] = a;
        m[i] = b;
        v[i] = c;
        copy[i] = __float2bfloat16(a);
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    Step s{lr, beta1, beta2, eps, decay, 1.f - powf(beta1, step), 1.f - powf(beta2, step)};
    int64_t blocks = (n / 4 + 255) / 256;
    if (blocks > 1056)
        blocks = 1056;
    adam_kernel<<<(unsigned)(blocks > 0 ? blocks : 1), 256, 0, stream>>>(p, m, v, copy, g, n, s);
}
