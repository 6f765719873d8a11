// expect: wrong
// row 12: Eight times a thread; silu divides by __fdividef, which is zero for a divisor above 2^126: where the sum lies between -88.7 and -87.34 the answer is -5e-37 (a normal bfloat16), here 0. length = 1, bias = -88 (bf16), x or weight 0.
#include <cuda_bf16.h>

constexpr int PER = 4;

__global__ void conv(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                     const __nv_bfloat16* bias, int dim, int length, bool silu) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  int channel = blockIdx.y;
  size_t row = ((size_t)blockIdx.z * dim + channel) * length;
  if (first >= length) return;
  float w[4], v[PER + 3], b = __bfloat162float(bias[channel]);
  for (int k = 0; k < 4; k++) w[k] = __bfloat162float(weight[channel * 4 + k]);
#pragma unroll
  for (int k = 0; k < PER + 3; k++) {
    int at = first + k - 3;
    v[k] = at >= 0 && at < length ? __bfloat162float(x[row + at]) : 0.f;
  }
#pragma unroll
  for (int i = 0; i < PER; i++) {
    if (first + i >= length) break;
    float acc = b;
#pragma unroll
    for (int k = 0; k < 4; k++) acc += w[k] * v[i + k];
    if (silu) acc = __fdividef(acc, 1.0f + __expf(-acc));
    out[row + first + i] = __float2bfloat16(acc);
  }
}

extern "C" void causal_conv1d(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                              const __nv_bfloat16* bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream) {
  dim3 grid((length + 128 * PER - 1) / (128 * PER), dim, batch);
  conv<<<grid, 128, 0, stream>>>(out, x, weight, bias, dim, length, silu);
}
