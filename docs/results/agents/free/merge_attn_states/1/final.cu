// Merges two partial attention results by their base-2 log-sum-exp, eight elements of v a thread.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

struct Weights {
    float a, b, s;
};

__device__ __forceinline__ Weights weigh(float a, float b)
{
    float largest = fmaxf(a, b);
    bool none = largest == -CUDART_INF_F;
    float wa = none ? 0.0f : exp2f(a - largest);
    float wb = none ? 0.0f : exp2f(b - largest);
    float sum = wa + wb;
    float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    return {wa * inverse, wb * inverse, largest + log2f(sum)};
}

__device__ __forceinline__ unsigned mix(unsigned a, unsigned b, Weights w)
{
    float2 x = __half22float2(*reinterpret_cast<__half2 *>(&a));
    float2 y = __half22float2(*reinterpret_cast<__half2 *>(&b));
    __half2 r = __floats2half2_rn(x.x * w.a + y.x * w.b, x.y * w.a + y.y * w.b);
    return *reinterpret_cast<unsigned *>(&r);
}

template <typename I>
__global__ void __launch_bounds__(256) merge_vector(const uint4 *__restrict__ v_a, const float *__restrict__ s_a, const uint4 *__restrict__ v_b,
                             const float *__restrict__ s_b, uint4 *__restrict__ v, float *__restrict__ s, I total, unsigned dim8)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    uint4 x = __ldcs(v_a + i);
    uint4 y = __ldcs(v_b + i);
    I row = i / dim8;
    Weights w = weigh(__ldg(s_a + row), __ldg(s_b + row));
    uint4 r;
    r.x = mix(x.x, y.x, w);
    r.y = mix(x.y, y.y, w);
    r.z = mix(x.z, y.z, w);
    r.w = mix(x.w, y.w, w);
    __stcs(v + i, r);
    if (i - row * dim8 == 0)
        s[row] = w.s;
}

__global__ void merge_scalar(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                             const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t total, int dim)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    int64_t row = i / dim;
    Weights w = weigh(s_a[row], s_b[row]);
    v[i] = __float2half(__half2float(v_a[i]) * w.a + __half2float(v_b[i]) * w.b);
    if (i - row * dim == 0)
        s[row] = w.s;
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t total = (int64_t)tokens * heads * dim;
    bool vector = dim % 8 == 0 && (((uintptr_t)v_a | (uintptr_t)v_b | (uintptr_t)v) & 15) == 0;
    if (!vector) {
        merge_scalar<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, total, dim);
        return;
    }
    int64_t n = total / 8;
    int threads = n < 132 * 256 ? 32 : 256;
    unsigned blocks = (unsigned)((n + threads - 1) / threads);
    if (n < 0x7fff0000)
        merge_vector<unsigned><<<blocks, threads, 0, stream>>>((const uint4 *)v_a, s_a, (const uint4 *)v_b, s_b, (uint4 *)v, s, (unsigned)n, dim / 8);
    else
        merge_vector<int64_t><<<blocks, threads, 0, stream>>>((const uint4 *)v_a, s_a, (const uint4 *)v_b, s_b, (uint4 *)v, s, n, dim / 8);
}
