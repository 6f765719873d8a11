// Short rows: a warp a row, held in registers between the two passes; other rows: a block a row, 8 halves a load where d is a multiple of 8, else one. Variance from differences, as the original.
#include <cstdint>
#include <cuda_fp16.h>

namespace ln {

constexpr int WARPS = 4;
constexpr int BLOCK = 512;

struct alignas(16) Eight {
    __half2 h[4];
};

__device__ __forceinline__ float warp_all(float v)
{
#pragma unroll
    for (int m = 16; m >= 1; m >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}

// VECTORS times 8 elements a lane; d % 8 == 0 and d <= 256 * VECTORS.
template <int VECTORS>
__global__ void __launch_bounds__(WARPS * 32) warp_kernel(__half *__restrict__ out, const __half *__restrict__ in,
                                                          const __half *__restrict__ weight,
                                                          const __half *__restrict__ bias, int rows, int d, float eps)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    const int64_t first = (int64_t)row * d;

    Eight held[VECTORS];
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = (v * 32 + lane) * 8;
        if (i < d) {
            held[v] = *reinterpret_cast<const Eight *>(in + first + i);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __half22float2(held[v].h[k]);
                sum += f.x + f.y;
            }
        }
    }
    const float mean = warp_all(sum) / d;

    float squares = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if ((v * 32 + lane) * 8 < d) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __half22float2(held[v].h[k]);
                float a = f.x - mean, b = f.y - mean;
                squares += a * a + b * b;
            }
        }
    const float rstd = 1.0f / sqrtf(warp_all(squares) / d + eps);

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = (v * 32 + lane) * 8;
        if (i < d) {
            const Eight w = *reinterpret_cast<const Eight *>(weight + i);
            const Eight b = *reinterpret_cast<const Eight *>(bias + i);
            Eight o;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __half22float2(held[v].h[k]), g = __half22float2(w.h[k]), c = __half22float2(b.h[k]);
                o.h[k] = __floats2half2_rn((f.x - mean) * rstd * g.x + c.x, (f.y - mean) * rstd * g.y + c.y);
            }
            *reinterpret_cast<Eight *>(out + first + i) = o;
        }
    }
}

__device__ float block_all(float v)
{
    __shared__ float s[BLOCK / 32];
    v = warp_all(v);
    __syncthreads(); // the last use of s is over
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_all(threadIdx.x % 32 < BLOCK / 32 ? s[threadIdx.x % 32] : 0.0f);
}

template <bool WIDE>
__global__ void __launch_bounds__(BLOCK) block_kernel(__half *__restrict__ out, const __half *__restrict__ in,
                                                      const __half *__restrict__ weight,
                                                      const __half *__restrict__ bias, int d, float eps)
{
    const __half *x = in + (int64_t)blockIdx.x * d;
    __half *y = out + (int64_t)blockIdx.x * d;

    // Calls f(column, value) for this thread's share of the row.
    auto each = [&](auto f) {
        if constexpr (WIDE) {
            for (int i = threadIdx.x * 8; i < d; i += BLOCK * 8) {
                const Eight v = *reinterpret_cast<const Eight *>(x + i);
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float2 t = __half22float2(v.h[k]);
                    f(t.x);
                    f(t.y);
                }
            }
        } else {
            for (int i = threadIdx.x; i < d; i += BLOCK)
                f(__half2float(x[i]));
        }
    };

    float sum = 0.0f;
    each([&](float t) { sum += t; });
    const float mean = block_all(sum) / d;
    float squares = 0.0f;
    each([&](float t) { squares += (t - mean) * (t - mean); });
    const float rstd = 1.0f / sqrtf(block_all(squares) / d + eps);

    if constexpr (WIDE) {
        for (int i = threadIdx.x * 8; i < d; i += BLOCK * 8) {
            const Eight v = *reinterpret_cast<const Eight *>(x + i);
            const Eight w = *reinterpret_cast<const Eight *>(weight + i);
            const Eight b = *reinterpret_cast<const Eight *>(bias + i);
            Eight o;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __half22float2(v.h[k]), g = __half22float2(w.h[k]), c = __half22float2(b.h[k]);
                o.h[k] = __floats2half2_rn((f.x - mean) * rstd * g.x + c.x, (f.y - mean) * rstd * g.y + c.y);
            }
            *reinterpret_cast<Eight *>(y + i) = o;
        }
    } else {
        for (int i = threadIdx.x; i < d; i += BLOCK)
            y[i] = __float2half((__half2float(x[i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
    }
}

} // namespace ln

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream)
{
    const int blocks = (rows + ln::WARPS - 1) / ln::WARPS;
    if (d % 8 == 0 && d <= 256)
        ln::warp_kernel<1><<<blocks, ln::WARPS * 32, 0, stream>>>(out, in, weight, bias, rows, d, eps);
    else if (d % 8 == 0 && d <= 512)
        ln::warp_kernel<2><<<blocks, ln::WARPS * 32, 0, stream>>>(out, in, weight, bias, rows, d, eps);
    else if (d % 8 == 0 && d <= 1024)
        ln::warp_kernel<4><<<blocks, ln::WARPS * 32, 0, stream>>>(out, in, weight, bias, rows, d, eps);
    else if (d % 8 == 0)
        ln::block_kernel<true><<<rows, ln::BLOCK, 0, stream>>>(out, in, weight, bias, d, eps);
    else
        ln::block_kernel<false><<<rows, ln::BLOCK, 0, stream>>>(out, in, weight, bias, d, eps);
}
