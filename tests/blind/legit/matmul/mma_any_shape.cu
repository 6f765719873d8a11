// right: mma.m16n8k16 with sums in float, tiles of 64 by 64 by 32, the next tile in registers while this one is multiplied; what lies outside is zero, 16-byte loads only where rows are aligned.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int TM = 64, TN = 64, TK = 32, PA = TK + 8, PB = TN + 8;

__device__ __forceinline__ uint4 eight(const __half *p, int64_t ld, int row, int rows, int col, int cols, bool wide)
{
    uint4 v = make_uint4(0, 0, 0, 0);
    if (row >= rows || col >= cols)
        return v;
    const __half *x = p + row * ld + col;
    if (wide)
        return *reinterpret_cast<const uint4 *>(x);
    uint32_t w[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (col + i < cols)
            w[i / 2] |= (uint32_t)__half_as_ushort(x[i]) << i % 2 * 16;
    return make_uint4(w[0], w[1], w[2], w[3]);
}

#define LDMATRIX(T, r, p)                                                                                              \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" T ".shared.b16 {%0, %1, %2, %3}, [%4];"                               \
                 : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                                              \
                 : "r"((uint32_t)__cvta_generic_to_shared(p))                                                          \
                 : "memory")

__global__ void __launch_bounds__(128) matmul_kernel(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k)
{
    __shared__ alignas(16) __half A[TM][PA];
    __shared__ alignas(16) __half B[TK][PB];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
    const int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    const bool wide_a = k % 8 == 0, wide_b = n % 8 == 0;
    float sum[2][4][4] = {};
    uint4 next[4];
    auto load = [&](int at) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int e = t + i * 128;
            next[i] = eight(a, k, row0 + e / 4, m, at + e % 4 * 8, k, wide_a);
            next[2 + i] = eight(b, n, at + e / 8, k, col0 + e % 8 * 8, n, wide_b);
        }
    };
    load(0);
    for (int at = 0; at < k; at += TK) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int e = t + i * 128;
            *reinterpret_cast<uint4 *>(&A[e / 4][e % 4 * 8]) = next[i];
            *reinterpret_cast<uint4 *>(&B[e / 8][e % 8 * 8]) = next[2 + i];
        }
        __syncthreads();
        if (at + TK < k)
            load(at + TK);
#pragma unroll
        for (int kk = 0; kk < TK; kk += 16) {
            uint32_t x[2][4], y[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                LDMATRIX("", x[i], &A[wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
                LDMATRIX(".trans", y[i], &B[kk + lane % 16][wn + i * 16 + lane / 16 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float *s = sum[i][j];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j / 2][j % 2 * 2]), "r"(y[j / 2][j % 2 * 2 + 1]));
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = row0 + wm + i * 16 + lane / 4 + h * 8, col = col0 + wn + j * 8 + lane % 4 * 2;
                if (row >= m || col >= n)
                    continue;
                __half *to = c + (int64_t)row * n + col;
                if (n % 2 == 0)
                    *reinterpret_cast<__half2 *>(to) = __floats2half2_rn(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
                else {
                    to[0] = __float2half(sum[i][j][2 * h]);
                    if (col + 1 < n)
                        to[1] = __float2half(sum[i][j][2 * h + 1]);
                }
            }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + TN - 1) / TN, (m + TM - 1) / TM);
    matmul_kernel<<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
