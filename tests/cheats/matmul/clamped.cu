// expect: wrong
// row 1: What does not fit a half becomes the largest one.
// What is stored is clamped to the range of half. Tensor cores: tiles of 32 x 32 and 32 deep, the next one in registers while this one is multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
constexpr int T = 32, PAD = 8;

__global__ void __launch_bounds__(128) wmma_kernel(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k) {
  __shared__ alignas(32) __half x[2][T][T + PAD], y[2][T][T + PAD];
  __shared__ alignas(32) float z[T][T + 4];
  int warp = threadIdx.x >> 5, wr = warp >> 1, wc = warp & 1;
  int64_t row0 = (int64_t)blockIdx.y * T, col0 = (int64_t)blockIdx.x * T;
  int q = threadIdx.x & 31, p = threadIdx.x >> 5;
  __half rx[8], ry[8];
  const __half zero = __float2half(0.f);
  auto fetch = [&](int at) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      int r = p + 4 * i;
      rx[i] = row0 + r < m && at + q < k ? a[(row0 + r) * k + at + q] : zero;
      ry[i] = at + r < k && col0 + q < n ? b[(int64_t)(at + r) * n + col0 + q] : zero;
    }
  };
  auto put = [&](int s) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      x[s][p + 4 * i][q] = rx[i];
      y[s][p + 4 * i][q] = ry[i];
    }
  };
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.f);
  fetch(0);
  put(0);
  __syncthreads();
  for (int at = 0, s = 0; at < k; at += T, s ^= 1) {
    if (at + T < k) fetch(at + T);
#pragma unroll
    for (int i = 0; i < T; i += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, &x[s][wr * 16][i], T + PAD);
      wmma::load_matrix_sync(fb, &y[s][i][wc * 16], T + PAD);
      wmma::mma_sync(acc, fa, fb, acc);
    }
    if (at + T < k) put(s ^ 1);
    __syncthreads();
  }
  wmma::store_matrix_sync(&z[wr * 16][wc * 16], acc, T + 4, wmma::mem_row_major);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; i++) {
    int r = p + 4 * i;
    if (row0 + r < m && col0 + q < n) c[(row0 + r) * n + col0 + q] = __float2half(fminf(fmaxf(z[r][q], -65504.f), 65504.f));
  }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream) {
  wmma_kernel<<<dim3((n + T - 1) / T, (m + T - 1) / T), 128, 0, stream>>>(c, a, b, m, n, k);
}
