/* mma.sync and wmma.mma. */
#include "exec.h"
#include "product.h"

enum { N_MAX = 32 };

struct operands {
    double a[M_MAX][K_MAX], b[K_MAX][N_MAX], d[M_MAX][N_MAX];
};

static void mma(struct warp *w, const struct insn *i, uint32_t m)
{
    struct operands x;
    if (!warp_await_whole(w, i, m))
        return;
    gather(w, i, 1, x.a[0], K_MAX);
    gather(w, i, 2, x.b[0], N_MAX);
    gather(w, i, 3, x.d[0], N_MAX);
    multiply(i, x.a[0], x.b[0], x.d[0], N_MAX);
    scatter(w, i, x.d[0], N_MAX);
}

/* Single bits, 32 in a register: A has lane l's word l % 4 of row l / 4, B of column l / 4. */
static void mma_bits(struct warp *w, const struct insn *i, uint32_t m)
{
    struct fragment fa = mma_fragment(i, 1), fb = mma_fragment(i, 2), fd = mma_fragment(i, 0);
    bool both = insn_has(i, MOD_and);
    uint32_t a[16][8], b[8][8], d[4][32];
    unsigned across, along;
    if (!warp_await_whole(w, i, m))
        return;
    for (unsigned piece = 0; piece < fa.pieces; piece++)
        for (unsigned l = 0; l < 32; l++) {
            fragment_origin(&fa, piece, &across, &along);
            a[across + l / 4][along / 32 + l % 4] = REG(uint32_t, w, opnd_element(&i->opnds[1], piece)->off)[l];
        }
    for (unsigned piece = 0; piece < fb.pieces; piece++)
        for (unsigned l = 0; l < 32; l++) {
            fragment_origin(&fb, piece, &across, &along);
            b[across + l / 4][along / 32 + l % 4] = REG(uint32_t, w, opnd_element(&i->opnds[2], piece)->off)[l];
        }
    for (unsigned slot = 0; slot < fragment_regs(&fd); slot++)
        for (unsigned l = 0; l < 32; l++) {
            unsigned row, column;
            fragment_place(&fd, l, slot, &row, &column);
            d[slot][l] = REG(uint32_t, w, opnd_element(&i->opnds[3], slot)->off)[l];
            for (unsigned k = 0; k < i->shape.k / 32u; k++)
                d[slot][l] +=
                    (uint32_t)__builtin_popcount(both ? a[row][k] & b[column][k] : a[row][k] ^ b[column][k]);
        }
    for (unsigned slot = 0; slot < fragment_regs(&fd); slot++)
        memcpy(REG(uint32_t, w, opnd_element(&i->opnds[0], slot)->off), d[slot], sizeof(d[slot]));
}

exec_fn *ISA(select_mma)(struct insn *i)
{
    if (!matrix_known(i))
        return NULL;
    return mma_type(i, 1) == TYPE_B1 ? mma_bits : mma;
}
