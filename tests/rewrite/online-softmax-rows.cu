// transform: online-softmax 0
// applies: line 26
// has: online_max = online_above > 0 ? online_x : online_max;
// has: const float online_x = x[i] * scale,
// has: sum += online_sum * expf(online_max - largest[0]);
// has: out[row * d + i] = expf(x[i] * scale - largest[0]) / total;
// lacks: sum += expf(x[i] * scale - largest[0]);
#include <cuda_runtime.h>
__device__ float over_block(float v, float* shared, bool sum) {
  shared[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k)
      shared[threadIdx.x] = sum ? shared[threadIdx.x] + shared[threadIdx.x + k] : fmaxf(shared[threadIdx.x], shared[threadIdx.x + k]);
    __syncthreads();
  }
  return shared[0];
}
__global__ void softmax(float* out, const float* in, float scale, int d) {
  __shared__ float largest[256], sums[256];
  const int row = blockIdx.x;
  const float* x = in + row * d;
  float top = -1e30f, sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) top = fmaxf(top, x[i] * scale);
  over_block(top, largest, false);
  for (int i = threadIdx.x; i < d; i += blockDim.x) sum += expf(x[i] * scale - largest[0]);
  const float total = over_block(sum, sums, true);
  for (int i = threadIdx.x; i < d; i += blockDim.x) out[row * d + i] = expf(x[i] * scale - largest[0]) / total;
}

extern "C" void entry(float* out, const float* in, float scale, int rows, int d, cudaStream_t stream) {
  softmax<<<rows, 256, 0, stream>>>(out, in, scale, d);
}
