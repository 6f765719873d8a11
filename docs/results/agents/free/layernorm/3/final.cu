// Layer norm, one block per row in one kernel: the row stays in registers as 16-byte vectors, one barrier for the
// statistics (a warp's mean and squares about it, combined exactly).
#include <cstdint>
#include <cuda_fp16.h>

union vec8 {
    uint4 bits;
    __half2 pair[4];
};

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

template <int N, int MOST, int BLOCKS, bool EARLY>
__global__ void __launch_bounds__(MOST, BLOCKS)
    layernorm_vec(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                  const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float4 figures[32];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, threads = blockDim.x;
    const int vectors = d / 8;
    const int64_t row = (int64_t)blockIdx.x * d;
    const uint4 *x = reinterpret_cast<const uint4 *>(in + row);
    const uint4 *wv = reinterpret_cast<const uint4 *>(weight);
    const uint4 *bv = reinterpret_cast<const uint4 *>(bias);
    uint4 *y = reinterpret_cast<uint4 *>(out + row);
    vec8 v[N], w[N], b[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = tid + k * threads;
        v[k].bits = i < vectors ? __ldcs(x + i) : make_uint4(0, 0, 0, 0);
    }
    if (EARLY) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const int i = tid + k * threads;
            if (i < vectors) {
                w[k].bits = __ldg(wv + i);
                b[k].bits = __ldg(bv + i);
            }
        }
    }
    float sum = 0.0f;
    int valid = 0;
#pragma unroll
    for (int k = 0; k < N; k++) {
        float2 a = __half22float2(v[k].pair[0]), c = __half22float2(v[k].pair[1]);
        float2 e = __half22float2(v[k].pair[2]), f = __half22float2(v[k].pair[3]);
        sum += ((a.x + a.y) + (c.x + c.y)) + ((e.x + e.y) + (f.x + f.y));
        valid += min(max(vectors - (k * threads + warp * 32), 0), 32);
    }
    sum = warp_sum(sum);
    const float number = 8.0f * valid;
    const float own = valid > 0 ? sum / number : 0.0f;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (tid + k * threads < vectors) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 a = __half22float2(v[k].pair[j]);
                const float p = a.x - own, q = a.y - own;
                squares += p * p + q * q;
            }
        }
    }
    squares = warp_sum(squares);
    if (lane == 0)
        figures[warp] = make_float4(sum, squares, own, number);
    __syncthreads();
    const float4 f = lane < threads / 32 ? figures[lane] : make_float4(0, 0, 0, 0);
    const float mean = warp_sum(f.x) / d;
    const float away = f.z - mean;
    const float variance = warp_sum(f.y + f.w * away * away) / d;
    const float scale = rsqrtf(variance + eps);
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = tid + k * threads;
        if (i < vectors) {
            if (!EARLY) {
                w[k].bits = __ldg(wv + i);
                b[k].bits = __ldg(bv + i);
            }
            vec8 r;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 a = __half22float2(v[k].pair[j]);
                const float2 g = __half22float2(w[k].pair[j]), h = __half22float2(b[k].pair[j]);
                r.pair[j] = __floats2half2_rn((a.x - mean) * scale * g.x + h.x, (a.y - mean) * scale * g.y + h.y);
            }
            __stcs(y + i, r.bits);
        }
    }
}

__device__ __forceinline__ float block_sum(float v, float *partial)
{
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.0f);
}

__global__ void __launch_bounds__(256)
    layernorm_plain(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                    const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float p1[32], p2[32];
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        sum += __half2float(in[row + i]);
    const float mean = block_sum(sum, p1) / d;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        const float away = __half2float(in[row + i]) - mean;
        squares += away * away;
    }
    const float scale = rsqrtf(block_sum(squares, p2) / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * scale * __half2float(weight[i]) +
                                    __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    const bool aligned =
        d % 8 == 0 && ((uintptr_t)out | (uintptr_t)in | (uintptr_t)weight | (uintptr_t)bias) % 16 == 0;
    const int vectors = d / 8;
    if (!aligned || vectors > 4096)
        layernorm_plain<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (rows <= 264 && vectors <= 1024)
        layernorm_vec<1, 1024, 1, true><<<rows, (vectors + 31) / 32 * 32, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors <= 1024)
        layernorm_vec<2, 512, 3, false><<<rows, (vectors + 63) / 64 * 32, 0, stream>>>(out, in, weight, bias, d, eps);
    else if (vectors <= 2048)
        layernorm_vec<2, 1024, 1, true><<<rows, (vectors + 63) / 64 * 32, 0, stream>>>(out, in, weight, bias, d, eps);
    else
        layernorm_vec<4, 1024, 1, false><<<rows, (vectors + 127) / 128 * 32, 0, stream>>>(out, in, weight, bias, d,
                                                                                         eps);
}
