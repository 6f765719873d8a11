/* tune: the other values that a tunable declares. */
#include "rewrite/analysis.h"

struct detail {
    size_t tunable;
    const char *value;
};

static size_t tune_find(const struct transform_input *in, struct arena *a, const struct transform_site **sites)
{
    VEC(struct transform_site) found = {0};
    const struct kernel *k = in->kernel;
    for (size_t i = 0; i < k->n_tunables; i++) {
        const struct kernel_tunable *t = &k->tunables[i];
        for (size_t v = 0; v < t->n_values; v++) {
            if (str_eq(t->values[v], t->value))
                continue;
            struct detail *d = arena_new(a, struct detail);
            *d = (struct detail){i, t->values[v]};
            struct transform_site site = {
                .transform = "tune", .line = t->line, .setting = atoi(t->values[v]), .detail = d};
            site.where =
                arena_printf(a, "%s, line %d: %s instead of %s", t->name, t->line, t->values[v], t->value);
            site.why = "the file declares it as a value to try";
            vec_add(a, &found, site);
        }
    }
    *sites = found.v;
    return found.n;
}

static bool tune_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                       char **text, struct err *why_not)
{
    (void)why_not;
    const struct detail *d = site->detail;
    *text = kernel_with_tunable(a, in->kernel, d->tunable, d->value);
    return true;
}

const struct transform transform_tune = {
    .name = "tune",
    .summary = "try the other values of a declared tunable",
    .helps = "dram latency issue l2 sync launch",
    .find = tune_find,
    .apply = tune_apply,
};
