/* Shadow values: beside floating values in registers and memory, what they would be had everything been
 * computed in double. (A sanitizer's shadow memory, which says what each byte may be used for, is another
 * thing: sanitize/.) docs/simulator.md says what it follows.
 *
 * Registers and memory are seen as parts of 16 bits. A part is plain (its bits say exactly what it is), or a
 * value of some format begins there and a double stands beside it, or it was lost: its bits were made by
 * integer instructions from a value that has a shadow. */
#ifndef SHADOW_SHADOW_VALUE_H
#define SHADOW_SHADOW_VALUE_H

#include "ptx/lane/half.h"
#include "ptx/observe.h"
#include "shadow.h"

#include <math.h>

enum { /* state of a part */
       SHADOW_PLAIN,
       SHADOW_F16,
       SHADOW_BF16,
       SHADOW_F32, /* this part and the next */
       SHADOW_F64, /* this part and the next three */
       SHADOW_FORMAT = 15,
       SHADOW_LOST = 128, /* alone, or beside a format whose value came from a lost one */
};

struct shadow_part { /* of a register, 32 lanes; one for 64 bytes of a warp's register file */
    double v[32];
    uint8_t s[32];
};

struct shadow_warp { /* a warp's registers: a part for each 64 bytes */
    struct kept kept;
    _Alignas(64) struct shadow_part parts[];
};

struct shadow_cell { /* of memory */
    double v;
    uint32_t tag; /* the bits beside which v stands: when others are found there, somebody else wrote them */
    uint8_t s;
};

/* Bytes. Cells take 8 times as much, and of a buffer sampled blocks touch a little here and there. */
enum { SHADOW_PAGE = 1024 };

struct shadow_page {
    uint64_t key; /* host address / SHADOW_PAGE */
    struct shadow_cell cells[SHADOW_PAGE / 2];
};

struct ptx_shadow {
    struct ptx_observer observer;
    double smallest;            /* ptx_shadow_open_terms */
    enum ptx_terms terms;       /* stand in the place of values: shadow_terms.c */
    struct shadow_plan *plan;   /* of the launch, by pc */
    struct shadow_page **slots; /* hash table */
    size_t n, cap;
    struct shadow_slab *slabs; /* what the pages lie in */
    uint64_t last_key;         /* the page asked for last, and what was found */
    struct shadow_page *last;
};

static inline struct ptx_shadow *shadow_of(const struct launch *l)
{
    return (struct ptx_shadow *)l->observer[PTX_VALUES];
}

/* The cells of host, room for the rest of its page; NULL when there are none and !create. */
struct shadow_cell *shadow_cells_find(struct ptx_shadow *s, const void *host, bool create);
static inline struct shadow_cell *shadow_cells(struct ptx_shadow *s, const void *host, bool create)
{
    if ((uintptr_t)host / SHADOW_PAGE != s->last_key || (create && !s->last))
        return shadow_cells_find(s, host, create);
    return s->last ? &s->last->cells[(uintptr_t)host % SHADOW_PAGE / 2] : NULL;
}
/* The bits that a cell with state s beside host would stand for. */
static inline uint32_t shadow_tag(uint8_t s, const void *host)
{
    unsigned format = s & SHADOW_FORMAT;
    uint32_t word[2];
    uint16_t half;
    if (format < SHADOW_F32) {
        memcpy(&half, host, 2);
        return half;
    }
    memcpy(word, host, 4);
    if (format == SHADOW_F32)
        return word[0];
    memcpy(word, host, 8);
    return word[0] ^ word[1] * 0x9e3779b1u;
}

/* Of the cell beside host: its state, plain when its tag does not fit; *v when it has a format. */
static inline uint8_t shadow_cell_state(const struct shadow_cell *c, const void *host, double *v)
{
    if (!c->s || c->tag != shadow_tag(c->s, host))
        return SHADOW_PLAIN;
    *v = c->v;
    return c->s;
}

