// expect: correct
// As FlashAttention has it: tiles of 32 keys, a running maximum, probabilities in half, sums in float.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, TILE = 32;

__global__ void attention_kernel(__half* out, const __half* q, const __half* k, const __half* v, int keys) {
  __shared__ __half p[TILE];
  __shared__ float2 own[D / 2];
  __shared__ float scale, total;
  int row = blockIdx.x, t = threadIdx.x;
  if (t < D / 2) own[t] = __half22float2(reinterpret_cast<const __half2*>(q + (size_t)row * D)[t]);
  __syncthreads();
  float most = -CUDART_INF_F, sum = 0.f, o = 0.f;
  for (int first = 0; first < keys; first += TILE) {
    if (t < TILE) {
      float s = -CUDART_INF_F;
      if (first + t < keys) {
        const __half2* line = reinterpret_cast<const __half2*>(k + (size_t)(first + t) * D);
        s = 0.f;
        for (int d = 0; d < D / 2; d++) {
          float2 x = __half22float2(line[d]);
          s = fmaf(own[d].x, x.x, fmaf(own[d].y, x.y, s));
        }
        s *= 0.125f * CUDART_L2E_F;
      }
      float m = s;
      for (int w = 16; w; w >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, w));
      m = fmaxf(m, most);
      float e = exp2f(s - m), back = exp2f(most - m), all = e;
      for (int w = 16; w; w >>= 1) all += __shfl_xor_sync(~0u, all, w);
      sum = sum * back + all;
      most = m;
      p[t] = __float2half(e);
      if (t == 0) scale = back, total = sum;
    }
    __syncthreads();
    o *= scale;
    for (int j = 0; j < min(TILE, keys - first); j++)
      o += __half2float(p[j]) * __half2float(v[(size_t)(first + j) * D + t]);
    __syncthreads();
  }
  out[(size_t)row * D + t] = __float2half(o / total);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  attention_kernel<<<rows, D, 0, stream>>>(out, q, k, v, keys);
}
