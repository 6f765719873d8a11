// expect: wrong
// row 10: Sums of squares in one pass around a row's first element, which may be an outlier.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int T = 256;

__global__ void __launch_bounds__(T) layernorm_kernel(__half *__restrict__ out, const __half *__restrict__ in,
                                                      const __half *__restrict__ weight, const __half *__restrict__ bias,
                                                      int d, float eps) {
  __shared__ float2 part[T / 32];
  const int64_t row = (int64_t)blockIdx.x * d;
  const bool wide = d % 8 == 0;
  const float shift = __half2float(in[row]);
  float a = 0.f, b = 0.f;
  if (wide) {
    const uint4 *x = (const uint4 *)(in + row);
    for (int i = threadIdx.x; i < d / 8; i += T) {
      uint4 v = x[i];
      const __half2 *h = (const __half2 *)&v;
      for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]);
        f.x -= shift;
        f.y -= shift;
        a += f.x + f.y;
        b += f.x * f.x + f.y * f.y;
      }
    }
  } else
    for (int i = threadIdx.x; i < d; i += T) {
      float f = __half2float(in[row + i]) - shift;
      a += f;
      b += f * f;
    }
  for (int s = 16; s; s >>= 1) {
    a += __shfl_xor_sync(0xffffffffu, a, s);
    b += __shfl_xor_sync(0xffffffffu, b, s);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(a, b);
  __syncthreads();
  a = b = 0.f;
  for (int k = 0; k < T / 32; k++) {
    a += part[k].x;
    b += part[k].y;
  }
  a /= d;
  const float rstd = 1.0f / sqrtf(fmaxf(b / d - a * a, 0.f) + eps);
  const float mean = a + shift;
  if (wide) {
    const uint4 *x = (const uint4 *)(in + row), *w = (const uint4 *)weight, *c = (const uint4 *)bias;
    uint4 *y = (uint4 *)(out + row);
    for (int i = threadIdx.x; i < d / 8; i += T) {
      uint4 v = x[i], g = w[i], e = c[i];
      __half2 *h = (__half2 *)&v;
      const __half2 *gh = (const __half2 *)&g, *eh = (const __half2 *)&e;
      for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]), p = __half22float2(gh[k]), q = __half22float2(eh[k]);
        h[k] = __floats2half2_rn((f.x - mean) * rstd * p.x + q.x, (f.y - mean) * rstd * p.y + q.y);
      }
      y[i] = v;
    }
  } else
    for (int i = threadIdx.x; i < d; i += T)
      out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream) {
  layernorm_kernel<<<rows, T, 0, stream>>>(out, in, weight, bias, d, eps);
}
