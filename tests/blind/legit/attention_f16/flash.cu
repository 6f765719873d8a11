// a warp a query, tiles of 32 keys by cp.async in two stages, online softmax, all sums and weights in f32.
#include <cuda_fp16.h>
#include <math_constants.h>
#include <cstdint>

constexpr int D = 64, TILE = 32, PAD = 72, WARPS = 8;

__device__ __forceinline__ void cp16(void* dst, const void* src, bool on) {
  unsigned d = (unsigned)__cvta_generic_to_shared(dst);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(d), "l"(src), "r"(on ? 16 : 0) : "memory");
}

__global__ __launch_bounds__(WARPS * 32) void flash(__half* __restrict__ out, const __half* __restrict__ q,
                                                    const __half* __restrict__ k, const __half* __restrict__ v, int rows,
                                                    int keys) {
  __shared__ __align__(16) __half ks[2][TILE * PAD];
  __shared__ __align__(16) __half vs[2][TILE * PAD];
  __shared__ float qs[WARPS][D];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * WARPS + warp;
  int from = min(row, rows - 1);
  float2 own = __half22float2(reinterpret_cast<const __half2*>(q + (size_t)from * D)[lane]);
  qs[warp][2 * lane] = own.x * 0.125f;
  qs[warp][2 * lane + 1] = own.y * 0.125f;
  __syncwarp();

  auto load = [&](int tile, int stage) {
    int r = threadIdx.x / 8, c = threadIdx.x % 8 * 8, key = tile * TILE + r;
    bool on = key < keys;
    size_t at = (size_t)(on ? key : 0) * D + c;
    cp16(&ks[stage][r * PAD + c], k + at, on);
    cp16(&vs[stage][r * PAD + c], v + at, on);
  };

  int tiles = (keys + TILE - 1) / TILE;
  load(0, 0);
  asm volatile("cp.async.commit_group;");
  float most = -CUDART_INF_F, sum = 0.f;
  float2 o = make_float2(0.f, 0.f);
  for (int t = 0; t < tiles; t++) {
    int stage = t & 1;
    if (t + 1 < tiles) load(t + 1, stage ^ 1);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    float score = 0.f;
#pragma unroll
    for (int c = 0; c < D; c += 8) {
      uint4 raw = *reinterpret_cast<const uint4*>(&ks[stage][lane * PAD + c]);
      const __half2* h = reinterpret_cast<const __half2*>(&raw);
#pragma unroll
      for (int e = 0; e < 4; e++) {
        float2 f = __half22float2(h[e]);
        score = fmaf(qs[warp][c + 2 * e], f.x, score);
        score = fmaf(qs[warp][c + 2 * e + 1], f.y, score);
      }
    }
    if (t * TILE + lane >= keys) score = -CUDART_INF_F;
    float top = score;
    for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, s));
    top = fmaxf(top, most);
    float keep = expf(most - top), p = expf(score - top);
    most = top;
    sum = sum * keep + p;
    o.x *= keep;
    o.y *= keep;
#pragma unroll 8
    for (int j = 0; j < TILE; j++) {
      float w = __shfl_sync(0xffffffffu, p, j);
      float2 f = __half22float2(*reinterpret_cast<const __half2*>(&vs[stage][j * PAD + 2 * lane]));
      o.x = fmaf(w, f.x, o.x);
      o.y = fmaf(w, f.y, o.y);
    }
    __syncthreads();
  }
  for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (row < rows)
    reinterpret_cast<__half2*>(out + (size_t)row * D)[lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  flash<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, q, k, v, rows, keys);
}
