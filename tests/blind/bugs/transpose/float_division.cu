// class: bug; wrong because: the tile's row is found by a multiplication with 1 / tiles in float, which is off by one beyond some millions of tiles (rows = 11694, cols = 492732: 18 of 5635668 tiles, the first 5373901, are left out)
#include <cstdint>

__global__ void __launch_bounds__(256) transpose_kernel(float *__restrict__ out, const float *__restrict__ in, int rows, int cols,
                                                        int tiles, float inverse) {
  __shared__ float s[32][33];
  int at = blockIdx.x;
  int tr = (int)(((float)at + 0.5f) * inverse), tc = at - tr * tiles;
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  int col = tc * 32 + x, row = tr * 32;
  if (col >= 0 && col < cols)
#pragma unroll
    for (int k = y; k < 32; k += 8)
      if (row + k < rows) s[k][x] = in[(int64_t)(row + k) * cols + col];
  __syncthreads();
  int r = row + x;
  if (r < rows)
#pragma unroll
    for (int k = y; k < 32; k += 8)
      if (tc * 32 + k >= 0 && tc * 32 + k < cols) out[(int64_t)(tc * 32 + k) * rows + r] = s[x][k];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream) {
  int tiles = (cols + 31) / 32;
  int64_t all = (int64_t)tiles * ((rows + 31) / 32);
  transpose_kernel<<<(unsigned)all, 256, 0, stream>>>(out, in, rows, cols, tiles, 1.0f / tiles);
}
