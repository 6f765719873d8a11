/* Hot lines: what a clock or a profiler says of instructions, summed by source line. */
#include "verdict.h"

enum { MOST_LINES = 12 };

struct line_sum *lines_at(line_sums *lines, int line)
{
    for (size_t i = 0; i < lines->n; i++)
        if (lines->v[i].line == line)
            return &lines->v[i];
    vec_push(lines, (struct line_sum){.line = line});
    return &vec_last(lines);
}

static int by_time(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;

    return (x->time < y->time) - (x->time > y->time);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

void lines_put(line_sums *lines, struct arena *a, struct trial *t)
{
    struct trial_line *out = arena_array(a, struct trial_line, MOST_LINES);
    double total = 0;

    for (size_t i = 0; i < lines->n; i++)
        total += lines->v[i].time;
    if (lines->n)
        qsort(lines->v, lines->n, sizeof(*lines->v), by_time);
    t->n_lines = MIN(lines->n, (size_t)MOST_LINES);
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct line_sum *l = &lines->v[i];
        out[i] = (struct trial_line){.line = l->line,
                                     .share = ratio(l->time, total),
                                     .lanes_active = ratio(l->lanes, l->insns),
                                     .requests = l->requests,
                                     .sectors_per_request = ratio(l->sectors, l->requests),
                                     .ideal_sectors_per_request = ratio(l->ideal, l->requests),
                                     .conflicts_per_request = ratio(l->conflicts, l->shared),
                                     .warp_insns = l->insns};
    }
    t->lines = out;
}
