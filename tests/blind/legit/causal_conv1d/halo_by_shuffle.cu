// A warp goes along a row, eight (or one) numbers a lane; the three before come from the lane to the left by shuffles.
#include <cuda_bf16.h>
#include <cstdint>

enum form { ONE = 1, EIGHT = 8 };

template <form N> __global__ void __launch_bounds__(128) conv(uint16_t *out, const uint16_t *x, const uint16_t *weight, const uint16_t *bias, int64_t rows, int dim, int length, bool silu)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = (int64_t)blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows)
        return;
    const int channel = (int)(row % dim);
    float w[4], b = __uint_as_float((unsigned)bias[channel] << 16), tail[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 4; k++)
        w[k] = __uint_as_float((unsigned)weight[channel * 4 + k] << 16);
    const uint16_t *from = x + row * length;
    uint16_t *to = out + row * length;
    for (int t0 = 0; t0 < length; t0 += 32 * N) {
        const int t = t0 + lane * N;
        float v[N + 3];
        uint16_t raw[N] = {};
        if (t < length) {
            if constexpr (N == EIGHT)
                *reinterpret_cast<uint4 *>(raw) = *reinterpret_cast<const uint4 *>(from + t);
            else
                raw[0] = from[t];
        }
        for (int j = 0; j < N; j++)
            v[3 + j] = __uint_as_float((unsigned)raw[j] << 16);
        if constexpr (N == EIGHT) {
            for (int j = 0; j < 3; j++) {
                const float left = __shfl_up_sync(~0u, v[N + j], 1);
                const float last = __shfl_sync(~0u, v[N + j], 31);
                v[j] = lane ? left : tail[j];
                tail[j] = last;
            }
        } else {
            for (int j = 0; j < 3; j++) {
                const float left = __shfl_sync(~0u, v[3], (lane + j + 29) % 32);
                v[j] = lane + j >= 3 ? left : tail[(lane + j) % 3];
            }
            for (int j = 0; j < 3; j++)
                tail[j] = __shfl_sync(~0u, v[3], 29 + j);
        }
        for (int j = 0; j < N; j++) {
            float acc = fmaf(w[3], v[j + 3], fmaf(w[2], v[j + 2], fmaf(w[1], v[j + 1], fmaf(w[0], v[j], b))));
            if (silu)
                acc = acc / (1.0f + expf(-acc));
            raw[j] = __bfloat16_as_ushort(__float2bfloat16(acc));
        }
        if (t < length) {
            if constexpr (N == EIGHT)
                *reinterpret_cast<uint4 *>(to + t) = *reinterpret_cast<uint4 *>(raw);
            else
                to[t] = raw[0];
        }
    }
}

extern "C" void causal_conv1d(__nv_bfloat16 *out, const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias, int batch, int dim, int length, bool silu, cudaStream_t stream)
{
    const int64_t rows = (int64_t)batch * dim;
    const auto blocks = static_cast<unsigned>((rows + 3) / 4);
    auto kernel = length % EIGHT == 0 ? conv<EIGHT> : conv<ONE>;
    kernel<<<blocks, 128, 0, stream>>>((uint16_t *)out, (const uint16_t *)x, (const uint16_t *)weight, (const uint16_t *)bias, rows, dim, length, silu);
}
