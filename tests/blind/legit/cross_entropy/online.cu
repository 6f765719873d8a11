// one pass, online softmax by thread over vectors of eight, merged by shuffles; scalar path where rows are not aligned.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

struct Part { float m, s; };

__device__ __forceinline__ Part merge(Part a, Part b)
{
    float m = fmaxf(a.m, b.m);
    if (m == -CUDART_INF_F)
        return Part{m, 0.f};
    return Part{m, a.s * expf(a.m - m) + b.s * expf(b.m - m)};
}

__device__ __forceinline__ Part merge_warp(Part a)
{
    for (int o = 16; o; o >>= 1) {
        Part b{__shfl_xor_sync(0xffffffffu, a.m, o), __shfl_xor_sync(0xffffffffu, a.s, o)};
        a = merge(a, b);
    }
    return a;
}

template <int V> struct alignas(2 * V) Pack { __nv_bfloat16 e[V]; };

template <int V> __global__ __launch_bounds__(512) void loss_kernel(float *__restrict__ loss, const __nv_bfloat16 *__restrict__ logits,
                                                                    const int64_t *__restrict__ target, int vocab)
{
    __shared__ Part parts[16];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    const Pack<V> *xv = reinterpret_cast<const Pack<V> *>(x);
    Part p{-CUDART_INF_F, 0.f};
    for (int i = threadIdx.x; i < vocab / V; i += 512) {
        Pack<V> a = xv[i];
        float f[V], top = -CUDART_INF_F;
#pragma unroll
        for (int e = 0; e < V; e++) {
            f[e] = __bfloat162float(a.e[e]);
            top = fmaxf(top, f[e]);
        }
        if (top > p.m) {
            p.s *= expf(p.m - top);
            p.m = top;
        }
#pragma unroll
        for (int e = 0; e < V; e++)
            p.s += expf(f[e] - p.m);
    }
    p = merge_warp(p);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = p;
    __syncthreads();
    if (threadIdx.x < 32) {
        p = threadIdx.x < 16 ? parts[threadIdx.x] : Part{-CUDART_INF_F, 0.f};
        p = merge_warp(p);
        if (threadIdx.x == 0) {
            int64_t t = target[blockIdx.x];
            loss[blockIdx.x] = t < 0 ? 0.0f : logf(p.s) + p.m - __bfloat162float(x[t]);
        }
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    if (vocab % 8 == 0)
        loss_kernel<8><<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
    else if (vocab % 2 == 0)
        loss_kernel<2><<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
    else
        loss_kernel<1><<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
}
