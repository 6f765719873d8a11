/* wgmma: products of a warpgroup, with operands in shared memory. Each warp computes its own 16 rows when it
 * executes the instruction, and its registers have the result at once: what reads them, or overwrites the
 * operands, before wgmma.wait_group says that it may, is the sanitizer's to find. */
#include "ptx/lane/wgmma.h"
#include "exec.h"
#include "product.h"

struct group_operands {
    double a[M_MAX][K_MAX], b[K_MAX][WGMMA_N_MAX], d[M_MAX][WGMMA_N_MAX];
};

static bool lanes_agree(struct warp *w, const struct insn *i, unsigned operand)
{
    const uint64_t *r = REG(uint64_t, w, i->opnds[operand].off);
    for (unsigned l = 1; l < 32; l++)
        if (r[l] != r[0]) {
            fault(w, i, (int)l, PTX_WARPGROUP, r[l], "the threads of a warp give different descriptors of %s",
                  operand == 1 ? "A" : "B");
            return false;
        }
    return true;
}

static bool source_fits(struct warp *w, const struct insn *i, unsigned operand)
{
    if (!wgmma_in_shared(i, operand))
        return true;
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    if (!lanes_agree(w, i, operand))
        return false;
    if (s.x.base_offset) {
        fault_unsupported(w, i, "a descriptor with a base offset");
        return false;
    }
    for (unsigned q = 0; q < s.n; q++) {
        unsigned line, depth;
        uint32_t at = wgmma_chunk(&s, q, &line, &depth);
        if (at + WGMMA_CHUNK <= w->launch->shared_bytes)
            continue;
        fault(w, i, 0, PTX_OUT_OF_BOUNDS, at,
              "the descriptor of %s leads to 16 bytes at offset %u of shared memory, which has %u bytes",
              operand == 1 ? "A" : "B", at, w->launch->shared_bytes);
        return false;
    }
    return true;
}

static bool whole_group(struct warp *w, const struct insn *i, uint32_t m)
{
    if (!warp_await_whole(w, i, m))
        return false;
    if (w->index / 4 * 4 + 4 <= w->block->n_warps && w->launch->threads % 32 == 0)
        return true;
    fault(w, i, -1, PTX_WARPGROUP, 0,
          "%s needs a warpgroup of four whole warps; warp %u has none in a block of %u threads", i->text,
          w->index, w->launch->threads);
    return false;
}

/* A chunk's elements as numbers. */
static void chunk_values(enum type t, const uint8_t *from, double v[16])
{
    uint16_t half[16] = {0};
    uint32_t word[4];
    float wide[16];
    memcpy(half, from, WGMMA_CHUNK);
    memcpy(word, from, sizeof(word));
    if (t == TYPE_F16) {
        half_row_widen(wide, half, ARRAY_LEN(half));
        for (unsigned e = 0; e < WGMMA_CHUNK / sizeof(*half); e++)
            v[e] = wide[e];
        return;
    }
    for (unsigned e = 0; e < WGMMA_CHUNK / type_bytes[t]; e++)
        switch (t) {
        case TYPE_BF16:
            v[e] = half_bf16_to_f32(half[e]);
            break;
        case TYPE_TF32:
            v[e] = f32_of(word[e] & ~0x1fffu);
            break;
        case TYPE_S8:
            v[e] = (int8_t)from[e];
            break;
        case TYPE_U8:
            v[e] = from[e];
            break;
        default:
            v[e] = half_fp8_to_f32(from[e], t == TYPE_E5M2);
        }
}

/* What a descriptor names; lines are `line` apart in `to`, steps of K `step`. */
static void gather_shared(const struct warp *w, const struct insn *i, unsigned operand, double *to,
                          unsigned line, unsigned step)
{
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    enum type t = mma_type(i, operand);
    unsigned each = WGMMA_CHUNK / type_bytes[t], first, depth;
    for (unsigned q = 0; q < s.n; q++) {
        double v[16];
        chunk_values(t, w->block->shared + wgmma_chunk(&s, q, &first, &depth), v);
        double *at = to + (size_t)first * line + (size_t)depth / type_bytes[t] * step;
        for (unsigned e = 0; e < each; e++)
            at[(size_t)e * (s.x.transposed ? line : step)] = v[e];
    }
}

