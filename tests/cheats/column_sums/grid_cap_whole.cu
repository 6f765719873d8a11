// expect: wrong words its blocks read 50 % of x together
// row 22: At most 65535 blocks of 256 rows, without a loop: rows from 16776960 on are left out (rows = 16776961, d = 1).
#include <cstdint>

constexpr int ROWS = 256;

__global__ void __launch_bounds__(256) column_sums_kernel(float *__restrict__ sums, const float *__restrict__ x, int rows, int d, int wide) {
  // wide columns by 256 / wide rows at a time
  __shared__ float part[256];
  int64_t first = (int64_t)blockIdx.x * ROWS;
  int most = (int)min((int64_t)ROWS, rows - first), lanes = 256 / wide;
  int col = threadIdx.x % wide, lane = threadIdx.x / wide;
  for (int c0 = 0; c0 < d; c0 += wide) {
    int c = c0 + col;
    float s = 0.f;
    if (c < d) {
#pragma unroll 8
      for (int r = lane; r < most; r += lanes) s += x[(first + r) * d + c];
    }
    part[threadIdx.x] = s;
    __syncthreads();
    for (int k = lanes / 2; k; k >>= 1) {
      if (lane < k) part[threadIdx.x] += part[threadIdx.x + k * wide];
      __syncthreads();
    }
    if (lane == 0 && c < d) atomicAdd(&sums[c], part[threadIdx.x]);
    __syncthreads();
  }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream) {
  int wide = d > 32 ? 64 : d > 16 ? 32 : d > 8 ? 16 : 8;
  int blocks = (int)(((int64_t)rows + ROWS - 1) / ROWS);
  if (blocks > 65535) blocks = 65535;
  column_sums_kernel<<<blocks, 256, 0, stream>>>(sums, x, rows, d, wide);
}
