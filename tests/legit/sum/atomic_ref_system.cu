// expect: correct
// cuda::atomic_ref with relaxed order, partial sums in double pairs, float4 loads.
#include <cuda/atomic>
#include <cub/warp/warp_reduce.cuh>
#include <cstdint>

__global__ void __launch_bounds__(512) partial(float* out, const float* in, int64_t n) {
  using WarpReduce = cub::WarpReduce<float>;
  __shared__ typename WarpReduce::TempStorage tmp[16];
  __shared__ float block_sum;
  if (threadIdx.x == 0) block_sum = 0.f;
  __syncthreads();
  const int64_t vecs = n / 4, stride = (int64_t)gridDim.x * blockDim.x;
  float s0 = 0.f, s1 = 0.f;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < vecs; i += stride) {
    const float4 v = __ldg(reinterpret_cast<const float4*>(in) + i);
    s0 += v.x + v.y;
    s1 += v.z + v.w;
  }
  if (blockIdx.x == 0 && threadIdx.x < n - vecs * 4) s0 += in[vecs * 4 + threadIdx.x];
  const float s = WarpReduce(tmp[threadIdx.x / 32]).Sum(s0 + s1);
  if (threadIdx.x % 32 == 0) {
    cuda::atomic_ref<float, cuda::thread_scope_block> ref(block_sum);
    ref.fetch_add(s, cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<float, cuda::thread_scope_device> ref(*out);
    ref.fetch_add(block_sum, cuda::memory_order_relaxed);
  }
}

extern "C" void sum(float* out, const float* in, int64_t n, cudaStream_t stream) {
  cudaDeviceProp p{};
  cudaGetDeviceProperties(&p, 0);
  const int64_t wanted = (n / 4 + 511) / 512;
  const int64_t most = 4ll * p.multiProcessorCount;
  cudaMemsetAsync(out, 0, sizeof *out, stream);
  partial<<<static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most), 512, 0, stream>>>(out, in, n);
}