static void change_sign(double *v, size_t n)
{
    for (size_t k = 0; k < n; k++)
        v[k] = -v[k];
}

/* ---- zeros, most of a tile that a small matrix does not fill ---- */

/* What is known of A and of B. */
struct group_zeros {
    bool finite[2];     /* there is neither an infinity nor a NaN */
    uint32_t eights[2]; /* of lines: those that have anything but +0 */
};

/* Is there an element of these 8 bytes whose exponent has all its bits? e4m3 has NaNs alone, of which all bits
 * are set. */
static bool has_infinite(enum type t, uint64_t x)
{
    static const uint32_t exponents[N_TYPES] = {[TYPE_F16] = 0x7c00,
                                                [TYPE_BF16] = 0x7f80,
                                                [TYPE_TF32] = 0x7f800000,
                                                [TYPE_E5M2] = 0x7c,
                                                [TYPE_E4M3] = 0x7f};
    uint64_t ones = UINT64_MAX / (UINT64_MAX >> (64 - 8 * type_bytes[t]));
    uint64_t left = ~x & exponents[t] * ones; /* of an element: 0 where all are set */
    return exponents[t] && ((left - ones) & ~left & ones << (8 * type_bytes[t] - 1));
}

static void look_for_zeros(const struct warp *w, const struct insn *i, unsigned operand, struct group_zeros *z)
{
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    enum type t = mma_type(i, operand);
    unsigned line, depth;
    bool infinite = false;
    for (unsigned q = 0; q < s.n; q++) {
        uint64_t x[WGMMA_CHUNK / 8];
        memcpy(x, w->block->shared + wgmma_chunk(&s, q, &line, &depth), WGMMA_CHUNK);
        if (!(x[0] | x[1]))
            continue;
        z->eights[operand - 1] |= 1u << line / 8;
        infinite |= has_infinite(t, x[0]) || has_infinite(t, x[1]);
    }
    z->finite[operand - 1] = !infinite;
}

static struct group_zeros zeros_of(const struct warp *w, const struct insn *i)
{
    struct group_zeros z = {.finite = {false, false}, .eights = {0, 0}};
    if (wgmma_in_shared(i, 1))
        look_for_zeros(w, i, 1, &z);
    else
        z.eights[0] = ~0u; /* not looked at: not finite, either */
    look_for_zeros(w, i, 2, &z);
    return z;
}

/* Are all products of these eights of A and B zeros? */
static bool gives_zeros(const struct group_zeros *z, uint32_t rows, uint32_t columns)
{
    return (!(z->eights[0] & rows) && z->finite[1]) || (!(z->eights[1] & columns) && z->finite[0]);
}

/* Zeros change the sign of a zero at most, and a NaN comes out as the one that there is: the sign of `other`
 * says that there is a -0 or a NaN. */
static bool stays(const double *sums)
{
    int64_t bits[8], other = 0;
    memcpy(bits, sums, sizeof(bits));
    for (unsigned n = 0; n < 8; n++) {
        int64_t without = bits[n] & INT64_MAX, turned = bits[n] ^ INT64_MIN;
        other |= (((int64_t)0x7ff << 52) - without) | ~(turned | -(turned & INT64_MAX));
    }
    return other >= 0;
}

/* The same of all sums where they lie. */
static bool all_stay(const struct warp *w, const struct insn *i)
{
    int32_t other = 0;
    for (unsigned r = 0; r < i->opnds[3].n && mma_type(i, 0) == TYPE_F32; r++) {
        const int32_t *d = REG(int32_t, w, i->opnds[3].vec[r].off);
        for (unsigned l = 0; l < 32; l++) {
            int32_t without = d[l] & INT32_MAX, turned = d[l] ^ INT32_MIN;
            other |= (0x7f800000 - without) | ~(turned | -(turned & INT32_MAX));
        }
    }
    return mma_type(i, 0) == TYPE_F32 && other >= 0;
}

