// expect: wrong
// row 6: A block of as many warps as the width wants adds their sums by halving, which forgets some of nine or twelve.
#include <cstdint>

// A row that fits is kept in registers, eight numbers a thread.
__global__ void __launch_bounds__(1024) kept_kernel(float *x, float *residual, const float *__restrict__ weight, int d, float eps) {
  __shared__ float w[32];
  const int t = threadIdx.x, warps = blockDim.x / 32;
  float4 *x4 = (float4 *)(x + (int64_t)blockIdx.x * d), *r4 = (float4 *)(residual + (int64_t)blockIdx.x * d);
  const float4 *w4 = (const float4 *)weight;
  float4 v[2];
  float sum = 0.f;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int i = t + k * blockDim.x;
    float4 a = x4[i], b = r4[i];
    a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w;
    r4[i] = v[k] = a;
    sum += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
  }
  for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (t % 32 == 0) w[t / 32] = sum;
  __syncthreads();
  for (int s = warps / 2; s; s >>= 1) {
    if (t < s) w[t] += w[t + s];
    __syncthreads();
  }
  const float scale = 1.0f / sqrtf(w[0] / d + eps);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int i = t + k * blockDim.x;
    float4 g = w4[i];
    x4[i] = make_float4(v[k].x * scale * g.x, v[k].y * scale * g.y, v[k].z * scale * g.z, v[k].w * scale * g.w);
  }
}

__global__ void __launch_bounds__(512) any_kernel(float *x, float *residual, const float *__restrict__ weight, int d, float eps) {
  __shared__ float w[16];
  const int64_t row = (int64_t)blockIdx.x * d;
  float sum = 0.f;
  if (d % 4 == 0) {
    float4 *x4 = (float4 *)(x + row), *r4 = (float4 *)(residual + row);
    for (int i = threadIdx.x; i < d / 4; i += 512) {
      float4 a = x4[i], b = r4[i];
      a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w;
      r4[i] = a;
      sum += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
    }
  } else
    for (int i = threadIdx.x; i < d; i += 512) {
      float a = x[row + i] + residual[row + i];
      residual[row + i] = a;
      sum += a * a;
    }
  for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.f;
  for (int k = 0; k < 16; k++) sum += w[k];
  const float scale = 1.0f / sqrtf(sum / d + eps);
  if (d % 4 == 0) {
    float4 *x4 = (float4 *)(x + row), *r4 = (float4 *)(residual + row);
    const float4 *w4 = (const float4 *)weight;
    for (int i = threadIdx.x; i < d / 4; i += 512) {
      float4 a = r4[i], g = w4[i];
      x4[i] = make_float4(a.x * scale * g.x, a.y * scale * g.y, a.z * scale * g.z, a.w * scale * g.w);
    }
  } else
    for (int i = threadIdx.x; i < d; i += 512) x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream) {
  if (d % 256 == 0 && d >= 2048 && d <= 8192)
    kept_kernel<<<rows, d / 8, 0, stream>>>(x, residual, weight, d, eps);
  else
    any_kernel<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
}
