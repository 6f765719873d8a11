/* What the answers to the suite must be: the reference's, exact, and the original's own on each device, whose
 * errors bound the candidates'. */
#include "internal.h"

void case_inputs(struct judge *j, size_t case_i)
{
    const struct task *t = j->task;
    struct case_data *d = &j->data[case_i];
    const struct task_case *c = &j->cases[case_i];

    d->about = c;
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        if (arg->role == ROLE_SCALAR)
            continue;
        if (!task_shape(t, arg, c->dims, &d->elements[i], NULL))
            BUG("a case outside the domain");
        if (arg->role != ROLE_IN && arg->role != ROLE_INOUT)
            continue;
        d->inputs[i] = arena_alloc(j->arena, (size_t)d->elements[i] * kernel_type_size(arg->type) + 1);
        task_fill_case(t, c, i, d->elements[i], d->inputs[i]);
    }
}

static bool finding_is_error(const struct judge *j, const struct version *v, const struct fate *f,
                             struct err *err)
{
    return err_at(err, v->kernel ? v->kernel->path : j->task->source_path, f->line, 0,
                  "the original itself is at fault: %s: %s", verdict_name(f->verdict), f->words);
}

static bool run_reference(struct judge *j, struct arena *scratch, size_t case_i, struct err *err)
{
    struct version *ref = &j->exact;
    struct case_data *d = &j->data[case_i];
    const unsigned char *inputs[MAX_ARGS] = {0};
    struct case_run run = {.version = ref, .arena = scratch, .case_i = case_i, .inputs = inputs};
    struct fate fate = {0};

    for (size_t i = 0; i < j->task->n_args; i++) {
        const struct task_arg *arg = &j->task->args[i];
        if (!d->inputs[i] || !type_is_floating(arg->type)) {
            inputs[i] = d->inputs[i];
            continue;
        }
        double *wide = arena_array(scratch, double, d->elements[i] + 1);
        size_t size = kernel_type_size(arg->type);
        for (int64_t e = 0; e < d->elements[i]; e++)
            wide[e] = task_to_double(arg->type, d->inputs[i] + (size_t)e * size);
        inputs[i] = (const unsigned char *)wide;
    }
    const struct case_rules rules = {.ops = &stage_sim, .checks = SANITIZE_INIT};
    if (!case_run(&run, &rules, &fate, err))
        return false;
    if (!fate_open(&fate) && d->about->wild)
        return true; /* without its answers */
    if (!fate_open(&fate))
        return err_at(err, j->task->reference_path, fate.line, 0, "the reference is at fault: %s: %s",
                      verdict_name(fate.verdict), fate.words);
    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &ref->task->args[j->outputs[o]];
        size_t n = (size_t)d->elements[j->outputs[o]], size = kernel_type_size(arg->type);
        d->exact[o] = arena_array(j->arena, double, n + 1);
        for (size_t e = 0; e < n; e++)
            d->exact[o][e] = task_to_double(arg->type, run.outputs[o] + e * size);
    }
    return true;
}

static bool open_reference(struct judge *j, struct err *err)
{
    struct version *ref = &j->exact;
    struct fate fate = {0};
    char *text;

    *ref = (struct version){.judge = j, .arena = j->arena, .task = task_reference(j->arena, j->task)};
    if (!fs_read(j->arena, j->task->reference_path, &text, NULL, err) ||
        !version_open(ref, j->task->reference_path, text, &fate, err))
        return false;
    if (!fate_open(&fate))
        return err_at(err, j->task->reference_path, fate.line, 0, "the reference: %s: %s",
                      verdict_name(fate.verdict), fate.words);
    return true;
}

static void find_distributions(struct judge *j)
{
    j->distributions = arena_array(j->arena, const char *, j->n_cases);
    for (size_t i = 0; i < j->n_cases; i++) {
        size_t d = 0;
        while (d < j->n_distributions && strcmp(j->distributions[d], j->cases[i].distribution) != 0)
            d++;
        if (d == j->n_distributions)
            j->distributions[j->n_distributions++] = j->cases[i].distribution;
        j->data[i].distribution = d;
    }
}

enum { FAR_SHARE = 100 }; /* one element in so many may cancel; more say that a shadow went astray */

static bool measure_original(struct judge *j, enum stage_side side, struct err *err);

/* What was derived is far from what the original computes: it does what a shadow cannot follow, rounding by
 * adding and subtracting a large number for example. Its own answers it is. */
