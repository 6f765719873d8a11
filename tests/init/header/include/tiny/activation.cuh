#ifndef TINY_ACTIVATION_CUH_
#define TINY_ACTIVATION_CUH_
#include <cuda_runtime.h>

#include "vec.cuh"

namespace tiny {
namespace activation {

__device__ __forceinline__ float silu(float x) { return x / (1.f + __expf(-x)); }

template <uint32_t VEC_SIZE, typename T>
__global__ void SiluKernel(T* __restrict__ out, const T* __restrict__ in, const uint32_t n) {
  const uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) * VEC_SIZE;
  if (i + VEC_SIZE > n) return;
  vec_t<T, VEC_SIZE> v;
  v.load(in + i);
#pragma unroll
  for (uint32_t k = 0; k < VEC_SIZE; ++k) out[i + k] = T(silu(float(v[k])));
}

template <typename T>
cudaError_t Silu(T* out, const T* in, uint32_t n, cudaStream_t stream = 0) {
  constexpr uint32_t VEC_SIZE = 4;
  SiluKernel<VEC_SIZE, T><<<(n / VEC_SIZE + 127) / 128, 128, 0, stream>>>(out, in, n);
  return cudaSuccess;
}

}  // namespace activation
}  // namespace tiny
#endif
