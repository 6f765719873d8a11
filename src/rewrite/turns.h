/* turns: loops of which one turn needs no other: all that a turn sets it declares itself, but for accumulators
 * that are only added to, or only made larger or smaller, with the place of that one; and what it stores
 * depends on the loop's index. */
#ifndef REWRITE_TURNS_H
#define REWRITE_TURNS_H

#include "rewrite/analysis.h"

enum { SUMS_MOST = 8, FEW_TURNS = 16 };

enum gathers { GATHERS_SUM, GATHERS_CALL, GATHERS_IF, GATHERS_PLACE };

struct gathered { /* an accumulator of a loop */
    const struct variable *v;
    enum gathers how;
    const char *word;             /* fmaxf, or the comparison of the if: its left side is the new one */
    const struct variable *place; /* GATHERS_PLACE: where the largest or smallest is, a turn's number; of equal
                                     ones the first, or where the comparison takes them the last */
};

struct turns {
    struct node loop, start, limit, step; /* step: no node where it is 1 */
    const struct variable *index;
    struct gathered sums[SUMS_MOST];
    size_t n_sums;
};

/* for (T i = start; i < limit; i += step), or <= and ++, with the same limit and step in every turn and more
 * than a few turns. Of turns only the header is set. */
bool turns_of(const struct function *f, struct node loop, struct turns *turns);
/* What the assignment makes of v, where it adds to it, or makes it larger or smaller. */
bool turn_gathers(const struct function *f, struct node e, const struct variable *v, struct gathered *g);
/* Is it zero before its loop, and set there alone? */
bool gathers_from_zero(const struct function *f, const struct gathered *g);
/* May a turn of the loop's body leave it, or the next turn begin, before its end? */
bool turn_may_end_early(const struct function *f, struct node body);
/* Has it a break of its own, and none of a loop or switch within? */
bool turn_may_break(const struct function *f, struct node loop);
/* Those say so to the loop around, which goes on while `going` holds. */
void turn_break_edits(const struct function *f, struct node loop, const char *going, struct edits *inside);
/* Adds the accumulators. False with the reason: turns need each other, or may. */
bool turns_are_apart(const struct function *f, struct turns *turns, struct err *why);

#endif
