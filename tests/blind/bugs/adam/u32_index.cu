// class: 32-bit index beyond the memory a tester has ; wrong because: a 32-bit loop counter and n cut to 32 bits; with n >= 2^32 (77 GB of buffers: fits an H200, domain goes to 1e10) only n mod 2^32 elements are updated (smallest: n = 4294967296, where nothing is)
#include <cuda_bf16.h>
#include <cstdint>

__global__ void adam_kernel(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
                            __nv_bfloat16* __restrict__ copy, const float* __restrict__ g, uint32_t n, float lr,
                            float beta1, float beta2, float eps, float decay, float c1, float c2) {
  // 32-bit arithmetic: the 64-bit counter costs two registers and an add with carry.
  uint32_t i = blockIdx.x * 256u + threadIdx.x;
  if (i >= n) return;
  float grad = g[i], mi = beta1 * m[i] + (1.f - beta1) * grad, vi = beta2 * v[i] + (1.f - beta2) * grad * grad;
  float pi = p[i];
  float update = mi / c1 / (sqrtf(vi / c2) + eps) + decay * pi;
  pi -= lr * update;
  m[i] = mi;
  v[i] = vi;
  p[i] = pi;
  copy[i] = __float2bfloat16(pi);
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  unsigned blocks = (unsigned)((n + 255) / 256);
  adam_kernel<<<blocks, 256, 0, stream>>>(p, m, v, copy, g, (uint32_t)n, lr, beta1, beta2, eps, decay, c1, c2);
}
