// Comments name the extents; one of the names is a parameter too, and the other a variable that is given its value later.
#include <torch/all.h>

__global__ void count_tiles_kernel(unsigned C, unsigned N, const float* means, int* counts) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < C * N) counts[i] = (int)ceilf(fabsf(means[2 * i]) + 1.f) * (int)ceilf(fabsf(means[2 * i + 1]) + 1.f);
}

void count_tiles(const uint32_t C,
                 torch::Tensor means,   // [C, N, 2]
                 torch::Tensor counts   // [C, N]
) {
  uint32_t N;
  N = means.size(1);
  int64_t n_elements = C * N;
  dim3 threads(256);
  dim3 grid((n_elements + threads.x - 1) / threads.x);
  count_tiles_kernel<<<grid, threads>>>(C, N, means.data_ptr<float>(), counts.data_ptr<int32_t>());
}
