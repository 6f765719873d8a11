// class: right; right because: tiles are numbered by an atomic as they begin, status and sum are one 64-bit word, written and read whole; a warp looks back at 32 tiles at a time
#include <cstdint>
constexpr int TILE = 2048;

__device__ __forceinline__ void put(unsigned long long *p, unsigned flag, uint32_t sum) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"((unsigned long long)flag << 32 | sum) : "memory");
}

__device__ __forceinline__ unsigned long long get(const unsigned long long *p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

__global__ void __launch_bounds__(256) scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in,
                                                   unsigned long long *status, unsigned *next, int d, int tiles) {
  __shared__ uint32_t w[8];
  __shared__ uint32_t before;
  __shared__ unsigned id;
  if (threadIdx.x == 0) id = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned row = id / tiles, tile = id % tiles;
  unsigned long long *st = status + (int64_t)row * tiles;
  const int64_t base = (int64_t)row * d;
  const int first = tile * TILE + threadIdx.x * 8, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool wide = d % 4 == 0 && first + 8 <= d;
  uint32_t v[8], t = 0;
  if (wide) {
    uint4 a = *(const uint4 *)(in + base + first), b = *(const uint4 *)(in + base + first + 4);
    v[0] = a.x; v[1] = a.y; v[2] = a.z; v[3] = a.w;
    v[4] = b.x; v[5] = b.y; v[6] = b.z; v[7] = b.w;
  } else
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = first + k < d ? in[base + first + k] : 0;
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = t += v[k];
  uint32_t s = t;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    uint32_t p = __shfl_up_sync(0xffffffffu, s, o);
    if (lane >= o) s += p;
  }
  if (lane == 31) w[warp] = s;
  __syncthreads();
  uint32_t left = s - t, all = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    if (k < warp) left += w[k];
    all += w[k];
  }
  if (warp == 0) {
    uint32_t sum = 0;
    if (tile > 0) {
      if (lane == 0) put(st + tile, 1, all);
      for (int p = (int)tile - 1 - lane;; p -= 32) {
        unsigned long long q = 2ull << 32;  // in front of the row: nothing
        do {
          if (p >= 0) q = get(st + p);
        } while (__any_sync(0xffffffffu, (q >> 32) == 0));
        unsigned ends = __ballot_sync(0xffffffffu, (q >> 32) == 2);
        uint32_t add = ends == 0 || lane < __ffs(ends) ? (uint32_t)q : 0;
        for (int o = 16; o; o >>= 1) add += __shfl_xor_sync(0xffffffffu, add, o);
        sum += add;
        if (ends) break;
      }
    }
    if (lane == 0) {
      put(st + tile, 2, sum + all);
      before = sum;
    }
  }
  __syncthreads();
  left += before;
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] += left;
  if (wide) {
    *(uint4 *)(out + base + first) = make_uint4(v[0], v[1], v[2], v[3]);
    *(uint4 *)(out + base + first + 4) = make_uint4(v[4], v[5], v[6], v[7]);
  } else
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (first + k < d) out[base + first + k] = v[k];
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream) {
  int tiles = (d + TILE - 1) / TILE;
  size_t all = (size_t)rows * tiles;
  unsigned long long *status;
  cudaMallocAsync((void **)&status, (all + 1) * sizeof(unsigned long long), stream);
  cudaMemsetAsync(status, 0, (all + 1) * sizeof(unsigned long long), stream);
  scan_kernel<<<(unsigned)all, 256, 0, stream>>>(out, in, status, (unsigned *)(status + all), d, tiles);
  cudaFreeAsync(status, stream);
}
