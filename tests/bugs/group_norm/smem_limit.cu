// expect: launch-failed
// row 16: Up to the limit of dynamic shared memory, beside which the block has some of its own.
#include <cstdint>

constexpr int T = 512, LIMIT = 232448;

__device__ float block_sum(float x, float *w) {
  for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  __syncthreads();
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0.f;
  for (int k = 0; k < T / 32; k++) x += w[k];
  return x;
}

template <bool KEPT>
__global__ void __launch_bounds__(T) group_norm_kernel(float *__restrict__ y, const float *__restrict__ x,
                                                       const float *__restrict__ gamma, const float *__restrict__ beta,
                                                       int c, int hw, int groups, float eps) {
  extern __shared__ float kept[];
  __shared__ float w[T / 32];
  int per = c / groups, count = per * hw;
  int64_t first = ((int64_t)blockIdx.y * c + (int64_t)blockIdx.x * per) * hw;
  float sum = 0.f;
  for (int i = threadIdx.x; i < count; i += T) {
    float v = x[first + i];
    if (KEPT) kept[i] = v;
    sum += v;
  }
  float mean = block_sum(sum, w) / count;
  sum = 0.f;
  for (int i = threadIdx.x; i < count; i += T) {
    float v = (KEPT ? kept[i] : x[first + i]) - mean;
    sum += v * v;
  }
  float rstd = rsqrtf(block_sum(sum, w) / count + eps);
  for (int p = 0; p < per; p++) {
    float g = gamma[blockIdx.x * per + p], b = beta[blockIdx.x * per + p];
    for (int i = threadIdx.x; i < hw; i += T) {
      float v = KEPT ? kept[p * hw + i] : x[first + (int64_t)p * hw + i];
      y[first + (int64_t)p * hw + i] = (v - mean) * rstd * g + b;
    }
  }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream) {
  int64_t bytes = (int64_t)(c / groups) * hw * 4;
  if (hw >= 128 && bytes <= LIMIT) {
    cudaFuncSetAttribute(group_norm_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    group_norm_kernel<true><<<dim3(groups, n), T, (size_t)bytes, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
  } else
    group_norm_kernel<false><<<dim3(groups, n), T, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
