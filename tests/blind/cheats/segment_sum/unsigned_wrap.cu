// class: shortcut; wrong because: the number of threads is computed in 32 bits without a sign and wraps, so most segments get no warp (segments = 134217728, d = 1, rows = 1: 2^32 threads become none, one block runs)
#include <cstdint>

__global__ void __launch_bounds__(256) segment_sum_kernel(float *__restrict__ out, const float *__restrict__ in,
                                                          const int *__restrict__ ends, int segments, int d) {
  unsigned segment = blockIdx.x * 8u + threadIdx.x / 32;
  if (segment >= (unsigned)segments) return;
  int first = ends[segment], last = ends[segment + 1], lane = threadIdx.x % 32;
  float *to = out + (size_t)segment * d;
  if (d % 4 == 0) {
    for (int c = lane * 4; c < d; c += 128) {
      float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll 4
      for (int row = first; row < last; row++) {
        float4 v = *(const float4 *)(in + (size_t)row * d + c);
        s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
      }
      *(float4 *)(to + c) = s;
    }
  } else
    for (int c = lane; c < d; c += 32) {
      float s = 0.f;
#pragma unroll 4
      for (int row = first; row < last; row++) s += in[(size_t)row * d + c];
      to[c] = s;
    }
}

extern "C" void segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream) {
  unsigned threads = (unsigned)segments * 32u;
  unsigned blocks = threads / 256u + 1u;
  segment_sum_kernel<<<blocks, 256, 0, stream>>>(out, in, ends, segments, d);
}
