/* The order of evaluation. C++ evaluates the operands of most operators and the arguments of a call in any
 * order, and compilers differ: an order that could be seen is refused. While such operands are evaluated, every
 * access to a variable is noted with the operand that makes it; what the plan has so far counts as a variable,
 * too. */
#include "kernel/internal.h"

void group_open(struct interp *in, struct group *g, const struct expr *of)
{
    g->of = of;
    g->start = in->accesses.n;
    g->n_cuts = 0;
    in->groups += of->risky;
}

void group_next(struct interp *in, struct group *g)
{
    if (!g->of->risky)
        return;
    if (g->n_cuts == ARRAY_LEN(g->cuts))
        fail(in->unit, g->of->at, "more than %zu arguments, one of which changes a variable",
             ARRAY_LEN(g->cuts));
    g->cuts[g->n_cuts++] = in->accesses.n;
}

void access_log(struct interp *in, struct cell *c, bool write)
{
    if (!in->groups)
        return;
    vec_add(in->arena, &in->accesses, ((struct access){c, write}));
    for (int64_t i = 0; c->elems && i < c->n_elems; i++)
        access_log(in, &c->elems[i], write);
}

static _Noreturn void conflict(struct interp *in, const struct token *at)
{
    fail(
        in->unit, at,
        "the order of evaluation counts here: one operand or argument changes what another one uses, and C++ leaves the "
        "order open; make them statements of their own");
}

void group_close(struct interp *in, struct group *g)
{
    if (!g->of->risky)
        return;
    const uint64_t serial = ++in->group_serial;

    in->groups--;
    for (int pass = 0; pass < 2; pass++) { /* first what is written, and by which operand */
        uint32_t segment = 0;

        for (size_t i = g->start; i < in->accesses.n; i++) {
            struct access *a = &in->accesses.v[i];

            while (segment < g->n_cuts && i >= g->cuts[segment])
                segment++;
            if (a->cell->mark == serial && a->cell->segment != segment)
                conflict(in, g->of->at);
            if (pass == 0 && a->write) {
                a->cell->mark = serial;
                a->cell->segment = segment;
            }
        }
    }
    if (!in->groups)
        in->accesses.n = 0;
}