/* What the bits say by themselves. */
static inline double shadow_real(uint8_t format, const void *bits)
{
    uint16_t half;
    uint32_t word;
    double wide;
    if (format < SHADOW_F32) {
        memcpy(&half, bits, 2);
        return format == SHADOW_F16 ? half_f16_to_f32(half) : half_bf16_to_f32(half);
    }
    if (format == SHADOW_F32) {
        memcpy(&word, bits, 4);
        return f32_of(word);
    }
    memcpy(&wide, bits, 8);
    return wide;
}

void shadow_forget(struct ptx_shadow *s, const void *host, size_t bytes);
void shadow_lose(struct ptx_shadow *s, const void *host, size_t bytes);
/* The cells of bytes that were just written, from a state and a value for each two of them. */
void shadow_put(struct ptx_shadow *s, const void *host, size_t bytes, const uint8_t *states, const double *v);
void shadow_move(struct ptx_shadow *s, const void *to, const void *from, size_t bytes);

struct shadow_plan {
    uint8_t kind;      /* enum shadow_kind */
    uint8_t n_written; /* of the operands, which stand first */
};

/* Which instructions a launch must follow, by pc; freed with free(). */
struct shadow_plan *shadow_plan(const struct ptx_module *m);
/* What an instruction computes, of its operands as far as it has them. */
double shadow_real_function(enum real_kind kind, double x, double y, double z);
/* The measure of a result's terms, of what its operands are and of theirs: x and qx, ... */
double shadow_terms_function(const struct ptx_shadow *s, enum real_kind kind, uint8_t format, const double x[3],
                             const double q[3]);
double shadow_terms_of(const struct ptx_shadow *s, double (*f)(const void *of, const double *x), const void *of,
                       unsigned n, bool power, const double *x, const double *q);
static inline double shadow_terms_sum(const struct ptx_shadow *s, uint8_t format, double x, double qx, double y,
                                      double qy)
{
    double u = format == SHADOW_F64 ? 0x1p-29 : 1; /* of f32's */

    if (s->terms == PTX_TERMS_SIZES)
        return (qx > 0 ? qx : u * fabs(x)) + (qy > 0 ? qy : u * fabs(y));
    return s->terms == PTX_TERMS_LARGEST ? fmax(qx, qy) : qx + qy;
}
static inline double shadow_terms_product(const struct ptx_shadow *s, double x, double qx, double y, double qy)
{
    if (s->terms == PTX_TERMS_SIZES)
        return fabs(x) * qy + fabs(y) * qx;
    return qx > 0 || qy > 0 ? fmax(x * x * qy, y * y * qx) : x * x * y * y;
}
/* A call of one of the functions that the shadow's build leaves undefined: mathematics. False: none of them. */
bool shadow_call(struct warp *w, const struct insn *i, const struct func *f, uint32_t m);

static inline uint8_t shadow_format(enum type t)
{
    switch (t) {
    case TYPE_F16:
    case TYPE_F16X2:
        return SHADOW_F16;
    case TYPE_BF16:
    case TYPE_BF16X2:
        return SHADOW_BF16;
    case TYPE_F32:
    case TYPE_F32X2:
    case TYPE_TF32:
        return SHADOW_F32;
    case TYPE_F64:
        return SHADOW_F64;
    default:
        return SHADOW_PLAIN;
    }
}

static inline const struct opnd *shadow_address(const struct insn *i)
{
    for (unsigned k = 0; k < i->n_opnds; k++)
        if (i->opnds[k].kind == OPND_ADDR)
            return &i->opnds[k];
    return NULL;
}

/* ---- registers: shadow_step.c and shadow_bits.c, compiled as the handlers are (isa.h) ---- */

enum { MOST_PARTS = 16, MOST_OUT = 20 };

struct shadow_out { /* the destinations of an instruction, before it executes */
    uint32_t at[MOST_OUT];
    struct shadow_part p[MOST_OUT];
    unsigned n;
};

static inline struct shadow_part *warp_shadow(const struct warp *w)
{
    return ((struct shadow_warp *)w->kept[PTX_VALUES])->parts;
}

