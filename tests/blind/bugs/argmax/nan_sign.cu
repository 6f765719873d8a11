// class: bug; wrong because: floats compared as integers in order, where a NaN with its sign set (0xffc00000, what x86 makes of 0/0) is the least of all, not the largest (1 x 2: 1.0, -NaN: gives index 0, not 1)
#include <cstdint>

__device__ unsigned long long key(float x, int i) {
  unsigned u = __float_as_uint(x);
  if (u == 0x80000000u) u = 0u;  // -0 is 0
  u = u & 0x80000000u ? ~u : u | 0x80000000u;
  return ((unsigned long long)u << 32) | (0xffffffffu - (unsigned)i);
}

__global__ void __launch_bounds__(1024) argmax_kernel(float *value, int64_t *index, const float *__restrict__ logits, int n) {
  __shared__ unsigned long long w[32];
  const float *x = logits + (int64_t)blockIdx.x * n;
  unsigned long long best = 0;
  if (n % 4 == 0) {
    const float4 *x4 = (const float4 *)x;
#pragma unroll 4
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
      float4 v = x4[i];
      best = max(best, max(max(key(v.x, 4 * i), key(v.y, 4 * i + 1)), max(key(v.z, 4 * i + 2), key(v.w, 4 * i + 3))));
    }
  } else
    for (int i = threadIdx.x; i < n; i += blockDim.x) best = max(best, key(x[i], i));
  for (int s = 16; s; s >>= 1) best = max(best, __shfl_xor_sync(0xffffffffu, best, s));
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = threadIdx.x < blockDim.x / 32 ? w[threadIdx.x] : 0;
    for (int s = 16; s; s >>= 1) best = max(best, __shfl_xor_sync(0xffffffffu, best, s));
    if (threadIdx.x == 0) {
      int at = (int)(0xffffffffu - (unsigned)best);
      value[blockIdx.x] = x[at];
      index[blockIdx.x] = at;
    }
  }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream) {
  argmax_kernel<<<rows, n >= 8192 ? 1024 : 256, 0, stream>>>(value, index, logits, n);
}
