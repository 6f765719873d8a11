// expect: correct
// Apex's way: a struct of pointers, ILP of four, float4 when aligned, corrections in the launcher.
#include <cuda_bf16.h>
#include <cstdint>

#define ILP 4

struct TensorListMetadata {
  float* addresses[3];
  const float* grad;
  __nv_bfloat16* copy;
  int64_t size;
};

template <typename T>
__device__ __forceinline__ bool is_aligned(T* p) {
  return ((uint64_t)p) % (ILP * sizeof(T)) == 0;
}

template <typename T>
__device__ __forceinline__ void load_store(T* dst, const T* src, int64_t dst_offset, int64_t src_offset) {
  typedef typename std::aligned_storage<ILP * sizeof(T), ILP * alignof(T)>::type LT;
  ((LT*)dst)[dst_offset] = ((const LT*)src)[src_offset];
}

struct AdamFunctor {
  float lr, beta1, beta2, eps, decay, correction1, correction2;
  __device__ __forceinline__ void operator()(float& p, float& m, float& v, float g) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const float next_m_unbiased = m / correction1;
    const float next_v_unbiased = v / correction2;
    const float denom = sqrtf(next_v_unbiased) + eps;
    const float update = (next_m_unbiased / denom) + (decay * p);
    p = p - (lr * update);
  }
};

template <typename Functor>
__global__ void multi_tensor_apply_kernel(TensorListMetadata tl, Functor f) {
  float* p = tl.addresses[0];
  float* m = tl.addresses[1];
  float* v = tl.addresses[2];
  const int64_t n = tl.size, vecs = n / ILP;
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  const int64_t tid = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t i = tid; i < vecs; i += stride) {
    float rp[ILP], rm[ILP], rv[ILP], rg[ILP];
    load_store(rp, p, 0, i);
    load_store(rm, m, 0, i);
    load_store(rv, v, 0, i);
    load_store(rg, tl.grad, 0, i);
    __nv_bfloat16 c[ILP];
#pragma unroll
    for (int ii = 0; ii < ILP; ii++) {
      f(rp[ii], rm[ii], rv[ii], rg[ii]);
      c[ii] = __float2bfloat16(rp[ii]);
    }
    load_store(p, rp, i, 0);
    load_store(m, rm, i, 0);
    load_store(v, rv, i, 0);
    load_store(tl.copy, c, i, 0);
  }
  const int64_t i = vecs * ILP + tid;
  if (i < n) {
    f(p[i], m[i], v[i], tl.grad[i]);
    tl.copy[i] = __float2bfloat16(p[i]);
  }
}

extern "C" void adam(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, int64_t n, float lr, float beta1,
                     float beta2, float eps, float decay, int step, cudaStream_t stream) {
  const float bias_correction1 = 1 - std::pow(beta1, step);
  const float bias_correction2 = 1 - std::pow(beta2, step);
  TensorListMetadata tl;
  tl.addresses[0] = p;
  tl.addresses[1] = m;
  tl.addresses[2] = v;
  tl.grad = g;
  tl.copy = copy;
  tl.size = n;
  AdamFunctor f{lr, beta1, beta2, eps, decay, bias_correction1, bias_correction2};
  int64_t blocks = (n / ILP + 511) / 512;
  if (blocks < 1) blocks = 1;
  if (blocks > 4096) blocks = 4096;
  multi_tensor_apply_kernel<AdamFunctor><<<(unsigned)blocks, 512, 0, stream>>>(tl, f);
}
