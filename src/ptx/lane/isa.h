/* For the files that meson compiles once per instruction set with ISA_SUFFIX set (base, v3, v4):
 * names that leave such a file go through ISA(), everything else in it is static. Loops over lanes are written
 * plainly, for gcc to vectorise. */
#ifndef PTX_ISA_H
#define PTX_ISA_H

#include "opnd.h"

#define ISA_PASTE2(a, b) a##_##b
#define ISA_PASTE(a, b)  ISA_PASTE2(a, b)
#define ISA(name)        ISA_PASTE(name, ISA_SUFFIX)

#define LANES _Pragma("GCC ivdep") for (unsigned l = 0; l < 32; l++)

/* d[l] = expr (of lane l) in the lanes that execute. d may be one of the sources: registers are equal or
 * disjoint. */
#define EACH(T, d, expr)                       \
    do {                                       \
        if (warp_full(w, m)) {                 \
            LANES d[l] = (T)(expr);            \
        } else {                               \
            LANES                              \
            {                                  \
                T v_ = (T)(expr);              \
                d[l] = m >> l & 1 ? v_ : d[l]; \
            }                                  \
        }                                      \
    } while (0)

/* static handlers of one, two or three sources of the same type: x, y, z are the lane's values. */
#define UNARY(name, T, S, expr)                                        \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const S *a = REG(S, w, i->a);                                  \
        EACH(T, d, ({                                                  \
                 S x = a[l];                                           \
                 (expr);                                               \
             }));                                                      \
    }
#define BINARY(name, T, S, expr)                                       \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const S *a = REG(S, w, i->a), *b = REG(S, w, i->b);            \
        EACH(T, d, ({                                                  \
                 S x = a[l], y = b[l];                                 \
                 (expr);                                               \
             }));                                                      \
    }
#define TERNARY(name, T, S, U, expr)                                   \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T *d = REG(T, w, i->d);                                        \
        const S *a = REG(S, w, i->a), *b = REG(S, w, i->b);            \
        const U *c = REG(U, w, i->c);                                  \
        EACH(T, d, ({                                                  \
                 S x = a[l], y = b[l];                                 \
                 U z = c[l];                                           \
                 (expr);                                               \
             }));                                                      \
    }

/* A predicate from a comparison: bits of executing lanes are replaced. */
#define PRED(w, off) (*REG(uint32_t, w, off))
static inline void pred_write(struct warp *w, uint32_t off, uint32_t bits, uint32_t m)
{
    uint32_t *p = &PRED(w, off);
    *p = (*p & ~m) | (bits & m);
}
static inline uint32_t pred_read(const struct warp *w, const struct opnd *o)
{
    uint32_t v = PRED(w, o->off);
    return o->negated ? ~v : v;
}

/* .and, .or or .xor of the instruction; without one the bits as they are. */
static inline uint32_t pred_combine(const struct insn *i, uint32_t bits, uint32_t with)
{
    if (insn_has(i, MOD_and))
        return bits & with;
    if (insn_has(i, MOD_or))
        return bits | with;
    return insn_has(i, MOD_xor) ? bits ^ with : bits;
}

#endif
