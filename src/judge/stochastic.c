/* What else the original's own arithmetic could have answered: it runs again and again with operations that
 * round up or down by chance (ptx/stochastic.c), where a rounding to the nearest is one draw. So rows whose
 * common mean came out well by luck, elements that cancel, and integers that are rounded from a number next to
 * a half are known before a candidate is blamed for them. */
#include "internal.h"

enum {
    DRAWS = 4,
    MOST_INSNS = 4000000, /* of a case: dearer ones are left out */
};

static bool is_computed(const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++)
        if (type_is_floating(t->args[i].type))
            return true;
    return false;
}

/* Rounding by chance errs up to twice as far as rounding to the nearest. */
static void raise(double *own, double drawn)
{
    *own = fmax(*own, drawn / 2);
}

struct draw { /* of one output under one distribution */
    unsigned exceptions;
    struct error_pool pool;
    double most_other;
    size_t n_other;
};

static bool add_element(void *context, const struct output_element *x)
{
    struct draw *d = context;
    enum kernel_type type = x->arg->type;
    const struct rule_element *is = &x->is;

    if (is->excused)
        return true;
    if (!type_is_floating(type)) {
        d->n_other += is->got != is->own;
        d->most_other = fmax(d->most_other, fabs(is->got - is->own));
        return true;
    }
    double units = error_ulps(type, d->exceptions, is->got, is->exact, is->own);
    if (isinf(units) || !isfinite(is->got))
        return true;
    error_see(&d->pool, type, is->got, is->exact);
    if (!is->ill) {
        error_add(&d->pool, units, units, x->place);
        error_lean(&d->pool, units, is->got, is->exact);
    }
    return true;
}

/* What is exact by its nature stays so: an error of zero is no luck. */
static void take(struct draw *d, struct error_stats *to)
{
    struct error_stats s = error_stats(&d->pool);

    if (to->max > 0) {
        raise(&to->p50, s.p50);
        raise(&to->p99, s.p99);
        raise(&to->max, s.max);
        raise(&to->absolute, s.absolute);
    }
    to->n_other = MAX(to->n_other, d->n_other);
    to->most_other = fmax(to->most_other, d->most_other);
    vec_free(&d->pool.errors);
}

static bool draw_once(struct judge *j, uint64_t seed, struct arena *scratch, struct error_stats *can,
                      struct err *err)
{
    const struct case_rules rules = {.ops = &stage_sim, .stochastic = seed};
    size_t n = j->n_distributions * j->n_outputs;
    struct draw *draws = arena_array(scratch, struct draw, n);
    struct arena *of_case = arena_open();
    bool ok = true;

    for (size_t k = 0; k < n; k++)
        draws[k].exceptions = j->exceptions;
    for (size_t i = 0; ok && i < j->n_cases; i++) {
        struct case_run run = {.version = &j->baseline, .arena = of_case, .case_i = i};
        struct draw *of = &draws[j->data[i].distribution * j->n_outputs];
        struct fate fate = {0};
        if (j->data[i].warp_insns > MOST_INSNS)
            continue;
        ok = case_run(&run, &rules, &fate, err);
        for (size_t o = 0; ok && fate_open(&fate) && o < j->n_outputs; o++)
            output_walk(j, SIDE_SIM, i, o, run.outputs[o], add_element, &of[o]);
        arena_reset(of_case);
    }
    for (size_t k = 0; k < n; k++)
        take(&draws[k], &can[k]);
    arena_close(of_case);
    return ok;
}

static bool is_wild(const struct judge *j, size_t distribution)
{
    for (size_t i = 0; i < j->n_cases; i++)
        if (j->data[i].distribution == distribution)
            return j->cases[i].wild;
    return false;
}

/* A number next to a half is rare, and may occur under values where no draw met one. Wild values may lie next
 * to one as often as any. */
static void share_integers(const struct judge *j, struct error_stats *can)
{
    for (size_t o = 0; o < j->n_outputs; o++) {
        double most = 0, share = 0;
        for (size_t k = 0; k < j->n_distributions; k++) {
            const struct error_stats *s = &can[k * j->n_outputs + o];
            most = fmax(most, s->most_other);
            share = fmax(share, s->n ? (double)s->n_other / (double)s->n : 0);
        }
        for (size_t k = 0; k < j->n_distributions; k++) {
            struct error_stats *s = &can[k * j->n_outputs + o];
            s->most_other = most;
            if (is_wild(j, k))
                s->n_other = MAX(s->n_other, (size_t)ceil(share * (double)s->n));
        }
    }
}

bool original_can(struct judge *j, enum stage_side side, struct err *err)
{
    size_t n = j->n_distributions * j->n_outputs;
    struct arena *scratch;
    bool ok = true;

    if (j->can[side])
        return true;
    j->can[side] = arena_copy(j->arena, j->original_errors[side], n * sizeof(*j->can[side]));
    if (j->unsimulated || !is_computed(j->task))
        return true;
    scratch = arena_open();
    for (uint64_t k = 0; ok && k < DRAWS; k++) {
        ok = draw_once(j, rng_hash(j->options.seed, k) | 1, scratch, j->can[side], err);
        arena_reset(scratch);
    }
    share_integers(j, j->can[side]);
    arena_close(scratch);
    return ok;
}
