// four elements a thread by 128-bit accesses, persistent grid, tail by the first threads, reciprocals of the bias corrections.
#include <cuda_bf16.h>
#include <cstdint>

struct Hyper { float lr, b1, b2, eps, decay, r1, r2; };

__device__ __forceinline__ void step_one(float& p, float& m, float& v, float g, const Hyper& h) {
  m = h.b1 * m + (1.f - h.b1) * g;
  v = h.b2 * v + (1.f - h.b2) * g * g;
  float update = m * h.r1 / (sqrtf(v * h.r2) + h.eps) + h.decay * p;
  p -= h.lr * update;
}

__global__ __launch_bounds__(256) void adam_vec4(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
                                                  __nv_bfloat16* __restrict__ copy, const float* __restrict__ g,
                                                  int64_t n, Hyper h) {
  int64_t n4 = n / 4, stride = (int64_t)gridDim.x * blockDim.x, tid = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t i = tid; i < n4; i += stride) {
    float4 P = reinterpret_cast<float4*>(p)[i], M = reinterpret_cast<float4*>(m)[i], V = reinterpret_cast<float4*>(v)[i];
    float4 G = __ldcs(reinterpret_cast<const float4*>(g) + i);
    step_one(P.x, M.x, V.x, G.x, h);
    step_one(P.y, M.y, V.y, G.y, h);
    step_one(P.z, M.z, V.z, G.z, h);
    step_one(P.w, M.w, V.w, G.w, h);
    reinterpret_cast<float4*>(p)[i] = P;
    reinterpret_cast<float4*>(m)[i] = M;
    reinterpret_cast<float4*>(v)[i] = V;
    __nv_bfloat162 lo = __floats2bfloat162_rn(P.x, P.y), hi = __floats2bfloat162_rn(P.z, P.w);
    uint2 out;
    out.x = *reinterpret_cast<unsigned*>(&lo);
    out.y = *reinterpret_cast<unsigned*>(&hi);
    reinterpret_cast<uint2*>(copy)[i] = out;
  }
  int64_t i = n4 * 4 + tid;
  if (i < n) {
    float P = p[i], M = m[i], V = v[i];
    step_one(P, M, V, g[i], h);
    p[i] = P;
    m[i] = M;
    v[i] = V;
    copy[i] = __float2bfloat16(P);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  float c1 = 1.f - powf(beta1, step), c2 = 1.f - powf(beta2, step);
  Hyper h;
  h.lr = lr; h.b1 = beta1; h.b2 = beta2; h.eps = eps; h.decay = decay; h.r1 = 1.f / c1; h.r2 = 1.f / c2;
  int64_t blocks = (n / 4 + 255) / 256;
  if (blocks < 1) blocks = 1;
  if (blocks > 2112) blocks = 2112;
  adam_vec4<<<(unsigned)blocks, 256, 0, stream>>>(p, m, v, copy, g, n, h);
}
