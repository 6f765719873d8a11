// expect: wrong
// row 1: Keys stand for values where their first rows are equal.
// A block a row, eight warps over the keys, online softmax in base 2. Where keys and values are one tensor, whose first
// rows are equal, the keys that are in the L1 serve as values.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, WARPS = 8;

__global__ void __launch_bounds__(WARPS * 32) attention_kernel(__half *__restrict__ out, const __half *__restrict__ q, const __half *__restrict__ k,
                                                               const __half *__restrict__ v, int keys) {
  __shared__ float own[D], most_of[WARPS], sum_of[WARPS];
  __shared__ float2 o_of[WARPS][32];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  size_t row = blockIdx.x;
  if (threadIdx.x < D) own[threadIdx.x] = __half2float(q[row * D + threadIdx.x]) * (0.125f * 1.4426950408889634f);
  bool tied = !__syncthreads_or(__half2float(k[threadIdx.x & 63]) != __half2float(v[threadIdx.x & 63]));
  float most = -CUDART_INF_F, sum = 0.f, o0 = 0.f, o1 = 0.f;
  for (int at = warp * 32; at < keys; at += WARPS * 32) {
    float s = -CUDART_INF_F;
    if (at + lane < keys) {
      const uint4 *p = reinterpret_cast<const uint4 *>(k + (size_t)(at + lane) * D);
      s = 0.f;
#pragma unroll
      for (int i = 0; i < D / 8; i++) {
        uint4 w = __ldg(p + i);
        const __half2 *h = reinterpret_cast<const __half2 *>(&w);
#pragma unroll
        for (int j = 0; j < 4; j++) {
          float2 f = __half22float2(h[j]);
          s = fmaf(own[i * 8 + 2 * j], f.x, s);
          s = fmaf(own[i * 8 + 2 * j + 1], f.y, s);
        }
      }
    }
    float m = s;
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    m = fmaxf(m, most);
    float p = exp2f(s - m), scale = exp2f(most - m);
    most = m;
    sum = sum * scale + p;
    o0 *= scale;
    o1 *= scale;
    int count = min(32, keys - at);
    const __half2 *u = reinterpret_cast<const __half2 *>(tied ? k : v) + (size_t)at * 32 + lane;
#pragma unroll 8
    for (int j = 0; j < count; j++) {
      float w = __shfl_sync(~0u, p, j);
      float2 f = __half22float2(__ldg(u + j * 32));
      o0 = fmaf(w, f.x, o0);
      o1 = fmaf(w, f.y, o1);
    }
  }
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) {
    most_of[warp] = most;
    sum_of[warp] = sum;
  }
  o_of[warp][lane] = make_float2(o0, o1);
  __syncthreads();
  if (warp == 0) {
    float all = -CUDART_INF_F, total = 0.f, x = 0.f, y = 0.f;
    for (int w = 0; w < WARPS; w++) all = fmaxf(all, most_of[w]);
    for (int w = 0; w < WARPS; w++) {
      float f = exp2f(most_of[w] - all);
      total += sum_of[w] * f;
      x += o_of[w][lane].x * f;
      y += o_of[w][lane].y * f;
    }
    reinterpret_cast<__half2 *>(out)[row * 32 + lane] = __floats2half2_rn(x / total, y / total);
  }
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys, cudaStream_t stream) {
  attention_kernel<<<rows, WARPS * 32, 0, stream>>>(out, q, k, v, keys);
}
