#ifndef TINY_VEC_CUH_
#define TINY_VEC_CUH_
#include <cuda_fp16.h>
#include <cstdint>

#include "activation.cuh"

namespace tiny {

template <typename T, size_t N>
struct vec_t {
  T data[N];
  __device__ __forceinline__ void load(const T* from) {
#pragma unroll
    for (size_t i = 0; i < N; ++i) data[i] = from[i];
  }
  __device__ __forceinline__ T& operator[](size_t i) { return data[i]; }
};

}  // namespace tiny
#endif
