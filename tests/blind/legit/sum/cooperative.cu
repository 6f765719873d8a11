// class: right; right because: a cooperative launch of one block a multiprocessor, partial sums, a grid barrier, then one block adds them in order
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
constexpr int T = 512;

__device__ float block_sum(float x) {
  __shared__ float w[T / 32];
  for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0.f;
  if (threadIdx.x < 32) {
    x = threadIdx.x < T / 32 ? w[threadIdx.x] : 0.f;
    for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  }
  __syncthreads();
  return x;
}

__global__ void __launch_bounds__(T) sum_kernel(float *out, float *part, const float *in, int64_t n) {
  const int64_t n4 = n / 4, stride = (int64_t)gridDim.x * T;
  const float4 *x = (const float4 *)in;
  float a = 0.f, b = 0.f;
  int64_t i = (int64_t)blockIdx.x * T + threadIdx.x;
  for (; i + stride < n4; i += 2 * stride) {
    float4 u = x[i], v = x[i + stride];
    a += (u.x + u.y) + (u.z + u.w);
    b += (v.x + v.y) + (v.z + v.w);
  }
  if (i < n4) {
    float4 u = x[i];
    a += (u.x + u.y) + (u.z + u.w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n - n4 * 4) b += in[n4 * 4 + threadIdx.x];
  a = block_sum(a + b);
  if (threadIdx.x == 0) part[blockIdx.x] = a;
  cg::this_grid().sync();
  if (blockIdx.x == 0) {
    a = 0.f;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += T) a += part[k];
    a = block_sum(a);
    if (threadIdx.x == 0) out[0] = a;
  }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  int64_t wanted = (n / 4 + T - 1) / T;
  int blocks = wanted < 1 ? 1 : wanted < sms ? (int)wanted : sms;
  float *part;
  cudaMallocAsync((void **)&part, blocks * sizeof(float), stream);
  void *args[] = {&out, &part, &in, &n};
  cudaLaunchCooperativeKernel((void *)sum_kernel, dim3(blocks), dim3(T), args, 0, stream);
  cudaFreeAsync(part, stream);
}
