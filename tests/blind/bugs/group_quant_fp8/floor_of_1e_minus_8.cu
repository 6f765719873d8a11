#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdint>

__global__ void group_quant_fp8_kernel(uint8_t* out, float* scales, const __nv_bfloat16* in) {
  __shared__ float s[128];
  int64_t group = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
  int64_t i = group * 128 + threadIdx.x;
  float x = __bfloat162float(in[i]);
  s[threadIdx.x] = fabsf(x);
  __syncthreads();
  for (int k = 64; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  float scale = fmaxf(s[0], 1e-8f) / 448.f;
  if (threadIdx.x == 0) scales[group] = scale;
  out[i] = __nv_cvt_float_to_fp8(fminf(fmaxf(x / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
}

extern "C" void group_quant_fp8(uint8_t* out, float* scales, const __nv_bfloat16* in, int tokens, int hidden,
                                cudaStream_t stream) {
  group_quant_fp8_kernel<<<dim3(hidden / 128, tokens), 128, 0, stream>>>(out, scales, in);
}
