// 64 x 64 tiles on tensor cores, halves in and float sums; what lies outside of a and b enters as zeros, results pass through shared memory and are guarded one by one.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int BM = 64, BN = 64, BK = 32;
constexpr int PA = BK + 8, PB = BN + 8, PC = BN + 4;

template <bool WIDE>
__global__ void __launch_bounds__(128) matmul_wmma(__half *__restrict__ c, const __half *__restrict__ a,
                                                   const __half *__restrict__ b, int m, int n, int k)
{
    __shared__ alignas(32) __half as[BM * PA];
    __shared__ alignas(32) __half bs[BK * PB];
    __shared__ alignas(32) float cs[BM * PC];

    const int tid = threadIdx.x, warp = tid / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int wm = warp / 2 * 32, wn = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 0; k0 < k; k0 += BK) {
        if constexpr (WIDE) { // k % 8 == 0 and n % 8 == 0
            const uint4 zero = make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int t = tid; t < BM * BK / 8; t += 128) {
                const int r = t / (BK / 8), q = t % (BK / 8) * 8;
                uint4 v = zero;
                if (row0 + r < m && k0 + q < k)
                    v = *reinterpret_cast<const uint4 *>(a + (int64_t)(row0 + r) * k + k0 + q);
                *reinterpret_cast<uint4 *>(as + r * PA + q) = v;
            }
#pragma unroll
            for (int t = tid; t < BK * BN / 8; t += 128) {
                const int r = t / (BN / 8), q = t % (BN / 8) * 8;
                uint4 v = zero;
                if (k0 + r < k && col0 + q < n)
                    v = *reinterpret_cast<const uint4 *>(b + (int64_t)(k0 + r) * n + col0 + q);
                *reinterpret_cast<uint4 *>(bs + r * PB + q) = v;
            }
        } else {
            for (int t = tid; t < BM * BK; t += 128) {
                const int r = t / BK, q = t % BK;
                as[r * PA + q] =
                    row0 + r < m && k0 + q < k ? a[(int64_t)(row0 + r) * k + k0 + q] : __float2half(0.0f);
            }
            for (int t = tid; t < BK * BN; t += 128) {
                const int r = t / BN, q = t % BN;
                bs[r * PB + q] =
                    k0 + r < k && col0 + q < n ? b[(int64_t)(k0 + r) * n + col0 + q] : __float2half(0.0f);
            }
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], as + (wm + 16 * i) * PA + kk, PA);
                wmma::load_matrix_sync(fb[i], bs + kk * PB + wn + 16 * i, PB);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(cs + (wm + 16 * i) * PC + wn + 16 * j, acc[i][j], PC, wmma::mem_row_major);
    __syncthreads();
    for (int t = tid; t < BM * BN; t += 128) {
        const int r = t / BN, q = t % BN;
        if (row0 + r < m && col0 + q < n)
            c[(int64_t)(row0 + r) * n + col0 + q] = __float2half(cs[r * PC + q]);
    }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    const dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    if (k % 8 == 0 && n % 8 == 0)
        matmul_wmma<true><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_wmma<false><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
