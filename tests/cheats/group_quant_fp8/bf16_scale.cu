// expect: wrong
// row 10: Multiplies by an inverse scale that was rounded to bf16.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdint>

__global__ void quant(__nv_fp8_e4m3* out, float* scales, const __nv_bfloat16* in, int groups) {
  const int group = blockIdx.x * blockDim.y + threadIdx.y;
  if (group >= groups) return;
  const __nv_bfloat162* src = reinterpret_cast<const __nv_bfloat162*>(in + (int64_t)group * 128) + threadIdx.x * 2;
  const float2 a = __bfloat1622float2(src[0]), b = __bfloat1622float2(src[1]);
  float amax = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y)));
  for (int s = 16; s; s >>= 1) amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, s));
  amax = fmaxf(amax, 1e-10f);
  if (threadIdx.x == 0) scales[group] = amax / 448.f;
  const float inv = __bfloat162float(__float2bfloat16(448.f / amax));
  const __nv_fp8x4_e4m3 q(make_float4(a.x * inv, a.y * inv, b.x * inv, b.y * inv));
  reinterpret_cast<__nv_fp8x4_e4m3*>(out + (int64_t)group * 128)[threadIdx.x] = q;
}

extern "C" void group_quant_fp8(uint8_t* out, float* scales, const __nv_bfloat16* in, int tokens, int hidden,
                                cudaStream_t stream) {
  const int groups = tokens * (hidden / 128);
  quant<<<(groups + 7) / 8, dim3(32, 8), 0, stream>>>(reinterpret_cast<__nv_fp8_e4m3*>(out), scales, in, groups);
}
