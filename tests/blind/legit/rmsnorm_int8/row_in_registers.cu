// A row of up to 16,384 halves stays in registers (eight vectors of eight a thread at most, chosen by a template); one barrier for each reduction.
#include <cuda_fp16.h>
#include <cstdint>

template <bool MAX> __device__ __forceinline__ float over_block(float v, float *s)
{
#pragma unroll
    for (int k = 16; k; k >>= 1) {
        const float o = __shfl_xor_sync(~0u, v, k);
        v = MAX ? fmaxf(v, o) : v + o;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
#pragma unroll
    for (int w = 1; w < 8; w++)
        v = MAX ? fmaxf(v, s[w]) : v + s[w];
    return v;
}

template <int VECTORS> __global__ void __launch_bounds__(256) rms_kernel(int8_t *__restrict__ out, float *__restrict__ scales, const __half *__restrict__ in, const __half *__restrict__ weight, float eps, int hidden)
{
    __shared__ float s[2][8];
    const int64_t row = (int64_t)blockIdx.x * hidden;
    const int vectors = hidden / 8;
    float x[VECTORS][8], sum = 0.0f, most = 0.0f;
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        const int i = q * 256 + threadIdx.x;
        const uint4 v = i < vectors ? __ldcs(reinterpret_cast<const uint4 *>(in + row) + i) : make_uint4(0, 0, 0, 0);
        const __half2 *h = reinterpret_cast<const __half2 *>(&v);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float2 f = __half22float2(h[j]);
            x[q][2 * j] = f.x;
            x[q][2 * j + 1] = f.y;
            sum += f.x * f.x + f.y * f.y;
        }
    }
    const float rms = rsqrtf(over_block<false>(sum, s[0]) / hidden + eps);
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        const int i = q * 256 + threadIdx.x;
        const uint4 v = i < vectors ? __ldg(reinterpret_cast<const uint4 *>(weight) + i) : make_uint4(0, 0, 0, 0);
        const __half *h = reinterpret_cast<const __half *>(&v);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            x[q][j] = x[q][j] * rms * __half2float(h[j]);
            most = fmaxf(most, fabsf(x[q][j]));
        }
    }
    const float scale = fmaxf(over_block<true>(most, s[1]), 1e-10f) / 127.f;
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
        const int i = q * 256 + threadIdx.x;
        if (i < vectors) {
            alignas(8) int8_t r[8];
#pragma unroll
            for (int j = 0; j < 8; j++)
                r[j] = (int8_t)max(-127, min(127, __float2int_rn(x[q][j] / scale)));
            reinterpret_cast<uint2 *>(out + row)[i] = *reinterpret_cast<const uint2 *>(r);
        }
    }
}

__global__ void __launch_bounds__(256) plain_kernel(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int hidden)
{
    __shared__ float s[2][8];
    const int64_t row = (int64_t)blockIdx.x * hidden;
    float sum = 0.0f, most = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += 256) {
        const float x = __half2float(in[row + i]);
        sum += x * x;
    }
    const float rms = rsqrtf(over_block<false>(sum, s[0]) / hidden + eps);
    for (int i = threadIdx.x; i < hidden; i += 256)
        most = fmaxf(most, fabsf(__half2float(in[row + i]) * rms * __half2float(weight[i])));
    const float scale = fmaxf(over_block<true>(most, s[1]), 1e-10f) / 127.f;
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < hidden; i += 256)
        out[row + i] = (int8_t)max(-127, min(127, __float2int_rn(__half2float(in[row + i]) * rms * __half2float(weight[i]) / scale)));
}

extern "C" void rmsnorm_int8(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens, int hidden, cudaStream_t stream)
{
    if (hidden % 8)
        plain_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
    else if (hidden <= 2048)
        rms_kernel<1><<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
    else if (hidden <= 4096)
        rms_kernel<2><<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
    else if (hidden <= 6144)
        rms_kernel<3><<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
    else if (hidden <= 16384)
        rms_kernel<8><<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
