// expect: wrong
// row 12: The largest score starts at -1e9 and not at -inf: a row whose scores all lie below (q near 60000, k near -60000) is 0 / 0.
// Attention of one head: softmax(q k^T / 8) v, all in float but what is read and written.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, MOST = 4096;

__device__ float block_reduce(float x, bool max) {
  __shared__ float s[D];
  s[threadIdx.x] = x;
  __syncthreads();
  for (int k = D / 2; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = max ? fmaxf(s[threadIdx.x], s[threadIdx.x + k]) : s[threadIdx.x] + s[threadIdx.x + k];
    __syncthreads();
  }
  x = s[0];
  __syncthreads();
  return x;
}

__global__ void attention_kernel(__half* out, const __half* q, const __half* k, const __half* v, int keys) {
  __shared__ float score[MOST], own[D];
  int row = blockIdx.x, t = threadIdx.x;
  own[t] = __half2float(q[(size_t)row * D + t]);
  __syncthreads();
  float most = -1e9f;
  for (int j = t; j < keys; j += D) {
    float dot = 0.f;
    for (int d = 0; d < D; d++) dot += own[d] * __half2float(k[(size_t)j * D + d]);
    score[j] = dot * 0.125f;
    most = fmaxf(most, score[j]);
  }
  most = block_reduce(most, true);
  float sum = 0.f;
  for (int j = t; j < keys; j += D) {
    score[j] = expf(score[j] - most);
    sum += score[j];
  }
  sum = block_reduce(sum, false);
  float o = 0.f;
  for (int j = 0; j < keys; j++) o += score[j] * __half2float(v[(size_t)j * D + t]);
  out[(size_t)row * D + t] = __float2half(o / sum);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  attention_kernel<<<rows, D, 0, stream>>>(out, q, k, v, keys);
}
