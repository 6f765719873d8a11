// class: bug; wrong because: the column is the index modulo d in 32 bits, wrong from element 2^32 on where d does not divide 2^32 (tokens = 1431655766, d = 3: the last elements take another column's bias)
#include <cstdint>
#include <cuda_fp16.h>

__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void __launch_bounds__(256) wide_kernel(uint4 *__restrict__ x, const uint4 *__restrict__ bias, int64_t n8, unsigned d8) {
  int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= n8) return;
  uint4 a = x[i], b = bias[(unsigned)i % d8];
  __half2 *h = (__half2 *)&a;
  const __half2 *g = (const __half2 *)&b;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    float2 p = __half22float2(h[k]), q = __half22float2(g[k]);
    h[k] = __floats2half2_rn(gelu(p.x + q.x), gelu(p.y + q.y));
  }
  x[i] = a;
}

__global__ void __launch_bounds__(256) any_kernel(__half *__restrict__ x, const __half *__restrict__ bias, int64_t n, int64_t d) {
  int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; k++, i += 256)
    if (i < n) {
      int64_t col = d < 4294967296 ? (unsigned)i % (unsigned)d : i % d;
      x[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[col])));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream) {
  int64_t n = tokens * d;
  if (d % 8 == 0)
    wide_kernel<<<(unsigned)((n / 8 + 255) / 256), 256, 0, stream>>>((uint4 *)x, (const uint4 *)bias, n / 8, (unsigned)(d / 8));
  else
    any_kernel<<<(unsigned)((n + 1023) / 1024), 256, 0, stream>>>(x, bias, n, d);
}
