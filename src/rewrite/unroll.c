/* unroll: a loop over lanes takes several turns at once, so that their loads are under way together. */
#include "rewrite/analysis.h"

struct detail {
    const struct function *f;
    int times;
};

static bool takes(const struct function *f, const struct lane_loop *l)
{
    return node_is(node_parent(l->loop), NODE_COMPOUND_STATEMENT) &&
           !node_is(node_prev(l->loop), NODE_PREPROC_CALL) && !calls_barrier(f, l->body);
}

static size_t unroll_find(const struct transform_input *in, struct arena *a,
                          const struct transform_site **sites)
{
    static const int times[] = {2, 4, 8};
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        size_t n = 0, first = 0;
        struct lane_loop *loops = f ? lane_loops(f, &n) : NULL;
        while (first < n && !takes(f, &loops[first]))
            first++;
        if (first >= n)
            continue;
        for (size_t t = 0; t < ARRAY_LEN(times); t++) {
            struct detail *d = arena_new(a, struct detail);
            *d = (struct detail){f, times[t]};
            struct transform_site site = {.transform = "unroll",
                                          .line = node_line(f->s, loops[first].loop),
                                          .setting = times[t],
                                          .detail = d};
            site.where = arena_printf(a, "%s, line %d: %d turns at once", f->name, site.line, times[t]);
            site.why = "the loads of several turns are then in flight together";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool unroll_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                         char **text, struct err *why_not)
{
    (void)in;
    const struct detail *d = site->detail;
    const struct function *f = d->f;
    struct edits edits = {.arena = a};
    size_t n, done = 0;
    struct lane_loop *loops = lane_loops(f, &n);
    for (size_t i = 0; i < n; i++) {
        if (!takes(f, &loops[i]))
            continue;
        edits_at(&edits, line_start(f->text, node_start(loops[i].loop)),
                 arena_printf(a, "#pragma unroll %d\n", d->times));
        done++;
    }
    if (!done)
        return err_input(why_not, "no loop in steps of the block without a pragma");
    return edits_done(&edits, f, text, why_not);
}

const struct transform transform_unroll = {
    .name = "unroll",
    .summary = "unroll loops in steps of the block, so that several loads are in flight",
    .helps = "latency issue",
    .find = unroll_find,
    .apply = unroll_apply,
};
