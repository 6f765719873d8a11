/* What leap.c knows of a loop from its instructions alone. */
#ifndef PTX_LEAP_H
#define PTX_LEAP_H

#include "machine.h"

struct leap_reg {
    uint32_t off;
    bool wide, counts; /* 8 bytes; an addition makes it */
    bool real;         /* a floating number, and its steps are doubles */
    bool linear;       /* in the turns looked at */
    uint64_t last[32], step[32];
};

struct leap_still {      /* a register that an exact plan has to stay as it is */
    uint32_t off, bytes; /* 0: a predicate */
};

struct leap_plan {
    uint32_t again; /* pc from where the branch's guard is computed anew; 0: nowhere, and there is no leap. Of
                       an exact plan: the branch, since all comparisons are followed */
    bool moves[2];  /* it loads, and stores, what is not the block's own */
    struct leap_reg *regs; /* linear in the turns, as far as the instructions say */
    size_t n;
    struct leap_still *stills; /* of an exact plan: all others that a turn writes */
    size_t n_stills;
    uint8_t *linear; /* enum leap_insn, each of its instructions */
    bool adds;       /* exact: some of them are leap_adds */
};
/* What it makes, or stores; LEAP_SUM: a floating number that moves. */
enum leap_insn { LEAP_OTHER, LEAP_LINEAR, LEAP_STORES_LINEAR, LEAP_SUM };

/* It adds to integers in shared memory, and nobody reads what it found there. */
bool leap_adds(const struct insn *i);

void leap_plan_clear(struct leap_plan *p);

/* Of the loop that a backward branch closes; the caller clears it. exact: what such a leap leaves is
 * what all turns would have left, if nothing stirs but what is linear. */
void leap_plan(struct leap_plan *p, const struct ptx_module *m, const struct insn *branch, bool exact);

#endif
