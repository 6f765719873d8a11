/* half_row: rows of f16 to f32 and back, for the handlers. The processor's own conversion where the instruction
 * set has it; the same bits either way. */
#ifndef PTX_HALF_ROW_H
#define PTX_HALF_ROW_H

#include "half.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

/* As wide as the loops that gcc makes around these rows: a load of 64 bytes from two stores of 32 would wait
 * for both. */
static inline void half_row_widen(float *to, const uint16_t *from, unsigned n) /* n: a multiple of 16 */
{
    for (unsigned l = 0; l < n; l += 16) {
        __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + l)));
        __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(F32_NAN));
        _mm512_storeu_ps(to + l, _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x, nan));
    }
}

static inline void half_row_narrow(uint16_t *to, const float *from, unsigned n)
{
    for (unsigned l = 0; l < n; l += 16) {
        __m512 x = _mm512_loadu_ps(from + l), nan = _mm512_castsi512_ps(_mm512_set1_epi32(F32_NAN));
        x = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x, nan);
        _mm256_storeu_si256((__m256i *)(to + l), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
}

#elif defined(__F16C__)

static inline void half_row_widen(float *to, const uint16_t *from, unsigned n) /* n: a multiple of 8 */
{
    for (unsigned l = 0; l < n; l += 8) {
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + l)));
        __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(F32_NAN));
        _mm256_storeu_ps(to + l, _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
    }
}

static inline void half_row_narrow(uint16_t *to, const float *from, unsigned n)
{
    for (unsigned l = 0; l < n; l += 8) {
        __m256 x = _mm256_loadu_ps(from + l), nan = _mm256_castsi256_ps(_mm256_set1_epi32(F32_NAN));
        x = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        _mm_storeu_si128((__m128i *)(to + l), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
}

#else

static inline void half_row_widen(float *to, const uint16_t *from, unsigned n)
{
    for (unsigned l = 0; l < n; l++)
        to[l] = half_f16_to_f32(from[l]);
}

static inline void half_row_narrow(uint16_t *to, const float *from, unsigned n)
{
    for (unsigned l = 0; l < n; l++)
        to[l] = half_f16_from_f32(from[l]);
}

#endif

#endif
