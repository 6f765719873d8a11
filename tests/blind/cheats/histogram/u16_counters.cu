// class: shortcut; wrong because: two 16-bit counters in a word of shared memory, never emptied: a block that meets one byte more than 65535 times carries into its neighbour (16384 x 8192, all zero: 2112 blocks of up to 65536)
#include <cstdint>

constexpr int T = 256, MOST = 2112;

__global__ void __launch_bounds__(T) histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n) {
  __shared__ unsigned local[128];
  if (threadIdx.x < 128) local[threadIdx.x] = 0;
  __syncthreads();
  const int64_t n16 = n / 16, stride = (int64_t)gridDim.x * T;
  const uint4 *v = (const uint4 *)values;
  for (int64_t i = (int64_t)blockIdx.x * T + threadIdx.x; i < n16; i += stride) {
    uint4 q = v[i];
    unsigned w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int b = 0; b < 32; b += 8) {
        unsigned byte = (w[k] >> b) & 255u;
        atomicAdd(&local[byte & 127u], byte & 128u ? 65536u : 1u);
      }
  }
  if (blockIdx.x == 0 && threadIdx.x < n - n16 * 16) {
    unsigned byte = values[n16 * 16 + threadIdx.x];
    atomicAdd(&local[byte & 127u], byte & 128u ? 65536u : 1u);
  }
  __syncthreads();
  unsigned c = local[threadIdx.x & 127] >> (threadIdx.x & 128 ? 16 : 0) & 65535u;
  if (c) atomicAdd(&counts[threadIdx.x], c);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream) {
  int64_t n = (int64_t)rows * d;
  int64_t wanted = (n / 16 + T - 1) / T;
  int blocks = wanted < 1 ? 1 : wanted < MOST ? (int)wanted : MOST;
  cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
  histogram_kernel<<<blocks, T, 0, stream>>>(counts, values, n);
}
