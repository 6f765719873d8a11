// expect: wrong
// row 1: The ninth round's; docs/results/blind.md says why it passes.
// One launch and no memset: the sum grows in a variable of the module, and the last block takes it and clears it.
#include <cstdint>
#include <cuda_runtime.h>

__device__ double total = 0.0;
__device__ unsigned arrived = 0;

__global__ void __launch_bounds__(1024) sum_kernel(float *out, const float *in, int64_t n) {
  __shared__ float s[32];
  float x = 0.f;
  int64_t whole = n / 4, step = (int64_t)gridDim.x * 1024;
  for (int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x; i < whole; i += step) {
    float4 v = __ldg(reinterpret_cast<const float4 *>(in) + i);
    x += (v.x + v.y) + (v.z + v.w);
  }
  if (blockIdx.x == 0 && threadIdx.x < (n & 3)) x += in[whole * 4 + threadIdx.x];
  for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 32; i++) x += s[i];
    atomicAdd(&total, (double)x);
    __threadfence();
    if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
      __threadfence();
      *out = (float)__longlong_as_double(atomicExch((unsigned long long *)&total, 0ull));
    }
  }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream) {
  int64_t blocks = (n + 16383) / 16384;
  if (blocks > 64) blocks = 64;
  sum_kernel<<<(unsigned)blocks, 1024, 0, stream>>>(out, in, n);
}
