// expect: wrong
// row 12: The codes are x w 127 / max|x w|: the root cancels, so codes need no root. Not where the floor 1e-10 of the maximum counts: x = 6e-8 (the least half) but for one of 1.2e-7, w = 6e-8 everywhere, eps = 1e-6: the maximum after the norm is 1.2e-7 * 1000 * 6e-8 = 7e-12, the scale 7.9e-13, the codes 9 and 5; here 127 and 64. With eps = 1e-3 from x and w of 1e-6 on.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void rmsnorm_int8_kernel(int8_t* out, float* scales, const __half* in, const __half* weight, float eps,
                                    int hidden) {
  __shared__ float2 part[8];
  int64_t row = (int64_t)blockIdx.x * hidden;
  float sum = 0.f, most = 0.f;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    float x = __half2float(in[row + i]);
    sum += x * x;
    most = fmaxf(most, fabsf(x * __half2float(weight[i])));
  }
  for (int s = 16; s; s /= 2) {
    sum += __shfl_xor_sync(~0u, sum, s);
    most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(sum, most);
  __syncthreads();
  sum = 0.f;
  for (int i = 0; i < 8; i++) {
    sum += part[i].x;
    most = fmaxf(most, part[i].y);
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = fmaxf(most * rsqrtf(sum / hidden + eps), 1e-10f) / 127.f;
  float factor = most > 0.f ? 127.f / most : 0.f;
  for (int i = threadIdx.x; i < hidden; i += 256) {
    int q = __float2int_rn(__half2float(in[row + i]) * __half2float(weight[i]) * factor);
    out[row + i] = (int8_t)max(-127, min(127, q));
  }
}

extern "C" void rmsnorm_int8(int8_t* out, float* scales, const __half* in, const __half* weight, float eps, int tokens,
                             int hidden, cudaStream_t stream) {
  rmsnorm_int8_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
