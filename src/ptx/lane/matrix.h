/* Matrices spread over a warp's registers: which lane holds which element of mma's and wmma's operands.
 *
 * Lane l stands for group g = l / 4 and place t = l % 4. A fragment is made of pieces of 8 by 4 * run elements:
 * the lane holds those at g across and from run * t along, a register or two of them. "Along" is k for A and B;
 * for C and D it is n, and m in m8n32k16, which is m32n8k16 transposed. The PTX ISA documents this for mma. For
 * wmma it documents nothing; there it is what an H200 does, found by loading matrices of distinct numbers: the
 * same whether memory is .row or .col, and of f16 the registers beyond a matrix' size hold copies of the
 * others, which wmma.mma does not read. */
#ifndef PTX_MATRIX_H
#define PTX_MATRIX_H

#include "opnd.h"

enum matrix { MATRIX_A, MATRIX_B, MATRIX_C /* and D */ };

struct fragment {
    uint8_t bits;   /* of an element */
    uint8_t run;    /* elements of a piece in a lane */
    uint8_t pieces; /* without copies */
    uint8_t pair;   /* pieces across that come before the next along */
    uint8_t depth;  /* pieces along */
    bool down;      /* along goes down the rows */
};

static inline unsigned matrix_bits(enum type t)
{
    if (t == TYPE_B1)
        return 1;
    return t == TYPE_S4 || t == TYPE_U4 ? 4 : 8u * type_bytes[t];
}

static inline struct fragment fragment_of(struct mma_shape s, enum matrix which, enum type t)
{
    bool transposed = s.m == 8 && s.n == 32;
    unsigned bits = matrix_bits(t), run = which == MATRIX_C ? 2 : MAX(32 / bits, 1u);
    unsigned across = which == MATRIX_A ? s.m : s.n, along = s.k, pair = 1;
    if (which == MATRIX_C) {
        across = transposed ? s.n : s.m;
        along = transposed ? s.m : s.n;
        pair = across / 8;
    } else if ((which == MATRIX_A) == !transposed) {
        pair = MIN(across / 8, 2u);
    }
    struct fragment f = {.bits = (uint8_t)bits, .run = (uint8_t)run, .depth = (uint8_t)(along / (4 * run))};
    f.pieces = (uint8_t)(across / 8 * f.depth);
    f.pair = (uint8_t)pair;
    f.down = which == MATRIX_C ? transposed : which == MATRIX_B;
    return f;
}

/* Bytes of one of its registers, and how many there are (without copies). */
static inline unsigned fragment_reg_bytes(const struct fragment *f)
{
    return f->bits == 64 ? 8 : 4;
}
static inline unsigned fragment_regs(const struct fragment *f)
{
    return (unsigned)f->pieces * f->run * f->bits / (8 * fragment_reg_bytes(f));
}

/* Where a piece begins. */
static inline void fragment_origin(const struct fragment *f, unsigned piece, unsigned *across, unsigned *along)
{
    *across = 8 * (piece % f->pair + f->pair * (piece / (f->pair * f->depth)));
    *along = 4u * f->run * (piece / f->pair % f->depth);
}

/* Row and column of a lane's element number `slot`, counted through its registers. */
static inline void fragment_place(const struct fragment *f, unsigned lane, unsigned slot, unsigned *row,
                                  unsigned *column)
{
    unsigned across, along;
    fragment_origin(f, slot / f->run, &across, &along);
    across += lane / 4;
    along += f->run * (lane % 4) + slot % f->run;
    *row = f->down ? along : across;
    *column = f->down ? across : along;
}

static inline unsigned matrix_reg_count(const struct opnd *o)
{
    return o->kind == OPND_VEC ? o->n : 1;
}

/* Type and fragment of operand 1, 2, 3 or 0 (A, B, C, D) of mma and wmma.mma. Of f16 wmma.mma names D and C
 * only. */
static inline enum type mma_type(const struct insn *i, unsigned operand)
{
    if (i->n_types == 4)
        return (enum type)i->types[operand];
    if (i->n_types == 3) /* of wgmma.mma_async: D, A and B */
        return (enum type)i->types[operand % 3];
    return operand == 1 || operand == 2 ? TYPE_F16 : (enum type)i->types[operand == 3];
}
static inline struct fragment mma_fragment(const struct insn *i, unsigned operand)
{
    static const enum matrix which[] = {MATRIX_C, MATRIX_A, MATRIX_B, MATRIX_C};
    return fragment_of(i->shape, which[operand], mma_type(i, operand));
}

