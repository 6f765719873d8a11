// One block a row, float4 accesses, the sum kept in shared memory between the passes; odd widths go scalar, long rows are re-read from residual by the thread that wrote them.
#include <cstdint>

namespace {

constexpr int THREADS = 512;
constexpr int MOST_CACHED = 16384; // floats of a row that are kept on chip

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

__device__ __forceinline__ float block_sum(float v)
{
    __shared__ float partial[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    v = lane < THREADS / 32 ? partial[lane] : 0.0f;
    return warp_sum(v);
}

// Width 4 or 1, row cached in shared memory or not.
template <int WIDTH, bool CACHED>
__global__ void __launch_bounds__(THREADS) row_kernel(float *__restrict__ x, float *__restrict__ residual,
                                                      const float *__restrict__ weight, int d, float eps)
{
    extern __shared__ float4 cache4[];
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;

    if constexpr (WIDTH == 4) {
        const float4 *xv = reinterpret_cast<const float4 *>(x + row);
        float4 *rv = reinterpret_cast<float4 *>(residual + row);
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            float4 a = xv[i], b = rv[i];
            b.x += a.x;
            b.y += a.y;
            b.z += a.z;
            b.w += a.w;
            rv[i] = b;
            if constexpr (CACHED)
                cache4[i] = b;
            sum += b.x * b.x + b.y * b.y + (b.z * b.z + b.w * b.w);
        }
    } else {
        float *cache = reinterpret_cast<float *>(cache4);
        for (int i = threadIdx.x; i < d; i += THREADS) {
            float b = x[row + i] + residual[row + i];
            residual[row + i] = b;
            if constexpr (CACHED)
                cache[i] = b;
            sum += b * b;
        }
    }

    const float scale = 1.0f / sqrtf(block_sum(sum) / d + eps);

    // Every thread reads only what it has put down itself: no barrier is needed for the cache.
    if constexpr (WIDTH == 4) {
        float4 *xv = reinterpret_cast<float4 *>(x + row);
        const float4 *rv = reinterpret_cast<const float4 *>(residual + row);
        const float4 *wv = reinterpret_cast<const float4 *>(weight);
        for (int i = threadIdx.x; i < d / 4; i += THREADS) {
            float4 b = CACHED ? cache4[i] : rv[i];
            float4 w = __ldg(wv + i);
            b.x = b.x * scale * w.x;
            b.y = b.y * scale * w.y;
            b.z = b.z * scale * w.z;
            b.w = b.w * scale * w.w;
            xv[i] = b;
        }
    } else {
        const float *cache = reinterpret_cast<const float *>(cache4);
        for (int i = threadIdx.x; i < d; i += THREADS) {
            float b = CACHED ? cache[i] : residual[row + i];
            x[row + i] = b * scale * __ldg(weight + i);
        }
    }
}

} // namespace

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool wide = d % 4 == 0;
    if (d <= MOST_CACHED) {
        auto kernel = wide ? row_kernel<4, true> : row_kernel<1, true>;
        size_t bytes = ((size_t)d + 3) / 4 * 16;
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_CACHED * (int)sizeof(float));
        kernel<<<rows, THREADS, bytes, stream>>>(x, residual, weight, d, eps);
    } else {
        auto kernel = wide ? row_kernel<4, false> : row_kernel<1, false>;
        kernel<<<rows, THREADS, 0, stream>>>(x, residual, weight, d, eps);
    }
}
