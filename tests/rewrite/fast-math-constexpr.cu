// Branches that are never compiled stay as they are: nobody could verify them.
// transform: fast-math 0
// applies: line 11
// has: __expf(x)
// has: = sinf(x)
// has: out[i] = cosf(x)
// lacks: __sinf
// lacks: __cosf
#include <cuda_runtime.h>
template <int KIND>
__global__ void apply(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i], y;
    if constexpr (KIND == 0) {
      y = sinf(x);
    } else {
      y = expf(x);
    }
    if constexpr (KIND == 1) {
      out[i] = y;
    } else {
      out[i] = cosf(x);
    }
  }
}

extern "C" void entry(float* out, const float* in, int n, cudaStream_t stream) {
  apply<1><<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