static bool without_shadow(struct judge *j, enum stage_side side, struct err *err)
{
    j->astray = true;
    j->underived = "what was derived is far from what the original computes";
    for (size_t i = 0; i < j->n_cases; i++)
        for (size_t o = 0; o < j->n_outputs; o++) {
            const struct task_arg *arg = &j->task->args[j->outputs[o]];
            struct case_data *d = &j->data[i];
            for (size_t e = 0; d->exact[o] && e < (size_t)d->elements[j->outputs[o]]; e++)
                d->exact[o][e] =
                    task_to_double(arg->type, d->outputs[side][o].original + e * kernel_type_size(arg->type));
            j->n_lost = j->n_derived;
        }
    return measure_original(j, side, err);
}

bool answers_differ(enum kernel_type type, const struct error_stats *s)
{
    static const double quarters[] = {[KT_F16] = 0x1p9, [KT_BF16] = 0x1p6, [KT_F32] = 0x1p22};
    double quarter = quarters[type == KT_F16 || type == KT_BF16 ? type : KT_F32];

    return s->n && !(s->p50 < quarter);
}

struct measuring {
    struct rule rule; /* without the original's own errors, which come of this */
    struct error_pool pool;
    size_t n, far; /* elements, and those whose error is beyond the cap */
};

static bool measure_element(void *context, const struct output_element *x)
{
    struct measuring *m = context;
    enum kernel_type type = x->arg->type;
    const struct rule_element *is = &x->is;
    double units = is->own == is->exact ? 0 : INFINITY, ulps = units;
    bool *ill = &x->must->ill[x->place.element];

    if (is->excused)
        return true;
    if (type_is_floating(type)) {
        ulps = error_ulps(type, m->rule.in_force, is->got, is->exact, is->got);
        units = error_units(type, ulps, is->exact, is->unit);
        error_see(&m->pool, type, is->got, is->exact);
        *ill = rule_is_ill(&m->rule, is->exact, is->unit, units);
        m->far += *ill && is->exact != 0;
        m->n++;
    }
    if (!*ill && (isfinite(is->got) || units != 0)) {
        error_add(&m->pool, units, units, x->place);
        error_lean(&m->pool, ulps, is->got, is->exact);
    }
    return true;
}

bool answers_measure(const struct judge *j, enum stage_side side, size_t pool, struct error_stats *s)
{
    const struct error_stats none = {0};
    size_t o = pool % j->n_outputs;
    struct measuring m = {
        .rule = rule_of(j->task->args[j->outputs[o]].type, j->exceptions, output_tolerance(j, o), &none)};

    for (size_t i = 0; i < j->n_cases; i++)
        if (j->data[i].distribution == pool / j->n_outputs) {
            const struct case_output *x = &j->data[i].outputs[side][o];
            output_walk(j, side, i, o, x->original, measure_element, &m);
            for (size_t k = 0; k < x->n_again; k++) /* it is off by so much in another order, too */
                output_walk(j, side, i, o, x->again[k], measure_element, &m);
        }
    *s = error_stats(&m.pool);
    vec_free(&m.pool.errors);
    return m.far * FAR_SHARE > m.n;
}

/* The original against the reference: its own errors, which bound the candidates'. One that is far from the
 * reference in half of its elements shows that one of the two computes something else. */
static bool measure_pool(struct judge *j, enum stage_side side, size_t pool, bool *far, struct err *err)
{
    size_t k = pool / j->n_outputs, o = pool % j->n_outputs;
    const struct task_arg *arg = &j->task->args[j->outputs[o]];
    struct error_stats *s = &j->original_errors[side][pool];
    bool floating = type_is_floating(arg->type);
    struct trial *t = &j->original;

    *far = answers_measure(j, side, pool, s) && k == 0 && !j->task->reference_path;
    if (*far || s->n == 0)
        return true;
    const struct task_case *worst = &j->cases[s->worst.case_i];
    const struct rule r = output_rule(j, o, k, s);
    if (floating) {
        struct trial_accuracy *x = (struct trial_accuracy *)&t->accuracy[t->n_accuracy++];
        *x = output_accuracy(j, o, k, &r, s);
        if (k == 0 && !(s->max <= t->error.max)) {
            t->error = t->original_error = x->original.at;
            t->allowed_error = x->allowed;
            t->error_where = arena_printf(j->arena, "%s, values: %s", arg->name, j->distributions[k]);
        }
    }
    if (k == 0 && answers_differ(arg->type, s))
        return err_at(
            err, j->task->reference_path, 0, 0,
            "the original and the reference do not compute the same: half of the elements of %s are more "
            "than a quarter apart, for example element %zu (%s)",
            arg->name, s->worst.element, case_where(j->arena, j->task, worst));
    if (!floating && s->max > 0)
        return err_at(err, j->task->reference_path, 0, 0,
                      "the original and the reference differ in element %zu of %s, an integer (%s)",
                      s->worst.element, arg->name, case_where(j->arena, j->task, worst));
    return true;
}

