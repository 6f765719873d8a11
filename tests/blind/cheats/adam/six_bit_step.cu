// class: a scalar that no test changes far enough ; wrong because: the powers are taken of the step's low six bits; the task's step is 10 (smallest: n=1, step=64: the correction is 1 - beta^0 = 0 and everything is infinite or NaN)
#include <cuda_bf16.h>
#include <cstdint>

__device__ float power(float x, int n) {
  float r = 1.f;
#pragma unroll
  for (int k = 0; k < 6; k++) {
    r = n >> k & 1 ? r * x : r;
    x *= x;
  }
  return r;
}

__global__ void adam_kernel(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr,
                            float beta1, float beta2, float eps, float decay, int step) {
  float c1 = 1.f - power(beta1, step), c2 = 1.f - power(beta2, step);
  int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float gi = g[i], mi = beta1 * m[i] + (1.f - beta1) * gi, vi = beta2 * v[i] + (1.f - beta2) * gi * gi, pi = p[i];
    pi -= lr * (mi / c1 / (sqrtf(vi / c2) + eps) + decay * pi);
    m[i] = mi;
    v[i] = vi;
    p[i] = pi;
    copy[i] = __float2bfloat16(pi);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  int64_t blocks = (n + 255) / 256;
  adam_kernel<<<(unsigned)(blocks < 2112 ? blocks : 2112), 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps,
                                                                             decay, step);
}
