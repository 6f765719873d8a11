#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/all.h>

#include "dispatch.h"
#include "reduce.cuh"

namespace tiny {

struct Unused {
  torch::Tensor cache;
};

template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t* __restrict__ out,           // [..., hidden_size]
                                const scalar_t* __restrict__ input,   // [..., hidden_size]
                                const scalar_t* __restrict__ weight,  // [hidden_size]
                                const float epsilon, const int num_tokens, const int hidden_size) {
  __shared__ float scale;
  float squares = 0.f;
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    const float x = (float)input[(int64_t)blockIdx.x * hidden_size + i];
    squares += x * x;
  }
  squares = block_sum(squares);
  if (threadIdx.x == 0) scale = rsqrtf(squares / hidden_size + epsilon);
  __syncthreads();
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    const float x = (float)input[(int64_t)blockIdx.x * hidden_size + i];
    out[(int64_t)blockIdx.x * hidden_size + i] = ((scalar_t)(x * scale)) * weight[i];
  }
}

}  // namespace tiny

void rms_norm(torch::Tensor& out,     // [..., hidden_size]
              torch::Tensor& input,   // [..., hidden_size]
              torch::Tensor& weight,  // [hidden_size]
              double epsilon) {
  TORCH_CHECK(out.is_contiguous());
  int hidden_size = input.size(-1);
  int num_tokens = input.numel() / hidden_size;

  dim3 grid(num_tokens);
  dim3 block(std::min((hidden_size + 31) / 32 * 32, 1024));
  const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  TINY_DISPATCH(input.scalar_type(), "rms_norm_kernel", [&] {
    tiny::rms_norm_kernel<scalar_t><<<grid, block, 0, stream>>>(
        out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), epsilon, num_tokens,
        hidden_size);
  });
}
