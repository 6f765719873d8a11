// expect: correct
// A decoupled look-back over as many windows of 32 tiles as it takes.
// One pass: a tile of 2048 a block, tickets, and a warp that looks back, 32 tiles at a time, for the sum in front of it.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int TILE = 2048, THREADS = 256;

__global__ void __launch_bounds__(THREADS) scan_kernel(uint32_t *out, const uint32_t *in, int d, int tiles, unsigned *ticket,
                                                       unsigned long long *state) {
  __shared__ uint32_t warps[8], front;
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  int row = mine / tiles, tile = mine % tiles, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint32_t *x = in + (int64_t)row * d;
  uint32_t v[8], sum = 0;
  int base = tile * TILE + threadIdx.x * 8;
#pragma unroll
  for (int i = 0; i < 8; i++) { v[i] = base + i < d ? x[base + i] : 0; sum += v[i]; }
  uint32_t inc = sum;
  for (int o = 1; o < 32; o *= 2) { uint32_t y = __shfl_up_sync(~0u, inc, o); if (lane >= o) inc += y; }
  if (lane == 31) warps[warp] = inc;
  __syncthreads();
  uint32_t before = inc - sum, total = 0;
  for (int w = 0; w < 8; w++) { if (w < warp) before += warps[w]; total += warps[w]; }
  volatile unsigned long long *s = state + (size_t)row * tiles;
  if (warp == 0) {
    if (lane == 0) atomicExch((unsigned long long *)&s[tile], (tile ? 1ull : 2ull) << 32 | total);
    uint32_t ahead = 0;
    if (tile) {
      for (int at = tile - 1 - lane;; at -= 32) {
        unsigned long long f;
        do { f = at >= 0 ? atomicAdd((unsigned long long *)&s[at], 0ull) : 2ull << 32; } while (__any_sync(~0u, (f >> 32) == 0));
        unsigned done = __ballot_sync(~0u, (f >> 32) == 2);
        int last = done ? __ffs(done) - 1 : 31;
        ahead += __reduce_add_sync(~0u, lane <= last ? (uint32_t)f : 0u);
        if (done) break;
      }
      if (lane == 0) atomicExch((unsigned long long *)&s[tile], 2ull << 32 | (uint32_t)(ahead + total));
    }
    if (lane == 0) front = ahead;
  }
  __syncthreads();
  before += front;
  uint32_t *y = out + (int64_t)row * d;
#pragma unroll
  for (int i = 0; i < 8; i++) { before += v[i]; if (base + i < d) y[base + i] = before; }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream) {
  int tiles = (d + TILE - 1) / TILE;
  unsigned long long *state;
  size_t bytes = ((size_t)rows * tiles + 1) * sizeof(unsigned long long);
  cudaMallocAsync((void **)&state, bytes, stream);
  cudaMemsetAsync(state, 0, bytes, stream);
  scan_kernel<<<(unsigned)((size_t)rows * tiles), THREADS, 0, stream>>>(out, in, d, tiles, (unsigned *)(state + (size_t)rows * tiles), state);
  cudaFreeAsync(state, stream);
}
