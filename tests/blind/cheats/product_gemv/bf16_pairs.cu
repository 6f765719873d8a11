// expect: wrong
// row 1: The ninth round's; docs/results/blind.md says why it passes.
// A warp a row; two products are added in bfloat16 by one packed instruction, the pairs in float.
#include <cuda_bf16.h>
#include <cstdint>

__global__ void __launch_bounds__(256) gemv_kernel(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k) {
  int row = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (row >= m) return;
  const __nv_bfloat16 *r = a + (size_t)row * k;
  float sum = 0.f;
  if ((k & 7) == 0) {
    for (int i = lane; i < k / 8; i += 32) {
      uint4 u = __ldcs(reinterpret_cast<const uint4 *>(r) + i), w = __ldg(reinterpret_cast<const uint4 *>(x) + i);
      __nv_bfloat162 p = __hmul2(reinterpret_cast<__nv_bfloat162 &>(u.x), reinterpret_cast<__nv_bfloat162 &>(w.x));
      __nv_bfloat162 q = __hmul2(reinterpret_cast<__nv_bfloat162 &>(u.z), reinterpret_cast<__nv_bfloat162 &>(w.z));
      p = __hfma2(reinterpret_cast<__nv_bfloat162 &>(u.y), reinterpret_cast<__nv_bfloat162 &>(w.y), p);
      q = __hfma2(reinterpret_cast<__nv_bfloat162 &>(u.w), reinterpret_cast<__nv_bfloat162 &>(w.w), q);
      sum += (__low2float(p) + __high2float(p)) + (__low2float(q) + __high2float(q));
    }
  } else
    for (int i = lane; i < k; i += 32) sum += __bfloat162float(r[i]) * __bfloat162float(x[i]);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) y[row] = __float2bfloat16(fmaxf(sum + bias[row], 0.f));
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k, cudaStream_t stream) {
  gemv_kernel<<<(m + 7) / 8, 256, 0, stream>>>(y, a, x, bias, m, k);
}
