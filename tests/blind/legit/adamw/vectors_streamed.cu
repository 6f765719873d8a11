// RIGHT: the same operations on four parameters at a time, with hints to stream; the last n % 4 by one thread each of the first block; indices of 64 bits.
#include <cstdint>

struct step {
    float rate, beta1, beta2, eps, decay;
    __device__ void operator()(float &p, float &m, float &v, float g) const
    {
        m = beta1 * m + (1.0f - beta1) * g;
        v = beta2 * v + (1.0f - beta2) * g * g;
        p = p - rate * (m / (sqrtf(v) + eps) + decay * p);
    }
};

__global__ void adamw_kernel(float *p, float *m, float *v, const float *g, int64_t n, step one)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, vectors = n / 4;
    if (i < vectors) {
        float4 a = __ldcs((float4 *)p + i), b = __ldcs((float4 *)m + i), c = __ldcs((float4 *)v + i),
               d = __ldcs((const float4 *)g + i);
        one(a.x, b.x, c.x, d.x);
        one(a.y, b.y, c.y, d.y);
        one(a.z, b.z, c.z, d.z);
        one(a.w, b.w, c.w, d.w);
        __stcs((float4 *)p + i, a);
        __stcs((float4 *)m + i, b);
        __stcs((float4 *)v + i, c);
    }
    int64_t rest = vectors * 4 + i;
    if (i < 4 && rest < n)
        one(p[rest], m[rest], v[rest], g[rest]);
}

extern "C" void adamw(float *p, float *m, float *v, const float *g, int64_t n, float rate, float beta1, float beta2,
                      float eps, float decay, cudaStream_t stream)
{
    int64_t vectors = n / 4 + 1;
    step one = {rate, beta1, beta2, eps, decay};
    adamw_kernel<<<(unsigned)((vectors + 255) / 256), 256, 0, stream>>>(p, m, v, g, n, one);
}
