// class: shortcut; wrong because: 64 keys whose scores are all 20 below the largest so far are skipped whatever their values are (1 row, 128 keys: the first 64 score 21 with v = 0.001, the others 0 with v = 60000: 1.04e-3 + 4.5e-5 becomes 0.001)
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, TILE = 64, WARPS = 4;

// A warp a row: a lane has two dims of the output and two keys of a tile.
__global__ void __launch_bounds__(WARPS * 32) attention_kernel(__half *__restrict__ out, const __half *__restrict__ q,
                                                              const __half *__restrict__ k, const __half *__restrict__ v,
                                                              int rows, int keys) {
  __shared__ __half2 ks[TILE][D / 2 + 1];
  __shared__ __half2 vs[TILE][D / 2];
  __shared__ float2 qs[WARPS][D / 2];
  __shared__ float ps[WARPS][TILE];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * WARPS + warp;
  if (row < rows) qs[warp][lane] = __half22float2(((const __half2 *)q)[(size_t)row * (D / 2) + lane]);
  else qs[warp][lane] = make_float2(0.f, 0.f);
  float most = -CUDART_INF_F, sum = 0.f;
  float2 o = make_float2(0.f, 0.f);
  for (int base = 0; base < keys; base += TILE) {
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * D / 2; i += WARPS * 32) {
      int r = i / (D / 2), c = i % (D / 2);
      __half2 a = __float2half2_rn(0.f), b = a;
      if (base + r < keys) {
        a = ((const __half2 *)k)[(size_t)(base + r) * (D / 2) + c];
        b = ((const __half2 *)v)[(size_t)(base + r) * (D / 2) + c];
      }
      ks[r][c] = a;
      vs[r][c] = b;
    }
    __syncthreads();
    float s[2] = {0.f, 0.f};
#pragma unroll 8
    for (int c = 0; c < D / 2; c++) {
      float2 a = qs[warp][c], x = __half22float2(ks[lane][c]), y = __half22float2(ks[lane + 32][c]);
      s[0] += a.x * x.x;
      s[0] += a.y * x.y;
      s[1] += a.x * y.x;
      s[1] += a.y * y.y;
    }
    s[0] = base + lane < keys ? s[0] * 0.125f : -CUDART_INF_F;
    s[1] = base + lane + 32 < keys ? s[1] * 0.125f : -CUDART_INF_F;
    float m = fmaxf(s[0], s[1]);
    for (int x = 16; x; x >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, x));
    if (m + 20.f < most) continue;
    float next = fmaxf(m, most), back = expf(most - next);
    most = next;
    float p0 = expf(s[0] - most), p1 = expf(s[1] - most);
    ps[warp][lane] = p0;
    ps[warp][lane + 32] = p1;
    sum = sum * back + p0 + p1;
    o.x *= back;
    o.y *= back;
    __syncwarp();
#pragma unroll 8
    for (int j = 0; j < TILE; j++) {
      float2 x = __half22float2(vs[j][lane]);
      o.x += ps[warp][j] * x.x;
      o.y += ps[warp][j] * x.y;
    }
    __syncwarp();
  }
  for (int x = 16; x; x >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, x);
  if (row < rows) ((__half2 *)out)[(size_t)row * (D / 2) + lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys,
                          cudaStream_t stream) {
  attention_kernel<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, q, k, v, rows, keys);
}
