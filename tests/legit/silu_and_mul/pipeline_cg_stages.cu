// expect: correct
// cuda::pipeline of two stages shared by the block, filled by cuda::memcpy_async; a persistent grid over tiles.
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <algorithm>
#include <cstdint>

constexpr int kTile = 512;
constexpr size_t kStages = 2;

__global__ void __launch_bounds__(128) persistent(__half* out, const __half* in, int64_t tiles, int per_row, int d) {
  __shared__ alignas(16) __half gate[kStages][kTile];
  __shared__ alignas(16) __half up[kStages][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  auto fetch = [&](int64_t t, int stage) {
    const int64_t row = t / per_row;
    const int first = (int)(t % per_row) * kTile, n = min(kTile, d - first);
    const __half* src = in + row * 2 * d + first;
    pipe.producer_acquire();
    cuda::memcpy_async(block, gate[stage], src, cuda::aligned_size_t<16>(n * sizeof(__half)), pipe);
    cuda::memcpy_async(block, up[stage], src + d, cuda::aligned_size_t<16>(n * sizeof(__half)), pipe);
    pipe.producer_commit();
  };
  int stage = 0;
  if (blockIdx.x < tiles) fetch(blockIdx.x, 0);
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    if (t + gridDim.x < tiles) fetch(t + gridDim.x, stage ^ 1);
    pipe.consumer_wait();
    const int64_t row = t / per_row;
    const int first = (int)(t % per_row) * kTile, n = min(kTile, d - first);
    for (int i = threadIdx.x * 2; i < n; i += blockDim.x * 2) {
      float2 a = __half22float2(*reinterpret_cast<__half2*>(&gate[stage][i]));
      float2 b = __half22float2(*reinterpret_cast<__half2*>(&up[stage][i]));
      a.x = a.x / (1.f + __expf(-a.x)) * b.x;
      a.y = a.y / (1.f + __expf(-a.y)) * b.y;
      *reinterpret_cast<__half2*>(out + row * d + first + i) = __float22half2_rn(a);
    }
    pipe.consumer_release();
    stage ^= 1;
  }
}

__global__ void plain(__half* out, const __half* in, int d) {
  const int64_t row = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    float a = __half2float(in[row * 2 * d + i]), b = __half2float(in[row * 2 * d + d + i]);
    out[row * d + i] = __float2half(a / (1.f + __expf(-a)) * b);
  }
}

extern "C" void silu_and_mul(__half* out, const __half* in, int rows, int d, cudaStream_t stream) {
  if (d % 8 != 0) {
    plain<<<rows, 256, 0, stream>>>(out, in, d);
    return;
  }
  int dev = 0, sms = 0, per_sm = 0;
  cudaGetDevice(&dev);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, persistent, 128, 0);
  const int per_row = (d + kTile - 1) / kTile;
  const int64_t tiles = (int64_t)rows * per_row;
  const int blocks = (int)std::min<int64_t>(tiles, (int64_t)sms * per_sm);
  persistent<<<blocks, 128, 0, stream>>>(out, in, tiles, per_row, d);
}
