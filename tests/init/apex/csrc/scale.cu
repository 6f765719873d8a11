#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>

#define DISPATCH_FLOAT_AND_HALF(TYPE, LEVEL, NAME, ...)                     \
  switch (TYPE) {                                                           \
    case at::ScalarType::Float: {                                           \
      using scalar_t_##LEVEL = float;                                       \
      __VA_ARGS__;                                                          \
      break;                                                                \
    }                                                                       \
    case at::ScalarType::Half: {                                            \
      using scalar_t_##LEVEL = at::Half;                                    \
      __VA_ARGS__;                                                          \
      break;                                                                \
    }                                                                       \
    default:                                                                \
      AT_ERROR(#NAME, " not implemented for '", toString(TYPE), "'");       \
  }

namespace {

template <typename T>
__global__ void scale_kernel(const T* __restrict__ in, T* __restrict__ out, float scale, int n) {
  using acc_t = at::acc_type<T, true>;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    out[i] = static_cast<T>(static_cast<acc_t>(in[i]) * scale);
  }
}

}  // namespace

at::Tensor scale_cuda(at::Tensor in, float scale) {
  auto out = at::empty_like(in);
  const int n = in.numel();
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;
  auto stream = at::cuda::getCurrentCUDAStream().stream();
  DISPATCH_FLOAT_AND_HALF(in.scalar_type(), 0, "scale_kernel",
    scale_kernel<scalar_t_0><<<blocks, threads, 0, stream>>>(
        in.data_ptr<scalar_t_0>(), out.data_ptr<scalar_t_0>(), scale, n));
  return out;
}
