// Largest value and sum of exponentials in one online pass, then the quotients; float4 where the width allows. A thread without elements has (-inf, 0), which the merge leaves out.
#include <cfloat>
#include <cstdint>
#include <math_constants.h>

struct Running {
    float most;
    float sum;
};

__device__ __forceinline__ Running merge(Running a, Running b)
{
    const float most = fmaxf(a.most, b.most);
    Running r;
    r.most = most;
    // A side that saw nothing has the sum 0; its exponent could be -inf - -inf.
    r.sum = (a.most == most ? a.sum : a.sum * expf(a.most - most)) + (b.most == most ? b.sum : b.sum * expf(b.most - most));
    return r;
}

template <int THREADS> __device__ Running merge_block(Running mine)
{
    __shared__ Running warps[THREADS / 32];
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
        Running other;
        other.most = __shfl_xor_sync(0xffffffffu, mine.most, mask);
        other.sum = __shfl_xor_sync(0xffffffffu, mine.sum, mask);
        mine = merge(mine, other);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = mine;
    __syncthreads();
    Running all = warps[0];
    for (int w = 1; w < THREADS / 32; w++)
        all = merge(all, warps[w]);
    return all;
}

template <int THREADS, bool WIDE>
__global__ void __launch_bounds__(THREADS) softmax_online(float *__restrict__ out, const float *__restrict__ in, int d)
{
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    Running mine = {-CUDART_INF_F, 0.0f};

    if constexpr (WIDE) {
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            const float4 v = __ldg(reinterpret_cast<const float4 *>(x) + i);
            const float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
            if (most > mine.most) {
                mine.sum *= expf(mine.most - most);
                mine.most = most;
            }
            mine.sum += expf(v.x - mine.most) + expf(v.y - mine.most) + (expf(v.z - mine.most) + expf(v.w - mine.most));
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS) {
            const float v = __ldg(x + i);
            if (v > mine.most) {
                mine.sum *= expf(mine.most - v);
                mine.most = v;
            }
            mine.sum += expf(v - mine.most);
        }
    }

    const Running all = merge_block<THREADS>(mine);
    const float most = all.most, inverse = 1.0f / all.sum;

    if constexpr (WIDE) {
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            float4 v = __ldg(reinterpret_cast<const float4 *>(x) + i);
            v.x = expf(v.x - most) * inverse;
            v.y = expf(v.y - most) * inverse;
            v.z = expf(v.z - most) * inverse;
            v.w = expf(v.w - most) * inverse;
            __stcs(reinterpret_cast<float4 *>(y) + i, v);
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS)
            y[i] = expf(x[i] - most) * inverse;
    }
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    const bool wide = d % 4 == 0;
    if (d <= 2048) {
        if (wide)
            softmax_online<128, true><<<rows, 128, 0, stream>>>(out, in, d);
        else
            softmax_online<128, false><<<rows, 128, 0, stream>>>(out, in, d);
    } else {
        if (wide)
            softmax_online<1024, true><<<rows, 1024, 0, stream>>>(out, in, d);
        else
            softmax_online<1024, false><<<rows, 1024, 0, stream>>>(out, in, d);
    }
}
