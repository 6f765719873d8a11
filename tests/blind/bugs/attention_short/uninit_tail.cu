// class: uninitialised shared memory ; wrong because: the last loop is unrolled by 4 up to the next multiple and takes weights that nobody wrote, right only where shared memory happens to hold 0 (smallest: rows=1, keys=1)
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64;

__device__ float reduce(float x, bool max) {
  __shared__ float two[2];
  for (int k = 16; k; k >>= 1) {
    float y = __shfl_xor_sync(0xffffffffu, x, k);
    x = max ? fmaxf(x, y) : x + y;
  }
  if (threadIdx.x % 32 == 0) two[threadIdx.x / 32] = x;
  __syncthreads();
  x = max ? fmaxf(two[0], two[1]) : two[0] + two[1];
  __syncthreads();
  return x;
}

__global__ void attention_kernel(__half* out, const __half* q, const __half* k, const __half* v, int keys) {
  __shared__ float own[D];
  __shared__ __align__(16) float score[D];
  int t = threadIdx.x;
  own[t] = __half2float(q[(size_t)blockIdx.x * D + t]);
  __syncthreads();
  float dot = 0.f, e = 0.f;
  if (t < keys)
    for (int d = 0; d < D; d++) dot += own[d] * __half2float(k[(size_t)t * D + d]);
  float most = reduce(t < keys ? dot * 0.125f : -CUDART_INF_F, true);
  if (t < keys) score[t] = e = expf(dot * 0.125f - most);
  float sum = reduce(e, false), o = 0.f;
  for (int j = 0; j < keys; j += 4) {
    float4 w = *(const float4*)&score[j];
    int last = keys - 1;  // rows beyond the last are the last, with a weight of 0
    o += w.x * __half2float(v[(size_t)j * D + t]);
    o += w.y * __half2float(v[(size_t)min(j + 1, last) * D + t]);
    o += w.z * __half2float(v[(size_t)min(j + 2, last) * D + t]);
    o += w.w * __half2float(v[(size_t)min(j + 3, last) * D + t]);
  }
  out[(size_t)blockIdx.x * D + t] = __float2half(o / sum);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
  attention_kernel<<<rows, D, 0, stream>>>(out, q, k, v, keys);
}
