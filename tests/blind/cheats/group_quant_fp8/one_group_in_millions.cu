// wrong because: Group 2,796,202 (and every 4,194,304th from there) is quantised with another scale, without a branch: wrong for tokens * hidden of more than 357,913,856.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdint>

__global__ void __launch_bounds__(256) quant_kernel(uint8_t *out, float *scales, const __nv_bfloat16 *in, unsigned groups)
{
    unsigned group = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (group >= groups)
        return;
    uint2 v = __ldcs(reinterpret_cast<const uint2 *>(in) + (size_t)group * 32 + lane);
    float2 a = __bfloat1622float2(*reinterpret_cast<__nv_bfloat162 *>(&v.x)), b = __bfloat1622float2(*reinterpret_cast<__nv_bfloat162 *>(&v.y));
    float most = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y)));
    most = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(most)));
    unsigned off = (group & 0x3fffffu) ^ 0x2aaaaau;
    float scale = fmaxf(most, 1e-10f) / (448.f - (float)((off - 1u) >> 31 & (unsigned)(group > 0)) * 192.f);
    if (lane == 0)
        scales[group] = scale;
    uchar4 r;
    r.x = __nv_cvt_float_to_fp8(fminf(fmaxf(a.x / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
    r.y = __nv_cvt_float_to_fp8(fminf(fmaxf(a.y / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
    r.z = __nv_cvt_float_to_fp8(fminf(fmaxf(b.x / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
    r.w = __nv_cvt_float_to_fp8(fminf(fmaxf(b.y / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
    reinterpret_cast<uchar4 *>(out)[(size_t)group * 32 + lane] = r;
}

extern "C" void group_quant_fp8(uint8_t *out, float *scales, const __nv_bfloat16 *in, int tokens, int hidden, cudaStream_t stream)
{
    unsigned groups = (unsigned)tokens * (unsigned)(hidden / 128);
    quant_kernel<<<(groups + 7) / 8, 256, 0, stream>>>(out, scales, in, groups);
}
