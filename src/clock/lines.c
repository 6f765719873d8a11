/* What a timed launch did, by source line. */
#include "cost_model.h"

static int by_stall(const void *a, const void *b)
{
    const struct ptx_line_stats *x = a, *y = b;
    if (x->stall_share != y->stall_share)
        return x->stall_share < y->stall_share ? 1 : -1;
    return x->line - y->line;
}

static int by_line(const void *a, const void *b)
{
    return ((const struct ptx_line_stats *)a)->line - ((const struct ptx_line_stats *)b)->line;
}

static void add_pc(struct ptx_line_stats *l, const struct pc_stats *s, double scale)
{
    l->warp_insns += s->issues * scale;
    l->lanes_active += s->lanes * scale; /* a sum until the end */
    l->global_requests += s->requests * scale;
    l->global_sectors += s->sectors * scale;
    l->ideal_sectors += s->ideal * scale;
    l->bytes_used += s->used * scale;
    l->bytes_moved += s->moved * scale;
    l->shared_requests += s->shared_requests * scale;
    l->bank_conflicts += s->conflicts * scale;
    l->atomics += s->atomics * scale;
    l->atomic_conflicts += s->atomic_conflicts * scale;
    l->local_bytes += s->local_bytes * scale;
    l->stall_share += s->stall;
}

double profile_flops(const struct ptx_profile *p, double scale)
{
    double flops = 0;
    for (size_t pc = 0; pc < p->module->n_code; pc++)
        flops += p->stats[pc].lanes * insn_flops(&p->module->code[pc]);
    return flops * scale;
}

void profile_lines(const struct ptx_profile *p, double scale, struct arena *a, struct ptx_time *t)
{
    VEC(struct ptx_line_stats) raw = {0};
    double stall = 0;
    for (size_t pc = 0; pc < p->module->n_code; pc++) {
        struct ptx_line_stats l = {.line = p->prices.of[pc].line};
        if (p->stats[pc].issues == 0)
            continue;
        add_pc(&l, &p->stats[pc], scale);
        stall += p->stats[pc].stall;
        vec_push(&raw, l);
    }
    qsort(raw.v, raw.n, sizeof(*raw.v), by_line);
    t->lines = arena_array(a, struct ptx_line_stats, raw.n + 1);
    t->n_lines = 0;
    for (size_t k = 0; k < raw.n; k++) {
        struct ptx_line_stats *to = &t->lines[t->n_lines], *from = &raw.v[k];
        if (t->n_lines && to[-1].line == from->line) {
            double *sum = &to[-1].warp_insns, *add = &from->warp_insns;
            for (size_t q = 0; q < (sizeof(*to) - offsetof(struct ptx_line_stats, warp_insns)) / sizeof(double);
                 q++)
                sum[q] += add[q];
        } else {
            *to = *from;
            t->n_lines++;
        }
    }
    vec_free(&raw);
    for (size_t k = 0; k < t->n_lines; k++) {
        struct ptx_line_stats *l = &t->lines[k];
        l->lanes_active = l->warp_insns > 0 ? l->lanes_active / l->warp_insns : 0;
        l->stall_share = stall > 0 ? l->stall_share / stall : 0;
    }
    qsort(t->lines, t->n_lines, sizeof(*t->lines), by_stall);
}
