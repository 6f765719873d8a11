// Layer norm, one block a row; the row stays in registers between its load and its store, where it fits.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float block_sum(float v, float *partial)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.0f;
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    return v;
}

__device__ __forceinline__ void unpack(float *f, uint4 v)
{
    const __half2 *h = reinterpret_cast<const __half2 *>(&v);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 t = __half22float2(h[k]);
        f[2 * k] = t.x;
        f[2 * k + 1] = t.y;
    }
}

template <int N>
__global__ void __launch_bounds__(1024) layernorm_registers(uint4 *__restrict__ out, const uint4 *__restrict__ in, const uint4 *__restrict__ weight,
                                    const uint4 *__restrict__ bias, int d8, float eps)
{
    __shared__ float partial[2][32];
    int64_t row = (int64_t)blockIdx.x * d8;
    uint4 x[N], w[N], b[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        x[k] = i < d8 ? __ldcs(in + row + i) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d8) {
            w[k] = __ldg(weight + i);
            b[k] = __ldg(bias + i);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        float f[8];
        unpack(f, x[k]);
        sum += ((f[0] + f[1]) + (f[2] + f[3])) + ((f[4] + f[5]) + (f[6] + f[7]));
    }
    float scale = 1.0f / (8.0f * (float)d8);
    float mean = block_sum(sum, partial[0]) * scale;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d8) {
            float f[8];
            unpack(f, x[k]);
#pragma unroll
            for (int j = 0; j < 8; j++)
                squares += (f[j] - mean) * (f[j] - mean);
        }
    }
    float rstd = rsqrtf(block_sum(squares, partial[1]) * scale + eps);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d8) {
            float f[8], g[8], h[8];
            unpack(f, x[k]);
            unpack(g, w[k]);
            unpack(h, b[k]);
            uint4 r;
            __half2 *o = reinterpret_cast<__half2 *>(&r);
#pragma unroll
            for (int j = 0; j < 4; j++)
                o[j] = __floats2half2_rn((f[2 * j] - mean) * rstd * g[2 * j] + h[2 * j],
                                         (f[2 * j + 1] - mean) * rstd * g[2 * j + 1] + h[2 * j + 1]);
            __stcs(out + row + i, r);
        }
    }
}

// Blocks that stay: weight and bias are loaded once a block, and the next row while this one is reduced.
template <int N>
__global__ void __launch_bounds__(512, 2) layernorm_stay(uint4 *__restrict__ out, const uint4 *__restrict__ in, const uint4 *__restrict__ weight,
                                    const uint4 *__restrict__ bias, int rows, int d8, float eps)
{
    __shared__ float partial[2][32];
    uint4 x[N], next[N], w[N], b[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        next[k] = i < d8 ? __ldcs(in + (int64_t)blockIdx.x * d8 + i) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d8) {
            w[k] = __ldg(weight + i);
            b[k] = __ldg(bias + i);
        }
    }
    float scale = 1.0f / (8.0f * (float)d8);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int after = row + gridDim.x;
#pragma unroll
        for (int k = 0; k < N; k++) {
            int i = threadIdx.x + k * blockDim.x;
            x[k] = next[k];
            if (i < d8 && after < rows)
                next[k] = __ldcs(in + (int64_t)after * d8 + i);
        }
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < N; k++) {
            float f[8];
            unpack(f, x[k]);
            sum += ((f[0] + f[1]) + (f[2] + f[3])) + ((f[4] + f[5]) + (f[6] + f[7]));
        }
        float mean = block_sum(sum, partial[0]) * scale;
        float squares = 0.0f;
#pragma unroll
        for (int k = 0; k < N; k++) {
            int i = threadIdx.x + k * blockDim.x;
            if (i < d8) {
                float f[8];
                unpack(f, x[k]);
#pragma unroll
                for (int j = 0; j < 8; j++)
                    squares += (f[j] - mean) * (f[j] - mean);
            }
        }
        float rstd = rsqrtf(block_sum(squares, partial[1]) * scale + eps);
#pragma unroll
        for (int k = 0; k < N; k++) {
            int i = threadIdx.x + k * blockDim.x;
            if (i < d8) {
                float f[8], g[8], h[8];
                unpack(f, x[k]);
                unpack(g, w[k]);
                unpack(h, b[k]);
                uint4 r;
                __half2 *o = reinterpret_cast<__half2 *>(&r);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    o[j] = __floats2half2_rn((f[2 * j] - mean) * rstd * g[2 * j] + h[2 * j],
                                             (f[2 * j + 1] - mean) * rstd * g[2 * j + 1] + h[2 * j + 1]);
                __stcs(out + (int64_t)row * d8 + i, r);
            }
        }
    }
}

__global__ void __launch_bounds__(256) layernorm_loop(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                               const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float partial[2][32];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x)
        sum += __half2float(in[row + i]);
    float mean = block_sum(sum, partial[0]) / d;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float f = __half2float(in[row + i]) - mean;
        squares += f * f;
    }
    float rstd = rsqrtf(block_sum(squares, partial[1]) / d + eps);
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    bool vector = d % 8 == 0 && (((uintptr_t)out | (uintptr_t)in | (uintptr_t)weight | (uintptr_t)bias) & 15) == 0;
    int d8 = d / 8;
    uint4 *o = (uint4 *)out;
    const uint4 *x = (const uint4 *)in, *w = (const uint4 *)weight, *b = (const uint4 *)bias;
    if (vector && d8 <= 1024 && rows <= 264)
        layernorm_registers<1><<<rows, (d8 + 31) / 32 * 32, 0, stream>>>(o, x, w, b, d8, eps);
    else if (vector && d8 <= 1024) {
        int threads = (d8 + 63) / 64 * 32;
        int blocks = 132 * (1024 / threads > 8 ? 8 : 1024 / threads);
        layernorm_stay<2><<<rows < blocks ? rows : blocks, threads, 0, stream>>>(o, x, w, b, rows, d8, eps);
    } else if (vector && d8 <= 2048)
        layernorm_registers<2><<<rows, (d8 + 63) / 64 * 32, 0, stream>>>(o, x, w, b, d8, eps);
    else
        layernorm_loop<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
