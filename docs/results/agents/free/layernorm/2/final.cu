// out = (in - mean) / sqrt(variance + eps) * weight + bias over each row, one kernel: the row stays in registers.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// The sum over the block in every thread; `partial` is used once only.
template <int THREADS> __device__ __forceinline__ float block_sum(float v, float *partial)
{
    constexpr int WARPS = THREADS / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    if (WARPS <= 8) {
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += partial[w];
        return sum;
    }
    return warp_sum(lane < WARPS ? partial[lane] : 0.0f);
}

// Two sums over the block at once, in every thread.
template <int THREADS> __device__ __forceinline__ float2 block_sums(float x, float y, float2 *partial)
{
    constexpr int WARPS = THREADS / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, s);
        y += __shfl_xor_sync(0xffffffffu, y, s);
    }
    if (lane == 0)
        partial[warp] = make_float2(x, y);
    __syncthreads();
    x = y = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        float2 p = partial[w];
        x += p.x;
        y += p.y;
    }
    return make_float2(x, y);
}

// The values less the row's first one are summed, and their squares: one pass without much cancellation.
template <int THREADS, int COUNT>
__global__ void __launch_bounds__(THREADS)
    layernorm_row(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                  const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float2 partial[THREADS / 32];
    const int vectors = d / VEC;
    const uint4 *source = reinterpret_cast<const uint4 *>(in) + (int64_t)blockIdx.x * vectors;
    uint4 *target = reinterpret_cast<uint4 *>(out) + (int64_t)blockIdx.x * vectors;
    vec8 v[COUNT], w[COUNT], b[COUNT];
    const float shift = __half2float(*reinterpret_cast<const __half *>(source));
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        int i = threadIdx.x + u * THREADS;
        v[u].bits = make_uint4(0, 0, 0, 0);
        if (i < vectors)
            v[u].bits = __ldcs(source + i);
    }
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        int i = threadIdx.x + u * THREADS;
        if (i < vectors) {
            w[u].bits = __ldg(reinterpret_cast<const uint4 *>(weight) + i);
            b[u].bits = __ldg(reinterpret_cast<const uint4 *>(bias) + i);
        }
    }
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int u = 0; u < COUNT; u++)
        if (threadIdx.x + u * THREADS < vectors)
#pragma unroll
            for (int k = 0; k < VEC / 2; k++) {
                float2 f = __half22float2(v[u].pair[k]);
                f.x -= shift;
                f.y -= shift;
                sum += f.x + f.y;
                squares += f.x * f.x + f.y * f.y;
            }
    const float2 sums = block_sums<THREADS>(sum, squares, partial);
    const float part = 1.0f / d;
    const float off = sums.x * part;
    const float mean = shift + off;
    const float scale = rsqrtf(fmaxf(sums.y * part - off * off, 0.0f) + eps);
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        int i = threadIdx.x + u * THREADS;
        if (i < vectors) {
            vec8 r;
#pragma unroll
            for (int k = 0; k < VEC / 2; k++) {
                float2 f = __half22float2(v[u].pair[k]);
                float2 g = __half22float2(w[u].pair[k]), h = __half22float2(b[u].pair[k]);
                r.pair[k] = __floats2half2_rn((f.x - mean) * scale * g.x + h.x, (f.y - mean) * scale * g.y + h.y);
            }
            __stcs(target + i, r.bits);
        }
    }
}

__global__ void __launch_bounds__(512)
    layernorm_any(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                  const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float partial[2][16];
    const __half *source = in + (int64_t)blockIdx.x * d;
    __half *target = out + (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += 512)
        sum += __half2float(source[i]);
    const float mean = block_sum<512>(sum, partial[0]) / d;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += 512) {
        float f = __half2float(source[i]) - mean;
        squares += f * f;
    }
    const float scale = rsqrtf(block_sum<512>(squares, partial[1]) / d + eps);
    for (int64_t i = threadIdx.x; i < d; i += 512)
        target[i] = __float2half((__half2float(source[i]) - mean) * scale * __half2float(weight[i]) +
                                 __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    const bool aligned = d % VEC == 0 && (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0 &&
                         (uintptr_t)weight % 16 == 0 && (uintptr_t)bias % 16 == 0;
    const int vectors = d / VEC;
    if (!aligned || vectors > 2048)
        layernorm_any<<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors > 1024)
        layernorm_row<512, 4><<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors <= 256)
        layernorm_row<128, 2><<<rows, 128, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (rows <= 528 && vectors <= 512)
        layernorm_row<512, 1><<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (rows <= 264 && vectors <= 640)
        layernorm_row<640, 1><<<rows, 640, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors <= 512)
        layernorm_row<256, 2><<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors <= 640)
        layernorm_row<320, 2><<<rows, 320, 0, stream>>>(out, in, weight, bias, d, eps);
    else
        layernorm_row<256, 4><<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
