// expect: wrong
// row 12: Rounds by adding 1.5 * 2^23 and taking the low byte. NaN has a low byte of 255: with eps = 0 a row of zeros is 0 * inf = NaN, which (int) makes 0 and this -1. tokens = 1, hidden = 1, eps = 0, in = 0: out = 0, here -1.
#include <cuda_fp16.h>
#include <cstdint>

__device__ float reduce(float x, bool largest) {
  __shared__ float part[8];
  for (int s = 16; s; s /= 2) {
    float y = __shfl_xor_sync(~0u, x, s);
    x = largest ? fmaxf(x, y) : x + y;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = part[0];
  for (int i = 1; i < 8; i++) x = largest ? fmaxf(x, part[i]) : x + part[i];
  __syncthreads();
  return x;
}

__global__ void rmsnorm_int8_kernel(int8_t* out, float* scales, const __half* in, const __half* weight, float eps,
                                    int hidden) {
  int64_t row = (int64_t)blockIdx.x * hidden;
  float sum = 0.f, amax = 0.f;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float x = __half2float(in[row + i]);
    sum += x * x;
  }
  float rms = rsqrtf(reduce(sum, false) / hidden + eps);
  for (int i = threadIdx.x; i < hidden; i += 256)
    amax = fmaxf(amax, fabsf(__half2float(in[row + i]) * rms * __half2float(weight[i])));
  float scale = fmaxf(reduce(amax, true), 1e-10f) / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float y = __half2float(in[row + i]) * rms * __half2float(weight[i]);
    // |y / scale| is at most 127: no clamp, and the rounding of an addition
    out[row + i] = (int8_t)__float_as_int(y / scale + 12582912.f);
  }
}

extern "C" void rmsnorm_int8(int8_t* out, float* scales, const __half* in, const __half* weight, float eps, int tokens,
                             int hidden, cudaStream_t stream) {
  rmsnorm_int8_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
