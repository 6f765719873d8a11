// expect: wrong
// row 10: The norm in half precision: quantised numbers are one off now and then.
#include <cuda_fp16.h>
#include <cub/block/block_reduce.cuh>
#include <cstdint>

__device__ __forceinline__ int8_t to_int8(float x) {
  uint32_t dst;
  asm volatile("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(dst) : "f"(x));
  return reinterpret_cast<const int8_t&>(dst);
}

struct MaxOp {
  template <typename T>
  __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    return a > b ? a : b;
  }
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    rms_quant(int8_t* __restrict__ out, float* __restrict__ scales, const __half* __restrict__ in,
              const __half* __restrict__ weight, const float eps, const int hidden) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage tmp;
  __shared__ float s_rms, s_inv;
  const int64_t base = static_cast<int64_t>(blockIdx.x) * hidden;
  float ss = 0.f;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    const float x = static_cast<float>(in[base + i]);
    ss += x * x;
  }
  ss = Reduce(tmp).Sum(ss);
  if (threadIdx.x == 0) s_rms = __half2float(__float2half(rsqrtf(ss / hidden + eps)));
  __syncthreads();
  float amax = 0.f;
  for (int i = threadIdx.x; i < hidden; i += kThreads)
    amax = fmaxf(amax, fabsf(static_cast<float>(in[base + i]) * s_rms * static_cast<float>(weight[i])));
  amax = Reduce(tmp).Reduce(amax, MaxOp{});
  if (threadIdx.x == 0) {
    amax = fmaxf(amax, 1e-10f);
    scales[blockIdx.x] = amax / 127.f;
    s_inv = 127.f / amax;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < hidden; i += kThreads)
    out[base + i] = to_int8(static_cast<float>(in[base + i]) * s_rms * static_cast<float>(weight[i]) * s_inv);
}

extern "C" void rmsnorm_int8(int8_t* out, float* scales, const __half* in, const __half* weight, float eps, int tokens,
                             int hidden, cudaStream_t stream) {
  if (hidden <= 1024)
    rms_quant<128><<<tokens, 128, 0, stream>>>(out, scales, in, weight, eps, hidden);
  else
    rms_quant<512><<<tokens, 512, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
