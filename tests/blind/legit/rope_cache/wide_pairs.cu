// class: right; right because: eight pairs a thread where half is a multiple of 8; start and token are below slots, so one subtraction is the remainder; the products and sums are the original's
#include <cstdint>
#include <cuda_bf16.h>

__global__ void __launch_bounds__(128) wide_kernel(__nv_bfloat16 *__restrict__ cache, const __nv_bfloat16 *__restrict__ key,
                                                   const float *__restrict__ table, const int64_t *__restrict__ start, int slots,
                                                   int heads, int half) {
  const int token = blockIdx.x, eights = half / 8;
  int to = (int)*start + token;
  if (to >= slots) to -= slots;
  const float *c = table + (int64_t)token * 2 * half, *s = c + half;
  for (int i = blockIdx.y * 128 + threadIdx.x; i < heads * eights; i += gridDim.y * 128) {
    int h = i / eights, k = (i - h * eights) * 8;
    const __nv_bfloat16 *x = key + ((int64_t)token * heads + h) * 2 * half + k;
    __nv_bfloat16 *y = cache + ((int64_t)to * heads + h) * 2 * half + k;
    uint4 a = *(const uint4 *)x, b = *(const uint4 *)(x + half), p, q;
    float cs[8], sn[8];
    *(float4 *)cs = *(const float4 *)(c + k);
    *(float4 *)(cs + 4) = *(const float4 *)(c + k + 4);
    *(float4 *)sn = *(const float4 *)(s + k);
    *(float4 *)(sn + 4) = *(const float4 *)(s + k + 4);
    const __nv_bfloat162 *ah = (const __nv_bfloat162 *)&a, *bh = (const __nv_bfloat162 *)&b;
    __nv_bfloat162 *ph = (__nv_bfloat162 *)&p, *qh = (__nv_bfloat162 *)&q;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float2 u = __bfloat1622float2(ah[j]), v = __bfloat1622float2(bh[j]);
      ph[j] = __floats2bfloat162_rn(u.x * cs[2 * j] - v.x * sn[2 * j], u.y * cs[2 * j + 1] - v.y * sn[2 * j + 1]);
      qh[j] = __floats2bfloat162_rn(v.x * cs[2 * j] + u.x * sn[2 * j], v.y * cs[2 * j + 1] + u.y * sn[2 * j + 1]);
    }
    *(uint4 *)y = p;
    *(uint4 *)(y + half) = q;
  }
}

__global__ void __launch_bounds__(256) any_kernel(__nv_bfloat16 *__restrict__ cache, const __nv_bfloat16 *__restrict__ key,
                                                  const float *__restrict__ table, const int64_t *__restrict__ start, int slots,
                                                  int heads, int half) {
  const int token = blockIdx.x;
  int to = (int)*start + token;
  if (to >= slots) to -= slots;
  const float *c = table + (int64_t)token * 2 * half, *s = c + half;
  for (int i = threadIdx.x; i < heads * half; i += 256) {
    int h = i / half, k = i - h * half;
    const __nv_bfloat16 *x = key + ((int64_t)token * heads + h) * 2 * half;
    __nv_bfloat16 *y = cache + ((int64_t)to * heads + h) * 2 * half;
    float a = __bfloat162float(x[k]), b = __bfloat162float(x[k + half]);
    y[k] = __float2bfloat16(a * c[k] - b * s[k]);
    y[k + half] = __float2bfloat16(b * c[k] + a * s[k]);
  }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start,
                           int tokens, int slots, int heads, int half, cudaStream_t stream) {
  if (half % 8 == 0)
    wide_kernel<<<dim3(tokens, (heads * (half / 8) + 127) / 128), 128, 0, stream>>>(cache, key, table, start, slots, heads, half);
  else
    any_kernel<<<tokens, 256, 0, stream>>>(cache, key, table, start, slots, heads, half);
}
