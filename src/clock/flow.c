/* Loops of a piece of code, PTX or machine instructions: the natural loops of its jumps backwards. */
#include "cost_model.h"

enum { MAX_LOOPS = 250 };

/* Marks what runs from the first instruction on when `without` does not. */
static void mark_reached(const struct flow *f, size_t without, uint8_t *seen, uint32_t *stack)
{
    size_t n = 0;

    memset(seen, 0, f->n);
    if (without != 0) {
        seen[0] = 1;
        stack[n++] = 0;
    }
    while (n > 0) {
        size_t at = stack[--n], next[2] = {at + 1, (size_t)f->jump[at]};
        bool open[2] = {f->falls[at] && at + 1 < f->n, f->jump[at] >= 0};
        for (int k = 0; k < 2; k++)
            if (open[k] && next[k] != without && !seen[next[k]]) {
                seen[next[k]] = 1;
                stack[n++] = (uint32_t)next[k];
            }
    }
}

/* Marks what comes to `from` without passing `head`. */
static void mark_body(const struct flow *f, size_t head, size_t from, uint8_t *body)
{
    body[head] = body[from] = 1;
    for (bool more = true; more;) {
        more = false;
        for (size_t at = f->n; at-- > 0;) {
            bool falls = f->falls[at] && at + 1 < f->n && at + 1 != head && body[at + 1];
            bool jumps = f->jump[at] >= 0 && (size_t)f->jump[at] != head && body[f->jump[at]];
            if (!body[at] && (falls || jumps)) {
                body[at] = 1;
                more = true;
            }
        }
    }
}

/* Where an instruction may go back to: its jump's target or, of a loop that is entered in its middle, the next
 * one; -1: nowhere. */
static int64_t back_to(const struct flow *f, const uint8_t *entered, size_t at)
{
    if (f->jump[at] >= 0)
        return (size_t)f->jump[at] < at ? f->jump[at] : -1;
    return f->falls[at] && at + 1 < f->n && entered[at + 1] ? (int64_t)at + 1 : -1;
}

/* Marks what jumps forward go to. */
static void mark_entered(const struct flow *f, uint8_t *entered)
{
    for (size_t at = 0; at < f->n; at++)
        if (f->jump[at] > (int64_t)at + 1)
            entered[f->jump[at]] = 1;
}

/* By instruction the innermost loop, from 1 on; 0: none. Gives the number of loops and 1. A way back to where
 * one need not come by is none: rare code that stands behind the rest returns that way. */
size_t flow_loops(const struct flow *f, uint16_t *loop_of, const bool **outer, struct arena *a)
{
    uint8_t *bodies = mem_zalloc(f->n + 1), *seen = mem_alloc(f->n + 1), *entered = mem_zalloc(f->n + 1);
    uint8_t *live = mem_alloc(f->n + 1);
    uint32_t *stack = mem_alloc((f->n + 1) * sizeof(*stack));
    size_t *size = mem_zalloc((f->n + 1) * sizeof(*size));
    uint16_t *was = mem_alloc((f->n + 1) * sizeof(*was));
    size_t loops = 1;

    bool *holds = arena_array(a, bool, MAX_LOOPS + 1);
    memset(loop_of, 0, f->n * sizeof(*loop_of));
    mark_entered(f, entered);
    mark_reached(f, f->n, live, stack);
    for (size_t at = 0; at < f->n && loops < MAX_LOOPS; at++) {
        if (back_to(f, entered, at) < 0 || (!live[at] && f->jump[at] < 0)) /* nothing comes by what is called */
            continue;
        size_t head = (size_t)back_to(f, entered, at), n = 0;
        mark_reached(f, head, seen, stack);
        if (seen[at])
            continue;
        memset(bodies, 0, f->n);
        for (size_t k = at; k < f->n; k++) /* all ways back to one head are one loop */
            if (back_to(f, entered, k) == (int64_t)head && !seen[k])
                mark_body(f, head, k, bodies);
        for (size_t k = 0; k < f->n; k++)
            n += bodies[k];
        memcpy(was, loop_of, f->n * sizeof(*was));
        for (size_t k = 0; k < f->n; k++)
            if (bodies[k] && (loop_of[k] == 0 || n < size[loop_of[k]]))
                loop_of[k] = (uint16_t)loops;
        for (size_t k = 0; k < f->n; k++) /* of two loops that meet the larger holds the other */
            if (bodies[k] && loop_of[k] != loops)
                holds[loops] = true;
        size[loops++] = n;
        for (size_t k = 0; k < f->n; k++)
            if (bodies[k] && loop_of[k] == loops - 1 && was[k])
                holds[was[k]] = true;
    }
    *outer = holds;
    free(bodies);
    free(seen);
    free(entered);
    free(live);
    free(stack);
    free(size);
    free(was);
    return loops;
}
