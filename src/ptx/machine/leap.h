/* What leap.c knows of a loop from its instructions alone. */
#ifndef PTX_LEAP_H
#define PTX_LEAP_H

#include "machine.h"

struct leap_reg {
    uint32_t off;
    bool wide, counts; /* 8 bytes; an addition makes it */
    bool linear;       /* in the turns looked at */
    uint64_t last[32], step[32];
};

struct leap_plan {
    uint32_t again; /* pc from where the branch's guard is computed anew; 0: nowhere, and there is no leap */
    bool moves[2];  /* it loads, and stores, what is not the block's own */
    struct leap_reg *regs; /* linear in the turns, as far as the instructions say */
    size_t n;
};

/* Of the loop that a backward branch closes; the caller frees regs. */
void leap_plan(struct leap_plan *p, const struct ptx_module *m, const struct insn *branch);

#endif
