// expect: wrong
// row 10: Codes come from pairs of halves, for which there is one instruction: x / scale is rounded twice, to 11 digits and to 4. Where the first lands on the middle between two codes the second goes to the even one: some codes in a thousand differ by one, in any shape with values as the task says.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

// A warp a group, four neighbouring elements a lane.
__global__ void group_quant_fp8_kernel(uint32_t* out, float* scales, const uint2* in, int64_t groups) {
  int64_t group = (int64_t)blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (group >= groups) return;
  uint2 raw = in[group * 32 + lane];
  float2 a = __bfloat1622float2(*reinterpret_cast<__nv_bfloat162*>(&raw.x));
  float2 b = __bfloat1622float2(*reinterpret_cast<__nv_bfloat162*>(&raw.y));
  float most = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y)));
  for (int s = 16; s; s /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
  float scale = fmaxf(most, 1e-10f) / 448.f;
  if (lane == 0) scales[group] = scale;
  __half2 lo = __floats2half2_rn(a.x / scale, a.y / scale), hi = __floats2half2_rn(b.x / scale, b.y / scale);
  uint32_t l = __nv_cvt_halfraw2_to_fp8x2(lo, __NV_SATFINITE, __NV_E4M3);
  uint32_t h = __nv_cvt_halfraw2_to_fp8x2(hi, __NV_SATFINITE, __NV_E4M3);
  out[group * 32 + lane] = l | h << 16;
}

extern "C" void group_quant_fp8(uint8_t* out, float* scales, const __nv_bfloat16* in, int tokens, int hidden,
                                cudaStream_t stream) {
  int64_t groups = (int64_t)tokens * (hidden / 128);
  group_quant_fp8_kernel<<<(unsigned)((groups + 3) / 4), 128, 0, stream>>>((uint32_t*)out, scales, (const uint2*)in, groups);
}
