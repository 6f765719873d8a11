/* Each input changed alone: what follows it in the original must follow it in a candidate, and nothing else
 * may. An element counts where the exact answer moves by more than the errors allowed in both cases come to, or
 * not at all. So whoever fails here has an element whose error is not allowed; what is found is which input it
 * ignores. */
#include "internal.h"

struct followed {
    size_t n, deaf; /* elements that the input moves; of these, those that stay in the candidate */
    size_t deaf_output, deaf_element; /* the first of them */
    bool moves;                       /* some element moves in the candidate */
    bool strays;                      /* an element moves that should not */
    size_t stray_output, stray_element;
};

/* One output in the first case and in that where an input is changed. */
struct both {
    enum kernel_type type;
    unsigned exceptions;
    double allowed; /* of both cases together: ulps; of integers what rounding may make of them */
};

static bool apart(const struct both *b, double x, double y)
{
    if (!type_is_floating(b->type))
        return fabs(x - y) > b->allowed;
    return isfinite(x) && isfinite(y) && error_ulps(b->type, b->exceptions, x, y, y) > b->allowed &&
           error_ulps(b->type, b->exceptions, y, x, x) > b->allowed;
}

static double most_allowed(const struct comparison *c, size_t case_i, size_t output)
{
    const struct rule *r = &c->rules[c->judge->data[case_i].distribution * c->judge->n_outputs + output];

    return type_is_floating(r->type) ? r->most[2] : r->own->most_other;
}

static void follow(const struct comparison *c, size_t case_i, size_t output, const unsigned char *first,
                   const unsigned char *changed, struct followed *f)
{
    const struct judge *j = c->judge;
    const struct task_arg *arg = &j->task->args[j->outputs[output]];
    const struct case_data *before = &j->data[j->first_input], *after = &j->data[case_i];
    const struct case_output *x = &before->outputs[c->side][output], *y = &after->outputs[c->side][output];
    const struct both b = {arg->type, j->exceptions,
                           most_allowed(c, j->first_input, output) + most_allowed(c, case_i, output)};
    size_t size = kernel_type_size(arg->type);

    for (size_t e = 0; e < (size_t)before->elements[j->outputs[output]]; e++) {
        double p = task_to_double(arg->type, first + e * size),
               q = task_to_double(arg->type, changed + e * size);
        bool still = !memcmp(x->original + e * size, y->original + e * size, size);
        f->moves |= p != q && !(isnan(p) && isnan(q));
        if (x->ill[e] || y->ill[e])
            continue;
        if (apart(&b, x->exact[e], y->exact[e])) {
            if (p == q && f->deaf++ == 0) {
                f->deaf_output = output;
                f->deaf_element = e;
            }
            f->n++;
        } else if (!f->strays && still && x->exact[e] == y->exact[e] && apart(&b, p, q)) {
            f->strays = true;
            f->stray_output = output;
            f->stray_element = e;
        }
    }
}

static bool is_ignored(const struct followed *f)
{
    return f->n > 0 && f->deaf == f->n && !f->moves;
}

static const char *changed_in(const struct judge *j, size_t case_i)
{
    return j->task->args[j->cases[case_i].changed - 1].name;
}

static void judge_ignored(const struct judge *j, struct arena *a, const struct followed *f, size_t case_i,
                          struct fate *fate)
{
    if (is_ignored(f))
        fate_isf(fate, a, VERDICT_WRONG, 0,
                 "it ignores %s: changed alone, that moves %zu elements of the original's answer and "
                 "none of this version's (%s)",
                 changed_in(j, case_i), f->n, task_dims_text(a, j->task, j->cases[case_i].dims));
}

static void judge_followed(const struct judge *j, struct arena *a, const struct followed *f, size_t case_i,
                           bool found, struct fate *fate)
{
    const char *name = changed_in(j, case_i), *where = task_dims_text(a, j->task, j->cases[case_i].dims);

    if (found ? 4 * f->deaf >= f->n && f->deaf : f->deaf > 0)
        fate_isf(fate, a, VERDICT_WRONG, 0,
                 "%zu of %zu elements that depend on %s do not follow it when it alone is changed, the "
                 "first is element %zu of %s (%s)",
                 f->deaf, f->n, name, f->deaf_element, j->task->args[j->outputs[f->deaf_output]].name, where);
    else if (f->strays)
        fate_isf(fate, a, VERDICT_WRONG, 0,
                 "element %zu of %s moves when %s alone is changed: the original's does not (%s)",
                 f->stray_element, j->task->args[j->outputs[f->stray_output]].name, name, where);
}

/* To forget one input is a mistake, to compute without any is none. Whoever was found to be wrong and follows
 * most of what an input moves does not forget it: what was found says more. */
void inputs_judge(const struct comparison *c, unsigned char *(*outputs)[MAX_ARGS], bool found,
                  struct fate *fate)
{
    const struct judge *j = c->judge;
    struct arena *a = c->arena;
    struct followed all[MAX_ARGS + 1] = {0};
    size_t moving = 0, ignored = 0, first = j->first_input;

    for (size_t i = 1; i < j->n_inputs; i++) {
        for (size_t o = 0; o < j->n_outputs; o++)
            follow(c, first + i, o, outputs[0][o], outputs[i][o], &all[i]);
        moving += all[i].n > 0;
        ignored += is_ignored(&all[i]);
    }
    if (moving && ignored == moving)
        fate_isf(fate, a, VERDICT_CHEAT, 0,
                 "its answer depends on no input; the original's follows %zu of them, changed one by "
                 "one (%s)",
                 moving, task_dims_text(a, j->task, j->cases[first].dims));
    for (size_t i = 1; i < j->n_inputs && fate_open(fate); i++)
        judge_ignored(j, a, &all[i], first + i, fate);
    for (size_t i = 1; i < j->n_inputs && fate_open(fate); i++)
        judge_followed(j, a, &all[i], first + i, found, fate);
}
