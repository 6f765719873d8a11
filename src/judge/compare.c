/* What versions leave in the outputs, beside the answers: one walk over elements, and who looks at them. The
 * rule is in rule.c. */
#include "internal.h"

#include <inttypes.h>

enum { MOVED = 1000 }; /* elements without an error: the original does not round */

bool output_walk(const struct judge *j, enum stage_side side, size_t case_i, size_t o,
                 const unsigned char *bytes, element_visitor visit, void *context)
{
    const struct case_data *d = &j->data[case_i];
    const struct case_output *must = &d->outputs[side][o];
    struct output_element x = {.arg = &j->task->args[j->outputs[o]],
                               .must = must,
                               .pool = d->distribution * j->n_outputs + o,
                               .place.case_i = case_i};
    size_t size = kernel_type_size(x.arg->type), n = (size_t)d->elements[j->outputs[o]];

    for (size_t e = 0; e < n; e++) {
        const unsigned char *got = bytes + e * size, *own = must->original + e * size;
        x.place.element = e;
        x.is = (struct rule_element){.got = task_to_double(x.arg->type, got),
                                     .own = task_to_double(x.arg->type, own),
                                     .exact = must->exact[e],
                                     .unit = must->unit ? must->unit[e] : 0,
                                     .equal = !memcmp(got, own, size),
                                     .ill = must->ill[e],
                                     .excused = must->excused && must->excused[e],
                                     .beyond = must->beyond && must->beyond[e]};
        if (!visit(context, &x))
            return false;
    }
    return true;
}

/* ---- the rule of an output ---- */

bool must_be_identical(const struct judge *j)
{
    return j->options.exact && !j->mutant;
}

/* On the values that the task says it rounds nothing. */
static bool is_exact(const struct judge *j, size_t output)
{
    for (size_t side = 0; side < N_SIDES; side++)
        if (j->original_errors[side] && j->original_errors[side][output].n >= MOVED &&
            j->original_errors[side][output].max == 0)
            return true;
    return false;
}

enum kernel_type output_narrow(const struct judge *j, size_t output)
{
    enum kernel_type narrow = j->task->args[j->outputs[output]].type;

    for (size_t i = 0; i < j->task->n_args; i++) {
        const struct task_arg *arg = &j->task->args[i];
        bool read = arg->role == ROLE_IN || arg->role == ROLE_INOUT;
        if (read && type_is_floating(arg->type) && error_ulp(arg->type, 1) > error_ulp(narrow, 1))
            narrow = arg->type;
    }
    return narrow;
}

double output_tolerance(const struct judge *j, size_t output)
{
    return j->in_terms ? rule_unit_tolerance(j->task->args[j->outputs[output]].type, output_narrow(j, output),
                                             j->task->tolerance_terms)
                       : j->task->tolerance;
}

struct rule output_rule(const struct judge *j, size_t output, size_t distribution,
                        const struct error_stats *own)
{
    const struct task_arg *arg = &j->task->args[j->outputs[output]];
    bool known = j->task->reference_path || (j->n_derived > 0 && j->n_lost == 0 && !j->underived);
    /* In double the exact answer is its own. */
    bool moves = j->exceptions >> RULE_MOVED & 1 && own->n >= MOVED && known && arg->type != KT_F64 &&
                 !(output_tolerance(j, output) > 0) && is_exact(j, output);
    bool small = j->exceptions >> RULE_EXACT & 1 && str_eq(j->distributions[distribution], "small integers");
    struct rule r = rule_of(arg->type, j->exceptions, output_tolerance(j, output), own);

    return own->max == 0 && (small || moves) ? rule_exactly(r) : r;
}

const char *judge_unit(const struct judge *j)
{
    return j->in_terms ? "term" : "ulp";
}

struct trial_accuracy output_accuracy(const struct judge *j, size_t output, size_t distribution,
                                      const struct rule *r, const struct error_stats *got)
{
    struct trial_accuracy x = {.output = j->task->args[j->outputs[output]].name,
                               .values = j->distributions[distribution],
                               .unit = judge_unit(j),
                               .allowed = {r->most[0], r->most[1], r->most[2]},
                               .allowed_drift = NAN};

    if (distribution == 0) /* the others may have few different values, which round to one side by chance */
        x.allowed_drift = r->most_drift;
    error_spread(r->own, &x.original);
    error_spread(got, &x.candidate);
    return x;
}

