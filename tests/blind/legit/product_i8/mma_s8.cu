// class: right; right because: mma.sync of bytes with exact 32-bit sums (at most 2^28), the next tile loaded into registers while this one is multiplied; odd k byte by byte
#include <cstdint>
#include <cuda_runtime.h>

constexpr int TM = 64, TN = 64, TK = 64, PITCH = TK + 16;

template <bool WIDE>
__device__ __forceinline__ void load(uint4 v[2], const int8_t *p, int row, int rows, int k0, int k) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int at = threadIdx.x + i * 128, r = row + at / 4, q = k0 + at % 4 * 16;
    v[i] = make_uint4(0, 0, 0, 0);
    if (r < rows) {
      const int8_t *from = p + (int64_t)r * k + q;
      if (WIDE) {
        if (q < k) v[i] = *reinterpret_cast<const uint4 *>(from);
      } else {
        unsigned w[4] = {0, 0, 0, 0};
#pragma unroll
        for (int b = 0; b < 16; b++)
          if (q + b < k) w[b / 4] |= (unsigned)(uint8_t)from[b] << (b % 4 * 8);
        v[i] = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}

template <bool WIDE>
__global__ void __launch_bounds__(128) product_kernel(float *__restrict__ c, const int8_t *__restrict__ a,
                                                      const int8_t *__restrict__ b, const float *__restrict__ scale, int m,
                                                      int n, int k) {
  __shared__ __align__(16) int8_t as[TM][PITCH];
  __shared__ __align__(16) int8_t bs[TN][PITCH];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4;
  const int row = blockIdx.y * TM, col = blockIdx.x * TN, wr = warp / 2 * 32, wc = warp % 2 * 32;
  int acc[2][4][4] = {};
  uint4 va[2], vb[2];
  load<WIDE>(va, a, row, m, 0, k);
  load<WIDE>(vb, b, col, n, 0, k);
  for (int k0 = 0; k0 < k; k0 += TK) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int at = t + i * 128;
      *reinterpret_cast<uint4 *>(&as[at / 4][at % 4 * 16]) = va[i];
      *reinterpret_cast<uint4 *>(&bs[at / 4][at % 4 * 16]) = vb[i];
    }
    __syncthreads();
    if (k0 + TK < k) {
      load<WIDE>(va, a, row, m, k0 + TK, k);
      load<WIDE>(vb, b, col, n, k0 + TK, k);
    }
#pragma unroll
    for (int kk = 0; kk < TK; kk += 32) {
      unsigned fa[2][4], fb[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          fa[i][j] = *reinterpret_cast<const unsigned *>(&as[wr + i * 16 + g + j % 2 * 8][kk + j / 2 * 16 + q * 4]);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) fb[i][j] = *reinterpret_cast<const unsigned *>(&bs[wc + i * 8 + g][kk + j * 16 + q * 4]);
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+r"(acc[i][j][0]), "+r"(acc[i][j][1]), "+r"(acc[i][j][2]), "+r"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int r = row + wr + i * 16 + g + h * 8;
      if (r >= m) continue;
      float f = scale[r];
#pragma unroll
      for (int j = 0; j < 4; j++) {
        int x = col + wc + j * 8 + q * 2;
        if (x < n) c[(int64_t)r * n + x] = (float)acc[i][j][2 * h] * f;
        if (x + 1 < n) c[(int64_t)r * n + x + 1] = (float)acc[i][j][2 * h + 1] * f;
      }
    }
}

extern "C" void product(float *c, const int8_t *a, const int8_t *b, const float *scale, int m, int n, int k,
                        cudaStream_t stream) {
  dim3 grid((n + TN - 1) / TN, (m + TM - 1) / TM);
  if (k % 16 == 0)
    product_kernel<true><<<grid, 128, 0, stream>>>(c, a, b, scale, m, n, k);
  else
    product_kernel<false><<<grid, 128, 0, stream>>>(c, a, b, scale, m, n, k);
}
