// Sixteen lanes a group of 128, eight numbers a lane by one 16-byte load, the largest by shuffles, one 8-byte store; the arithmetic of each number is the original's, division included. Lanes beyond the last group take part with zeros.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int THREADS = 256;
constexpr int LANES = 16;

__global__ void __launch_bounds__(THREADS) quant_kernel(uint8_t *__restrict__ out, float *__restrict__ scales,
                                                        const __nv_bfloat16 *__restrict__ in, int64_t groups)
{
    const int64_t slot = (int64_t)blockIdx.x * THREADS + threadIdx.x; // of 8 numbers
    const int64_t group = slot / LANES;
    const bool inside = group < groups;

    uint4 raw = make_uint4(0, 0, 0, 0);
    if (inside)
        raw = __ldcs(reinterpret_cast<const uint4 *>(in) + slot);
    const unsigned word[4] = {raw.x, raw.y, raw.z, raw.w};
    float x[8];
    float most = 0.f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x[2 * k] = __uint_as_float(word[k] << 16);
        x[2 * k + 1] = __uint_as_float(word[k] & 0xffff0000u);
        most = fmaxf(most, fmaxf(fabsf(x[2 * k]), fabsf(x[2 * k + 1])));
    }
#pragma unroll
    for (int o = LANES / 2; o > 0; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, o, LANES));
    if (!inside)
        return;

    const float scale = fmaxf(most, 1e-10f) / 448.f;
    if (threadIdx.x % LANES == 0)
        scales[group] = scale;

    uint2 packed;
    unsigned half[2] = {0, 0};
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const float q = fminf(fmaxf(x[k] / scale, -448.f), 448.f);
        half[k / 4] |= (unsigned)__nv_cvt_float_to_fp8(q, __NV_SATFINITE, __NV_E4M3) << (8 * (k % 4));
    }
    packed.x = half[0];
    packed.y = half[1];
    reinterpret_cast<uint2 *>(out)[slot] = packed;
}

extern "C" void group_quant_fp8(uint8_t *out, float *scales, const __nv_bfloat16 *in, int tokens, int hidden,
                                cudaStream_t stream)
{
    const int64_t groups = (int64_t)tokens * (hidden / 128);
    const int64_t per_block = THREADS / LANES;
    quant_kernel<<<(unsigned)((groups + per_block - 1) / per_block), THREADS, 0, stream>>>(out, scales, in, groups);
}