/* ---- a candidate ---- */

void comparison_open(struct comparison *c, struct judge *j, enum stage_side side, const struct error_stats *own,
                     struct arena *a)
{
    size_t n = j->n_distributions * j->n_outputs;

    *c = (struct comparison){.judge = j,
                             .side = side,
                             .arena = a,
                             .pools = arena_array(a, struct error_pool, n),
                             .rules = arena_array(a, struct rule, n),
                             .got = arena_array(a, double, n),
                             .apart = arena_array(a, double, n),
                             .n_other = arena_array(a, size_t, n)};
    for (size_t i = 0; i < n; i++)
        c->rules[i] = output_rule(j, i % j->n_outputs, i / j->n_outputs, &own[i]);
}

void comparison_close(struct comparison *c)
{
    for (size_t i = 0; i < c->judge->n_distributions * c->judge->n_outputs; i++)
        vec_free(&c->pools[i].errors);
}

static uint64_t element_of(const struct case_output *x, size_t e)
{
    return x->at ? x->at[e] : e;
}

struct comparing { /* one case */
    struct comparison *c;
    const char *when; /* of another run */
    struct fate *fate;
};

static bool wrong(const struct comparing *v, const struct output_element *x, const char *is)
{
    const struct comparison *c = v->c;
    const struct task_case *about = c->judge->data[x->place.case_i].about;

    if (about->real)
        fate_isf(v->fate, c->arena, VERDICT_WRONG, 0, "element %" PRIu64 " of %s is not what it must be (%s)",
                 element_of(x->must, x->place.element), x->arg->name,
                 case_where(c->arena, c->judge->task, about));
    else
        fate_isf(v->fate, c->arena, VERDICT_WRONG, 0, "element %" PRIu64 " of %s is %.9g%s (%s)",
                 element_of(x->must, x->place.element), x->arg->name, x->is.got, is,
                 case_where(c->arena, c->judge->task, about));
    return false;
}

static const char *must_be(const struct comparing *v, const struct output_element *x)
{
    return arena_printf(v->c->arena, "%s%s, must be %.9g", v->when ? " " : "", v->when ? v->when : "",
                        type_is_floating(x->arg->type) ? x->is.exact : x->is.own);
}

/* How far it is from the original, whatever is exact. */
static void note_difference(struct comparison *c, const struct output_element *x)
{
    double ulps = fabs(x->is.got - x->is.own);

    c->elements++;
    c->identical_elements += x->is.equal;
    if (x->is.equal)
        return;
    if (type_is_floating(x->arg->type))
        ulps /= error_ulp(x->arg->type, x->is.own);
    if (isfinite(ulps))
        c->apart[x->pool] = fmax(c->apart[x->pool], ulps);
}

static bool compare_element(void *context, const struct output_element *x)
{
    const struct comparing *v = context;
    struct comparison *c = v->c;
    const struct rule *r = &c->rules[x->pool];
    struct error_pool *pool = &c->pools[x->pool];
    struct rule_answer a;
    bool allowed = rule_allows(r, &x->is, &a);

    note_difference(c, x);
    if (must_be_identical(c->judge) && !x->is.equal)
        return wrong(v, x, arena_printf(c->arena, ", the original has %.9g, and %s", x->is.own, ASKED_EXACT));
    if (a.by == RULE_INTEGERS)
        allowed &= ++c->n_other[x->pool] <= rule_integers(r, r->own->n);
    if (!allowed && a.by == RULE_ABSOLUTE)
        return wrong(
            v, x,
            arena_printf(c->arena,
                         ", exact %.9g: allowed there is three times the original's largest error, %.3g",
                         x->is.exact, a.most));
    if (!allowed)
        return wrong(v, x, must_be(v, x));
    if (isnan(a.judged))
        return true;
    if (a.judged > pool->max || pool->errors.n == 0)
        c->got[x->pool] = x->is.got;
    error_add(pool, a.units, a.judged, x->place);
    error_lean(pool, a.ulps, x->is.got, x->is.exact);
    return true;
}

void compare_case(struct comparison *c, size_t case_i, unsigned char *const *outputs, struct fate *fate)
{
    struct comparing v = {.c = c, .fate = fate};

    for (size_t o = 0; o < c->judge->n_outputs; o++)
        if (!output_walk(c->judge, c->side, case_i, o, outputs[o], compare_element, &v))
            return;
}

