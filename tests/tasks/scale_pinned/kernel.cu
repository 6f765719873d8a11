// Each element times its column's factor, which stays in the L2.
#include <cstdint>

__device__ float factor(const float *w, uint64_t policy)
{
    float v;
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(w), "l"(policy));
    return v;
}

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * factor(w + i, policy);
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
