// mma.sync m16n8k32 of bytes with sums in s32 (exact), tiles of 64 x 64 x 64, zeros beyond the edges, 64-bit offsets.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int BT = 64, BK = 64, LD = BK + 16;

template <bool VEC> __device__ __forceinline__ void stage(int8_t *s, const int8_t *g, int first, int rows, int k0, int k)
{
    if (VEC) {
        for (int j = threadIdx.x; j < BT * BK / 16; j += 128) {
            int r = j / (BK / 16), x = j % (BK / 16) * 16;
            bool on = first + r < rows && k0 + x < k;
            *reinterpret_cast<int4 *>(s + r * LD + x) =
                on ? *reinterpret_cast<const int4 *>(g + (int64_t)(first + r) * k + k0 + x) : make_int4(0, 0, 0, 0);
        }
    } else {
        for (int j = threadIdx.x; j < BT * BK; j += 128) {
            int r = j / BK, x = j % BK;
            s[r * LD + x] = first + r < rows && k0 + x < k ? g[(int64_t)(first + r) * k + k0 + x] : (int8_t)0;
        }
    }
}

template <bool VEC> __global__ __launch_bounds__(128) void product_mma(float *__restrict__ c, const int8_t *__restrict__ a,
    const int8_t *__restrict__ b, const float *__restrict__ scale, int m, int n, int k)
{
    __shared__ __align__(16) int8_t as[BT * LD];
    __shared__ __align__(16) int8_t bs[BT * LD];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
    int m0 = blockIdx.y * BT, n0 = blockIdx.x * BT, g = lane / 4, q = lane % 4 * 4;
    int acc[2][4][4] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        stage<VEC>(as, a, m0, m, k0, k);
        stage<VEC>(bs, b, n0, n, k0, k);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 32) {
            int fa[2][4], fb[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int8_t *p = as + (wm + i * 16 + g) * LD + kk + q;
                fa[i][0] = *reinterpret_cast<const int *>(p);
                fa[i][1] = *reinterpret_cast<const int *>(p + 8 * LD);
                fa[i][2] = *reinterpret_cast<const int *>(p + 16);
                fa[i][3] = *reinterpret_cast<const int *>(p + 8 * LD + 16);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int8_t *p = bs + (wn + j * 8 + g) * LD + kk + q;
                fb[j][0] = *reinterpret_cast<const int *>(p);
                fb[j][1] = *reinterpret_cast<const int *>(p + 16);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+r"(acc[i][j][0]), "+r"(acc[i][j][1]), "+r"(acc[i][j][2]), "+r"(acc[i][j][3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int row = m0 + wm + i * 16 + g + e / 2 * 8, col = n0 + wn + j * 8 + lane % 4 * 2 + e % 2;
                if (row < m && col < n)
                    c[(int64_t)row * n + col] = (float)acc[i][j][e] * scale[row];
            }
}

extern "C" void product(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k,
                        cudaStream_t stream)
{
    dim3 grid((n + BT - 1) / BT, (m + BT - 1) / BT);
    if (k % 16 == 0)
        product_mma<true><<<grid, 128, 0, stream>>>(c, a, b, scale, m, n, k);
    else
        product_mma<false><<<grid, 128, 0, stream>>>(c, a, b, scale, m, n, k);
}
