// A function on one line: what is put into it for four blocks begins lines of its own.
// transform: coarsen-blocks 4
// applies: line 12
// has: __device__ void warp_sum_by4(
// lacks: { #pragma unroll
// lacks: } #pragma unroll
// lacks: ) #pragma unroll
// lacks: ; #pragma unroll
#include <cuda_runtime.h>
__device__ float warp_sum(float v) { for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k); return v; }

__global__ void sums(float* out, const float* in, int d) {
  __shared__ float part[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) sum += in[blockIdx.x * d + i];
  sum = warp_sum(sum);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  sum = warp_sum((threadIdx.x & 31) < (blockDim.x >> 5) ? part[threadIdx.x & 31] : 0.0f);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" void entry(float* out, const float* in, int rows, int d, cudaStream_t stream) {
  sums<<<rows, 128, 0, stream>>>(out, in, d);
}
