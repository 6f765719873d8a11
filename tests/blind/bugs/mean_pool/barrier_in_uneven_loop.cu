// wrong because: the loop over tokens has a barrier in it and as many turns as the thread's row of the block has tokens; with length % 8 != 0 some warps are already at the barrier behind it: batch = 1, tokens = 9, d = 1, length 9.
#include <cstdint>
#include <cuda_fp16.h>

// 64 columns and 8 tokens at a time; halves are loaded in order and taken column by column.
__global__ void __launch_bounds__(256) mean_pool_kernel(float *out, const __half *__restrict__ x, const int *__restrict__ length, int tokens, int d)
{
    __shared__ __half tile[8][64];
    __shared__ float part[8][64];
    int b = blockIdx.y, n = length[b], first = blockIdx.x * 64;
    float low = 0, high = 0;
    for (int t = threadIdx.y; t < n; t += 8) {
        const __half *from = x + ((int64_t)b * tokens + t) * d + first;
        for (int c = threadIdx.x; c < 64; c += 32)
            tile[threadIdx.y][c] = first + c < d ? from[c] : __float2half(0.0f);
        __syncthreads();
        float2 v = __half22float2(*(const __half2 *)&tile[threadIdx.y][2 * threadIdx.x]);
        low += v.x;
        high += v.y;
        __syncthreads();
    }
    part[threadIdx.y][2 * threadIdx.x] = low;
    part[threadIdx.y][2 * threadIdx.x + 1] = high;
    __syncthreads();
    int c = threadIdx.y * 32 + threadIdx.x;
    if (c < 64 && first + c < d) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += part[k][c];
        out[(int64_t)b * d + first + c] = n ? sum / n : 0.0f;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<dim3((d + 63) / 64, batch), dim3(32, 8), 0, stream>>>(out, x, length, tokens, d);
}
