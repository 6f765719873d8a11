// Wrong: lane 0 computes the weights of its head for the whole warp, also where dim is a multiple of 8 only and a warp (of 4 elements a lane) spans two heads.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void merge(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t total, int dim)
{
    int64_t i = ((int64_t)blockIdx.x * 128 + threadIdx.x) * 4;
    bool in = i < total;
    int64_t at = in ? i : 0, state = at / dim;
    float wa = 0, wb = 0, lse = 0;
    if (threadIdx.x % 32 == 0) {
        float a = s_a[state], b = s_b[state], m = fmaxf(a, b);
        bool none = m == -INFINITY;
        float ea = none ? 0.0f : exp2f(a - m), eb = none ? 0.0f : exp2f(b - m), sum = ea + eb;
        wa = none ? 0.0f : ea / sum;
        wb = none ? 0.0f : eb / sum;
    }
    wa = __shfl_sync(~0u, wa, 0);
    wb = __shfl_sync(~0u, wb, 0);
    if (!in)
        return;
    for (int k = 0; k < 4 && i + k < total; k++)
        v[i + k] = __float2half(__half2float(v_a[i + k]) * wa + __half2float(v_b[i + k]) * wb);
    if (i % dim == 0) {
        float a = s_a[state], b = s_b[state], m = fmaxf(a, b);
        lse = m == -INFINITY ? m : m + log2f(exp2f(a - m) + exp2f(b - m));
        s[state] = lse;
    }
}
__global__ void merge_one(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int64_t total, int dim)
{
    int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= total)
        return;
    int64_t state = i / dim;
    float a = s_a[state], b = s_b[state], m = fmaxf(a, b);
    float ea = m == -INFINITY ? 0.0f : exp2f(a - m), eb = m == -INFINITY ? 0.0f : exp2f(b - m), sum = ea + eb;
    v[i] = __float2half(sum > 0.0f ? (__half2float(v_a[i]) * ea + __half2float(v_b[i]) * eb) / sum : 0.0f);
    if (i % dim == 0)
        s[state] = m + log2f(sum);
}
extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t total = (int64_t)tokens * heads * dim;
    if (dim % 8 == 0 && dim >= 128)
        merge<<<(unsigned)((total + 511) / 512), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, total, dim);
    else
        merge_one<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, total, dim);
}
