// wrong because: The sum that this thread has just stored to residual is read again by ld.global.nc (__ldg), which need not see it: residual is written during the kernel. Undefined for every shape.
#include <cstdint>

__global__ void __launch_bounds__(512) rms_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float part[16];
    float *px = x + (int64_t)blockIdx.x * d, *pr = residual + (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    int vectors = d % 4 ? 0 : d / 4;
    for (int i = threadIdx.x; i < vectors; i += 512) {
        float4 a = __ldcs(reinterpret_cast<float4 *>(px) + i), b = reinterpret_cast<float4 *>(pr)[i];
        b.x += a.x; b.y += a.y; b.z += a.z; b.w += a.w;
        reinterpret_cast<float4 *>(pr)[i] = b;
        sum += b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
    }
    for (int i = vectors * 4 + threadIdx.x; i < d; i += 512) {
        float v = px[i] + pr[i];
        pr[i] = v;
        sum += v * v;
    }
#pragma unroll
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
#pragma unroll
    for (int w = 0; w < 16; w++)
        sum += part[w];
    float scale = rsqrtf(sum / d + eps);
    for (int i = threadIdx.x; i < vectors; i += 512) {
        float4 b = __ldg(reinterpret_cast<const float4 *>(pr) + i), w = __ldg(reinterpret_cast<const float4 *>(weight) + i);
        reinterpret_cast<float4 *>(px)[i] = make_float4(b.x * scale * w.x, b.y * scale * w.y, b.z * scale * w.z, b.w * scale * w.w);
    }
    for (int i = vectors * 4 + threadIdx.x; i < d; i += 512)
        px[i] = __ldg(pr + i) * scale * __ldg(weight + i);
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps, cudaStream_t stream)
{
    rms_kernel<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
}
