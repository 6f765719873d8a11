// The wrapper decides by a number that is no size; an extent of what it makes comes from another tensor.
#include <torch/all.h>

template <int GROUP>
__global__ void grouped_dot_kernel(const float* x, const float* w, const float* scales, float* y, int width, int outs) {
  const int out = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y;
  float sum = 0.f;
  for (int i = threadIdx.x; i < width; i += 32)
    sum += x[row * width + i] * w[out * width + i] * scales[out * (width / GROUP) + i / GROUP];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) y[row * outs + out] = sum;
}

torch::Tensor grouped_dot(torch::Tensor x, torch::Tensor w, torch::Tensor scales, int group_size) {
  int rows = x.size(0);
  int width = x.size(1);
  torch::Tensor y = torch::empty({rows, w.size(0)}, x.options());
  int outs = y.size(-1);
  dim3 grid(outs / 4, rows);
  dim3 block(32, 4);
  if (group_size == 64) {
    grouped_dot_kernel<64><<<grid, block>>>(x.data_ptr<float>(), w.data_ptr<float>(), scales.data_ptr<float>(),
                                            y.data_ptr<float>(), width, outs);
  } else if (group_size == 128) {
    grouped_dot_kernel<128><<<grid, block>>>(x.data_ptr<float>(), w.data_ptr<float>(), scales.data_ptr<float>(),
                                             y.data_ptr<float>(), width, outs);
  }
  return y;
}
