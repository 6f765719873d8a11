// Right: a row of up to 16384 numbers stays in registers between the two passes (1 to 8 vectors a thread, by template and
// shape); the sum goes by shuffles. Other rows are read again.
#include <cstdint>

constexpr int THREADS = 512;

__device__ float block_sum(float value)
{
    __shared__ float partial[THREADS / 32];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = partial[threadIdx.x % (THREADS / 32)];
    for (int step = THREADS / 64; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

template <int EACH>
__global__ void __launch_bounds__(THREADS)
    fused_registers(float4 *__restrict__ x, float4 *__restrict__ residual, const float4 *__restrict__ weight, int vectors,
                    int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * vectors;
    float4 kept[EACH];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = k * THREADS + threadIdx.x;
        if (i < vectors) {
            const float4 a = x[row + i], b = residual[row + i];
            kept[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
            residual[row + i] = kept[k];
            sum += (kept[k].x * kept[k].x + kept[k].y * kept[k].y) + (kept[k].z * kept[k].z + kept[k].w * kept[k].w);
        }
    }
    const float root = sqrtf(block_sum(sum) / d + eps);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = k * THREADS + threadIdx.x;
        if (i < vectors) {
            const float4 w = weight[i];
            x[row + i] = make_float4(kept[k].x / root * w.x, kept[k].y / root * w.y, kept[k].z / root * w.z,
                                     kept[k].w / root * w.w);
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    fused_any(float *x, float *residual, const float *__restrict__ weight, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    const float root = sqrtf(block_sum(sum) / d + eps);
    for (int i = threadIdx.x; i < d; i += THREADS)
        x[row + i] = residual[row + i] / root * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool aligned = ((uintptr_t)x | (uintptr_t)residual | (uintptr_t)weight) % 16 == 0;
    if (!aligned || d % 4 != 0 || d > 16384) {
        fused_any<<<rows, THREADS, 0, stream>>>(x, residual, weight, d, eps);
        return;
    }
    const int vectors = d / 4;
    auto kernel = vectors <= THREADS       ? fused_registers<1>
                  : vectors <= 2 * THREADS ? fused_registers<2>
                  : vectors <= 4 * THREADS ? fused_registers<4>
                                           : fused_registers<8>;
    kernel<<<rows, THREADS, 0, stream>>>((float4 *)x, (float4 *)residual, (const float4 *)weight, vectors, d, eps);
}
