/* For the files exec_*.c, which meson compiles once per instruction set with ISA_SUFFIX set (base, v3, v4):
 * names that leave such a file go through ISA(), everything else in it is static. Loops over lanes are written
 * plainly, for gcc to vectorise. */
#ifndef PTX_ISA_H
#define PTX_ISA_H

#include "ptx/machine.h"

#define ISA_PASTE2(a, b) a##_##b
#define ISA_PASTE(a, b)  ISA_PASTE2(a, b)
#define ISA(name)        ISA_PASTE(name, ISA_SUFFIX)

/* The handler of an instruction, or NULL when this file lacks it. May set i->extra and, for instructions
 * without a memory operand, i->imm. */
typedef exec_fn *select_fn(struct insn *i);
select_fn ISA(select_arith), ISA(select_half), ISA(select_carry), ISA(select_approx), ISA(select_logic),
    ISA(select_bits), ISA(select_cmp), ISA(select_mov), ISA(select_cvt), ISA(select_cvt_half), ISA(select_mem),
    ISA(select_atom), ISA(select_nothing), ISA(select_policy), ISA(select_async), ISA(select_mma),
    ISA(select_tensor), ISA(select_warp), ISA(select_barrier), ISA(select_fence), ISA(select_control),
    ISA(select_cluster), ISA(select_mbarrier);

loop_fn ISA(warp_loop), ISA(shadow_loop);
select_fn ISA(select), ISA(select_float);

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

#endif