static bool compare_element_again(void *context, const struct output_element *x)
{
    const struct comparing *v = context;
    const struct rule *r = &v->c->rules[x->pool];
    struct rule_answer a;

    if (must_be_identical(v->c->judge) && !x->is.equal)
        return wrong(
            v, x,
            arena_printf(v->c->arena, " %s, the original has %.9g, and %s", v->when, x->is.own, ASKED_EXACT));
    return (rule_allows(r, &x->is, &a) && rule_within(r, &a)) || wrong(v, x, must_be(v, x));
}

void compare_again(struct comparison *c, size_t case_i, unsigned char *const *again, const char *when,
                   struct fate *fate)
{
    struct comparing v = {.c = c, .when = when, .fate = fate};

    for (size_t o = 0; o < c->judge->n_outputs; o++)
        if (!output_walk(c->judge, c->side, case_i, o, again[o], compare_element_again, &v))
            return;
}

/* ---- its errors together ---- */

/* One output under one kind of values: its errors and to which side it rounds. */
static void judge_pool(const struct comparison *c, const struct trial_accuracy *x, const struct error_stats *s,
                       size_t pool, struct fate *fate)
{
    static const char *const names[] = {"median", "99th percentile", "largest"};
    const struct judge *j = c->judge;
    const struct case_data *d = &j->data[s->worst.case_i];
    const struct case_output *must = &d->outputs[c->side][pool % j->n_outputs];
    struct rule r = c->rules[pool];
    const double its[] = {s->p50, s->p99, s->max}, own[] = {r.own->p50, r.own->p99, r.own->max};

    r.most_drift = x->allowed_drift;
    enum rule_statistic broken = rule_broken(&r, s);
    if (broken < RULE_DRIFT)
        fate_isf(fate, c->arena, VERDICT_WRONG, 0,
                 "the %s error of %s is %.3g %ss, allowed are %.3g (the original has %.3g); worst is "
                 "element %" PRIu64 "%s (%s)",
                 names[broken], x->output, its[broken], judge_unit(j), r.most[broken], own[broken],
                 element_of(must, s->worst.element),
                 d->about->real ? ""
                                : arena_printf(c->arena, ": %.9g, exact %.9g", c->got[pool],
                                               must->exact[s->worst.element]),
                 case_where(c->arena, j->task, d->about));
    if (broken == RULE_DRIFT)
        fate_isf(fate, c->arena, VERDICT_WRONG, 0,
                 "%s is not rounded to the nearest: %.0f %% more of its elements are off to one side "
                 "than to the other, allowed are %.0f %% (the original has %.0f %%)",
                 x->output, 100 * x->candidate.drift, 100 * x->allowed_drift, 100 * x->original.drift);
}

static double share_of_allowed(const struct rule *r, const struct error_stats *s)
{
    return s->max == 0 ? 0 : fmax(s->max / r->most[2], fmax(s->p50 / r->most[0], s->p99 / r->most[1]));
}

void judge_pools(struct comparison *c, struct trial *t, struct fate *fate)
{
    struct judge *j = c->judge;
    size_t n = j->n_distributions * j->n_outputs;
    struct trial_accuracy *all = arena_array(c->arena, struct trial_accuracy, n);
    double worst_share = -1;

    t->unit = judge_unit(j);
    t->accuracy = all;
    t->n_accuracy = 0;
    for (size_t i = 0; i < n; i++) {
        size_t o = i % j->n_outputs;
        if (!type_is_floating(j->task->args[j->outputs[o]].type) || c->pools[i].errors.n == 0)
            continue;
        struct error_stats s = error_stats(&c->pools[i]);
        struct trial_accuracy *x = &all[t->n_accuracy++];
        *x = output_accuracy(j, o, i / j->n_outputs, &c->rules[i], &s);
        x->excused = s.n_excused;
        x->apart = c->apart[i];
        double share = share_of_allowed(&c->rules[i], &s);
        if (share > worst_share) {
            worst_share = share;
            t->error = x->candidate.at;
            t->original_error = x->original.at;
            t->allowed_error = x->allowed;
            t->error_where = arena_printf(c->arena, "%s, values: %s", x->output, x->values);
        }
        if (fate_open(fate))
            judge_pool(c, x, &s, i, fate);
    }
}
