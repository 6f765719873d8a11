// residual += x; x = residual / rms(residual) * weight; a block per row, the row in registers, one barrier.
#include <cstdint>

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

__device__ __forceinline__ float block_sum(float v, float *partial)
{
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.0f);
}

template <int N, int MOST, bool EARLY>
__global__ void __launch_bounds__(MOST)
    rmsnorm_vec(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d,
                float eps)
{
    __shared__ float partial[32];
    const int tid = threadIdx.x, threads = blockDim.x, vectors = d / 4;
    const int64_t row = (int64_t)blockIdx.x * d;
    float4 *xv = reinterpret_cast<float4 *>(x + row);
    float4 *rv = reinterpret_cast<float4 *>(residual + row);
    const float4 *wv = reinterpret_cast<const float4 *>(weight);
    float4 v[N], r[N], w[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = tid + k * threads;
        v[k] = i < vectors ? __ldcs(xv + i) : make_float4(0, 0, 0, 0);
        r[k] = i < vectors ? __ldcs(rv + i) : make_float4(0, 0, 0, 0);
    }
    if (EARLY) {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (tid + k * threads < vectors)
                w[k] = __ldg(wv + tid + k * threads);
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        v[k].x += r[k].x;
        v[k].y += r[k].y;
        v[k].z += r[k].z;
        v[k].w += r[k].w;
        sum += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (tid + k * threads < vectors)
            __stcs(rv + tid + k * threads, v[k]);
    const float scale = rsqrtf(block_sum(sum, partial) / d + eps);
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = tid + k * threads;
        if (i < vectors) {
            if (!EARLY)
                w[k] = __ldg(wv + i);
            __stcs(xv + i, make_float4(v[k].x * scale * w[k].x, v[k].y * scale * w[k].y, v[k].z * scale * w[k].z,
                                       v[k].w * scale * w[k].w));
        }
    }
}

__global__ void __launch_bounds__(512)
    rmsnorm_plain(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d,
                  float eps)
{
    __shared__ float partial[32];
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        const float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    const float scale = rsqrtf(block_sum(sum, partial) / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool aligned = d % 4 == 0 && ((uintptr_t)x | (uintptr_t)residual | (uintptr_t)weight) % 16 == 0;
    const int vectors = d / 4;
    if (!aligned || vectors > 4096)
        rmsnorm_plain<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (rows <= 132 && vectors <= 1024)
        rmsnorm_vec<1, 1024, true><<<rows, (vectors + 31) / 32 * 32, 0, stream>>>(x, residual, weight, d, eps);
    else if (vectors <= 1024)
        rmsnorm_vec<2, 512, true><<<rows, (vectors + 63) / 64 * 32, 0, stream>>>(x, residual, weight, d, eps);
    else if (vectors <= 2048)
        rmsnorm_vec<2, 1024, true><<<rows, (vectors + 63) / 64 * 32, 0, stream>>>(x, residual, weight, d, eps);
    else
        rmsnorm_vec<4, 1024, false><<<rows, (vectors + 127) / 128 * 32, 0, stream>>>(x, residual, weight, d, eps);
}
