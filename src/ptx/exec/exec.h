/* What the files exec_*.c share: each gives handlers through its select functions. */
#ifndef PTX_EXEC_H
#define PTX_EXEC_H

#include <fenv.h>

#include "ptx/lane/isa.h"
#include "ptx/machine/machine.h"

/* The handler of an instruction, or NULL when this file lacks it. May set i->extra and, for instructions
 * without a memory operand, i->imm. */
typedef exec_fn *select_fn(struct insn *i);
select_fn ISA(select_arith), ISA(select_half), ISA(select_carry), ISA(select_approx), ISA(select_logic),
    ISA(select_bits), ISA(select_cmp), ISA(select_mov), ISA(select_cvt), ISA(select_cvt_half), ISA(select_mem),
    ISA(select_atom), ISA(select_nothing), ISA(select_policy), ISA(select_async), ISA(select_mma),
    ISA(select_wgmma), ISA(select_tensor), ISA(select_warp), ISA(select_barrier), ISA(select_fence),
    ISA(select_control), ISA(select_cluster), ISA(select_mbarrier);

loop_fn ISA(warp_loop);
select_fn ISA(select), ISA(select_float);

static inline int rounding_mode(const struct insn *i) /* as fesetround takes it */
{
    if (insn_has(i, MOD_rz))
        return FE_TOWARDZERO;
    if (insn_has(i, MOD_rm))
        return FE_DOWNWARD;
    return insn_has(i, MOD_rp) ? FE_UPWARD : FE_TONEAREST;
}

/* Of the handlers for 2, 4 and 8 bytes the one for a width, or NULL. */
static inline exec_fn *of_width(unsigned bytes, exec_fn *two, exec_fn *four, exec_fn *eight)
{
    switch (bytes) {
    case 2:
        return two;
    case 4:
        return four;
    default:
        return bytes == 8 ? eight : NULL;
    }
}

/* The handler beside the first modifier that an instruction has, or NULL: BY_MOD(i, {MOD_up, shfl_up}, ...) */
struct form {
    enum mod mod;
    exec_fn *handler;
};
#define BY_MOD(i, ...) form_of(i, (const struct form[]){__VA_ARGS__, {.handler = NULL}})
static inline exec_fn *form_of(const struct insn *i, const struct form *f)
{
    while (f->handler && !insn_has(i, f->mod))
        f++;
    return f->handler;
}

/* A whole number as the nearest one of an integer type. */
static inline uint64_t clamp_integer(__int128 x, enum type t)
{
    __int128 most = ~0ull >> (64 - 8 * type_bytes[t] + type_signed(t)), least = type_signed(t) ? -most - 1 : 0;
    return (uint64_t)CLAMP(x, least, most);
}

static inline uint64_t integer_of(double x, enum type t)
{
    /* beyond 64 bits by far, yet below what an __int128 holds */
    return clamp_integer((__int128)CLAMP(x, -0x1p100, 0x1p100), t);
}

/* What the lanes of m are about to do at addr; for mem_lanes. */
static inline struct access access_of(const struct insn *i, uint32_t m, enum access_kind kind, unsigned flags,
                                      uint32_t bytes, const uint64_t addr[32])
{
    return (struct access){.kind = (uint8_t)kind,
                           .space = i->space,
                           .flags = (uint16_t)flags,
                           .mask = m,
                           .bytes = bytes,
                           .addr = addr};
}

/* What each lane's address register holds, plus the offset. */
static inline void lane_addresses(const struct warp *w, uint32_t reg, uint64_t imm, bool wide,
                                  uint64_t addr[32])
{
    if (wide) {
        const uint64_t *r = REG(uint64_t, w, reg);
        LANES addr[l] = r[l] + imm;
    } else {
        const uint32_t *r = REG(uint32_t, w, reg);
        LANES addr[l] = (uint32_t)(r[l] + (uint32_t)imm);
    }
}

#endif
