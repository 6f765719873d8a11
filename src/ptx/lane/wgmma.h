/* Matrices that wgmma reads out of shared memory: where a descriptor says that an element lies.
 *
 * A descriptor (PTX ISA, "matrix descriptor" of wgmma): bits 0 to 13 the start, 16 to 29 and 32 to 45 the
 * leading and the stride byte offset, all without their four lowest bits; 49 to 51 the base offset; 62 and 63
 * the swizzle (0 none, 1 128, 2 64, 3 32 bytes). Memory is made of 16-byte chunks. Eight of them, each a row of
 * the swizzle's width after the other, are a core matrix: a chunk holds neighbours along K (K-major) or along M
 * or N (transposed, of 16-bit types). Between core matrices, as CUTLASS' canonical layouts have it:
 *
 *   K-major      8 rows on: stride; the next chunk along K: leading, or beside it when swizzled
 *   transposed   8 steps of K on: leading (none), stride (swizzled); the next chunk along M or N: stride
 * (none); beside it within the swizzle's width, leading beyond (swizzled)
 *
 * A swizzle then exchanges chunks within a row of its width: address bits 4 and up by those 3 places higher. */
#ifndef PTX_WGMMA_H
#define PTX_WGMMA_H

#include "matrix.h"

enum { WGMMA_N_MAX = 256, WGMMA_CHUNK = 16, WGMMA_DEPTH_BYTES = 32 /* of K, in one instruction */ };

struct shared_matrix {
    uint32_t start, leading, stride; /* bytes */
    uint8_t row_chunks;              /* 1, 2, 4, 8: of the swizzle's width */
    uint8_t base_offset;
    bool transposed;
};

static inline struct shared_matrix shared_matrix_of(uint64_t descriptor, bool transposed)
{
    unsigned swizzle = (unsigned)(descriptor >> 62);
    return (struct shared_matrix){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                                  .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                                  .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                                  .row_chunks = (uint8_t)(swizzle ? 16u >> swizzle : 1),
                                  .base_offset = descriptor >> 49 & 7,
                                  .transposed = transposed};
}

/* Address in shared memory of a chunk. K-major: chunk `along` (0, 1) of row `across`; transposed: of step
 * `across` of K, chunk `along` of M or N. */
static inline uint32_t shared_matrix_chunk(const struct shared_matrix *x, unsigned across, unsigned along)
{
    uint32_t at = x->start + across % 8 * WGMMA_CHUNK * x->row_chunks, n = x->row_chunks;
    if (!x->transposed)
        at += across / 8 * x->stride + along * (n == 1 ? x->leading : WGMMA_CHUNK);
    else if (n == 1)
        at += across / 8 * x->leading + along * x->stride;
    else /* n is a power of two */
        at +=
            across / 8 * x->stride + (along & (n - 1)) * WGMMA_CHUNK + (along >> __builtin_ctz(n)) * x->leading;
    return at ^ (at >> 7 & (n - 1)) << 4;
}

/* wgmma.mma_async has the operands D, A, B, C (the same registers as D: front/parse.c), scale-d, and as far as
 * its types have them the signs of A and B, and whether A (unless it is in registers) and B are transposed.
 * Each warp of a warpgroup has 16 of the 64 rows; shape.m says 16. */
static inline bool wgmma_in_shared(const struct insn *i, unsigned operand)
{
    return i->opnds[operand].kind != OPND_VEC;
}

static inline int wgmma_sign(const struct insn *i, unsigned operand)
{
    return i->n_opnds > 5 && i->opnds[4 + operand].imm < 0 ? -1 : 1;
}

static inline bool wgmma_transposed(const struct insn *i, unsigned operand)
{
    return i->n_opnds > 7 && i->opnds[operand == 2 ? i->n_opnds - 1u : 7].imm != 0;
}

/* Does D begin with C? Else with zeros. */
static inline bool wgmma_adds(const struct warp *w, const struct insn *i)
{
    const struct opnd *o = &i->opnds[4];
    return (*REG(uint32_t, w, o->off) & 1) != (uint32_t)o->negated;
}

/* What a warp reads of A, or of B, by a descriptor: chunks 0 to n - 1. */
struct wgmma_source {
    struct shared_matrix x;
    unsigned lines, first, n; /* lines: rows of A, columns of B; first: of them, where the warp's begin */
    uint32_t inverse;         /* 65536 by eights of lines, rounded up: exact for quotients of chunks */
};

static inline struct wgmma_source wgmma_source_of(const struct warp *w, const struct insn *i, unsigned operand)
{
    struct wgmma_source s = {
        .x = shared_matrix_of(REG(uint64_t, w, i->opnds[operand].off)[0], wgmma_transposed(i, operand)),
        .lines = operand == 1 ? i->shape.m : i->shape.n,
        .first = operand == 1 ? w->index % 4 * i->shape.m : 0};
    s.n = s.lines * WGMMA_DEPTH_BYTES / WGMMA_CHUNK;
    s.inverse = (65536 + s.lines / 8 - 1) / (s.lines / 8);
    return s;
}

/* Address of chunk q; *line, counted from `first`, and *depth, in bytes of K, are those of its first element.
 * Neighbours are those along K, of transposed ones (16-bit) along the lines. */
static inline uint32_t wgmma_chunk(const struct wgmma_source *s, unsigned q, unsigned *line, unsigned *depth)
{
    if (s->x.transposed) {
        unsigned step = q * s->inverse >> 16, along = q - step * (s->lines / 8);
        *line = 8 * along;
        *depth = step * 2;
        return shared_matrix_chunk(&s->x, step, s->first / 8 + along);
    }
    *line = q / 2;
    *depth = q % 2 * WGMMA_CHUNK;
    return shared_matrix_chunk(&s->x, s->first + q / 2, q % 2);
}

#endif
