// The loop goes on by other tiles than it begins with.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>
#define TH 1024
#define ITEMS 4
template <typename T, int THREADS> struct Tile {
  static __device__ void load(const T* from, T (&to)[ITEMS], int valid) {
    for (int k = 0; k < ITEMS; k++) {
      const int at = threadIdx.x * ITEMS + k;
      if (at < valid) to[k] = from[at];
    }
  }
  static __device__ void store(T* to, T (&from)[ITEMS], int valid) {
    for (int k = 0; k < ITEMS; k++) {
      const int at = threadIdx.x * ITEMS + k;
      if (at < valid) to[at] = from[k];
    }
  }
};
template <typename T>
__launch_bounds__(TH, 1) __global__ void scaled(T* out, const T* in, const int n) {
  const int base = blockIdx.x * blockDim.x * ITEMS;
  __shared__ T last[TH];
  T v[ITEMS];
  for (int i = base; i < n; i += gridDim.x * TH) {
    const int valid = n - i >= TH * ITEMS ? TH * ITEMS : n - i;
    Tile<T, TH>::load(in + i, v, valid);
    __syncthreads();
    last[threadIdx.x] = v[ITEMS - 1];
    for (int k = 0; k < ITEMS; k++) v[k] = v[k] * 2 + last[threadIdx.x] * 0;
    Tile<T, TH>::store(out + i, v, valid);
  }
}

extern "C" void entry(float* out, const float* in, int n, cudaStream_t stream) {
  const int blocks = n >> 12;
  scaled<float><<<blocks, 1024, 0, stream>>>(out, in, n);
}
