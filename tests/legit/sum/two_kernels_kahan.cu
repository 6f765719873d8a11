// expect: correct
// Kahan's sum in each thread, parts in a workspace, the second kernel by one block with the same template.
#include <cstdint>
#include <algorithm>

template <int THREADS, typename In>
__global__ void reduce(float* out, const In* in, int64_t n) {
  float s = 0.f, c = 0.f;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (int64_t)gridDim.x * THREADS) {
    const float y = __fsub_rn(in[i], c), t = __fadd_rn(s, y);
    c = __fsub_rn(__fsub_rn(t, s), y);
    s = t;
  }
  __shared__ float part[THREADS / 32];
  for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffffu, s, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < THREADS / 32 ? part[threadIdx.x] : 0.f;
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffffu, s, k);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}

extern "C" void sum(float* out, const float* in, int64_t n, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>(std::clamp<int64_t>(n / (kThreads * 8), 1, 1024));
  if (blocks == 1) {
    reduce<kThreads><<<1, kThreads, 0, stream>>>(out, in, n);
    return;
  }
  float* parts = nullptr;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  reduce<kThreads, float><<<blocks, kThreads, 0, stream>>>(parts, in, n);
  reduce<1024, float><<<1, 1024, 0, stream>>>(out, parts, blocks);
  cudaFreeAsync(parts, stream);
}
