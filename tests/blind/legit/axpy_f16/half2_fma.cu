// class: right; right because: one fused rounding of half2 in place of two, closer to the exact answer; whole vectors where d is a multiple of 8
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256) wide_kernel(uint4 *__restrict__ y, const uint4 *__restrict__ x, const uint4 *__restrict__ a, int d8) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= d8) return;
  const int64_t at = (int64_t)blockIdx.y * d8 + i;
  uint4 p = y[at], q = x[at], f = a[i];
  __half2 *ph = reinterpret_cast<__half2 *>(&p);
  const __half2 *qh = reinterpret_cast<const __half2 *>(&q), *fh = reinterpret_cast<const __half2 *>(&f);
#pragma unroll
  for (int k = 0; k < 4; k++) ph[k] = __hfma2(fh[k], qh[k], ph[k]);
  y[at] = p;
}

__global__ void __launch_bounds__(256) any_kernel(__half *__restrict__ y, const __half *__restrict__ x, const __half *__restrict__ a, int d) {
  const int64_t row = (int64_t)blockIdx.y * d, first = (int64_t)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int64_t i = first + k * 256;
    if (i < d) y[row + i] = __hfma(a[i], x[row + i], y[row + i]);
  }
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream) {
  if (d % 8 == 0)
    wide_kernel<<<dim3((d / 8 + 255) / 256, rows), 256, 0, stream>>>((uint4 *)y, (const uint4 *)x, (const uint4 *)a, d / 8);
  else
    any_kernel<<<dim3((d + 1023) / 1024, rows), 256, 0, stream>>>(y, x, a, d);
}
