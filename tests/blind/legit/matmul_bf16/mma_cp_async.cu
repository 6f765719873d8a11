// mma.sync m16n8k16 on 64 x 64 x 32 tiles, ldmatrix from two buffers that cp.async fills with zeros beyond the ends; extents that are no multiple of 8 are loaded one by one into the same buffers.
#include <cstdint>
#include <cuda_bf16.h>

namespace tile {
constexpr int M = 64, N = 64, K = 32;
constexpr int PITCH_A = K + 8, PITCH_B = N + 8; // rows stay 16-byte aligned, no conflicts for ldmatrix
constexpr int THREADS = 128;
} // namespace tile

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy_or_zero(void *to, const void *from, bool inside)
{
    const int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void ldmatrix4(unsigned (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p))
                 : "memory");
}

__device__ __forceinline__ void ldmatrix4_trans(unsigned (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p))
                 : "memory");
}

__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <bool ASYNC>
__device__ __forceinline__ void load_tiles(__nv_bfloat16 *as, __nv_bfloat16 *bs, const __nv_bfloat16 *a,
                                           const __nv_bfloat16 *b, int row0, int col0, int k0, int m, int n, int k)
{
    if constexpr (ASYNC) {
#pragma unroll
        for (int t = threadIdx.x; t < tile::M * tile::K / 8; t += tile::THREADS) {
            const int r = t / (tile::K / 8), q = t % (tile::K / 8) * 8;
            const bool inside = row0 + r < m && k0 + q < k;
            copy_or_zero(as + r * tile::PITCH_A + q, inside ? a + (int64_t)(row0 + r) * k + k0 + q : a, inside);
        }
#pragma unroll
        for (int t = threadIdx.x; t < tile::K * tile::N / 8; t += tile::THREADS) {
            const int r = t / (tile::N / 8), q = t % (tile::N / 8) * 8;
            const bool inside = k0 + r < k && col0 + q < n;
            copy_or_zero(bs + r * tile::PITCH_B + q, inside ? b + (int64_t)(k0 + r) * n + col0 + q : b, inside);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    } else {
        const __nv_bfloat16 zero = __float2bfloat16(0.0f);
        for (int t = threadIdx.x; t < tile::M * tile::K; t += tile::THREADS) {
            const int r = t / tile::K, q = t % tile::K;
            as[r * tile::PITCH_A + q] = row0 + r < m && k0 + q < k ? a[(int64_t)(row0 + r) * k + k0 + q] : zero;
        }
        for (int t = threadIdx.x; t < tile::K * tile::N; t += tile::THREADS) {
            const int r = t / tile::N, q = t % tile::N;
            bs[r * tile::PITCH_B + q] = k0 + r < k && col0 + q < n ? b[(int64_t)(k0 + r) * n + col0 + q] : zero;
        }
    }
}

template <bool ASYNC>
__global__ void __launch_bounds__(tile::THREADS) matmul_mma(__nv_bfloat16 *__restrict__ c,
                                                            const __nv_bfloat16 *__restrict__ a,
                                                            const __nv_bfloat16 *__restrict__ b, int m, int n, int k)
{
    __shared__ alignas(16) __nv_bfloat16 as[2][tile::M * tile::PITCH_A];
    __shared__ alignas(16) __nv_bfloat16 bs[2][tile::K * tile::PITCH_B];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row0 = blockIdx.y * tile::M, col0 = blockIdx.x * tile::N;
    const int wm = warp / 2 * 32, wn = warp % 2 * 32;
    float acc[2][4][4] = {}; // 2 x 16 rows, 4 x 8 columns

    const int steps = (k + tile::K - 1) / tile::K;
    load_tiles<ASYNC>(as[0], bs[0], a, b, row0, col0, 0, m, n, k);
    for (int step = 0; step < steps; step++) {
        const int now = step % 2;
        if constexpr (ASYNC)
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads(); // this buffer is full, and the other one no longer read
        if (step + 1 < steps)
            load_tiles<ASYNC>(as[1 - now], bs[1 - now], a, b, row0, col0, (step + 1) * tile::K, m, n, k);
#pragma unroll
        for (int kk = 0; kk < tile::K; kk += 16) {
            unsigned fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                ldmatrix4(fa[i], as[now] + (wm + 16 * i + lane % 16) * tile::PITCH_A + kk + lane / 16 * 8);
                ldmatrix4_trans(fb[i], bs[now] + (kk + lane % 16) * tile::PITCH_B + wn + 16 * i + lane / 16 * 8);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    mma(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
    }

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = row0 + wm + 16 * i + lane / 4 + e / 2 * 8;
                const int col = col0 + wn + 8 * j + lane % 4 * 2 + e % 2;
                if (row < m && col < n)
                    c[(int64_t)row * n + col] = __float2bfloat16(acc[i][j][e]);
            }
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k,
                            cudaStream_t stream)
{
    const dim3 grid((n + tile::N - 1) / tile::N, (m + tile::M - 1) / tile::M);
    if (k % 8 == 0 && n % 8 == 0)
        matmul_mma<true><<<grid, tile::THREADS, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_mma<false><<<grid, tile::THREADS, 0, stream>>>(c, a, b, m, n, k);
}
