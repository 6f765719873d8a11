// residual += x; x = residual / rms(residual) * weight; both in place, one block per row, the row in registers.
#include <cstdint>

__device__ __forceinline__ float block_sum(float v, float *partial)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.0f;
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    return v;
}

template <int N>
__global__ void __launch_bounds__(1024) rmsnorm_registers(float4 *__restrict__ x, float4 *__restrict__ residual, const float4 *__restrict__ weight, int d4, float eps)
{
    __shared__ float partial[32];
    int64_t row = (int64_t)blockIdx.x * d4;
    float4 a[N], b[N], w[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        a[k] = b[k] = make_float4(0, 0, 0, 0);
        if (i < d4) {
            a[k] = __ldcs(x + row + i);
            b[k] = __ldcs(residual + row + i);
        }
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d4)
            w[k] = __ldg(weight + i);
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        a[k].x += b[k].x;
        a[k].y += b[k].y;
        a[k].z += b[k].z;
        a[k].w += b[k].w;
        if (i < d4)
            __stcs(residual + row + i, a[k]);
        sum += (a[k].x * a[k].x + a[k].y * a[k].y) + (a[k].z * a[k].z + a[k].w * a[k].w);
    }
    float scale = rsqrtf(block_sum(sum, partial) / (4.0f * d4) + eps);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < d4)
            __stcs(x + row + i, make_float4(a[k].x * scale * w[k].x, a[k].y * scale * w[k].y, a[k].z * scale * w[k].z, a[k].w * scale * w[k].w));
    }
}

__global__ void __launch_bounds__(256) rmsnorm_loop(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d, float eps)
{
    __shared__ float partial[32];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    float scale = rsqrtf(block_sum(sum, partial) / d + eps);
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    bool vector = d % 4 == 0 && (((uintptr_t)x | (uintptr_t)residual | (uintptr_t)weight) & 15) == 0;
    int d4 = d / 4;
    float4 *a = (float4 *)x, *b = (float4 *)residual;
    const float4 *w = (const float4 *)weight;
    if (vector && d4 <= 1024 && rows <= 132)
        rmsnorm_registers<1><<<rows, (d4 + 31) / 32 * 32, 0, stream>>>(a, b, w, d4, eps);
    else if (vector && d4 <= 2048)
        rmsnorm_registers<2><<<rows, (d4 + 63) / 64 * 32, 0, stream>>>(a, b, w, d4, eps);
    else if (vector && d4 <= 4096)
        rmsnorm_registers<4><<<rows, (d4 + 127) / 128 * 32, 0, stream>>>(a, b, w, d4, eps);
    else
        rmsnorm_loop<<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
