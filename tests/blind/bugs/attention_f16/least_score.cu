// wrong because: the running maximum begins at -30000 instead of -inf; where all scores are far below that every weight is 0: rows = 1, keys = 1, q all 64, k all -64 (score -32768): 0 / 0 for v.
#include <cuda_fp16.h>

constexpr int D = 64, WARPS = 4;
#define LEAST -30000.0f

struct State { float most, sum, a, b; }; // of two columns

// A block a row: each warp takes every fourth key, two columns a lane, one pass.
__global__ void __launch_bounds__(32 * WARPS) attention_kernel(__half2* out, const __half2* __restrict__ q, const __half2* __restrict__ k,
                                                               const __half2* __restrict__ v, int keys) {
  __shared__ State part[WARPS][32];
  int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float2 own = __half22float2(q[(size_t)row * (D / 2) + lane]);
  State s = {LEAST, 0.f, 0.f, 0.f};
  for (int j = warp; j < keys; j += WARPS) {
    float2 key = __half22float2(k[(size_t)j * (D / 2) + lane]);
    float dot = own.x * key.x + own.y * key.y;
    for (int w = 16; w; w >>= 1) dot += __shfl_xor_sync(~0u, dot, w);
    float score = dot * 0.125f, most = fmaxf(s.most, score);
    float old = expf(s.most - most), now = expf(score - most);
    float2 value = __half22float2(v[(size_t)j * (D / 2) + lane]);
    s.sum = s.sum * old + now;
    s.a = s.a * old + now * value.x;
    s.b = s.b * old + now * value.y;
    s.most = most;
  }
  part[warp][lane] = s;
  __syncthreads();
  if (warp == 0) {
    float most = LEAST, sum = 0.f, a = 0.f, b = 0.f;
    for (int w = 0; w < WARPS; w++) most = fmaxf(most, part[w][lane].most);
    for (int w = 0; w < WARPS; w++) {
      State p = part[w][lane];
      float f = expf(p.most - most);
      sum += p.sum * f;
      a += p.a * f;
      b += p.b * f;
    }
    out[(size_t)row * (D / 2) + lane] = __floats2half2_rn(a / sum, b / sum);
  }
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  attention_kernel<<<rows, 32 * WARPS, 0, stream>>>((__half2*)out, (const __half2*)q, (const __half2*)k, (const __half2*)v, keys);
}
