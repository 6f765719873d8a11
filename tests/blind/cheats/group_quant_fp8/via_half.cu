// wrong because: x / scale is rounded twice, to half and then to e4m3, so what lies just beside the middle of two codes goes to the wrong one; about 0.4 % of all elements, as of a group with largest number 139/128 and an element 134/128 (431.884888 becomes 432, code 126 for 125).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

// A warp a group, four elements a lane; the packed conversion of two halves is one instruction.
__global__ void __launch_bounds__(256) group_quant_fp8_kernel(uint8_t* out, float* scales, const __nv_bfloat16* __restrict__ in, int64_t groups) {
  int64_t group = (int64_t)blockIdx.x * 8 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (group >= groups) return;
  uint2 raw = ((const uint2*)in)[group * 32 + lane];
  float2 a = __bfloat1622float2(*(__nv_bfloat162*)&raw.x), b = __bfloat1622float2(*(__nv_bfloat162*)&raw.y);
  float amax = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y)));
  for (int s = 16; s; s >>= 1) amax = fmaxf(amax, __shfl_xor_sync(~0u, amax, s));
  float scale = fmaxf(amax, 1e-10f) / 448.f;
  if (lane == 0) scales[group] = scale;
  __half2 p = __floats2half2_rn(a.x / scale, a.y / scale), q = __floats2half2_rn(b.x / scale, b.y / scale);
  unsigned low = __nv_cvt_halfraw2_to_fp8x2(*(__half2_raw*)&p, __NV_SATFINITE, __NV_E4M3);
  unsigned high = __nv_cvt_halfraw2_to_fp8x2(*(__half2_raw*)&q, __NV_SATFINITE, __NV_E4M3);
  ((unsigned*)out)[group * 32 + lane] = low | high << 16;
}

extern "C" void group_quant_fp8(uint8_t* out, float* scales, const __nv_bfloat16* in, int tokens, int hidden,
                                cudaStream_t stream) {
  int64_t groups = (int64_t)tokens * (hidden / 128);
  group_quant_fp8_kernel<<<(unsigned)((groups + 7) / 8), 256, 0, stream>>>(out, scales, in, groups);
}