static bool measure_original(struct judge *j, enum stage_side side, struct err *err)
{
    size_t n = j->n_distributions * j->n_outputs;
    bool far = false;

    wild_excuse(j, side);
    j->original_errors[side] = arena_array(j->arena, struct error_stats, n);
    j->original.error.max = NAN;
    j->original.accuracy = arena_array(j->arena, struct trial_accuracy, n);
    j->original.n_accuracy = 0;
    for (size_t i = 0; i < n; i++) {
        if (!measure_pool(j, side, i, &far, err))
            return false;
        if (far)
            return without_shadow(j, side, err);
    }
    return true;
}

/* Runs of a GPU that the task lets differ: two may well come out alike, and a version's in another way. */
enum { MOST_RUNS = 8 };

static void keep_again(struct judge *j, size_t case_i, enum stage_side side, unsigned char *const *again)
{
    for (size_t o = 0; again[0] && j->task->accept_nondeterminism && o < j->n_outputs; o++) {
        struct case_output *x = &j->data[case_i].outputs[side][o];
        size_t arg = j->outputs[o], size = kernel_type_size(j->task->args[arg].type);
        if (!x->again)
            x->again = arena_array(j->arena, unsigned char *, MOST_RUNS);
        x->again[x->n_again++] =
            arena_copy(j->arena, again[o], (size_t)j->data[case_i].elements[arg] * size + 1);
    }
}

static bool run_more(struct judge *j, struct version *original, const struct stage_ops *ops, size_t case_i,
                     struct arena *scratch, struct err *err)
{
    const struct case_rules rules = {.ops = ops, .second = true};
    bool ok = true;

    for (int k = 2; ok && ops->side == SIDE_GPU && j->task->accept_nondeterminism && k < MOST_RUNS; k++) {
        struct case_run run = {.version = original, .arena = scratch, .case_i = case_i};
        struct fate fate = {0};
        ok = case_run(&run, &rules, &fate, err);
        if (ok && fate_open(&fate))
            keep_again(j, case_i, ops->side, run.again);
    }
    return ok;
}

static void keep_outputs(struct judge *j, size_t case_i, enum stage_side side, unsigned char *const *outputs)
{
    struct case_data *d = &j->data[case_i];

    d->outputs[side] = arena_array(j->arena, struct case_output, j->n_outputs);
    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        struct case_output *x = &d->outputs[side][o];
        size_t size = kernel_type_size(arg->type), n = (size_t)d->elements[j->outputs[o]];
        x->original = arena_copy(j->arena, outputs[o], n * size + 1);
        x->ill = arena_array(j->arena, bool, n + 1);
        if (d->exact[o]) {
            x->exact = d->exact[o];
            for (size_t e = 0; d->lost[o] && e < n; e++)
                if (d->lost[o][e])
                    x->exact[e] = task_to_double(arg->type, outputs[o] + e * size);
            continue;
        }
        x->exact = arena_array(j->arena, double, n + 1);
        for (size_t e = 0; e < n; e++)
            x->exact[e] = task_to_double(arg->type, outputs[o] + e * size);
    }
}

/* *unsupported: what the simulator lacks, when it could not run the original and there is a GPU that can. */
static bool run_original(struct judge *j, struct version *original, const struct stage_ops *ops,
                         const char **unsupported, struct err *err)
{
    struct arena *scratch = arena_open();
    bool ok = true;

    for (size_t i = 0; ok && i < j->n_cases; i++) {
        struct case_run run = {.version = original, .arena = scratch, .case_i = i};
        struct fate fate = {0};
        ok = case_run_twice(&run, ops, 0, &fate, err);
        if (ops == &stage_sim)
            j->data[i].warp_insns = run.insns;
        if (ok && fate.verdict == VERDICT_UNSUPPORTED && unsupported) {
            *unsupported = arena_strdup(j->arena, fate.words);
            break;
        }
        if (ok && !fate_open(&fate) && j->cases[i].wild) {
            wild_leave_out(j, i--, arena_strdup(j->arena, fate.words));
            arena_reset(scratch);
            continue;
        }
        if (ok && !fate_open(&fate)) {
            ok = finding_is_error(j, original, &fate, err);
            if (fate.verdict == VERDICT_NONDETERMINISTIC)
                err_context(err, "say accept: [nondeterminism] if that is meant");
        }
        if (ok) {
            keep_outputs(j, i, ops->side, run.outputs);
            keep_again(j, i, ops->side, run.again);
            ok = run_more(j, original, ops, i, scratch, err);
        }
        arena_reset(scratch);
    }
    arena_close(scratch);
    return ok;
}

/* Exact answers without a reference, where they can be had: an original that cannot be compiled for them is
 * judged by its own answers. */
