// Right: up to 16384 columns, in fours, the sum stays in registers and residual is not read again; other rows are read twice. Sums by shuffles: another order, in float, with fewer terms a thread.
#include <cstdint>
__device__ float block_sum(float v)
{
    __shared__ float warps[16];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
#pragma unroll
    for (int w = 0; w < 16; w++)
        v += warps[w];
    return v;
}
template <int N> __global__ __launch_bounds__(512) void held(float *x, float *residual, const float *weight, int d, float eps)
{
    float4 v[N];
    float4 *xs = (float4 *)(x + (int64_t)blockIdx.x * d), *rs = (float4 *)(residual + (int64_t)blockIdx.x * d);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = k * 512 + threadIdx.x;
        if (i < d / 4) {
            float4 a = xs[i], b = rs[i];
            v[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
            rs[i] = v[k];
            sum += v[k].x * v[k].x + v[k].y * v[k].y + (v[k].z * v[k].z + v[k].w * v[k].w);
        }
    }
    float scale = rsqrtf(block_sum(sum) / d + eps);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = k * 512 + threadIdx.x;
        if (i < d / 4) {
            float4 w = __ldg((const float4 *)weight + i);
            xs[i] = make_float4(v[k].x * scale * w.x, v[k].y * scale * w.y, v[k].z * scale * w.z, v[k].w * scale * w.w);
        }
    }
}
__global__ __launch_bounds__(512) void twice(float *x, float *residual, const float *weight, int d, float eps)
{
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 512) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        sum += v * v;
    }
    float scale = rsqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d; i += 512)
        x[row + i] = residual[row + i] * scale * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps, cudaStream_t stream)
{
    if (d % 4 == 0 && d <= 4096)
        held<2><<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d % 4 == 0 && d <= 16384)
        held<8><<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else
        twice<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
}
