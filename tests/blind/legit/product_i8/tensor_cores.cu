// Products on tensor cores of bytes (m16n8k32); what lies outside is zero, words are put together where rows are not aligned.
#include <cstdint>
#include <cuda_runtime.h>

template <bool WORDS> __device__ int four(const int8_t *p, int row, int rows, int i, int k)
{
    if (row >= rows || i >= k)
        return 0;
    const int8_t *at = p + (int64_t)row * k + i;
    if constexpr (WORDS)
        return *reinterpret_cast<const int *>(at);
    unsigned word = 0;
    for (int j = 0; j < 4 && i + j < k; j++)
        word |= (unsigned)(uint8_t)at[j] << 8 * j;
    return (int)word;
}

template <bool WORDS> __global__ void __launch_bounds__(128) product_kernel(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = blockIdx.y * 16 + g, col0 = (blockIdx.x * 4 + threadIdx.x / 32) * 32;
    int d[4][4] = {};
    for (int i = 4 * t; i < k + 4 * t; i += 32) {
        const int a0 = four<WORDS>(a, row, m, i, k), a1 = four<WORDS>(a, row + 8, m, i, k);
        const int a2 = four<WORDS>(a, row, m, i + 16, k), a3 = four<WORDS>(a, row + 8, m, i + 16, k);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int b0 = four<WORDS>(b, col0 + 8 * j + g, n, i, k), b1 = four<WORDS>(b, col0 + 8 * j + g, n, i + 16, k);
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+r"(d[j][0]), "+r"(d[j][1]), "+r"(d[j][2]), "+r"(d[j][3])
                         : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int r = row + e / 2 * 8, col = col0 + 8 * j + 2 * t + e % 2;
            if (r < m && col < n)
                c[(int64_t)r * n + col] = (float)d[j][e] * scale[r];
        }
}

extern "C" void product(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k, cudaStream_t stream)
{
    auto go = [&](auto *kernel) { kernel<<<dim3((n + 127) / 128, (m + 15) / 16), 128, 0, stream>>>(c, a, b, scale, m, n, k); };
    if (k % 4 == 0)
        go(product_kernel<true>);
    else
        go(product_kernel<false>);
}
