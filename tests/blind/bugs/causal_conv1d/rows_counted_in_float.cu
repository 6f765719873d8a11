#include <cuda_bf16.h>

// One dimension of blocks; which row a block has is found by a float's reciprocal.
__global__ void conv(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                     const __nv_bfloat16* bias, int dim, int length, int tiles, float inverse, bool silu) {
  int line = (int)((float)blockIdx.x * inverse);
  int t = (blockIdx.x - line * tiles) * blockDim.x + threadIdx.x;
  int channel = line % dim;
  size_t row = (size_t)line * length;
  if (t >= length) return;
  float acc = __bfloat162float(bias[channel]);
  for (int k = 0; k < 4; k++) {
    int at = t + k - 3;
    if (at >= 0) acc += __bfloat162float(weight[channel * 4 + k]) * __bfloat162float(x[row + at]);
  }
  if (silu) acc = acc / (1.0f + expf(-acc));
  out[row + t] = __float2bfloat16(acc);
}

extern "C" void causal_conv1d(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                              const __nv_bfloat16* bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream) {
  int tiles = (length + 127) / 128;
  float inverse = 1.0000001f / tiles;
  conv<<<(unsigned)batch * dim * tiles, 128, 0, stream>>>(out, x, weight, bias, dim, length, tiles, inverse, silu);
}
