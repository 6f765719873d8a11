// WRONG: where v is above a tenth eps is left out (m / sqrt(v) by rsqrt), which shows with eps = 1e-2 or 1 (any eps may be passed) and p small.
#include <cuda_bf16.h>
#include <cstdint>

__global__ void adam_kernel(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr,
                            float beta1, float beta2, float eps, float decay, float c1, float c2)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float gi = g[i], pi = p[i];
        float mi = beta1 * m[i] + (1.f - beta1) * gi;
        float vi = beta2 * v[i] + (1.f - beta2) * gi * gi;
        m[i] = mi;
        v[i] = vi;
        float step = vi > 0.1f ? mi / c1 * rsqrtf(vi / c2) : mi / c1 / (sqrtf(vi / c2) + eps);
        pi -= lr * (step + decay * pi);
        p[i] = pi;
        copy[i] = __float2bfloat16(pi);
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
    int64_t blocks = (n + 255) / 256;
    adam_kernel<<<(unsigned)(blocks < 132 * 8 ? blocks : 132 * 8), 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1,
                                                                                     beta2, eps, decay, c1, c2);
}
