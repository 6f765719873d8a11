// No tensor cores for floats.
// transform: attention 64064
// applies: line 9
// has: attention_simt<64, 64, 64, 0, false>
// lacks: attention_mma
#include <cuda_runtime.h>

constexpr int D = 64;
__global__ void attend(float* out, const float* q, const float* k, const float* v, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  size_t base = (size_t)blockIdx.y * n * D;
  const float* own = q + base + (size_t)i * D;
  float acc[D];
  for (int d = 0; d < D; d++) acc[d] = 0.0f;
  float m = -INFINITY, l = 0.0f;
  for (int j = 0; j < n; j++) {
    if (j > i) break;
    float s = 0.0f;
    for (int d = 0; d < D; d++) s += own[d] * k[base + (size_t)j * D + d];
    s *= scale;
    float top = fmaxf(m, s), back = expf(m - top), p = expf(s - top);
    l = l * back + p;
    for (int d = 0; d < D; d++) acc[d] = acc[d] * back + p * v[base + (size_t)j * D + d];
    m = top;
  }
  for (int d = 0; d < D; d++) out[base + (size_t)i * D + d] = acc[d] / l;
}
extern "C" void entry(float* out, const float* q, const float* k, const float* v, int bh, int n, cudaStream_t stream) {
  dim3 grid((n + 63) / 64, bh);
  attend<<<grid, 64, 0, stream>>>(out, q, k, v, n, 1.0f / sqrtf((float)D));
}
