/* What a launcher decides while its plan is made (marks.c); struct plan has it. */
#ifndef KERNEL_MARKS_H
#define KERNEL_MARKS_H

#include "kernel/kernel.h"

struct token;

struct marks {
    struct arena *arena;
    VEC(uint64_t) list;
    VEC(uint64_t) results;
    VEC(struct plan_number) numbers;
};

void marks_add(struct marks *m, uint64_t what);
/* An operator there gave zero, or did not. */
void marks_result(struct marks *m, const struct token *at, bool zero);
/* A condition there holds, or does not; gives it. */
bool marks_decide(struct marks *m, const struct token *at, bool holds);
/* An element of an array of the launcher's: a table says what a branch could. */
void marks_choose(struct marks *m, const struct token *at, int64_t index, int64_t count);
/* Both operands there, of a comparison or the like; which it is, is said. */
void marks_operands(struct marks *m, const struct token *at, struct plan_number is, int64_t left,
                    int64_t right);

#endif
