// expect: wrong
// row 1: The ninth round's; docs/results/blind.md says why it passes.
// The sum of each row as integers of 64 bits over the row's largest exponent: exact adds in any order. A block a row.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(128) fixed_kernel(float *out, const float *in, int d) {
  __shared__ int top[4];
  __shared__ long long part[4];
  const float *x = in + (long long)blockIdx.x * d;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int most = 0;
  for (int i = threadIdx.x; i < d; i += 128) most = max(most, __float_as_int(x[i]) & 0x7fffffff);
  most = __reduce_max_sync(~0u, most);
  if (lane == 0) top[warp] = most;
  __syncthreads();
  most = max(max(top[0], top[1]), max(top[2], top[3]));
  int e = max(most >> 23, 1) - 126;                                  // |x| < 2^e
  double up = __hiloint2double((1023 + 45 - e) << 20, 0), down = __hiloint2double((1023 - 45 + e) << 20, 0);
  long long sum = 0;
  for (int i = threadIdx.x; i < d; i += 128) sum += __double2ll_rn((double)x[i] * up);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = (float)((double)(part[0] + part[1] + part[2] + part[3]) * down);
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream) {
  fixed_kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
