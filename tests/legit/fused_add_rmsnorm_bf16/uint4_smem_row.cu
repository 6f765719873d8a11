// expect: correct
// Vectors of eight, the row in shared memory.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>
namespace {
constexpr int kThreads = 256;
constexpr int kMaxShared = 96 * 1024;
union Pack { uint4 u; __nv_bfloat162 h[4]; __nv_bfloat16 s[8]; };

__inline__ __device__ float warp_sum(float v)
{
    for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
    return v;
}
__inline__ __device__ float block_sum(float v)
{
    static __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : 0.0f;
    v = warp_sum(v);
    return v;
}
template <bool kVector>
__global__ void rms(__nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ residual,
                    const __nv_bfloat16 *__restrict__ weight, int d, float eps, bool keep)
{
    extern __shared__ __align__(16) char smem[];
    __shared__ float s_scale;
    const int64_t base = (int64_t)blockIdx.x * d;
    float sum = 0.f;
    if (kVector) {
        uint4 *row = reinterpret_cast<uint4 *>(smem);
        for (int i = threadIdx.x; i < d / 8; i += blockDim.x) {
            Pack a, b;
            a.u = reinterpret_cast<uint4 *>(x + base)[i];
            b.u = reinterpret_cast<uint4 *>(residual + base)[i];
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                b.s[k] = __float2bfloat16_rn(__bfloat162float(a.s[k]) + __bfloat162float(b.s[k]));
                float f = __bfloat162float(b.s[k]);
                sum += f * f;
            }
            reinterpret_cast<uint4 *>(residual + base)[i] = b.u;
            if (keep) row[i] = b.u;
        }
        sum = block_sum(sum);
        if (threadIdx.x == 0) s_scale = rsqrtf(sum / d + eps);
        __syncthreads();
        const float scale = s_scale;
        for (int i = threadIdx.x; i < d / 8; i += blockDim.x) {
            Pack b, w;
            b.u = keep ? row[i] : reinterpret_cast<uint4 *>(residual + base)[i];
            w.u = __ldg(reinterpret_cast<const uint4 *>(weight) + i);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                float2 f = __bfloat1622float2(b.h[k]), g = __bfloat1622float2(w.h[k]);
                b.h[k] = __float22bfloat162_rn(make_float2(f.x * scale * g.x, f.y * scale * g.y));
            }
            reinterpret_cast<uint4 *>(x + base)[i] = b.u;
        }
    } else {
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            __nv_bfloat16 v = __float2bfloat16((float)x[base + i] + (float)residual[base + i]);
            residual[base + i] = v;
            sum += (float)v * (float)v;
        }
        sum = block_sum(sum);
        if (threadIdx.x == 0) s_scale = rsqrtf(sum / d + eps);
        __syncthreads();
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            x[base + i] = __float2bfloat16((float)residual[base + i] * s_scale * (float)weight[i]);
    }
}
} // namespace
extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight, int rows,
                                  int d, float eps, cudaStream_t stream)
{
    if (d % 8 == 0) {
        const size_t bytes = (size_t)d * sizeof(__nv_bfloat16);
        const bool keep = bytes <= kMaxShared;
        auto kernel = rms<true>;
        if (keep && bytes > 48 * 1024)
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxShared);
        kernel<<<rows, kThreads, keep ? bytes : 0, stream>>>(x, residual, weight, d, eps, keep);
    } else {
        rms<false><<<rows, kThreads, 0, stream>>>(x, residual, weight, d, eps, false);
    }
}
