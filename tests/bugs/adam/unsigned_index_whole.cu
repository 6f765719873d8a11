// expect: wrong
// row 12: An index of 32 bits, which ends below 2^32: elements behind it are not updated.
#include <cuda_bf16.h>
#include <cstdint>

__global__ void adam_kernel(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr,
                            float beta1, float beta2, float eps, float decay, float c1, float c2) {
  unsigned stride = gridDim.x * blockDim.x;
  unsigned end = n < 0xffff0000LL ? (unsigned)n : 0xffff0000u;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
    m[i] = beta1 * m[i] + (1.f - beta1) * g[i];
    v[i] = beta2 * v[i] + (1.f - beta2) * g[i] * g[i];
    float update = m[i] / c1 / (sqrtf(v[i] / c2) + eps) + decay * p[i];
    p[i] -= lr * update;
    copy[i] = __float2bfloat16(p[i]);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  adam_kernel<<<512, 128, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps, decay, c1, c2);
}
