#pragma once
#ifdef USE_ROCM
  #include <hip/hip_runtime.h>
#endif

namespace tiny {

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int lane = 16; lane > 0; lane >>= 1) v += __shfl_xor_sync(0xffffffffu, v, lane);
  return v;
}

template <typename T>
__device__ T block_sum(T v) {
  __shared__ T partial[32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : T(0);
  if (threadIdx.x < 32) v = warp_sum(v);
  return v;
}

}  // namespace tiny
