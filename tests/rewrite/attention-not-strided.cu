// The numbers of a key do not lie beside each other.
// transform: attention -1
// leaves
#include <cuda_fp16.h>

constexpr int D = 64;
__global__ void attend(__half* out, const __half* q, const __half* k, const __half* v, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  size_t base = (size_t)blockIdx.y * n * D;
  const __half* own = q + base + (size_t)i * D;
  float acc[D];
  for (int d = 0; d < D; d++) acc[d] = 0.0f;
  float m = -INFINITY, l = 0.0f;
  for (int j = 0; j < n; j++) {
    
    float s = 0.0f;
    for (int d = 0; d < D; d++) s += __half2float(own[d]) * __half2float(k[base + (size_t)d * n + j]);
    s *= scale;
    float top = fmaxf(m, s), back = expf(m - top), p = expf(s - top);
    l = l * back + p;
    for (int d = 0; d < D; d++) acc[d] = acc[d] * back + p * __half2float(v[base + (size_t)j * D + d]);
    m = top;
  }
  for (int d = 0; d < D; d++) out[base + (size_t)i * D + d] = __float2half(acc[d] / l);
}
extern "C" void entry(__half* out, const __half* q, const __half* k, const __half* v, int bh, int n, cudaStream_t stream) {
  dim3 grid((n + 63) / 64, bh);
  attend<<<grid, 64, 0, stream>>>(out, q, k, v, n, 1.0f / sqrtf((float)D));
}
