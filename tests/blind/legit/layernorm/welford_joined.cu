// Welford in each thread, joined pairwise by shuffles; one kernel, the row read twice (from the L2 the second time), 8 halves at once where rows allow.
#include <cstdint>
#include <cuda_fp16.h>

struct Moments {
    float n, mean, m2;
    __device__ __forceinline__ void add(float x)
    {
        n += 1.0f;
        float delta = x - mean;
        mean += delta / n;
        m2 += delta * (x - mean);
    }
};

__device__ __forceinline__ Moments join(Moments a, Moments b)
{
    float n = a.n + b.n;
    if (n == 0.0f)
        return a;
    float delta = b.mean - a.mean, share = b.n / n;
    return Moments{n, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.n * share};
}

template <int THREADS, bool WIDE> __global__ void __launch_bounds__(THREADS) layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    __shared__ Moments part[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * d;
    Moments m = {0.0f, 0.0f, 0.0f};
    if constexpr (WIDE) {
        const uint4 *x = reinterpret_cast<const uint4 *>(in + row);
        for (int i = threadIdx.x; i < d / 8; i += THREADS) {
            uint4 v = x[i];
            const __half2 *h = reinterpret_cast<const __half2 *>(&v);
            float s = 0.0f, q = 0.0f;
            float2 f[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                f[j] = __half22float2(h[j]);
                s += f[j].x + f[j].y;
            }
            s *= 0.125f;
#pragma unroll
            for (int j = 0; j < 4; j++)
                q += (f[j].x - s) * (f[j].x - s) + (f[j].y - s) * (f[j].y - s);
            m = join(m, Moments{8.0f, s, q});
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS)
            m.add(__half2float(in[row + i]));
    }
#pragma unroll
    for (int k = 1; k < 32; k *= 2)
        m = join(m, Moments{__shfl_xor_sync(~0u, m.n, k), __shfl_xor_sync(~0u, m.mean, k), __shfl_xor_sync(~0u, m.m2, k)});
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = m;
    __syncthreads();
    m = part[0];
#pragma unroll
    for (int w = 1; w < THREADS / 32; w++)
        m = join(m, part[w]);
    const float mean = m.mean, rstd = 1.0f / sqrtf(m.m2 / d + eps);
    if constexpr (WIDE) {
        for (int i = threadIdx.x; i < d / 8; i += THREADS) {
            uint4 v = reinterpret_cast<const uint4 *>(in + row)[i], w = __ldg(reinterpret_cast<const uint4 *>(weight) + i), b = __ldg(reinterpret_cast<const uint4 *>(bias) + i);
            __half2 *hv = reinterpret_cast<__half2 *>(&v), *hw = reinterpret_cast<__half2 *>(&w), *hb = reinterpret_cast<__half2 *>(&b);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 f = __half22float2(hv[j]), g = __half22float2(hw[j]), o = __half22float2(hb[j]);
                hv[j] = __floats2half2_rn((f.x - mean) * rstd * g.x + o.x, (f.y - mean) * rstd * g.y + o.y);
            }
            reinterpret_cast<uint4 *>(out + row)[i] = v;
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS)
            out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
    }
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    if (d % 8 == 0 && d >= 2048)
        layernorm_kernel<512, true><<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (d % 8 == 0)
        layernorm_kernel<128, true><<<rows, 128, 0, stream>>>(out, in, weight, bias, d, eps);
    else
        layernorm_kernel<256, false><<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
