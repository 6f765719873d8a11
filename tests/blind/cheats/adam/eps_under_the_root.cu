// expect: wrong
// row 12: sqrt(v/c2) + eps becomes one reciprocal root of v/c2 + eps^2: where v/c2 is small but above eps^2 the step lacks eps / sqrt(v/c2) of itself (v = 1e-10, g = 0, p = 0, m = 0.1: 1e-4 of the step, about a thousand ulps of p). Any n.
#include <cuda_bf16.h>
#include <cstdint>

__global__ void adam_kernel(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr,
                            float beta1, float beta2, float eps2, float decay, float r1, float r2) {
  int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float gi = g[i], pi = p[i];
    float mi = beta1 * m[i] + (1.f - beta1) * gi;
    float vi = beta2 * v[i] + (1.f - beta2) * gi * gi;
    m[i] = mi;
    v[i] = vi;
    pi -= lr * (mi * r1 * rsqrtf(vi * r2 + eps2) + decay * pi);
    p[i] = pi;
    copy[i] = __float2bfloat16(pi);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  adam_kernel<<<1056, 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps * eps, decay, 1.f / c1, 1.f / c2);
}