static bool open_shadow(struct judge *j, struct version *original, struct err *err)
{
    struct fate fate = {0};

    j->exact = (struct version){.judge = j, .arena = j->arena, .task = j->task, .shadow = true};
    if (!version_open(&j->exact, original->kernel->path, original->kernel->text, &fate, err))
        return false;
    if (!fate_open(&fate)) {
        j->underived = arena_strdup(j->arena, fate.words);
        version_close(&j->exact);
    }
    return true;
}

static void describe_exact(struct judge *j)
{
    struct trial *t = &j->original;
    size_t all = 0;

    for (size_t i = 0; i < j->n_cases; i++)
        for (size_t o = 0; o < j->n_outputs; o++)
            if (type_is_floating(j->task->args[j->outputs[o]].type))
                all += (size_t)j->data[i].elements[j->outputs[o]];
    size_t had = j->n_derived - j->n_lost;
    t->exact = had || !all ? "shadow" : "original";
    t->shadow_lost = all ? 1 - (double)had / (double)all : 0;
    if (j->task->reference_path) {
        t->exact = "reference";
        t->shadow_lost = NAN;
    }
    t->underived = j->underived;
}

/* The other value of a scalar is ours, not the task's: an original that does not run with it is not asked about
 * it. */
static bool drop_unfit(struct judge *j, struct version *original, struct arena *scratch, struct err *err)
{
    const struct case_rules rules = {.ops = &stage_sim};
    bool ok = true;

    for (size_t i = j->n_cases; ok && i-- > j->first_input;) {
        struct case_run run = {.version = original, .arena = scratch, .case_i = i};
        struct fate fate = {0};
        if (!j->cases[i].changed || j->task->args[j->cases[i].changed - 1].role != ROLE_SCALAR)
            continue;
        case_inputs(j, i);
        ok = case_run(&run, &rules, &fate, err);
        if (!fate_open(&fate)) {
            memmove(j->cases + i, j->cases + i + 1, (--j->n_cases - i) * sizeof(*j->cases));
            j->n_inputs--;
        }
        arena_reset(scratch);
    }
    return ok;
}

/* What the original leaves in place is there before, but for an element in 64, which stays as it was drawn. */
static bool answer_inputs(struct judge *j, struct version *original, struct arena *scratch, size_t case_i,
                          struct err *err)
{
    enum { LEFT = 64 };
    const struct case_rules rules = {.ops = &stage_sim};
    struct case_run run = {.version = original, .arena = scratch, .case_i = case_i};
    struct case_data *d = &j->data[case_i];
    struct fate fate = {0};
    bool ok = case_run(&run, &rules, &fate, err);

    for (size_t o = 0; ok && fate_open(&fate) && o < j->n_outputs; o++) {
        size_t arg = j->outputs[o], size = kernel_type_size(j->task->args[arg].type);
        const struct task_values *v = &j->cases[case_i].values[arg];
        bool any = v->kind == VALUE_NORMAL || (v->kind == VALUE_INTEGERS && !v->declared);
        for (size_t e = 0; any && d->inputs[arg] && e < (size_t)d->elements[arg]; e++)
            if (rng_hash(j->cases[case_i].seed, e) % LEFT)
                memcpy(d->inputs[arg] + e * size, run.outputs[o] + e * size, size);
    }
    arena_reset(scratch);
    return ok;
}

bool verify_prepare(struct judge *j, struct version *original, struct err *err)
{
    struct arena *scratch = arena_open();
    bool ok =
        (j->unsimulated || (drop_unfit(j, original, scratch, err) && wild_fit(j, original, scratch, err))) &&
        (j->task->reference_path ? open_reference(j, err) : open_shadow(j, original, err));

    find_distributions(j);
    for (size_t i = 0; ok && i < j->n_cases; i++) {
        case_inputs(j, i);
        if (j->cases[i].answered && !j->unsimulated && !answer_inputs(j, original, scratch, i, err))
            ok = false;
        else if (j->task->reference_path)
            ok = run_reference(j, scratch, i, err);
        else if (j->exact.module)
            ok = exact_derive(j, &j->exact, scratch, i, err);
        arena_reset(scratch);
    }
    if (ok && !j->unsimulated)
        ok = run_original(j, original, &stage_sim, j->gpu ? &j->unsimulated : NULL, err) &&
             (j->unsimulated || measure_original(j, SIDE_SIM, err));
    describe_exact(j);
    arena_close(scratch);
    return ok;
}

bool verify_prepare_gpu(struct judge *j, struct version *original, struct err *err)
{
    if (run_original(j, original, &stage_gpu, NULL, err) && measure_original(j, SIDE_GPU, err))
        return true;
    return err->kind == ERR_INPUT ? err_context(err, "on the GPU") : false;
}
