// Scores, softmax and the sum of values in kernels of their own, with a matrix between them; later keys score nothing.
// transform: attention 1064064
// applies: line 42
// has: __global__ void __launch_bounds__(128) values_kernel(__half* out, const __half* v, int n, const __half* q, const __half* k, float scale)
// has: diagonal = 1LL
// has: values_kernel<<<dim3(1, (n + 63) / 64, bh), 128, 46080, stream>>>(out, v, n, q, k, 0.125f);
// has: q + (64LL * blockIdx.z * n) + row0 * q_step
// lacks: scores_kernel
// lacks: softmax_kernel
// lacks: cudaMallocAsync
#include <cuda_fp16.h>

constexpr int D = 64;
__global__ void scores_kernel(float* s, const __half* q, const __half* k, int n, float scale) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, bh = blockIdx.z;
  if (row >= n || col >= n) return;
  float sum = 0.0f;
  for (int d = 0; d < D; d++) sum += __half2float(q[((size_t)bh * n + row) * D + d]) * __half2float(k[((size_t)bh * n + col) * D + d]);
  s[((size_t)bh * n + row) * n + col] = col <= row ? sum * scale : -INFINITY;
}

__global__ void softmax_kernel(float* s, int n) {
  __shared__ float red[128];
  float* row = s + (size_t)blockIdx.x * n;
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int j = t; j < n; j += 128) m = fmaxf(m, row[j]);
  red[t] = m;
  __syncthreads();
  for (int w = 64; w > 0; w >>= 1) { if (t < w) red[t] = fmaxf(red[t], red[t + w]); __syncthreads(); }
  m = red[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = t; j < n; j += 128) { float e = expf(row[j] - m); row[j] = e; sum += e; }
  red[t] = sum;
  __syncthreads();
  for (int w = 64; w > 0; w >>= 1) { if (t < w) red[t] += red[t + w]; __syncthreads(); }
  float inv = 1.0f / red[0];
  for (int j = t; j < n; j += 128) row[j] *= inv;
}

__global__ void values_kernel(__half* out, const float* p, const __half* v, int n) {
  int d = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, bh = blockIdx.z;
  if (i >= n || d >= D) return;
  float acc = 0.0f;
  for (int j = 0; j < n; j++) acc += p[((size_t)bh * n + i) * n + j] * __half2float(v[((size_t)bh * n + j) * D + d]);
  out[((size_t)bh * n + i) * D + d] = __float2half(acc);
}

extern "C" void entry(__half* out, const __half* q, const __half* k, const __half* v, int bh, int n, cudaStream_t stream) {
  float* scores;
  cudaMallocAsync((void**)&scores, (size_t)bh * n * n * sizeof(float), stream);
  dim3 block(16, 16);
  scores_kernel<<<dim3((n + 15) / 16, (n + 15) / 16, bh), block, 0, stream>>>(scores, q, k, n, 0.125f);
  softmax_kernel<<<bh * n, 128, 0, stream>>>(scores, n);
  values_kernel<<<dim3((D + 15) / 16, (n + 15) / 16, bh), block, 0, stream>>>(out, scores, v, n);
  cudaFreeAsync(scores, stream);
}
