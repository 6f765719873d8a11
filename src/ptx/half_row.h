/* half_row: rows of f16 to f32 and back, for the handlers. The processor's own conversion where the instruction
 * set has it; the same bits either way. */
#ifndef PTX_HALF_ROW_H
#define PTX_HALF_ROW_H

#include "half.h"

#ifdef __F16C__
#include <immintrin.h>

static inline void half_row_widen(float *to, const uint16_t *from, unsigned n) /* n: a multiple of 8 */
{
    for (unsigned l = 0; l < n; l += 8) {
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + l)));
        __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(HALF_F32_NAN));
        _mm256_storeu_ps(to + l, _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
    }
}

static inline void half_row_narrow(uint16_t *to, const float *from, unsigned n)
{
    for (unsigned l = 0; l < n; l += 8) {
        __m256 x = _mm256_loadu_ps(from + l), nan = _mm256_castsi256_ps(_mm256_set1_epi32(HALF_F32_NAN));
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
