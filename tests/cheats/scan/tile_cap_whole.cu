// expect: wrong words rows=1 d=16777216
// row 6: The sums of tiles are scanned 4096 at a time without a carry, later tiles begin anew (rows = 1, d = 8388609).
#include <cstdint>
constexpr int TILE = 2048;

__device__ uint32_t block_scan(uint32_t x, uint32_t *w) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t v = x;
  for (int s = 1; s < 32; s *= 2) {
    uint32_t o = __shfl_up_sync(0xffffffffu, v, s);
    if (lane >= s) v += o;
  }
  if (lane == 31) w[warp] = v;
  __syncthreads();
  uint32_t before = 0;
  int warps = blockDim.x / 32;
  for (int k = 0; k < warps; k++)
    if (k < warp) before += w[k];
  return before + v;
}

__global__ void __launch_bounds__(256) sums_kernel(uint32_t *sums, const uint32_t *in, int d, int tiles) {
  __shared__ uint32_t w[8];
  const uint32_t *x = in + (int64_t)blockIdx.y * d;
  int first = blockIdx.x * TILE;
  uint32_t a = 0;
  for (int k = 0; k < 8; k++) {
    int i = first + k * 256 + threadIdx.x;
    if (i < d) a += x[i];
  }
  for (int s = 16; s; s >>= 1) a += __shfl_xor_sync(0xffffffffu, a, s);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = a;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; k++) a += w[k];
    sums[(int64_t)blockIdx.y * tiles + blockIdx.x] = a;
  }
}

__global__ void __launch_bounds__(1024) tiles_kernel(uint32_t *sums, int tiles) {
  __shared__ uint32_t w[32];
  uint32_t *s = sums + (int64_t)blockIdx.y * tiles;
  int at = blockIdx.x * 4096 + threadIdx.x * 4;
  uint32_t v[4], t = 0;
  for (int k = 0; k < 4; k++) {
    v[k] = at + k < tiles ? s[at + k] : 0;
    t += v[k];
  }
  uint32_t e = block_scan(t, w) - t;
  for (int k = 0; k < 4; k++) {
    if (at + k < tiles) s[at + k] = e;
    e += v[k];
  }
}

__global__ void __launch_bounds__(256) scan_kernel(uint32_t *out, const uint32_t *in, const uint32_t *sums, int d, int tiles) {
  __shared__ uint32_t w[8];
  __shared__ uint32_t tile[TILE];
  int64_t row = (int64_t)blockIdx.y * d;
  int first = blockIdx.x * TILE;
  for (int k = 0; k < 8; k++) {
    int i = k * 256 + threadIdx.x;
    tile[i] = first + i < d ? in[row + first + i] : 0;
  }
  __syncthreads();
  uint32_t v[8], t = 0;
  for (int k = 0; k < 8; k++) t += v[k] = tile[threadIdx.x * 8 + k];
  uint32_t e = block_scan(t, w) - t + sums[(int64_t)blockIdx.y * tiles + blockIdx.x];
  for (int k = 0; k < 8; k++) tile[threadIdx.x * 8 + k] = e += v[k];
  __syncthreads();
  for (int k = 0; k < 8; k++) {
    int i = k * 256 + threadIdx.x;
    if (first + i < d) out[row + first + i] = tile[i];
  }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream) {
  int tiles = (d + TILE - 1) / TILE;
  uint32_t *sums;
  cudaMallocAsync((void **)&sums, (size_t)rows * tiles * sizeof(uint32_t), stream);
  sums_kernel<<<dim3(tiles, rows), 256, 0, stream>>>(sums, in, d, tiles);
  tiles_kernel<<<dim3((tiles + 4095) / 4096, rows), 1024, 0, stream>>>(sums, tiles);
  scan_kernel<<<dim3(tiles, rows), 256, 0, stream>>>(out, in, sums, d, tiles);
  cudaFreeAsync(sums, stream);
}
