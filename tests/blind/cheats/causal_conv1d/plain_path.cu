// class: a flag that no test changes ; wrong because: with silu = false the bias is left out (a float of the flag weighs it) (smallest: 1,1,1, bias 1, silu false)
#include <cuda_bf16.h>

__global__ void conv(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                     const __nv_bfloat16* bias, int dim, int length, float on) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int channel = blockIdx.y;
  size_t row = ((size_t)blockIdx.z * dim + channel) * length;
  if (t >= length) return;
  float w[4], acc = on * __bfloat162float(bias[channel]);
#pragma unroll
  for (int k = 0; k < 4; k++) w[k] = __bfloat162float(weight[channel * 4 + k]);
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (t + k - 3 >= 0) acc += w[k] * __bfloat162float(x[row + t + k - 3]);
  float gate = on / (1.0f + expf(-acc)) + (1.0f - on);
  out[row + t] = __float2bfloat16(acc * gate);
}

extern "C" void causal_conv1d(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                              const __nv_bfloat16* bias, int batch, int dim, int length, bool silu,
                              cudaStream_t stream) {
  dim3 grid((length + 255) / 256, dim, batch);
  conv<<<grid, 256, 0, stream>>>(out, x, weight, bias, dim, length, silu ? 1.0f : 0.0f);
}
