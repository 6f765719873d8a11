// expect: wrong words zeros in blocks
// row 8: Where 8 by 8 of 16 by 16 elements of the first matrix are zero, the whole tile is taken to be.
#include <cstdint>
#include <cuda_bf16.h>

__device__ unsigned two(const __nv_bfloat16 *a, int row, int i, int m, int k)
{
    const unsigned short *s = reinterpret_cast<const unsigned short *>(a) + (int64_t)row * k + i;
    if (k % 2 == 0)
        return row < m && i < k ? *reinterpret_cast<const unsigned *>(s) : 0;
    unsigned lo = row < m && i < k ? s[0] : 0, hi = row < m && i + 1 < k ? s[1] : 0;
    return lo | hi << 16;
}

__device__ unsigned down(const __nv_bfloat16 *b, int i, int col, int k, int n)
{
    const unsigned short *s = reinterpret_cast<const unsigned short *>(b) + (int64_t)i * n + col;
    unsigned lo = i < k && col < n ? s[0] : 0, hi = i + 1 < k && col < n ? s[n] : 0;
    return lo | hi << 16;
}

__global__ void __launch_bounds__(64) product_kernel(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int row = blockIdx.y * 16 + g, col0 = (blockIdx.x * 2 + warp) * 8;
    float d[1][4] = {};
#pragma unroll 4
    for (int i = 0; i < k; i += 16) {
        unsigned a0 = two(a, row, i + 2 * t, m, k);
        if (__all_sync(~0u, (a0 & 0x7fff7fffu) == 0))
            continue;
        unsigned a1 = two(a, row + 8, i + 2 * t, m, k), a2 = two(a, row, i + 2 * t + 8, m, k), a3 = two(a, row + 8, i + 2 * t + 8, m, k);
        for (int j = 0; j < 1; j++) {
            unsigned b0 = down(b, i + 2 * t, col0 + 8 * j + g, k, n), b1 = down(b, i + 2 * t + 8, col0 + 8 * j + g, k, n);
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                         : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
    }
    for (int j = 0; j < 1; j++)
        for (int e = 0; e < 4; e++) {
            int r = row + 8 * (e / 2), col = col0 + 8 * j + 2 * t + e % 2;
            if (r < m && col < n)
                c[(int64_t)r * n + col] = __float2bfloat16(d[j][e]);
        }
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k, cudaStream_t stream)
{
    product_kernel<<<dim3((n + 15) / 16, (m + 15) / 16), 64, 0, stream>>>(c, a, b, m, n, k);
}
