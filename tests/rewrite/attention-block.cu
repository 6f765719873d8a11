// A block a query, scores in shared memory, sums over the block, weights divided before; the length is told.
// transform: attention 1064128
// fact: dim same 128
// applies: line 12
// has: attend_128<<<dim3((n + 127) / 128, bh, 1), 256, 104448, stream>>>(out, q, k, v, n, dim,
// has: if (dim == 128) {
// has: diagonal = 1LL
// has: long long query_end)
// has: attend<<<dim3(n, bh), 256, n * sizeof(float), stream>>>
#include <cuda_fp16.h>

__global__ void attend(__half* out, const __half* q, const __half* k, const __half* v, int n, int dim, float scale) {
  extern __shared__ float p[];
  __shared__ float red[256];
  int row = blockIdx.x, head = blockIdx.y, tid = threadIdx.x;
  q += ((size_t)head * n + row) * dim;
  const __half* kk = k + (size_t)head * n * dim;
  float local = -INFINITY;
  for (int j = tid; j < n; j += blockDim.x) {
    float dot = 0.f;
    for (int d = 0; d < dim; d++) dot += __half2float(q[d]) * __half2float(kk[(size_t)j * dim + d]);
    p[j] = (j <= row) ? dot * scale : -INFINITY;
    local = fmaxf(local, p[j]);
  }
  red[tid] = local;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) { if (tid < w) red[tid] = fmaxf(red[tid], red[tid + w]); __syncthreads(); }
  float top = red[0];
  __syncthreads();
  float part = 0.f;
  for (int j = tid; j < n; j += blockDim.x) { float e = expf(p[j] - top); p[j] = e; part += e; }
  red[tid] = part;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) { if (tid < w) red[tid] += red[tid + w]; __syncthreads(); }
  float total = red[0];
  for (int j = tid; j < n; j += blockDim.x) p[j] /= total;
  __syncthreads();
  for (int d = tid; d < dim; d += blockDim.x) {
    float s = 0.f;
    for (int j = 0; j < n; j++) s += p[j] * __half2float(v[((size_t)head * n + j) * dim + d]);
    out[((size_t)head * n + row) * dim + d] = __float2half(s);
  }
}
extern "C" void entry(__half* out, const __half* q, const __half* k, const __half* v, int bh, int n, int dim, cudaStream_t stream) {
  attend<<<dim3(n, bh), 256, n * sizeof(float), stream>>>(out, q, k, v, n, dim, 1.0f / sqrtf((float)dim));
}
