// right: keys and values of all 64 places in shared memory (keys padded by a word), a warp a row: each lane scores two keys, holds their probabilities in registers, and gathers two columns by shuffles.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, MOST = 64, WARPS = 8, ROWS = 4; // rows a warp

__global__ void __launch_bounds__(32 * WARPS) attention_kernel(__half2* __restrict__ out, const __half2* __restrict__ q,
                                                               const __half2* __restrict__ k, const __half2* __restrict__ v, int rows, int keys) {
  __shared__ __half2 key[MOST][D / 2 + 1], value[MOST][D / 2];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int e = threadIdx.x; e < MOST * D / 2; e += 32 * WARPS) {
    bool in = e / (D / 2) < keys;
    key[e / (D / 2)][e % (D / 2)] = in ? k[e] : __float2half2_rn(0.f);
    value[e / (D / 2)][e % (D / 2)] = in ? v[e] : __float2half2_rn(0.f);
  }
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < ROWS; r++) {
    const int row = (blockIdx.x * ROWS + r) * WARPS + warp;
    if (row >= rows) break; // the whole warp
    const __half2 own = q[(size_t)row * (D / 2) + lane];
    float s0 = 0.f, s1 = 0.f;
#pragma unroll 8
    for (int d = 0; d < D / 2; d++) {
      float2 x = __half22float2(__shfl_sync(~0u, own, d));
      float2 a = __half22float2(key[lane][d]), b = __half22float2(key[lane + 32][d]);
      s0 = fmaf(x.y, a.y, fmaf(x.x, a.x, s0));
      s1 = fmaf(x.y, b.y, fmaf(x.x, b.x, s1));
    }
    s0 = lane < keys ? s0 * 0.125f : -CUDART_INF_F;
    s1 = lane + 32 < keys ? s1 * 0.125f : -CUDART_INF_F;
    float most = fmaxf(s0, s1);
#pragma unroll
    for (int w = 16; w; w >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, w));
    const float p0 = expf(s0 - most), p1 = expf(s1 - most);
    float sum = p0 + p1;
#pragma unroll
    for (int w = 16; w; w >>= 1) sum += __shfl_xor_sync(~0u, sum, w);
    float x = 0.f, y = 0.f;
    for (int j = 0; j < keys; j++) {
      float p = __shfl_sync(~0u, j < 32 ? p0 : p1, j & 31);
      float2 u = __half22float2(value[j][lane]);
      x = fmaf(p, u.x, x);
      y = fmaf(p, u.y, y);
    }
    out[(size_t)row * (D / 2) + lane] = __floats2half2_rn(x / sum, y / sum);
  }
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  const int per = WARPS * ROWS;
  attention_kernel<<<(rows + per - 1) / per, 32 * WARPS, 0, stream>>>((__half2*)out, (const __half2*)q, (const __half2*)k, (const __half2*)v, rows,
                                                                      keys);
}
