// Eight outputs a thread from a window of eleven inputs in registers; what lies before the row's start is left out, as in the original. Lengths that are no multiple of 8 load one by one with guards.
#include <cuda_bf16.h>

constexpr int SPAN = 8, TAPS = 4, THREADS = 128;

template <bool SILU> __device__ __forceinline__ float finish(float acc)
{
    if constexpr (SILU)
        acc = acc / (1.0f + expf(-acc));
    return acc;
}

template <bool SILU, bool WIDE>
__global__ void __launch_bounds__(THREADS) conv(__nv_bfloat16 *__restrict__ out, const __nv_bfloat16 *__restrict__ x,
                                                const __nv_bfloat16 *__restrict__ weight,
                                                const __nv_bfloat16 *__restrict__ bias, int dim, int length)
{
    const int t0 = (blockIdx.x * THREADS + threadIdx.x) * SPAN;
    if (t0 >= length)
        return;
    const int channel = blockIdx.y;
    const size_t row = ((size_t)blockIdx.z * dim + channel) * length;

    const uint2 packed = *reinterpret_cast<const uint2 *>(weight + channel * TAPS);
    const __nv_bfloat16 *w = reinterpret_cast<const __nv_bfloat16 *>(&packed);
    float tap[TAPS];
#pragma unroll
    for (int k = 0; k < TAPS; k++)
        tap[k] = __bfloat162float(w[k]);
    const float b = __bfloat162float(bias[channel]);

    float window[TAPS - 1 + SPAN]; // x[t0 - 3] ... x[t0 + 7]
#pragma unroll
    for (int k = 0; k < TAPS - 1; k++) {
        const int at = t0 - (TAPS - 1) + k;
        window[k] = at >= 0 ? __bfloat162float(x[row + at]) : 0.0f;
    }
    if constexpr (WIDE) {
        const uint4 raw = *reinterpret_cast<const uint4 *>(x + row + t0);
        const __nv_bfloat16 *h = reinterpret_cast<const __nv_bfloat16 *>(&raw);
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            window[TAPS - 1 + k] = __bfloat162float(h[k]);
    } else {
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            window[TAPS - 1 + k] = t0 + k < length ? __bfloat162float(x[row + t0 + k]) : 0.0f;
    }

    uint4 packed_out;
    __nv_bfloat16 *y = reinterpret_cast<__nv_bfloat16 *>(&packed_out);
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        float acc = b;
#pragma unroll
        for (int k = 0; k < TAPS; k++)
            if (t0 + i + k >= TAPS - 1)
                acc += tap[k] * window[i + k];
        y[i] = __float2bfloat16(finish<SILU>(acc));
    }
    if constexpr (WIDE) {
        *reinterpret_cast<uint4 *>(out + row + t0) = packed_out;
    } else {
#pragma unroll
        for (int i = 0; i < SPAN; i++)
            if (t0 + i < length)
                out[row + t0 + i] = y[i];
    }
}

extern "C" void causal_conv1d(__nv_bfloat16 *out, const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                              const __nv_bfloat16 *bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream)
{
    dim3 grid((length + THREADS * SPAN - 1) / (THREADS * SPAN), dim, batch);
    const bool wide = length % SPAN == 0;
    auto kernel = silu ? (wide ? conv<true, true> : conv<true, false>) : (wide ? conv<false, true> : conv<false, false>);
    kernel<<<grid, THREADS, 0, stream>>>(out, x, weight, bias, dim, length);
}
