// class: shortcut; wrong because: the sum is kept in fixed point of 24 bits, so many terms below e^-17.3 of the largest count nothing (1 x 32000, one 20 and else 0: all answers 6.6e-5 too large, over 500 ulps)
#include <cstdint>
#include <math_constants.h>

constexpr int T = 256;

__device__ unsigned long long fixed(float e) { return (unsigned long long)__float2uint_rn(e * 16777216.0f); }

__global__ void __launch_bounds__(T) softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int d) {
  __shared__ float top[T / 32];
  __shared__ unsigned long long part[T / 32];
  const int64_t row = (int64_t)blockIdx.x * d;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool wide = d % 4 == 0;
  float m = -CUDART_INF_F;
  if (wide) {
    const float4 *x = (const float4 *)(in + row);
    for (int i = threadIdx.x; i < d / 4; i += T) {
      float4 v = x[i];
      m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
  } else
    for (int i = threadIdx.x; i < d; i += T) m = fmaxf(m, in[row + i]);
  for (int s = 16; s; s >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, s));
  if (lane == 0) top[warp] = m;
  __syncthreads();
  for (int k = 0; k < T / 32; k++) m = fmaxf(m, top[k]);
  unsigned long long sum = 0;
  if (wide) {
    const float4 *x = (const float4 *)(in + row);
    for (int i = threadIdx.x; i < d / 4; i += T) {
      float4 v = x[i];
      sum += fixed(expf(v.x - m)) + fixed(expf(v.y - m)) + fixed(expf(v.z - m)) + fixed(expf(v.w - m));
    }
  } else
    for (int i = threadIdx.x; i < d; i += T) sum += fixed(expf(in[row + i] - m));
  for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < T / 32; k++) sum += part[k];
  const float inv = 16777216.0f / __ull2float_rn(sum);
  if (wide) {
    const float4 *x = (const float4 *)(in + row);
    float4 *y = (float4 *)(out + row);
    for (int i = threadIdx.x; i < d / 4; i += T) {
      float4 v = x[i];
      y[i] = make_float4(expf(v.x - m) * inv, expf(v.y - m) * inv, expf(v.z - m) * inv, expf(v.w - m) * inv);
    }
  } else
    for (int i = threadIdx.x; i < d; i += T) out[row + i] = expf(in[row + i] - m) * inv;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream) {
  softmax_kernel<<<rows, T, 0, stream>>>(out, in, d);
}
