// class: right; right because: mma.sync with sums in float, three stages of cp.async whose ends are filled with zeros; odd shapes are loaded element by element
#include <cstdint>
#include <cuda_bf16.h>

constexpr int TM = 64, TN = 64, TK = 32, STAGES = 3, PA = TK + 8, PB = TN + 8;

__device__ __forceinline__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(void *to, const void *from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_at(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
}

template <bool WIDE>
__global__ void __launch_bounds__(128) matmul_kernel(__nv_bfloat16 *__restrict__ c, const __nv_bfloat16 *__restrict__ a,
                                                     const __nv_bfloat16 *__restrict__ b, int m, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 as[STAGES][TM][PA];
  __shared__ __align__(16) __nv_bfloat16 bs[STAGES][TK][PB];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = blockIdx.y * TM, col = blockIdx.x * TN;
  const int wr = warp / 2 * 32, wc = warp % 2 * 32;
  const int steps = (k + TK - 1) / TK;

  auto load = [&](int stage, int k0) {
    if (WIDE) {
#pragma unroll
      for (int i = t; i < TM * TK / 8; i += 128) {
        int r = i / (TK / 8), q = i % (TK / 8) * 8;
        bool there = row + r < m && k0 + q < k;
        copy16(&as[stage][r][q], there ? a + (int64_t)(row + r) * k + k0 + q : a, there);
      }
#pragma unroll
      for (int i = t; i < TK * TN / 8; i += 128) {
        int r = i / (TN / 8), q = i % (TN / 8) * 8;
        bool there = k0 + r < k && col + q < n;
        copy16(&bs[stage][r][q], there ? b + (int64_t)(k0 + r) * n + col + q : b, there);
      }
    } else {
      const __nv_bfloat16 zero = __float2bfloat16(0.f);
      for (int i = t; i < TM * TK; i += 128) {
        int r = i / TK, q = i % TK;
        as[stage][r][q] = row + r < m && k0 + q < k ? a[(int64_t)(row + r) * k + k0 + q] : zero;
      }
      for (int i = t; i < TK * TN; i += 128) {
        int r = i / TN, q = i % TN;
        bs[stage][r][q] = k0 + r < k && col + q < n ? b[(int64_t)(k0 + r) * n + col + q] : zero;
      }
    }
  };

  float acc[2][4][4] = {};
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) load(s, s * TK);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    int ahead = step + STAGES - 1;
    if (ahead < steps) load(ahead % STAGES, ahead * TK);
    asm volatile("cp.async.commit_group;" ::: "memory");
    int s = step % STAGES;
#pragma unroll
    for (int kk = 0; kk < TK; kk += 16) {
      unsigned fa[2][4], fb[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        unsigned at = shared_at(&as[s][wr + i * 16 + lane % 16][kk + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(at) : "memory");
      }
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        unsigned at = shared_at(&bs[s][kk + lane % 16][wc + j * 8 + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1]), "=r"(fb[j + 1][0]), "=r"(fb[j + 1][1]) : "r"(at) : "memory");
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int r = row + wr + i * 16 + lane / 4 + h * 8, q = col + wc + j * 8 + lane % 4 * 2;
        if (r < m) {
          if (q < n) c[(int64_t)r * n + q] = __float2bfloat16(acc[i][j][2 * h]);
          if (q + 1 < n) c[(int64_t)r * n + q + 1] = __float2bfloat16(acc[i][j][2 * h + 1]);
        }
      }
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k,
                            cudaStream_t stream) {
  dim3 grid((n + TN - 1) / TN, (m + TM - 1) / TM);
  if (n % 8 == 0 && k % 8 == 0)
    matmul_kernel<true><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
  else
    matmul_kernel<false><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
