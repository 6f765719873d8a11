/* Cases with values that are wilder than the task's: numbers up to the edge of their type, integers of its
 * whole range, rows with patterns. The task does not promise that the original can take them. Where it cannot,
 * the case is left out, or the elements are of which it says nothing; a candidate is not blamed for either. */
#include "internal.h"

#include <float.h>

/* Are there signed integers of the whole range among what is read? Sums of these may have no place. */
static bool has_whole_range(const struct judge *j, const struct task_case *c)
{
    for (size_t i = 0; c->wild && i < j->task->n_args; i++)
        if (c->values[i].kind == VALUE_RANGE && task_type_signed(j->task->args[i].type) &&
            kernel_type_size(j->task->args[i].type) > 1)
            return true;
    return false;
}

static void set_rung(struct judge *j, size_t case_i, unsigned rung)
{
    struct task_values *values =
        arena_copy(j->arena, j->cases[case_i].values, j->task->n_args * sizeof(*values));

    for (size_t i = 0; i < j->task->n_args; i++)
        values[i].rung = rung;
    j->cases[case_i].values = values;
}

/* Overflow of signed integers is undefined in C++, and the original's own does not bind anybody. */
static bool overflows_in(struct judge *j, struct version *original, struct arena *scratch, size_t case_i,
                         bool *overflows, struct err *err)
{
    struct overflow o = {.seen = false};
    const struct case_rules rules = {.ops = &stage_sim, .overflow = &o};
    struct case_run run = {.version = original, .arena = scratch, .case_i = case_i};
    struct fate fate = {0};
    bool ok;

    case_inputs(j, case_i);
    ok = case_run(&run, &rules, &fate, err);
    *overflows = o.seen;
    arena_reset(scratch);
    return ok;
}

bool wild_fit(struct judge *j, struct version *original, struct arena *scratch, struct err *err)
{
    bool always = false, asked = false, overflows = false;

    for (size_t i = 0; i < j->first_input; i++) {
        if (!has_whole_range(j, &j->cases[i]))
            continue;
        /* Whose small integers overflow as well hashes, or has unsigned numbers: that is defined. */
        if (!asked && !overflows_in(j, original, scratch, 0, &always, err))
            return false;
        asked = true;
        for (unsigned rung = 0; !always && rung <= N_RUNGS; rung++) {
            if (rung == N_RUNGS) {
                wild_leave_out(j, i--, "the original's sums of signed integers overflow");
                break;
            }
            set_rung(j, i, rung);
            if (!overflows_in(j, original, scratch, i, &overflows, err))
                return false;
            if (!overflows)
                break;
        }
    }
    return true;
}

void wild_leave_out(struct judge *j, size_t case_i, const char *why)
{
    size_t after = j->n_cases - case_i - 1;

    trial_add_missing(j->arena, &j->original,
                      arena_printf(j->arena, "values \"%s\" (%s)", j->cases[case_i].distribution, why));
    memmove(j->cases + case_i, j->cases + case_i + 1, after * sizeof(*j->cases));
    memmove(j->data + case_i, j->data + case_i + 1, after * sizeof(*j->data));
    j->n_cases--;
    j->first_input--;
    for (size_t i = case_i; i < j->n_cases; i++)
        if (j->data[i].about)
            j->data[i].about = &j->cases[i];
}

/* ---- of which elements something is asked ---- */

/* Values, or a scalar, of ours with which something may overflow on the way. */
static bool may_overflow(const struct judge *j, const struct task_case *c)
{
    for (size_t i = 0; i < j->task->n_args; i++) {
        const struct task_arg *arg = &j->task->args[i];
        bool scalar = arg->role == ROLE_SCALAR && !arg->value_expr && !arg->n_choices;
        if (c->values[i].kind == VALUE_HUGE || (scalar && c->values[i].kind == VALUE_CONSTANT))
            return true;
    }
    return false;
}

/* Not where the answer itself has no place in its type: nothing but the last step overflows there. */
static bool is_wrong_itself(const struct judge *j, const struct task_arg *arg, const struct case_output *x,
                            size_t e)
{
    const struct rule r = rule_of(arg->type, j->exceptions, j->task->tolerance, &(struct error_stats){0});
    double own = task_to_double(arg->type, x->original + e * kernel_type_size(arg->type));
    double units = error_ulps(arg->type, 1u << RULE_EDGE, own, x->exact[e], own);

    return isnan(own) || rule_is_ill(&r, x->exact[e] == 0 ? 1 : x->exact[e], 0, units);
}

/* A few times beyond the edge: two numbers were added, or one was scaled. Of what is further beyond, which may
 * be a sum of many, others may make a NaN with the terms' own errors. */
#define FAR_BEYOND 4

/* What one number of the first extent has in common may hang on one sum: where the original has an element of
 * it wrong, since something overflowed on the way, it says nothing. */
static bool excuse_slices(const struct judge *j, size_t case_i, enum stage_side side, size_t o)
{
    const struct task_arg *arg = &j->task->args[j->outputs[o]];
    const struct case_data *d = &j->data[case_i];
    struct case_output *x = &d->outputs[side][o];
    size_t n = (size_t)d->elements[j->outputs[o]], row = (size_t)task_slice(arg, d->about->dims);
    double most = arg->type == KT_F16 ? 65504 : (double)FLT_MAX;
    bool any = false, of_rows = false;

    for (size_t i = 0; i < j->task->n_args; i++)
        of_rows |= j->task->args[i].role == ROLE_IN && j->task->args[i].n_shape > 1;
    if (arg->n_shape == 1 && of_rows)
        row = 1; /* an element for each row */
    for (size_t first = 0; first < n; first += row) {
        size_t end = MIN(first + row, n);
        bool wrong = false, far = false;
        for (size_t e = first; !wrong && e < end; e++) {
            wrong = is_wrong_itself(j, arg, x, e);
            far |= !(fabs(x->exact[e]) < FAR_BEYOND * most);
        }
        for (size_t e = first; e < end; e++) {
            double own = task_to_double(arg->type, x->original + e * kernel_type_size(arg->type));
            x->excused[e] = wrong || isnan(own) || (far && isinf(own));
        }
        any |= wrong;
    }
    return any;
}

static void excuse_case(struct judge *j, size_t case_i, enum stage_side side)
{
    struct case_data *d = &j->data[case_i];
    bool huge = may_overflow(j, d->about), any = false;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        struct case_output *x = &d->outputs[side][o];
        x->excused = arena_array(j->arena, bool, (size_t)d->elements[j->outputs[o]] + 1);
        if (huge && type_is_floating(arg->type))
            any |= excuse_slices(j, case_i, side, o);
    }
    for (size_t o = 0; o < j->n_outputs; o++) { /* integers are made of the same numbers */
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        struct case_output *x = &d->outputs[side][o];
        for (size_t e = 0; !type_is_floating(arg->type) && e < (size_t)d->elements[j->outputs[o]]; e++)
            x->excused[e] =
                any || task_to_double(arg->type, x->original + e * kernel_type_size(arg->type)) != x->exact[e];
    }
}

void wild_excuse(struct judge *j, enum stage_side side)
{
    for (size_t i = 0; i < j->n_cases; i++)
        if (j->cases[i].wild)
            excuse_case(j, i, side);
}
