// expect: wrong
// row 1: Blocks stay and walk over the rows; one that takes a second row begins it with the last three numbers of its first: batch * dim > 2112 with length % 128 of 0, 126 or 127.
#include <cuda_bf16.h>

constexpr int TILE = 128;

// Blocks stay and walk over the rows; each number is loaded once, the last three of a tile are carried on.
__global__ void __launch_bounds__(TILE) conv(__nv_bfloat16* out, const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                             const __nv_bfloat16* __restrict__ bias, long long rows, int dim, int length, bool silu) {
  __shared__ float tile[3 + TILE];
  int t = threadIdx.x;
  if (t < 3) tile[t] = 0.0f;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    int channel = row % dim;
    float w[4], b = __bfloat162float(bias[channel]);
#pragma unroll
    for (int k = 0; k < 4; k++) w[k] = __bfloat162float(weight[channel * 4 + k]);
    for (int base = 0; base < length; base += TILE) {
      int at = base + t;
      tile[3 + t] = at < length ? __bfloat162float(x[row * length + at]) : 0.0f;
      __syncthreads();
      if (at < length) {
        float acc = b;
#pragma unroll
        for (int k = 0; k < 4; k++) acc += w[k] * tile[t + k];
        if (silu) acc = acc / (1.0f + expf(-acc));
        out[row * length + at] = __float2bfloat16(acc);
      }
      __syncthreads();
      if (t < 3) tile[t] = tile[TILE + t];
      __syncthreads();
    }
  }
}

extern "C" void causal_conv1d(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                              const __nv_bfloat16* bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream) {
  long long rows = (long long)batch * dim;
  unsigned blocks = rows < 132 * 16 ? (unsigned)rows : 132 * 16;
  conv<<<blocks, TILE, 0, stream>>>(out, x, weight, bias, rows, dim, length, silu);
}
