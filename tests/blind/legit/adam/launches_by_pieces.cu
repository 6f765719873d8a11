// The launcher cuts the numbers into pieces of 2^28 and launches each; within a piece places have 32 bits. Reciprocals of the corrections are made once.
#include <cuda_bf16.h>
#include <cstdint>

struct step_of { float lr, beta1, rest1, beta2, rest2, eps, decay, scale1, scale2; };

__device__ __forceinline__ void one(float &p, float &m, float &v, float g, const step_of &s)
{
    m = fmaf(s.beta1, m, s.rest1 * g);
    v = fmaf(s.beta2, v, s.rest2 * g * g);
    p -= s.lr * (m * s.scale1 / (sqrtf(v * s.scale2) + s.eps) + s.decay * p);
}

__global__ void __launch_bounds__(128) adam_kernel(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, unsigned count, const step_of s)
{
    const unsigned i = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (i + 4 <= count) {
        float4 a = *(float4 *)(p + i), b = *(float4 *)(m + i), c = *(float4 *)(v + i);
        const float4 d = *(const float4 *)(g + i);
        one(a.x, b.x, c.x, d.x, s), one(a.y, b.y, c.y, d.y, s), one(a.z, b.z, c.z, d.z, s), one(a.w, b.w, c.w, d.w, s);
        *(float4 *)(p + i) = a, *(float4 *)(m + i) = b, *(float4 *)(v + i) = c;
        const __nv_bfloat162 x = __floats2bfloat162_rn(a.x, a.y), y = __floats2bfloat162_rn(a.z, a.w);
        *(__nv_bfloat162 *)(copy + i) = x, *(__nv_bfloat162 *)(copy + i + 2) = y;
    } else
        for (unsigned j = i; j < count; j++) {
            one(p[j], m[j], v[j], g[j], s);
            copy[j] = __float2bfloat16(p[j]);
        }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1, float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    constexpr int64_t PIECE = int64_t{1} << 28;
    step_of s{};
    s.lr = lr, s.beta1 = beta1, s.rest1 = 1.f - beta1, s.beta2 = beta2, s.rest2 = 1.f - beta2, s.eps = eps, s.decay = decay;
    s.scale1 = 1.f / (1.f - powf(beta1, step)), s.scale2 = 1.f / (1.f - powf(beta2, step));
    for (int64_t done = 0; done < n; done += PIECE) {
        const unsigned count = (unsigned)std::min(PIECE, n - done);
        adam_kernel<<<(count + 511) / 512, 128, 0, stream>>>(p + done, m + done, v + done, copy + done, g + done, count, s);
    }
}
