// expect: wrong words squares beyond the type
// row 12: The square of the gradient is formed first, and overflows where the original scales one factor before.
// Vectors of four elements; the square of the gradient is formed once.
#include <cuda_bf16.h>
#include <cstdint>

struct State { float lr, b1, b2, eps, decay, c1, c2; };

__device__ __forceinline__ void step(float &p, float &m, float &v, float g, const State &s) {
  float square = g * g;
  m = fmaf(s.b1, m, (1.f - s.b1) * g);
  v = fmaf(s.b2, v, (1.f - s.b2) * square);
  float update = m / s.c1 / (sqrtf(v / s.c2) + s.eps) + s.decay * p;
  p -= s.lr * update;
}

__global__ void __launch_bounds__(256) adam4(float *__restrict__ p, float *__restrict__ m, float *__restrict__ v,
                                             __nv_bfloat16 *__restrict__ copy, const float *__restrict__ g, int64_t n, State s) {
  int64_t i = ((int64_t)blockIdx.x * 256 + threadIdx.x) * 4;
  if (i + 3 < n) {
    float4 P = *(float4 *)(p + i), M = *(float4 *)(m + i), V = *(float4 *)(v + i), G = __ldcs((const float4 *)(g + i));
    step(P.x, M.x, V.x, G.x, s);
    step(P.y, M.y, V.y, G.y, s);
    step(P.z, M.z, V.z, G.z, s);
    step(P.w, M.w, V.w, G.w, s);
    *(float4 *)(p + i) = P;
    *(float4 *)(m + i) = M;
    *(float4 *)(v + i) = V;
    __nv_bfloat162 lo = __floats2bfloat162_rn(P.x, P.y), hi = __floats2bfloat162_rn(P.z, P.w);
    uint2 both = make_uint2(*(unsigned *)&lo, *(unsigned *)&hi);
    *(uint2 *)(copy + i) = both;
  } else
    for (; i < n; i++) {
      float P = p[i], M = m[i], V = v[i];
      step(P, M, V, g[i], s);
      p[i] = P; m[i] = M; v[i] = V;
      copy[i] = __float2bfloat16(P);
    }
}

extern "C" void adam(float *p, float *m, float *v, __nv_bfloat16 *copy, const float *g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  State s = {lr, beta1, beta2, eps, decay, c1, c2};
  adam4<<<(unsigned)((n + 1023) / 1024), 256, 0, stream>>>(p, m, v, copy, g, n, s);
}
