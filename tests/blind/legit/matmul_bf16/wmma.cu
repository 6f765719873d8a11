// wmma on bf16 with f32 sums, tiles of 32 x 64 staged with zeros beyond the edges, the result through shared memory.
#include <cstdint>
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int BM = 32, BN = 64, BK = 32, LA = BK + 8, LB = BN + 8, LC = BN + 4;

__global__ __launch_bounds__(128) void matmul_wmma(__nv_bfloat16 *__restrict__ c, const __nv_bfloat16 *__restrict__ a,
                                                   const __nv_bfloat16 *__restrict__ b, int m, int n, int k)
{
    __shared__ __align__(32) __nv_bfloat16 as[BM * LA];
    __shared__ __align__(32) __nv_bfloat16 bs[BK * LB];
    __shared__ __align__(32) float cs[BM * LC];
    int tid = threadIdx.x, warp = tid / 32, wm = warp / 2 * 16, wn = warp % 2 * 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    bool wide = n % 2 == 0 && k % 2 == 0;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
    wmma::fill_fragment(acc[0], 0.f);
    wmma::fill_fragment(acc[1], 0.f);
    const __nv_bfloat162 none = __floats2bfloat162_rn(0.f, 0.f);
    for (int k0 = 0; k0 < k; k0 += BK) {
        if (wide) {
            for (int j = tid; j < BM * BK / 2; j += 128) {
                int r = j / (BK / 2), x = j % (BK / 2) * 2;
                bool on = m0 + r < m && k0 + x < k;
                *reinterpret_cast<__nv_bfloat162 *>(&as[r * LA + x]) =
                    on ? *reinterpret_cast<const __nv_bfloat162 *>(a + (int64_t)(m0 + r) * k + k0 + x) : none;
            }
            for (int j = tid; j < BK * BN / 2; j += 128) {
                int r = j / (BN / 2), x = j % (BN / 2) * 2;
                bool on = k0 + r < k && n0 + x < n;
                *reinterpret_cast<__nv_bfloat162 *>(&bs[r * LB + x]) =
                    on ? *reinterpret_cast<const __nv_bfloat162 *>(b + (int64_t)(k0 + r) * n + n0 + x) : none;
            }
        } else {
            for (int j = tid; j < BM * BK; j += 128) {
                int r = j / BK, x = j % BK;
                as[r * LA + x] = m0 + r < m && k0 + x < k ? a[(int64_t)(m0 + r) * k + k0 + x] : none.x;
            }
            for (int j = tid; j < BK * BN; j += 128) {
                int r = j / BN, x = j % BN;
                bs[r * LB + x] = k0 + r < k && n0 + x < n ? b[(int64_t)(k0 + r) * n + n0 + x] : none.x;
            }
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, &as[wm * LA + kk], LA);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, &bs[kk * LB + wn + j * 16], LB);
                wmma::mma_sync(acc[j], fa, fb, acc[j]);
            }
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&cs[wm * LC + wn], acc[0], LC, wmma::mem_row_major);
    wmma::store_matrix_sync(&cs[wm * LC + wn + 16], acc[1], LC, wmma::mem_row_major);
    __syncthreads();
    for (int j = tid; j < BM * BN; j += 128) {
        int r = j / BN, x = j % BN;
        if (m0 + r < m && n0 + x < n)
            c[(int64_t)(m0 + r) * n + n0 + x] = __float2bfloat16(cs[r * LC + x]);
    }
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    matmul_wmma<<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
