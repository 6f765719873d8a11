// expect: wrong
// row 13: Pages two at a time, and of a block's odd number of them the last only where it is the first.
#include <cstdint>

constexpr int PAGE = 4096, MOST = 2112;

__device__ void twice(float4 &v) { v.x *= 2.f; v.y *= 2.f; v.z *= 2.f; v.w *= 2.f; }

__global__ void __launch_bounds__(256) scale_kernel(float4 *__restrict__ out, const float4 *__restrict__ in, int pages) {
  int p = blockIdx.x;
  if (p + (int)gridDim.x < pages) {
    for (; p + (int)gridDim.x < pages; p += 2 * gridDim.x) {
      int64_t a = (int64_t)p * (PAGE / 4) + threadIdx.x, b = (int64_t)(p + gridDim.x) * (PAGE / 4) + threadIdx.x;
      float4 v[8];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        v[k] = in[a + k * 256];
        v[k + 4] = in[b + k * 256];
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        twice(v[k]);
        twice(v[k + 4]);
        out[a + k * 256] = v[k];
        out[b + k * 256] = v[k + 4];
      }
    }
  } else {
    int64_t a = (int64_t)p * (PAGE / 4) + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = in[a + k * 256];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      twice(v[k]);
      out[a + k * 256] = v[k];
    }
  }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream) {
  int pages = n / PAGE;
  scale_kernel<<<pages < MOST ? pages : MOST, 256, 0, stream>>>((float4 *)out, (const float4 *)in, pages);
}
