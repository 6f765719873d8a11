// RMSNorm, then each token quantised to int8 with a scale of its own.
#include <cuda_fp16.h>
#include <cstdint>

__device__ float block_sum(float x) {
  __shared__ float s[256];
  s[threadIdx.x] = x;
  __syncthreads();
  for (int k = 128; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  x = s[0];
  __syncthreads();
  return x;
}

__device__ float block_max(float x) {
  __shared__ float s[256];
  s[threadIdx.x] = x;
  __syncthreads();
  for (int k = 128; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  x = s[0];
  __syncthreads();
  return x;
}

__global__ void rmsnorm_int8_kernel(int8_t* out, float* scales, const __half* in, const __half* weight, float eps,
                                    int hidden) {
  int64_t row = (int64_t)blockIdx.x * hidden;
  float sum = 0.f;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float x = __half2float(in[row + i]);
    sum += x * x;
  }
  float rms = rsqrtf(block_sum(sum) / hidden + eps);
  float amax = 0.f;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float y = __half2float(in[row + i]) * rms * __half2float(weight[i]);
    amax = fmaxf(amax, fabsf(y));
  }
  amax = fmaxf(block_max(amax), 1e-10f);
  float scale = amax / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float y = __half2float(in[row + i]) * rms * __half2float(weight[i]);
    int q = (int)rintf(y / scale);
    out[row + i] = (int8_t)max(-127, min(127, q));
  }
}

extern "C" void rmsnorm_int8(int8_t* out, float* scales, const __half* in, const __half* weight, float eps, int tokens,
                             int hidden, cudaStream_t stream) {
  rmsnorm_int8_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
