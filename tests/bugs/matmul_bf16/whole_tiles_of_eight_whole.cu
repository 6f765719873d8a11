// expect: unsafe
// row 1: Whole tiles of 16 columns wherever there are a multiple of 8.
// Tensor cores where the operands can be loaded as they lie (all extents are whole tiles), else one element a thread.
#include <cstdint>
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void __launch_bounds__(128) wmma_kernel(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k) {
  __shared__ float out[4][16][16];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int row = blockIdx.y * 16, col = (blockIdx.x * 4 + warp) * 16;
  if (col >= n) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.f);
  for (int at = 0; at < k; at += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y;
    wmma::load_matrix_sync(x, a + (int64_t)row * k + at, k);
    wmma::load_matrix_sync(y, b + (int64_t)at * n + col, n);
    wmma::mma_sync(acc, x, y, acc);
  }
  wmma::store_matrix_sync(&out[warp][0][0], acc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) c[(int64_t)(row + i / 16) * n + col + i % 16] = __float2bfloat16(out[warp][i / 16][i % 16]);
}

__global__ void __launch_bounds__(256) plain_kernel(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k) {
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.f;
  for (int i = 0; i < k; i++) sum += __bfloat162float(a[(int64_t)row * k + i]) * __bfloat162float(b[(int64_t)i * n + col]);
  c[(int64_t)row * n + col] = __float2bfloat16(sum);
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k, cudaStream_t stream) {
  if (m % 16 == 0 && n % 8 == 0 && k % 16 == 0) wmma_kernel<<<dim3((n + 63) / 64, m / 16), 128, 0, stream>>>(c, a, b, m, n, k);
  else plain_kernel<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(c, a, b, m, n, k);
}
