/* The tester's rules backend: the suite that task/ derives from dims, domain and workloads, and what is in it,
 * in words. The judge draws the same suite from the same seed; hidden cases come from another. */
#include "agent/agent.h"

static bool first_of(const struct task_case *cases, size_t i, size_t n_dims, bool by_dims)
{
    for (size_t k = 0; k < i; k++)
        if (by_dims ? memcmp(cases[k].dims, cases[i].dims, n_dims * sizeof(int64_t)) == 0
                    : str_eq(cases[k].distribution, cases[i].distribution))
            return false;
    return true;
}

void agent_test_rules(const struct task *t, struct arena *a, uint64_t seed, struct agent_suite *s)
{
    struct str kinds = {.arena = a}, shapes = {.arena = a};
    size_t n_shapes = 0;

    task_suite(t, a, seed, &s->cases, &s->n_cases);
    for (size_t i = 0; i < s->n_cases; i++) {
        if (first_of(s->cases, i, t->n_dims, false))
            str_addf(&kinds, "%s%s", kinds.len ? ", " : "", s->cases[i].distribution);
        if (!first_of(s->cases, i, t->n_dims, true))
            continue;
        n_shapes++;
        str_add(&shapes, shapes.len ? " " : "");
        for (size_t d = 0; d < t->n_dims; d++)
            str_addf(&shapes, "%s%lld", d ? "x" : "", (long long)s->cases[i].dims[d]);
    }
    s->text = arena_printf(a, "%zu cases over %zu shapes (%s) and these values: %s", s->n_cases, n_shapes,
                           str_text(&shapes), str_text(&kinds));
}
