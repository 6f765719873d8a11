// expect: correct
// Eight elements a thread; the three before them come from the neighbour through shared memory, as Mamba does.
#include <cuda_bf16.h>
#include <cstdint>

template <int kNThreads_, int kWidth_, bool kVecLoad_>
struct Causal_conv1d_fwd_kernel_traits {
  static constexpr int kNThreads = kNThreads_;
  static constexpr int kWidth = kWidth_;
  static constexpr int kNElts = 8;
  static constexpr bool kVecLoad = kVecLoad_;
  static_assert(kWidth <= kNElts);
  static constexpr int kChunkSize = kNThreads * kNElts;
  static constexpr int kSmemSize = kNThreads * 16;
};

template <typename Ktraits>
__global__ __launch_bounds__(Ktraits::kNThreads) void causal_conv1d_fwd_kernel(__nv_bfloat16* __restrict__ out,
                                                                               const __nv_bfloat16* __restrict__ x,
                                                                               const __nv_bfloat16* __restrict__ weight,
                                                                               const __nv_bfloat16* __restrict__ bias,
                                                                               int dim, int length, bool silu) {
  constexpr int kWidth = Ktraits::kWidth;
  constexpr int kNThreads = Ktraits::kNThreads;
  constexpr int kNElts = Ktraits::kNElts;
  extern __shared__ uint4 smem_exchange[];
  const int tidx = threadIdx.x;
  const int channel = blockIdx.y;
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * dim + channel) * length;
  const float bias_val = __bfloat162float(bias[channel]);
  float weight_vals[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) weight_vals[i] = __bfloat162float(weight[channel * kWidth + i]);
  if (tidx == 0) smem_exchange[kNThreads - 1] = make_uint4(0, 0, 0, 0);
  const int n_chunks = (length + Ktraits::kChunkSize - 1) / Ktraits::kChunkSize;
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    alignas(16) __nv_bfloat16 x_vals_load[2 * kNElts];
#pragma unroll
    for (int i = 0; i < 2 * kNElts; ++i) x_vals_load[i] = __float2bfloat16(0.f);
    const int at = chunk * Ktraits::kChunkSize + tidx * kNElts;
    if constexpr (Ktraits::kVecLoad) {
      if (at < length) reinterpret_cast<uint4*>(x_vals_load)[1] = *reinterpret_cast<const uint4*>(x + row + at);
    } else {
#pragma unroll
      for (int i = 0; i < kNElts; ++i)
        if (at + i < length) x_vals_load[kNElts + i] = x[row + at + i];
    }
    __syncthreads();
    if (tidx < kNThreads - 1) smem_exchange[tidx] = reinterpret_cast<uint4*>(x_vals_load)[1];
    __syncthreads();
    reinterpret_cast<uint4*>(x_vals_load)[0] = smem_exchange[tidx > 0 ? tidx - 1 : kNThreads - 1];
    __syncthreads();
    if (tidx == kNThreads - 1) smem_exchange[tidx] = reinterpret_cast<uint4*>(x_vals_load)[1];
    float x_vals[2 * kNElts];
#pragma unroll
    for (int i = 0; i < 2 * kNElts; ++i) x_vals[i] = float(x_vals_load[i]);
    float out_vals[kNElts];
#pragma unroll
    for (int i = 0; i < kNElts; ++i) {
      out_vals[i] = bias_val;
#pragma unroll
      for (int w = 0; w < kWidth; ++w) out_vals[i] += weight_vals[w] * x_vals[kNElts + i - (kWidth - w - 1)];
    }
    if (silu) {
#pragma unroll
      for (int i = 0; i < kNElts; ++i) out_vals[i] = out_vals[i] / (1 + expf(-out_vals[i]));
    }
    alignas(16) __nv_bfloat16 out_store[kNElts];
#pragma unroll
    for (int i = 0; i < kNElts; ++i) out_store[i] = __float2bfloat16(out_vals[i]);
    if constexpr (Ktraits::kVecLoad) {
      if (at < length) *reinterpret_cast<uint4*>(out + row + at) = *reinterpret_cast<uint4*>(out_store);
    } else {
      for (int i = 0; i < kNElts; ++i)
        if (at + i < length) out[row + at + i] = out_store[i];
    }
  }
}

template <int kNThreads, int kWidth, bool kVec>
void launch_fwd(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                int batch, int dim, int length, bool silu, cudaStream_t stream) {
  using Ktraits = Causal_conv1d_fwd_kernel_traits<kNThreads, kWidth, kVec>;
  constexpr int kSmemSize = Ktraits::kSmemSize;
  dim3 grid(batch, dim);
  auto kernel = &causal_conv1d_fwd_kernel<Ktraits>;
  if (kSmemSize >= 48 * 1024) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemSize);
  }
  kernel<<<grid, Ktraits::kNThreads, kSmemSize, stream>>>(out, x, weight, bias, dim, length, silu);
}

#define BOOL_SWITCH(COND, CONST_NAME, ...)      \
  [&] {                                         \
    if (COND) {                                 \
      constexpr static bool CONST_NAME = true;  \
      return __VA_ARGS__();                     \
    } else {                                    \
      constexpr static bool CONST_NAME = false; \
      return __VA_ARGS__();                     \
    }                                           \
  }()

extern "C" void causal_conv1d(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                              const __nv_bfloat16* bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream) {
  BOOL_SWITCH(length % 8 == 0, kVec, [&] {
    launch_fwd<128, 4, kVec>(out, x, weight, bias, batch, dim, length, silu, stream);
  });
}
