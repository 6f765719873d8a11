// WRONG: the index is an unsigned of 32 bits that a grid's stride is added to; n above 2^32 - 270336 (4294967296 in particular) wraps and never ends.
#include <cstdint>

__global__ void adamw_kernel(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1, float beta2,
                             float eps, float decay)
{
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float gradient = __ldcs(g + i), old = p[i];
        float first = beta1 * m[i] + (1.0f - beta1) * gradient;
        float second = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
        m[i] = first;
        v[i] = second;
        p[i] = old - rate * (first / (sqrtf(second) + eps) + decay * old);
    }
}

extern "C" void adamw(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1, float beta2,
                      float eps, float decay, cudaStream_t stream)
{
    int64_t blocks = (n + 255) / 256;
    adamw_kernel<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256, 0, stream>>>(p, m, v, g, n, rate, beta1, beta2, eps,
                                                                                decay);
}
