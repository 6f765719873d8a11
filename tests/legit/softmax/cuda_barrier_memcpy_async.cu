// expect: correct
// The row comes by cuda::memcpy_async on a cuda::barrier of the block, in one go.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cstdint>

using barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init

template <int THREADS>
__global__ void softmax_async(float* __restrict__ out, const float* __restrict__ in, int d) {
  extern __shared__ float row[];
  __shared__ barrier bar;
  __shared__ float red[THREADS / 32];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  const float* src = in + static_cast<int64_t>(blockIdx.x) * d;
  cuda::memcpy_async(block, row, src, sizeof(float) * d, bar);
  bar.arrive_and_wait();
  float m = -INFINITY;
  for (int i = threadIdx.x; i < d; i += THREADS) m = fmaxf(m, row[i]);
#pragma unroll
  for (int k = 16; k; k >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, k));
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = m;
  __syncthreads();
  m = red[0];
#pragma unroll
  for (int w = 1; w < THREADS / 32; ++w) m = fmaxf(m, red[w]);
  __syncthreads();
  float sum = 0.f;
  for (int i = threadIdx.x; i < d; i += THREADS) {
    const float e = __expf(row[i] - m);
    row[i] = e;
    sum += e;
  }
#pragma unroll
  for (int k = 16; k; k >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, k);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.f;
#pragma unroll
  for (int w = 0; w < THREADS / 32; ++w) sum += red[w];
  const float inv = __frcp_rn(sum);
  for (int i = threadIdx.x; i < d; i += THREADS) out[static_cast<int64_t>(blockIdx.x) * d + i] = row[i] * inv;
}

__global__ void softmax_long(float* out, const float* in, int d) {
  __shared__ float red[32];
  const float* x = in + (int64_t)blockIdx.x * d;
  float m = -INFINITY, s = 0.f;
  for (int i = threadIdx.x; i < d; i += 1024) {
    float v = x[i], n = fmaxf(m, v);
    s = s * __expf(m - n) + __expf(v - n);
    m = n;
  }
  float all = m;
  for (int k = 16; k; k >>= 1) all = fmaxf(all, __shfl_xor_sync(~0u, all, k));
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = all;
  __syncthreads();
  all = red[threadIdx.x % 32];
  for (int k = 16; k; k >>= 1) all = fmaxf(all, __shfl_xor_sync(~0u, all, k));
  __syncthreads();
  s = s == 0.f ? 0.f : s * __expf(m - all);
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = s;
  __syncthreads();
  s = red[threadIdx.x % 32];
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  for (int i = threadIdx.x; i < d; i += 1024) out[(int64_t)blockIdx.x * d + i] = __expf(x[i] - all) / s;
}

extern "C" void softmax(float* out, const float* in, int rows, int d, cudaStream_t stream) {
  int optin = 0;
  cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  const size_t bytes = sizeof(float) * (size_t)d;
  if (bytes + 2048 > (size_t)optin) {
    softmax_long<<<rows, 1024, 0, stream>>>(out, in, d);
    return;
  }
  auto kernel = softmax_async<256>;
  if (bytes > 46 * 1024) cudaFuncSetAttribute((const void*)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  kernel<<<rows, 256, bytes, stream>>>(out, in, d);
}
