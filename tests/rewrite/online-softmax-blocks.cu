// As inline leaves it: blocks of statements, the second with a sum of its own that it hands over.
// transform: online-softmax 0
// applies: line 39
// has: const float online_x = v[j], online_above = online_x - online_max;
// has: sum = sum + v[j];
// has: float sum = zero;
// has: sum += online_sum * expf(online_max - top);
// has: total = sum;
// lacks: sum = sum + expf(
#include <cuda_runtime.h>
__global__ void sums(float* out, const float* in, int n) {
  const float* row = in + blockIdx.x * n;
  __shared__ float all[32];
  float top, plain;
  {
    const float* x = row;
    float most = -1e30f, sum = 0.0f;
    int i = threadIdx.x;
    float v[4];
    for (; i * 4 < n - n % 128; i += 32) {
      *reinterpret_cast<float4*>(v) = reinterpret_cast<const float4*>(x)[i];
      for (int j = 0; j < 4; j++) {
        most = fmaxf(most, v[j]);
        sum = sum + v[j];
      }
    }
    i = n - n % 128 + threadIdx.x;
    for (; i < n; i += 32) {
      most = fmaxf(most, x[i]);
      sum = sum + x[i];
    }
    top = most;
    plain = sum;
  }
  all[threadIdx.x] = top;
  __syncthreads();
  for (int k = 0; k < 32; k++) top = fmaxf(top, all[k]);
  float total;
  {
    const float* x = row;
    float zero = 0.0f;
    float sum = zero;
    int i = threadIdx.x;
    float v[4];
    for (; i * 4 < n - n % 128; i += 32) {
      *reinterpret_cast<float4*>(v) = reinterpret_cast<const float4*>(x)[i];
      for (int j = 0; j < 4; j++) sum = sum + expf(v[j] - top);
    }
    i = n - n % 128 + threadIdx.x;
    for (; i < n; i += 32) sum = sum + expf(x[i] - top);
    total = sum;
  }
  out[blockIdx.x * 32 + threadIdx.x] = total / plain;
}

extern "C" void entry(float* out, const float* in, int rows, int n, cudaStream_t stream) {
  sums<<<rows, 32, 0, stream>>>(out, in, n);
}
