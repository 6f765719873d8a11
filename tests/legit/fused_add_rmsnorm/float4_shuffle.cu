// expect: correct
// Vectors of four, sums by shuffles.
#include <cuda_runtime.h>

template <int THREADS>
__device__ __forceinline__ float block_reduce(float v)
{
    static_assert(THREADS % 32 == 0, "whole warps");
    __shared__ float partial[THREADS / 32];
    #pragma unroll
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, o);
    if ((threadIdx.x & 31) == 0)
        partial[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < THREADS / 32 ? partial[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32) {
        #pragma unroll
        for (int o = 16; o > 0; o >>= 1)
            v += __shfl_down_sync(0xffffffff, v, o);
        if (threadIdx.x == 0)
            partial[0] = v;
    }
    __syncthreads();
    return partial[0];
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
rms(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d, float eps)
{
    const size_t row = (size_t)blockIdx.x * d;
    float sum = 0.0f;
    if (d % 4 == 0) {
        float4 *x4 = reinterpret_cast<float4 *>(x + row);
        float4 *r4 = reinterpret_cast<float4 *>(residual + row);
        const float4 *w4 = reinterpret_cast<const float4 *>(weight);
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            float4 a = x4[i], b = r4[i];
            b.x += a.x; b.y += a.y; b.z += a.z; b.w += a.w;
            r4[i] = b;
            sum = fmaf(b.x, b.x, sum);
            sum = fmaf(b.y, b.y, sum);
            sum = fmaf(b.z, b.z, sum);
            sum = fmaf(b.w, b.w, sum);
        }
        const float scale = rsqrtf(block_reduce<THREADS>(sum) / d + eps);
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            float4 b = r4[i], w = __ldg(&w4[i]);
            x4[i] = make_float4(b.x * scale * w.x, b.y * scale * w.y, b.z * scale * w.z, b.w * scale * w.w);
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS) {
            float b = residual[row + i] + x[row + i];
            residual[row + i] = b;
            sum += b * b;
        }
        const float scale = rsqrtf(block_reduce<THREADS>(sum) / d + eps);
        for (int i = threadIdx.x; i < d; i += THREADS)
            x[row + i] = residual[row + i] * scale * __ldg(&weight[i]);
    }
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    if (d >= 4096)
        rms<1024><<<rows, 1024, 0, stream>>>(x, residual, weight, d, eps);
    else
        rms<256><<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
