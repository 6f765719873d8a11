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
    ISA(select_tensor), ISA(select_warp), ISA(select_barrier), ISA(select_fence), ISA(select_control),
    ISA(select_cluster), ISA(select_mbarrier);

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
