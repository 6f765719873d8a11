/* Local memory: registers that the compiler spilled and arrays that it could not keep in registers. The machine
 * code decides, which PTX does not show. The L1 hands every store on to the L2; loads find in the L1 what it
 * has room for (docs/simulator.md). */
#include "cost_model.h"

struct line_use { /* of one source line of the kernel: how often a warp issued its instructions in PTX, and
                     their number */
    double issues, n;
};

double local_missed(const struct ptx_profile *p)
{
    return p->frames > 0 ? 1 - MIN(p->l1_bytes / p->frames, 1) : 0;
}

/* A line's machine instructions are executed as often as its instructions in PTX on average. */
double local_l2_bytes(const struct ptx_profile *p, const struct ptx_resources *res, const struct func *entry)
{
    double loaded = 0, stored = 0;
    int last = 0;

    if (!res || !res->stack_bytes)
        return 0;
    for (uint32_t pc = entry->first; pc < entry->end; pc++)
        last = MAX(last, p->prices.of[pc].line);
    struct line_use *lines = mem_zalloc(((size_t)last + 1) * sizeof(*lines));
    for (uint32_t pc = entry->first; pc < entry->end; pc++) {
        struct line_use *l = &lines[MAX(p->prices.of[pc].line, 0)];
        l->issues += p->stats[pc].issues;
        l->n++;
    }
    for (size_t k = 0; k < res->n_sass; k++) {
        const struct ptx_sass_line *s = &res->sass[k];
        if (s->line > last || lines[s->line].n == 0)
            continue;
        double lanes = 32 * lines[s->line].issues / lines[s->line].n;
        loaded += s->local_loaded * lanes;
        stored += s->local_stored * lanes;
    }
    free(lines);
    return (stored + loaded * local_missed(p)) / (double)p->samples.n;
}