static inline struct shadow_part *shadow_parts(const struct warp *w, const struct opnd *o)
{
    return &warp_shadow(w)[o->off / 64];
}

static inline unsigned opnd_parts(const struct opnd *o)
{
    return o->bytes / 2u;
}

/* The host's bytes of part k of lane's register. */
static inline const uint8_t *part_bits(const struct warp *w, const struct opnd *o, unsigned k, unsigned lane)
{
    return w->regs + o->off + k / 4 * 256 + (size_t)lane * MIN(o->bytes, 8) + k % 4 * 2;
}

/* A loop, because gcc calls memcpy for 256 bytes. */
static inline void row_copy(double *to, const double *from)
{
    for (unsigned l = 0; l < 32; l++)
        to[l] = from[l];
}

static inline bool part_any(const struct shadow_part *p)
{
    uint64_t x[4];
    memcpy(x, p->s, sizeof(x));
    return x[0] | x[1] | x[2] | x[3];
}

static inline unsigned width_of(uint8_t format) /* in parts */
{
    if (format == SHADOW_F64)
        return 4;
    return format == SHADOW_F32 ? 2 : 1;
}

struct row { /* one value a lane */
    double v[32];
    uint8_t lost[32];
};

/* The parts of a value in a destination that out_add has made. */
static inline void row_write(struct shadow_part *p, uint8_t format, const struct row *r)
{
    row_copy(p->v, r->v);
    for (unsigned l = 0; l < 32; l++)
        p->s[l] = format | r->lost[l];
}

#ifdef ISA_SUFFIX
#define cell_load           ISA(cell_load)
#define cell_store          ISA(cell_store)
#define host_of             ISA(host_of)
#define opnd_any            ISA(opnd_any)
#define out_add             ISA(out_add)
#define row_read            ISA(row_read)
#define shadow_bits         ISA(shadow_bits)
#define shadow_load_matrix  ISA(shadow_load_matrix)
#define shadow_product      ISA(shadow_product)
#define shadow_store_matrix ISA(shadow_store_matrix)
#define shadow_taint        ISA(shadow_taint)
#define shadow_turn_matrix  ISA(shadow_turn_matrix)
loop_fn ISA(shadow_loop);
bool opnd_any(const struct warp *w, const struct opnd *o); /* some lane of some part is not plain */
/* Room for a destination's parts, all plain. */
struct shadow_part *out_add(struct shadow_out *out, const struct opnd *o);
/* Instructions on bits: moves, packing, signs, shifts by halves; anything else loses. */
void shadow_bits(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out);
/* Destinations are plain where all sources are, lost elsewhere. */
void shadow_taint(const struct warp *w, const struct insn *i, uint32_t m, struct shadow_out *out);
/* Value number `part` of a register, in every lane. */
void row_read(const struct warp *w, const struct opnd *o, uint8_t format, unsigned part, struct row *r);
/* The host's bytes of a lane's access, NULL where there are none: the instruction will say so. */
uint8_t *host_of(const struct warp *w, enum space space, uint64_t at, unsigned lane, uint32_t bytes);
/* A lane's parts of a register from memory and, after the bytes were stored, to it. */
void cell_load(struct ptx_shadow *s, const uint8_t *host, unsigned bytes, struct shadow_part *p, unsigned lane);
void cell_store(struct ptx_shadow *s, const uint8_t *host, unsigned bytes, const struct shadow_part *p,
                unsigned lane);
/* shadow_matrix.c: mma, wmma, ldmatrix, stmatrix, movmatrix. The store executes its instruction itself. */
void shadow_product(const struct warp *w, const struct insn *i, struct shadow_out *out);
void shadow_load_matrix(const struct warp *w, const struct insn *i, struct shadow_out *out);
void shadow_store_matrix(struct warp *w, const struct insn *i, uint32_t m);
void shadow_turn_matrix(const struct warp *w, const struct insn *i, struct shadow_out *out);
#endif
#endif