static void group_product(struct warp *w, const struct insn *i, uint32_t m)
{
    struct group_operands x;
    if (!whole_group(w, i, m) || !source_fits(w, i, 1) || !source_fits(w, i, 2))
        return;
    OBSERVE(w->launch, warpgroup, w, i, m);
    if (w->launch->stop)
        return;
    const struct group_zeros z = zeros_of(w, i);
    bool adds = wgmma_adds(w, i);
    if (adds && gives_zeros(&z, ~0u, ~0u) && all_stay(w, i))
        return;
    if (wgmma_in_shared(i, 1))
        gather_shared(w, i, 1, x.a[0], K_MAX, 1);
    else
        gather(w, i, 1, x.a[0], K_MAX);
    gather_shared(w, i, 2, x.b[0], 1, WGMMA_N_MAX);
    if (wgmma_sign(i, 1) * wgmma_sign(i, 2) < 0)
        for (unsigned r = 0; r < i->shape.m; r++)
            change_sign(x.a[r], i->shape.k);
    if (adds)
        gather(w, i, 3, x.d[0], WGMMA_N_MAX);
    else
        for (unsigned r = 0; r < i->shape.m; r++)
            memset(x.d[r], 0, i->shape.n * sizeof(double));
    for (unsigned n = 0; n < i->shape.n; n += 8)
        for (unsigned r = 0; r < i->shape.m; r++)
            if (!gives_zeros(&z, 1u << r / 8, 1u << n / 8) || !stays(&x.d[r][n]))
                multiply_row(i, x.a[r], x.b[0] + n, &x.d[r][n], WGMMA_N_MAX);
    scatter(w, i, x.d[0], WGMMA_N_MAX);
}

/* Single bits: words of A by row, and of B by column. */
static void group_product_bits(struct warp *w, const struct insn *i, uint32_t m)
{
    enum { WORDS = WGMMA_DEPTH_BYTES / 4 };
    uint32_t lines[2][WGMMA_N_MAX][WORDS];
    struct fragment fa = mma_fragment(i, 1), fd = mma_fragment(i, 0);
    unsigned row, column, depth;
    if (!whole_group(w, i, m) || !source_fits(w, i, 1) || !source_fits(w, i, 2))
        return;
    OBSERVE(w->launch, warpgroup, w, i, m);
    if (w->launch->stop)
        return;
    for (unsigned operand = 1; operand <= 2; operand++) {
        struct wgmma_source s = wgmma_source_of(w, i, operand);
        for (unsigned q = 0; wgmma_in_shared(i, operand) && q < s.n; q++) {
            uint32_t at = wgmma_chunk(&s, q, &row, &depth);
            memcpy((uint8_t *)lines[operand - 1][row] + depth, w->block->shared + at, WGMMA_CHUNK);
        }
    }
    for (unsigned piece = 0; !wgmma_in_shared(i, 1) && piece < fa.pieces; piece++)
        for (unsigned l = 0; l < 32; l++) {
            fragment_origin(&fa, piece, &row, &column);
            lines[0][row + l / 4][column / 32 + l % 4] = REG(uint32_t, w, i->opnds[1].vec[piece].off)[l];
        }
    bool adds = wgmma_adds(w, i);
    for (unsigned slot = 0; slot < fragment_regs(&fd); slot++)
        for (unsigned l = 0; l < 32; l++) {
            uint32_t *d = REG(uint32_t, w, i->opnds[0].vec[slot].off) + l, sum = 0;
            fragment_place(&fd, l, slot, &row, &column);
            for (unsigned k = 0; k < WORDS; k++)
                sum += (uint32_t)__builtin_popcount(lines[0][row][k] & lines[1][column][k]);
            *d = adds ? *d + sum : sum;
        }
}

static void group_order(struct warp *w, const struct insn *i, uint32_t m)
{
    if (!whole_group(w, i, m) || (i->op == OP_wgmma_wait && !warpgroup_await(w, i, m)))
        return;
    OBSERVE(w->launch, warpgroup, w, i, m);
    if (i->op == OP_wgmma_commit)
        warpgroup_commit(w);
}

exec_fn *ISA(select_wgmma)(struct insn *i)
{
    if (!insn_has(i, MOD_sync) || !insn_has(i, MOD_aligned))
        return NULL;
    if (i->op == OP_wgmma_wait)
        return i->opnds[0].kind == OPND_REG && i->opnds[0].is_imm && i->opnds[0].imm >= 0 ? group_order : NULL;
    if (i->op != OP_wgmma_mma)
        return i->n_opnds == 0 ? group_order : NULL;
    if (!group_product_known(i))
        return NULL;
    i->shape.m = 16; /* the warp's own */
    return mma_type(i, 1) == TYPE_B1 ? group_product_bits : group_product;
}
