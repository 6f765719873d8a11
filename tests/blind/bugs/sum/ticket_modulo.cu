// class: bug; wrong because: the ticket is never put back, and modulo the grid it is right only as long as all launches have the same grid (n = 2560, ten blocks; then n = 65536: the 54th block, not the last, adds the partial sums)
#include <cstdint>

__device__ unsigned tickets;

__device__ float warp_sum(float x) {
  for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  return x;
}

__global__ void __launch_bounds__(256) sum_kernel(float *out, float *part, const float *__restrict__ in, int64_t n) {
  __shared__ float w[8];
  __shared__ bool last;
  const int64_t n4 = n / 4, stride = (int64_t)gridDim.x * 256;
  const float4 *x = (const float4 *)in;
  float a = 0.f;
  for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n4; i += stride) {
    float4 v = x[i];
    a += (v.x + v.y) + (v.z + v.w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n - n4 * 4) a += in[n4 * 4 + threadIdx.x];
  a = warp_sum(a);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = a;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; k++) a += w[k];
    part[blockIdx.x] = a;
    __threadfence();
    unsigned t = atomicAdd(&tickets, 1u);
    last = t % gridDim.x == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < 32) {
    a = 0.f;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += 32) a += __ldcg(part + k);
    a = warp_sum(a);
    if (threadIdx.x == 0) out[0] = a;
  }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream) {
  int64_t blocks = (n + 255) / 256;
  if (blocks > 256) blocks = 256;
  float *part;
  cudaMallocAsync((void **)&part, blocks * sizeof(float), stream);
  sum_kernel<<<(unsigned)blocks, 256, 0, stream>>>(out, part, in, n);
  cudaFreeAsync(part, stream);
}
