// wrong because: A persistent grid of 1056 blocks; the partial sums of the next row are written while a slow warp may still read those of the last one: a race for more than 1056 rows.
#include <cstdint>

template <int THREADS> __global__ void __launch_bounds__(THREADS) rms_kernel(float *x, float *residual, const float *weight, int rows, int d, float eps)
{
    __shared__ float part[THREADS / 32];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float *px = x + (int64_t)r * d, *pr = residual + (int64_t)r * d;
        float sum = 0.0f;
        if (d % 4 == 0) {
            for (int i = threadIdx.x; i < d / 4; i += THREADS) {
                float4 a = reinterpret_cast<float4 *>(px)[i], b = reinterpret_cast<float4 *>(pr)[i];
                b.x += a.x; b.y += a.y; b.z += a.z; b.w += a.w;
                reinterpret_cast<float4 *>(pr)[i] = b;
                sum += b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
            }
        } else {
            for (int i = threadIdx.x; i < d; i += THREADS) {
                float v = px[i] + pr[i];
                pr[i] = v;
                sum += v * v;
            }
        }
#pragma unroll
        for (int k = 16; k; k >>= 1)
            sum += __shfl_xor_sync(~0u, sum, k);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = sum;
        __syncthreads();
        sum = 0.0f;
#pragma unroll
        for (int w = 0; w < THREADS / 32; w++)
            sum += part[w];
        float scale = rsqrtf(sum / d + eps);
        if (d % 4 == 0) {
            for (int i = threadIdx.x; i < d / 4; i += THREADS) {
                float4 b = reinterpret_cast<float4 *>(pr)[i], w = reinterpret_cast<const float4 *>(weight)[i];
                reinterpret_cast<float4 *>(px)[i] = make_float4(b.x * scale * w.x, b.y * scale * w.y, b.z * scale * w.z, b.w * scale * w.w);
            }
        } else {
            for (int i = threadIdx.x; i < d; i += THREADS)
                px[i] = pr[i] * scale * weight[i];
        }
    }
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    rms_kernel<256><<<rows < 1056 ? rows : 1056, 256, 0, stream>>>(x, residual, weight, rows, d, eps);
}
