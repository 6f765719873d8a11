/* Errors of sums, counted by their terms. Where an element's terms cancel, its own ulp says nothing of how well
 * they were added: the original's last digits are right by luck, or by having been computed in a wider type
 * than the task's values. So a version that is wrong in ulps is judged once more, by what each of the
 * original's terms may be off. That costs a run of the original with a shadow, once, and only when somebody is
 * wrong. */
#include "internal.h"

/* Numbers so small that half precision has fewer digits for them, where the output itself is no better. */
static double smallest(const struct judge *j)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        if (j->task->args[j->outputs[o]].type == KT_F16)
            return 0x1p-14;
    return 0;
}

struct ptx_shadow *terms_shadow(const struct judge *j, enum ptx_terms measure)
{
    return ptx_shadow_open_terms(measure == PTX_TERMS_SQUARES ? smallest(j) : 0, measure);
}

bool terms_version(struct judge *j, struct version **v, struct err *err)
{
    const struct kernel *original = j->baseline.kernel;
    struct fate fate = {0};

    *v = NULL;
    if (j->astray || j->unsimulated || !original)
        return true;
    if (j->exact.module && j->exact.shadow) {
        *v = &j->exact;
        return true;
    }
    if (!j->of_terms.kernel) {
        j->of_terms = (struct version){.judge = j, .arena = j->arena, .task = j->task, .shadow = true};
        if (!version_open(&j->of_terms, original->path, original->text, &fate, err))
            return false;
    }
    if (fate_open(&fate) && j->of_terms.module)
        *v = &j->of_terms;
    return true;
}

static bool has_values(const struct judge *j, const struct task_values *values, enum value_kind kind)
{
    for (size_t i = 0; values && i < j->task->n_args; i++)
        if (values[i].kind == kind && task_is_any_float(&j->task->args[i]))
            return true;
    return false;
}

/* Rows alike: what is added down a column, or from row to row, is nearly the same number again and again. */
static bool has_rows_alike(const struct judge *j, const struct task_values *values)
{
    return has_values(j, values, VALUE_ALIKE) || has_values(j, values, VALUE_NEARLY);
}

/* A unit for each element of the floating outputs of a case of the copy. */
static bool add_units(struct judge *j, enum stage_side side, struct version *v, struct arena *scratch,
                      size_t case_i, bool *any, struct err *err)
{
    struct case_output *outputs =
        arena_copy(j->arena, j->data[case_i].outputs[side], j->n_outputs * sizeof(*outputs));
    struct derived of[N_PTX_TERMS] = {0};
    bool told = true;

    j->data[case_i].outputs[side] = outputs;
    for (enum ptx_terms m = PTX_TERMS_SQUARES; told && m < N_PTX_TERMS; m++) {
        if (!exact_run(j, v, terms_shadow(j, m), scratch, case_i, &of[m], err))
            return false;
        told = !of[m].why_not;
    }
    for (size_t o = 0; o < j->n_outputs; o++) {
        size_t n = (size_t)j->data[case_i].elements[j->outputs[o]];
        enum kernel_type type = j->task->args[j->outputs[o]].type, narrow = output_narrow(j, o);
        outputs[o].ill = arena_array(j->arena, bool, n + 1);
        if (!told || !of[PTX_TERMS_SIZES].values[o])
            continue;
        outputs[o].unit = arena_array(j->arena, double, n + 1);
        outputs[o].beyond = arena_array(j->arena, bool, n + 1);
        for (size_t e = 0; e < n; e++) {
            const struct rule_terms terms = {.squares = of[PTX_TERMS_SQUARES].values[o][e],
                                             .largest = of[PTX_TERMS_LARGEST].values[o][e],
                                             .sizes = of[PTX_TERMS_SIZES].values[o][e],
                                             .alike = has_rows_alike(j, j->cases[case_i].values),
                                             .repeats = has_values(j, j->cases[case_i].values, VALUE_INTEGERS)};
            outputs[o].unit[e] = rule_unit(type, narrow, &terms);
            outputs[o].beyond[e] = rule_beyond(type, outputs[o].exact[e], &terms);
            *any |= outputs[o].unit[e] > error_ulp(type, outputs[o].exact[e]);
        }
    }
    return true;
}

/* The cases of this distribution stay in ulps. */
static bool is_alone(const struct judge *j, size_t distribution)
{
    for (size_t i = 0; i < j->n_cases; i++)
        if (j->data[i].distribution == distribution)
            return j->cases[i].alone;
    return false;
}

bool terms_judge(struct judge *j, enum stage_side side, struct judge **to, struct err *err)
{
    size_t n = j->n_distributions * j->n_outputs;
    struct arena *scratch;
    struct judge *x;
    struct version *v;
    bool any = false, ok = true;

    *to = j->terms[side];
    if (*to || !(j->exceptions >> RULE_TERMS & 1)) {
        *to = *to && (*to)->data ? *to : NULL;
        return true;
    }
    if (!terms_version(j, &v, err))
        return false;
    j->terms[side] = x = arena_new(j->arena, struct judge);
    if (!v)
        return true;
    *x = *j;
    x->in_terms = true;
    x->data = arena_copy(j->arena, j->data, j->n_cases * sizeof(*j->data));
    scratch = arena_open();
    for (size_t i = 0; ok && i < j->n_cases; i++) {
        ok = j->cases[i].alone || add_units(x, side, v, scratch, i, &any, err);
        arena_reset(scratch);
    }
    arena_close(scratch);
    x->original_errors[side] = arena_copy(j->arena, j->can[side], n * sizeof(*j->can[side]));
    for (size_t i = 0; ok && i < n; i++)
        if (type_is_floating(j->task->args[j->outputs[i % j->n_outputs]].type) &&
            !is_alone(j, i / j->n_outputs))
            answers_measure(x, side, i, &x->original_errors[side][i]);
    if (!any)
        x->data = NULL; /* nothing is a sum of what was computed */
    *to = any ? x : NULL;
    return ok;
}

void terms_close(struct judge *j)
{
    if (j->of_terms.kernel)
        version_close(&j->of_terms);
}
