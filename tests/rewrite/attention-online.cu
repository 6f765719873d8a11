// A thread a query, a running maximum; later keys are hidden.
// transform: attention 2064128
// applies: line 12
// has: const long long keys = (long long)n, diagonal = 1LL;
// has: attention_mma<128, 64, 64, 2, false>(attention_memory, out + (64LL * blockIdx.y * n) + row0 * out_step, out_step,
// has: cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, 55296);
// has: attend<<<dim3((n + 127) / 128, bh, 1), 128, 55296, stream>>>(out, q, k, v, n, 1.0f / sqrtf((float)D));
// lacks: acc[d]
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
    if (j > i) break;
    float s = 0.0f;
    for (int d = 0; d < D; d++) s += __half2float(own[d]) * __half2float(k[base + (size_t)j * D + d]);
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
