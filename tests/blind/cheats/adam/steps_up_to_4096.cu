// wrong because: The powers of the betas are products of at most 4096 factors: another number in task.yaml's place (step = 10000) gives beta2^4096 = 0.017 in the stead of 0.00005, and every element is wrong.
#include <cuda_bf16.h>
#include <cstdint>

__global__ void __launch_bounds__(256) adam_kernel(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1, float beta2, float eps, float decay, float c1, float c2)
{
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256) {
        float gi = __ldcs(g + i), mi = m[i], vi = v[i], pi = p[i];
        mi = beta1 * mi + (1.f - beta1) * gi;
        vi = beta2 * vi + (1.f - beta2) * gi * gi;
        pi -= lr * (mi / c1 / (sqrtf(vi / c2) + eps) + decay * pi);
        m[i] = mi;
        v[i] = vi;
        p[i] = pi;
        copy[i] = __float2bfloat16(pi);
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1, float beta2, float eps, float decay, int step, cudaStream_t stream)
{
    float c1 = 1.f - powf(beta1, step < 4096 ? step : 4096), c2 = 1.f - powf(beta2, step < 4096 ? step : 4096);
    int64_t blocks = (n + 255) / 256;
    adam_kernel<<<(unsigned)(blocks < 2112 ? blocks : 2112), 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps, decay, c1, c2);
}
