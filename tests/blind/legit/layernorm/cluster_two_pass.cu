// class: right; right because: four blocks a row exchange their sums through distributed shared memory, mean first and then squares of differences, as the original; rows up to 8192 stay in registers
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
constexpr int T = 256, CLUSTER = 4;

__device__ float cluster_sum(float x, float *w, float *slot) {
  cg::cluster_group cluster = cg::this_cluster();
  for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < CLUSTER) {
    x = 0.f;
    for (int k = 0; k < T / 32; k++) x += w[k];
    *cluster.map_shared_rank(slot + cluster.block_rank(), threadIdx.x) = x;
  }
  cluster.sync();
  x = 0.f;
  for (int k = 0; k < CLUSTER; k++) x += slot[k];
  return x;
}

template <bool KEPT>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(T)
    layernorm_kernel(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                     const __half *__restrict__ bias, int d, float eps) {
  __shared__ float w[2][T / 32], slot[2][CLUSTER];
  cg::cluster_group cluster = cg::this_cluster();
  const int64_t row = (int64_t)blockIdx.y * d;
  const int first = blockIdx.x * T + threadIdx.x, step = CLUSTER * T;
  cluster.sync();  // all have begun
  uint4 v = make_uint4(0, 0, 0, 0);
  const bool mine = KEPT && first < d / 8;
  __half2 *h = reinterpret_cast<__half2 *>(&v);
  float sum = 0.f;
  if (KEPT) {
    if (mine) {
      v = reinterpret_cast<const uint4 *>(in + row)[first];
#pragma unroll
      for (int k = 0; k < 4; k++) sum += __low2float(h[k]) + __high2float(h[k]);
    }
  } else
    for (int64_t i = first; i < d; i += step) sum += __half2float(in[row + i]);
  const float mean = cluster_sum(sum, w[0], slot[0]) / d;
  sum = 0.f;
  if (KEPT) {
    if (mine)
#pragma unroll
      for (int k = 0; k < 4; k++) {
        float a = __low2float(h[k]) - mean, b = __high2float(h[k]) - mean;
        sum += a * a + b * b;
      }
  } else
    for (int64_t i = first; i < d; i += step) {
      float a = __half2float(in[row + i]) - mean;
      sum += a * a;
    }
  const float rstd = 1.0f / sqrtf(cluster_sum(sum, w[1], slot[1]) / d + eps);
  if (KEPT) {
    if (mine) {
      uint4 g = reinterpret_cast<const uint4 *>(weight)[first], b = reinterpret_cast<const uint4 *>(bias)[first];
      const __half2 *gh = reinterpret_cast<const __half2 *>(&g), *bh = reinterpret_cast<const __half2 *>(&b);
#pragma unroll
      for (int k = 0; k < 4; k++)
        h[k] = __floats2half2_rn((__low2float(h[k]) - mean) * rstd * __low2float(gh[k]) + __low2float(bh[k]),
                                 (__high2float(h[k]) - mean) * rstd * __high2float(gh[k]) + __high2float(bh[k]));
      reinterpret_cast<uint4 *>(out + row)[first] = v;
    }
  } else
    for (int64_t i = first; i < d; i += step)
      out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream) {
  if (d % 8 == 0 && d <= CLUSTER * T * 8)
    layernorm_kernel<true><<<dim3(CLUSTER, rows), T, 0, stream>>>(out, in, weight, bias, d, eps);
  else
    layernorm_kernel<false><<<dim3(CLUSTER, rows), T, 0, stream>>>(out, in, weight, bias, d, eps);
}
