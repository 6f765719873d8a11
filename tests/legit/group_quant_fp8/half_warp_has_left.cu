// expect: correct
// Sixteen lanes take a group. Where the groups are odd in number, half of the last warp has left before shuffles that name all lanes, which only bind those that have not.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdint>

__global__ void __launch_bounds__(256) quant_kernel(uint8_t *out, float *scales, const __nv_bfloat16 *in, int64_t groups)
{
    int64_t group = (int64_t)blockIdx.x * 16 + threadIdx.x / 16;
    if (group >= groups)
        return;
    int lane = threadIdx.x % 16;
    uint4 raw = reinterpret_cast<const uint4 *>(in)[group * 16 + lane];
    const __nv_bfloat162 *h = reinterpret_cast<const __nv_bfloat162 *>(&raw);
    float f[8], most = 0.f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float2 p = __bfloat1622float2(h[j]);
        f[2 * j] = p.x, f[2 * j + 1] = p.y;
        most = fmaxf(most, fmaxf(fabsf(p.x), fabsf(p.y)));
    }
#pragma unroll
    for (int o = 8; o; o >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, o));
    float scale = fmaxf(most, 1e-10f) / 448.f;
    if (lane == 0)
        scales[group] = scale;
    uint2 packed;
    uint8_t *r = reinterpret_cast<uint8_t *>(&packed);
#pragma unroll
    for (int j = 0; j < 8; j++)
        r[j] = __nv_cvt_float_to_fp8(fminf(fmaxf(f[j] / scale, -448.f), 448.f), __NV_SATFINITE, __NV_E4M3);
    reinterpret_cast<uint2 *>(out)[group * 16 + lane] = packed;
}

extern "C" void group_quant_fp8(uint8_t *out, float *scales, const __nv_bfloat16 *in, int tokens, int hidden, cudaStream_t stream)
{
    int64_t groups = (int64_t)tokens * (hidden / 128);
    quant_kernel<<<(unsigned)((groups + 15) / 16), 256, 0, stream>>>(out, scales, in, groups);
}