/* matrix.c: whether PTX has a mma, wmma.mma, wmma.load or wmma.store of this shape and these types, and its
 * operands are as many registers of the right size; the same of wgmma.mma_async, whose shape.m still says 64.
 */
bool matrix_known(const struct insn *i);
bool group_product_known(const struct insn *i);

/* ---- wmma.load and wmma.store: a fragment from and to memory, in accesses of the whole warp ("parts").
 * Where memory runs along with the registers a lane moves its pieces; where it runs across them it moves, of 16
 * bits, pairs of its neighbours' elements, which movmatrix then turns, and else single elements. ---- */

enum { MATRIX_PARTS = 16 };

struct matrix_access {
    struct fragment f; /* of words, where elements are smaller than a byte */
    enum { WHOLE, SINGLE, TURNED } way;
    uint8_t size, atoms; /* bytes of an element, elements of a lane in a part */
    uint8_t parts;
    bool columns; /* .col */
};

static inline const struct opnd *matrix_operand(const struct insn *i) /* the registers */
{
    return &i->opnds[i->op == OP_wmma_store];
}

static inline struct matrix_access matrix_access_of(const struct insn *i)
{
    enum matrix which = insn_has(i, MOD_b) ? MATRIX_B : MATRIX_C;
    if (insn_has(i, MOD_a))
        which = MATRIX_A;
    enum type t = (enum type)i->type;
    struct mma_shape s = i->shape;
    unsigned bits = matrix_bits(t);
    if (bits < 8) {
        s.k = (uint16_t)(s.k * bits / 32);
        t = TYPE_B32;
    }
    struct matrix_access x = {.f = fragment_of(s, which, t), .columns = insn_has(i, MOD_col)};
    x.size = (uint8_t)(x.f.bits / 8);
    x.way = x.size == 2 ? TURNED : SINGLE;
    if (x.columns == x.f.down)
        x.way = WHOLE;
    x.atoms = x.way == SINGLE ? 1 : x.f.run;
    x.parts = (uint8_t)(x.f.pieces * x.f.run / x.atoms);
    return x;
}

/* Bytes from the matrix' start to what a lane moves in a part; stride: bytes between rows, or columns. */
static inline uint64_t matrix_offset(const struct matrix_access *x, unsigned part, unsigned lane,
                                     uint64_t stride)
{
    unsigned row, column;
    if (x->way == TURNED) {
        unsigned across, along;
        fragment_origin(&x->f, part, &across, &along);
        row = x->f.down ? along + lane / 4 : across + 2 * (lane % 4);
        column = x->f.down ? across + 2 * (lane % 4) : along + lane / 4;
    } else {
        fragment_place(&x->f, lane, part * x->atoms, &row, &column);
    }
    return x->columns ? column * stride + row * x->size : row * stride + (uint64_t)column * x->size;
}

/* Whose register gets, or gives, atom number `atom` of what a lane moves. */
static inline unsigned matrix_holder(const struct matrix_access *x, unsigned part, unsigned lane, unsigned atom,
                                     unsigned *slot)
{
    *slot = part * x->atoms + (x->way == TURNED ? lane / 4 % 2 : atom);
    return x->way == TURNED ? 4 * (2 * (lane % 4) + atom) + lane / 8 : lane;
}

/* Elements between rows, or columns, as the instruction says or, by itself, as many as there are. */
static inline uint64_t matrix_stride(const struct warp *w, const struct insn *i, const struct matrix_access *x,
                                     unsigned lane)
{
    unsigned bits = matrix_bits((enum type)i->type), most = 0, row, column;
    if (i->n_opnds > 2)
        return (uint64_t)REG(uint32_t, w, i->opnds[2].off)[lane] * bits / 8;
    for (unsigned slot = 0; slot < (unsigned)x->f.pieces * x->f.run; slot++) {
        fragment_place(&x->f, 31, slot, &row, &column);
        most = MAX(most, x->columns ? row : column);
    }
    return (most + 1) * x->size;
}

static inline uint64_t matrix_base(const struct warp *w, const struct opnd *o, unsigned lane)
{
    return o->bytes == 8 ? REG(uint64_t, w, o->off)[lane] + (uint64_t)o->imm
                         : (uint32_t)(REG(uint32_t, w, o->off)[lane] + (uint32_t)o->imm);
}

#endif
