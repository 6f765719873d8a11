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

struct ptx_shadow *terms_shadow(const struct judge *j, bool largest)
{
    return ptx_shadow_open_terms(largest ? 0 : smallest(j), largest);
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
    if (!j->of_terms.kernel &&
        !version_open_shadow(&j->of_terms, j, j->arena, original->path, original->text, &fate, err))
        return false;
    if (fate_open(&fate) && j->of_terms.module)
        *v = &j->of_terms;
    return true;
}

/* A unit for each element of the floating outputs of a case of the copy. */
static bool add_units(struct judge *j, enum stage_side side, struct version *v, struct arena *scratch,
                      size_t case_i, bool *any, struct err *err)
{
    struct case_output *outputs =
        arena_copy(j->arena, j->data[case_i].outputs[side], j->n_outputs * sizeof(*outputs));
    struct derived squares = {0}, largest = {0};

    j->data[case_i].outputs[side] = outputs;
    if (!exact_run(j, v, terms_shadow(j, false), scratch, case_i, &squares, err) ||
        (!squares.why_not && !exact_run(j, v, terms_shadow(j, true), scratch, case_i, &largest, err)))
        return false;
    for (size_t o = 0; o < j->n_outputs; o++) {
        size_t n = (size_t)j->data[case_i].elements[j->outputs[o]];
        enum kernel_type type = j->task->args[j->outputs[o]].type, narrow = output_narrow(j, o);
        outputs[o].ill = arena_array(j->arena, bool, n + 1);
        if (!squares.values[o] || !largest.values[o])
            continue;
        outputs[o].unit = squares.values[o];
        for (size_t e = 0; e < n; e++) {
            outputs[o].unit[e] = rule_unit(type, narrow, squares.values[o][e], largest.values[o][e]);
            *any |= outputs[o].unit[e] > error_ulp(type, outputs[o].exact[e]);
        }
    }
    return true;
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
        ok = add_units(x, side, v, scratch, i, &any, err);
        arena_reset(scratch);
    }
    arena_close(scratch);
    x->original_errors[side] = arena_copy(j->arena, j->can[side], n * sizeof(*j->can[side]));
    for (size_t i = 0; ok && i < n; i++)
        if (type_is_floating(j->task->args[j->outputs[i % j->n_outputs]].type))
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
