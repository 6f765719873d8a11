// One step of AdamW on n parameters, in place, without bias correction; one thread per parameter.
#include <cstdint>

__global__ void adamw_kernel(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1,
                             float beta2, float eps, float decay)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float gradient = g[i];
    float first = beta1 * m[i] + (1.0f - beta1) * gradient;
    float second = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
    float old = p[i];
    m[i] = first;
    v[i] = second;
    p[i] = old - rate * (first / (sqrtf(second) + eps) + decay * old);
}

extern "C" void adamw(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1, float beta2,
                      float eps, float decay, cudaStream_t stream)
{
    unsigned blocks = (unsigned)((n + 127) / 128);
    adamw_kernel<<<blocks, 128, 0, stream>>>(p, m, v, g, n, rate, beta1, beta2, eps, decay);
}
