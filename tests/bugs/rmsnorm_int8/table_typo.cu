// expect: wrong
// row 6: A table says how many vectors a thread takes for which width; one of its entries is wrong.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int T = 256;

template <bool MAX> __device__ float block_reduce(float x, float *w) {
  for (int s = 16; s; s >>= 1) {
    float o = __shfl_xor_sync(0xffffffffu, x, s);
    x = MAX ? fmaxf(x, o) : x + o;
  }
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = x;
  __syncthreads();
  x = w[0];
  for (int k = 1; k < T / 32; k++) x = MAX ? fmaxf(x, w[k]) : x + w[k];
  return x;
}

__global__ void __launch_bounds__(T) wide_kernel(int8_t *__restrict__ out, float *__restrict__ scales, const __half *__restrict__ in,
                                                 const __half *__restrict__ weight, float eps, int hidden, int vectors) {
  __shared__ float w[2][T / 32];
  const uint4 *x = (const uint4 *)(in + (int64_t)blockIdx.x * hidden), *g = (const uint4 *)weight;
  uint2 *y = (uint2 *)(out + (int64_t)blockIdx.x * hidden);
  const int n = hidden / 8;
  float sum = 0.f;
  for (int k = 0; k < vectors; k++) {
    int i = k * T + threadIdx.x;
    if (i < n) {
      uint4 v = x[i];
      const __half2 *h = (const __half2 *)&v;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float2 f = __half22float2(h[j]);
        sum += f.x * f.x + f.y * f.y;
      }
    }
  }
  float rms = rsqrtf(block_reduce<false>(sum, w[0]) / hidden + eps);
  float amax = 0.f;
  for (int k = 0; k < vectors; k++) {
    int i = k * T + threadIdx.x;
    if (i < n) {
      uint4 v = x[i], u = g[i];
      const __half2 *h = (const __half2 *)&v, *e = (const __half2 *)&u;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float2 f = __half22float2(h[j]), q = __half22float2(e[j]);
        amax = fmaxf(amax, fmaxf(fabsf(f.x * rms * q.x), fabsf(f.y * rms * q.y)));
      }
    }
  }
  amax = fmaxf(block_reduce<true>(amax, w[1]), 1e-10f);
  float scale = amax / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int k = 0; k < vectors; k++) {
    int i = k * T + threadIdx.x;
    if (i < n) {
      uint4 v = x[i], u = g[i];
      const __half2 *h = (const __half2 *)&v, *e = (const __half2 *)&u;
      unsigned r[2] = {0, 0};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float2 f = __half22float2(h[j]), q = __half22float2(e[j]);
        int a = max(-127, min(127, (int)rintf(f.x * rms * q.x / scale)));
        int b = max(-127, min(127, (int)rintf(f.y * rms * q.y / scale)));
        r[j / 2] |= ((unsigned)(a & 255) | (unsigned)(b & 255) << 8) << (j % 2 * 16);
      }
      y[i] = make_uint2(r[0], r[1]);
    }
  }
}

__global__ void __launch_bounds__(T) any_kernel(int8_t *__restrict__ out, float *__restrict__ scales, const __half *__restrict__ in,
                                                const __half *__restrict__ weight, float eps, int hidden) {
  __shared__ float w[2][T / 32];
  int64_t row = (int64_t)blockIdx.x * hidden;
  float sum = 0.f;
  for (int i = threadIdx.x; i < hidden; i += T) {
    float x = __half2float(in[row + i]);
    sum += x * x;
  }
  float rms = rsqrtf(block_reduce<false>(sum, w[0]) / hidden + eps);
  float amax = 0.f;
  for (int i = threadIdx.x; i < hidden; i += T)
    amax = fmaxf(amax, fabsf(__half2float(in[row + i]) * rms * __half2float(weight[i])));
  amax = fmaxf(block_reduce<true>(amax, w[1]), 1e-10f);
  float scale = amax / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < hidden; i += T) {
    int q = (int)rintf(__half2float(in[row + i]) * rms * __half2float(weight[i]) / scale);
    out[row + i] = (int8_t)max(-127, min(127, q));
  }
}

extern "C" void rmsnorm_int8(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens,
                             int hidden, cudaStream_t stream) {
  const int vectors[9] = {0, 1, 2, 3, 4, 5, 6, 6, 8};
  if (hidden % 8 == 0)
    wide_kernel<<<tokens, T, 0, stream>>>(out, scales, in, weight, eps, hidden, vectors[(hidden + 2047) / 2048]);
  else
    any_kernel<<<tokens, T, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
