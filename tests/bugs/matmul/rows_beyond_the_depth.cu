// expect: unsafe words undefined value
// row 16: Rows of b beyond k are not filled, as those columns of a are zero: what shared memory held may be infinite, and 0 * inf is NaN.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BM = 64, BN = 64, BK = 32, LA = BK + 8, LB = BN + 8;

__device__ __forceinline__ void cp16(__half *dst, const __half *src, bool on)
{
    unsigned d = (unsigned)__cvta_generic_to_shared(dst);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(d), "l"(src), "r"(on ? 16 : 0) : "memory");
}

template <bool VEC> __global__ __launch_bounds__(128) void matmul_mma(__half *__restrict__ c, const __half *__restrict__ a,
                                                                      const __half *__restrict__ b, int m, int n, int k)
{
    __shared__ __align__(16) __half as[2][BM * LA];
    __shared__ __align__(16) __half bs[2][BK * LB];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;

    auto load = [&](int k0, int s) {
        if (VEC) {
            for (int j = tid; j < BM * BK / 8; j += 128) {
                int r = j / 4, x = j % 4 * 8;
                bool on = m0 + r < m && k0 + x < k;
                cp16(&as[s][r * LA + x], on ? a + (int64_t)(m0 + r) * k + k0 + x : a, on);
            }
            for (int j = tid; j < BK * BN / 8; j += 128) {
                int r = j / 8, x = j % 8 * 8;
                bool on = k0 + r < k && n0 + x < n;
                if (k0 + r < k)
                    cp16(&bs[s][r * LB + x], on ? b + (int64_t)(k0 + r) * n + n0 + x : b, on);
            }
        } else {
            for (int j = tid; j < BM * BK; j += 128) {
                int r = j / BK, x = j % BK;
                as[s][r * LA + x] = m0 + r < m && k0 + x < k ? a[(int64_t)(m0 + r) * k + k0 + x] : __float2half(0.f);
            }
            for (int j = tid; j < BK * BN; j += 128) {
                int r = j / BN, x = j % BN;
                bs[s][r * LB + x] = k0 + r < k && n0 + x < n ? b[(int64_t)(k0 + r) * n + n0 + x] : __float2half(0.f);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float acc[2][4][4] = {};
    int steps = (k + BK - 1) / BK;
    load(0, 0);
    for (int t = 0; t < steps; t++) {
        int s = t & 1;
        if (t + 1 < steps) {
            load((t + 1) * BK, s ^ 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            unsigned fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                unsigned at = (unsigned)__cvta_generic_to_shared(&as[s][(wm + i * 16 + lane % 16) * LA + kk + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(at) : "memory");
                at = (unsigned)__cvta_generic_to_shared(&bs[s][(kk + lane % 16) * LB + wn + i * 16 + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(fb[i][0]), "=r"(fb[i][1]), "=r"(fb[i][2]), "=r"(fb[i][3]) : "r"(at) : "memory");
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]),
                                   "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int row = m0 + wm + i * 16 + lane / 4 + e / 2 * 8, col = n0 + wn + j * 8 + lane % 4 * 2 + e % 2;
                if (row < m && col < n)
                    c[(int64_t)row * n + col] = __float2half(acc[i][j][e]);
            }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    if (n % 8 == 0 && k % 8 == 0)
        matmul_mma<true><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_mma<false><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
