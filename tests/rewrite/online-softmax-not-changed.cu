// The row is scaled in between; and where it is not, the loops reach different elements.
// transform: online-softmax -1
// leaves
#include <cuda_runtime.h>
__global__ void changed(float* sums, float* x, float by, int d) {
  float top = -1e30f, sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += 32) top = fmaxf(top, x[i]);
  for (int i = threadIdx.x; i < d; i += 32) x[i] *= by;
  for (int i = threadIdx.x; i < d; i += 32) sum += expf(x[i] - top);
  sums[threadIdx.x] = sum;
}
__global__ void others(float* sums, const float* x, int d) {
  float top = -1e30f, sum = 0.0f;
  int n = d;
  for (int i = threadIdx.x; i < n; i += 32) top = fmaxf(top, x[i]);
  n = d / 2;
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(x[i] - top);
  for (int i = threadIdx.x; i < d; i += 64) sum += expf(x[i] - top);
  sums[threadIdx.x] = sum;
}
__global__ void skips(float* sums, const float* x, int d) {
  float top = -1e30f, sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += 32) {
    if (x[i] < 0) continue;
    top = fmaxf(top, x[i]);
  }
  for (int i = threadIdx.x; i < d; i += 32) sum += expf(x[i] - top);
  sums[threadIdx.x] = sum;
}

extern "C" void entry(float* sums, float* x, float by, int d, cudaStream_t stream) {
  changed<<<1, 32, 0, stream>>>(sums, x, by, d);
  others<<<1, 32, 0, stream>>>(sums, x, d);
  skips<<<1, 32, 0, stream>>>(sums, x, d);
}
