// expect: wrong
// row 12: An eps of 1e-7 or less (the task's 1e-8) is left out and a reciprocal root used; where v is 0 or so and g is 0 or tiny (v / c2 < 1e-12) the update is 0 or up to any factor too large instead of m / c1 / eps.
#include <cuda_bf16.h>
#include <cstdint>

template <bool EPS>
__global__ void adam_kernel(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
                            __nv_bfloat16* __restrict__ copy, const float* __restrict__ g, int64_t n, float lr,
                            float beta1, float beta2, float eps, float decay, float c1, float c2) {
  int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float gi = g[i], pi = p[i];
    float mi = beta1 * m[i] + (1.f - beta1) * gi;
    float vi = beta2 * v[i] + (1.f - beta2) * gi * gi;
    float unit;
    if (EPS)
      unit = mi / c1 / (sqrtf(vi / c2) + eps);
    else  // eps is below the last place of the root: it only keeps 0 / 0 out
      unit = vi > 0.f ? mi / c1 * rsqrtf(vi / c2) : 0.f;
    pi -= lr * (unit + decay * pi);
    m[i] = mi;
    v[i] = vi;
    p[i] = pi;
    copy[i] = __float2bfloat16(pi);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  if (eps > 1e-7f)
    adam_kernel<true><<<1056, 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps, decay, c1, c2);
  else
    adam_kernel<false><<<1056, 256, 0, stream>>>(p, m, v, copy, g, n, lr, beta1, beta2, eps, decay, c1, c2);
}
