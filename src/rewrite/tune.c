/* tune: the other values that a tunable declares. */
#include "rewrite/analysis.h"

struct detail {
    const struct transform_input *in;
    size_t tunable;
    const char *value;
};

static void tune_find(const struct transform_input *in, struct site_list *found)
{
    const struct kernel *k = in->kernel;
    for (size_t i = 0; i < k->n_tunables; i++) {
        const struct kernel_tunable *t = &k->tunables[i];
        for (size_t v = 0; v < t->n_values; v++) {
            if (str_eq(t->values[v], t->value))
                continue;
            struct detail d = {in, i, t->values[v]};
            struct transform_site site = {.transform = "tune",
                                          .line = t->line,
                                          .setting = atoi(t->values[v]),
                                          .where = arena_printf(found->arena, "%s, line %d: %s instead of %s",
                                                                t->name, t->line, t->values[v], t->value),
                                          .why = "the file declares it as a value to try",
                                          .detail = arena_copy(found->arena, &d, sizeof(d))};
            vec_add(found->arena, &found->list, site);
        }
    }
}

static bool tune_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                       struct err *why_not)
{
    const struct detail *d = site->detail;
    (void)f;
    (void)why_not;
    edits_try(edits, 0, d->in->kernel->len,
              kernel_with_tunable(edits->arena, d->in->kernel, d->tunable, d->value));
    return true;
}

const struct transform transform_tune = {
    .name = "tune",
    .summary = "try the other values of a declared tunable",
    .helps = "dram latency issue l2 sync launch",
    .parameters = {{.name = "value", .unit = 1}},
    .find_in_file = tune_find,
    .apply = tune_apply,
};
