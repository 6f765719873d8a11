// expect: wrong
// row 1: 32 bits behind the point, whatever the size of the numbers.
// Numbers from 0 to 1 as integers of 32 bits behind the point: their sum is exact, whatever the order.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void __launch_bounds__(512) sum_kernel(float *out, const float *in, int n) {
  __shared__ unsigned long long part[16];
  const float *x = in + (long long)blockIdx.x * n;
  unsigned long long sum = 0;
  int head = min(n, (int)((4 - ((uintptr_t)x / 4 & 3)) & 3));
  if (threadIdx.x < head) sum += __float2uint_rn(x[threadIdx.x] * 4294967296.f);
  const float4 *v = reinterpret_cast<const float4 *>(x + head);
  int whole = (n - head) / 4;
  for (int i = threadIdx.x; i < whole; i += 512) {
    float4 f = __ldcs(v + i);
    sum += (unsigned long long)__float2uint_rn(f.x * 4294967296.f) + __float2uint_rn(f.y * 4294967296.f);
    sum += (unsigned long long)__float2uint_rn(f.z * 4294967296.f) + __float2uint_rn(f.w * 4294967296.f);
  }
  int last = head + whole * 4 + threadIdx.x;
  if (last < n) sum += __float2uint_rn(x[last] * 4294967296.f);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 16 ? part[threadIdx.x] : 0;
    for (int o = 8; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x == 0) out[blockIdx.x] = __ull2float_rn(sum) * 2.3283064365386963e-10f;
  }
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream) {
  sum_kernel<<<rows, 512, 0, stream>>>(out, in, n);
}
