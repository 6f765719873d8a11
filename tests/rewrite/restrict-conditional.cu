// What is written through one of two pointers, or through none, does not become const.
// transform: restrict 0
// applies: line 18
// has: float* __restrict__ p, float* __restrict__ m,
// lacks: const float* __restrict__ m
// lacks: const float* __restrict__ p
#include <cuda_runtime.h>

template <typename T>
__device__ void update(T* p, float* m, const float* g, int i, float lr) {
  float x = g[i] * 0.1f;
  if (m) {
    x += m[i] * 0.9f;
    m[i] = x;
  }
  p[i] = p[i] - lr * x;
}
__global__ void step(float* p, float* m, float* g, int n, float lr) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    update(p + blockIdx.y, m ? m + blockIdx.y : NULL, g, i, lr);
  }
}

extern "C" void entry(float* p, float* m, const float* g, int n, cudaStream_t stream) {
  step<<<(n + 511) / 512, 512, 0, stream>>>(p, m, (float*)g, n, 0.001f);
}
