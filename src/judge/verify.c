/* The suite run on one version, on the simulator and then on the GPU where there is one. Each case runs twice
 * (the costly ones once on the simulator): other addresses, another poison in what must be written, another
 * order of warps and blocks; both must leave the same bytes. The simulator's checks are all on. */
#include "internal.h"

#include <inttypes.h>

enum {
    POISON_A = 0xa5,
    POISON_B = 0x5b,
    TWICE_INSNS =
        200000,   /* a candidate's run of a case that costs the original more is not repeated: others are */
    MOVED = 1000, /* elements without an error: the original does not round */
};
#define CASE_LIMIT_S 5.0 /* on a GPU, where a case takes milliseconds */

struct running {
    struct version *version;
    struct arena *arena;
    struct stage *stage;
    const char *where;
    const struct stage_check *check;
    uint64_t insns;
    const char **printed; /* NULL: not wanted */
};

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct running *c = context;
    struct ptx_report report = {0};
    bool ok = c->stage->ops->launch(c->stage, c->version, l, k, c->check, &report, err);

    (void)step;
    if (ok) {
        c->insns += report.warp_insns;
        fate_of_report(c->arena, c->version, &report, c->where, fate);
        if (c->printed && !*c->printed && report.printed && report.printed->len)
            *c->printed =
                arena_strndup(c->arena, str_text(report.printed), MIN(report.printed->len, (size_t)2000));
    }
    ptx_report_clear(&report);
    return ok;
}

const char *case_where(struct arena *a, const struct task *t, const struct task_case *c)
{
    bool buffer = c->changed && t->args[c->changed - 1].role != ROLE_SCALAR;
    const struct task *own = task_of_case(a, t, c);
    const char *numbers = "";

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].n_choices)
            numbers = arena_printf(a, "%s, %s = %g", numbers, t->args[i].name, own->args[i].value);
    return arena_printf(a, "%s%s, values: %s%s%s", task_dims_text(a, t, c->dims), numbers, c->distribution,
                        buffer ? ", and others in " : "", buffer ? t->args[c->changed - 1].name : "");
}

/* An output byte that is not initialised: nothing wrote it, or what was written came from such bytes. */
static void judge_unwritten(struct arena *a, const struct task_arg *arg, const unsigned char *output, size_t at,
                            int poison, const char *where, struct fate *fate)
{
    size_t size = kernel_type_size(arg->type), element = at / size, poisoned = 0;

    for (size_t i = 0; i < size; i++)
        poisoned += output[element * size + i] == (unsigned char)poison;
    if (poisoned == size)
        fate_is(fate, VERDICT_WRONG, 0,
                arena_printf(a, "element %zu of %s is never written (%s)", element, arg->name, where));
    else if (output[at] == (unsigned char)poison)
        fate_is(fate, VERDICT_WRONG, 0,
                arena_printf(a, "byte %zu of element %zu of %s is never written (%s)", at % size, element,
                             arg->name, where));
    else
        fate_is(fate, VERDICT_UNSAFE, 0,
                arena_printf(a, "element %zu of %s is computed from memory that nothing initialised (%s)",
                             element, arg->name, where));
}

bool stage_verify(struct stage *s, struct version *v, const struct stage_check *check, const char *where,
                  struct arena *a, uint64_t *insns, const char **printed, struct fate *fate, struct err *err)
{
    struct running run = {
        .version = v, .arena = a, .stage = s, .where = where, .check = check, .printed = printed};
    const struct stage_visitor visitor = {.context = &run, .launch = launch};
    const char *words = NULL;
    uint64_t before, after;
    struct plan plan;

    if (!version_plan(v, a, s->dims, s->addr, &plan, fate, err))
        return false;
    if (fate_open(fate) && s->ops->side == SIDE_GPU && !version_load(v, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (!s->ops->state(s, v, &before, err) || !stage_run(s, v, &plan, &visitor, a, fate, err))
        return false;
    if (insns)
        *insns = run.insns;
    if (!fate_open(fate))
        return true;
    if (!s->ops->state(s, v, &after, err) || !s->ops->damage(s, a, &words, err))
        return false;
    if (words)
        return fate_is(fate, VERDICT_UNSAFE, 0, arena_printf(a, "%s (%s)", words, where));
    if (after != before)
        fate_is(
            fate, VERDICT_CHEAT, 0,
            arena_printf(a,
                         "state survives: a __device__ variable holds other bytes after the launch than before "
                         "it (%s)",
                         where));
    return true;
}

/* The simulator knows of each byte whether something wrote it. */
static void judge_written(struct arena *a, const struct stage *s, const struct version *v,
                          const struct task_arg *arg, const unsigned char *output, uint64_t addr, size_t size,
                          const char *where, struct fate *fate)
{
    struct ptx_mem *mem = s->mem;
    int64_t unwritten = size ? ptx_mem_first_uninitialised(mem, addr, size) : -1;
    struct ptx_finding who;

    if (unwritten < 0)
        return;
    /* A store of something undefined has a line; what nobody wrote has none. */
    if (ptx_mem_explain(mem, addr + (uint64_t)unwritten, &who) && who.line)
        fate_is(fate, VERDICT_UNSAFE,
                str_eq(fs_basename(who.file), fs_basename(v->kernel->path)) ? who.line : 0,
                arena_printf(a, "%s (%s)", who.words, where));
    else
        judge_unwritten(a, arg, output, (size_t)unwritten, s->poison, where, fate);
}

/* One run of a case; outputs[i] (n_outputs of the task's out and inout arguments, in order) are the bytes left.
 */
bool case_run(struct judge *j, struct version *v, struct arena *a, size_t case_i,
              const struct case_rules *rules, const unsigned char *const *inputs, unsigned char **outputs,
              uint64_t *insns, const char **printed, struct fate *fate, struct err *err)
{
    const struct task_case *about = &j->cases[case_i];
    /* Odd for the second run: a GPU's buffers then end elsewhere. */
    uint64_t place = (rng_hash(j->options.seed, case_i * 2 + rules->second) & ~(uint64_t)1) + rules->second;
    const struct stage_data data = {.values = about->values,
                                    .seed = about->seed,
                                    .inputs = inputs,
                                    .poison = rules->second ? POISON_B : POISON_A,
                                    .place = place};
    const struct stage_check check = {.checks = rules->checks,
                                      .order = rules->second ? data.place | 1 : 0,
                                      .max_insns = rules->max_insns,
                                      .stochastic = rules->stochastic,
                                      .limit_s = CASE_LIMIT_S};
    const char *where = case_where(a, j->task, about);
    const struct task *whole = v->task;
    struct stage stage;
    bool ok;

    if (!stage_open(&stage, j, rules->ops, v->task, about->dims, &data, err))
        return false;
    v->task = task_of_case(a, whole, about);
    ok = stage_verify(&stage, v, &check, where, a, insns, printed, fate, err);
    v->task = whole;
    for (size_t o = 0; ok && fate_open(fate) && o < j->n_outputs; o++) {
        const struct task_arg *arg = &v->task->args[j->outputs[o]];
        int64_t size;
        uint64_t addr = stage_arg(&stage, j->outputs[o], &size);
        outputs[o] = arena_alloc(a, (size_t)size + 1);
        ok = !size || stage.ops->read(&stage, addr, outputs[o], (size_t)size, err);
        if (ok && stage.mem && (rules->checks & SANITIZE_INIT))
            judge_written(a, &stage, v, arg, outputs[o], addr, (size_t)size, where, fate);
    }
    stage_close(&stage);
    return ok;
}

static unsigned checks_of(const struct judge *j)
{
    return j->task->accept_race ? SANITIZE_INIT | SANITIZE_NC : SANITIZE_ALL;
}

static bool all_bytes(const unsigned char *p, size_t n, int byte)
{
    while (n > 0 && p[n - 1] == (unsigned char)byte)
        n--;
    return n == 0;
}

/* Both runs left the same bytes, and none of them is the poison of both. */
static void compare_runs(struct judge *j, struct arena *a, size_t case_i, unsigned char *const *outputs,
                         unsigned char *const *again, const char *when, struct fate *fate)
{
    const char *where = case_where(a, j->task, &j->cases[case_i]);

    for (size_t o = 0; fate_open(fate) && o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), n = (size_t)j->data[case_i].elements[j->outputs[o]];
        for (size_t i = 0; fate_open(fate) && i < n; i++) {
            const unsigned char *x = outputs[o] + i * size, *y = again[o] + i * size;
            if (!memcmp(x, y, size))
                continue;
            if (arg->role == ROLE_OUT && all_bytes(x, size, POISON_A) && all_bytes(y, size, POISON_B))
                judge_unwritten(a, arg, outputs[o], i * size, POISON_A, where, fate);
            else if (!j->task->accept_nondeterminism)
                fate_is(fate, VERDICT_NONDETERMINISTIC, 0,
                        arena_printf(a, "element %zu of %s came out as %.9g and as %.9g %s (%s)", i, arg->name,
                                     task_to_double(arg->type, x), task_to_double(arg->type, y), when, where));
        }
    }
}

/* Both runs; outputs are the first's. The original, whose cost is not known yet, always has both. */
static const char *what_differed(const struct stage_ops *ops)
{
    return ops == &stage_sim ? "when warps and blocks ran in another order"
                             : "when it ran again on the GPU, on other addresses";
}

bool case_run_twice(struct judge *j, struct version *v, struct arena *a, size_t case_i,
                    const struct stage_ops *ops, uint64_t max_insns, unsigned char **outputs,
                    unsigned char **again, uint64_t *insns, const char **printed, struct fate *fate,
                    struct err *err)
{
    const unsigned char *const *inputs = (const unsigned char *const *)j->data[case_i].inputs;
    const struct case_rules first = {.ops = ops, .checks = checks_of(j), .max_insns = max_insns};
    /* What the checks look for does not depend on the order or the poison; what is left of them here is the
     * bounds. */
    const struct case_rules second = {.ops = ops, .max_insns = max_insns, .second = true};

    again[0] = NULL;
    if (!case_run(j, v, a, case_i, &first, inputs, outputs, insns, printed, fate, err))
        return false;
    if (!fate_open(fate) || (ops == &stage_sim && j->data[case_i].warp_insns > TWICE_INSNS))
        return true;
    if (!case_run(j, v, a, case_i, &second, inputs, again, NULL, NULL, fate, err))
        return false;
    if (fate_open(fate))
        compare_runs(j, a, case_i, outputs, again, what_differed(ops), fate);
    return true;
}

/* On the values that the task says it rounds nothing. */
static bool is_exact(const struct judge *j, const struct task_arg *arg)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        for (size_t side = 0; side < N_SIDES && &j->task->args[j->outputs[o]] == arg; side++)
            if (j->original_errors[side] && j->original_errors[side][o].n >= MOVED &&
                j->original_errors[side][o].max == 0)
                return true;
    return false;
}

/* What a candidate may have, from the original's own errors: p50, p99, max. */
void case_allowed(const struct judge *j, const struct task_arg *arg, const char *distribution,
                  const struct error_stats *own, double allowed[3])
{
    bool known = j->task->reference_path || (j->n_derived > 0 && j->n_lost == 0 && !j->underived);
    bool moves =
        own->n >= MOVED && known && arg->type != KT_F64 && !(j->task->tolerance > 0) && is_exact(j, arg);

    error_allowed(arg->type, j->task->tolerance, own, allowed);
    /* What the original computes exactly from small integers must stay exact, and where it only moves and
     * chooses numbers there is nothing to round. In double the exact answer is its own. */
    if (own->max == 0 && (str_eq(distribution, "small integers") || moves))
        allowed[0] = allowed[1] = allowed[2] = 0;
}

struct trial_accuracy case_accuracy(const struct judge *j, size_t output, size_t distribution,
                                    const struct error_stats *own, const struct error_stats *got)
{
    const struct task_arg *arg = &j->task->args[j->outputs[output]];
    struct trial_accuracy x = {
        .output = arg->name, .values = j->distributions[distribution], .allowed_drift = NAN};
    double allowed[3];

    case_allowed(j, arg, x.values, own, allowed);
    x.allowed = (struct trial_errors){allowed[0], allowed[1], allowed[2]};
    if (distribution == 0) /* the others may have few different values, which round to one side by chance */
        x.allowed_drift = error_allowed_drift(arg->type, j->task->tolerance, own);
    error_spread(own, &x.original);
    error_spread(got, &x.candidate);
    return x;
}

/* ---- a candidate ---- */

void comparison_open(struct comparison *c, struct judge *j, enum stage_side side, struct arena *a)
{
    size_t n = j->n_distributions * j->n_outputs;

    *c = (struct comparison){j,
                             side,
                             a,
                             arena_array(a, struct error_pool, n),
                             arena_array(a, double, n),
                             arena_array(a, double, n),
                             arena_array(a, size_t, n)};
    for (size_t i = 0; i < n; i++) {
        double allowed[3];
        case_allowed(j, &j->task->args[j->outputs[i % j->n_outputs]], j->distributions[i / j->n_outputs],
                     &j->original_errors[side][i], allowed);
        c->most[i] = allowed[2];
    }
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

/* An integer that the original's own arithmetic, rounded otherwise, makes another: a few may be. */
static bool other_integer(struct comparison *c, size_t pool, double by)
{
    const struct error_stats *own = &c->judge->original_errors[c->side][pool];

    return by <= own->most_other && ++c->n_other[pool] <= integers_allowed(own, own->n);
}

static void count_identical(struct comparison *c, const struct case_data *d, unsigned char *const *outputs)
{
    const struct judge *j = c->judge;
    size_t elements = 0, same = 0;

    for (size_t o = 0; o < j->n_outputs; o++) {
        size_t size = kernel_type_size(j->task->args[j->outputs[o]].type),
               n = (size_t)d->elements[j->outputs[o]];
        const unsigned char *own = d->outputs[c->side][o].original;
        elements += n;
        for (size_t e = 0; e < n; e++)
            same += !memcmp(outputs[o] + e * size, own + e * size, size);
    }
    c->elements += elements;
    c->identical_elements += same;
    c->identical_cases += same == elements;
}

void compare_case(struct comparison *c, size_t case_i, unsigned char *const *outputs, struct fate *fate)
{
    const struct judge *j = c->judge;
    const struct case_data *d = &j->data[case_i];

    count_identical(c, d, outputs);
    for (size_t o = 0; o < j->n_outputs && fate_open(fate); o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), pool_i = d->distribution * j->n_outputs + o;
        struct error_pool *pool = &c->pools[pool_i];
        for (size_t e = 0; e < (size_t)d->elements[j->outputs[o]]; e++) {
            const struct case_output *must = &d->outputs[c->side][o];
            const unsigned char *got_bytes = outputs[o] + e * size, *own_bytes = must->original + e * size;
            double got = task_to_double(arg->type, got_bytes), own = task_to_double(arg->type, own_bytes);
            double exact = must->exact[e];
            bool equal = !memcmp(got_bytes, own_bytes, size), floating = type_is_floating(arg->type);
            if (!floating && !equal && other_integer(c, pool_i, fabs(got - own)))
                equal = true;
            double ulps = floating ? error_ulps(arg->type, j->ftz, got, exact, own) : equal ? 0 : INFINITY;
            if (isinf(ulps)) {
                fate_is(fate, VERDICT_WRONG, 0,
                        arena_printf(c->arena, "element %" PRIu64 " of %s is %.9g, must be %.9g (%s)",
                                     element_of(must, e), arg->name, got, floating ? exact : own,
                                     case_where(c->arena, j->task, d->about)));
                return;
            }
            if (must->ill[e]) {
                double most = 3 * j->original_errors[c->side][pool_i].absolute;
                if (ulps == 0 || error_absolute(arg->type, got, exact, own) <= most)
                    continue;
                fate_is(fate, VERDICT_WRONG, 0,
                        arena_printf(c->arena,
                                     "element %" PRIu64
                                     " of %s is %.9g, exact %.9g: allowed there is three times the "
                                     "original's largest error, %.3g (%s)",
                                     element_of(must, e), arg->name, got, exact, most,
                                     case_where(c->arena, j->task, d->about)));
                return;
            }
            if (floating && ulps == 0 && !isfinite(got))
                continue; /* in its place; how precise it is nobody can say */
            if (floating && ulps > c->most[pool_i] &&
                error_excused(arg->type, j->task->tolerance, &j->original_errors[c->side][pool_i], got, exact))
                ulps = c->most[pool_i];
            if (ulps > pool->max || pool->errors.n == 0)
                c->got[pool_i] = got;
            error_add(pool, ulps, got, exact, case_i, e);
        }
    }
}

/* One output under one kind of values: its errors and to which side it rounds. */
static void judge_pool(const struct comparison *c, const struct trial_accuracy *x, const struct error_stats *s,
                       size_t output, double got, struct fate *fate)
{
    static const char *const names[] = {"median", "99th percentile", "largest"};
    const struct trial_errors *own = &x->original.at, *its = &x->candidate.at;
    const double of[3][3] = {{its->p50, x->allowed.p50, own->p50},
                             {its->p99, x->allowed.p99, own->p99},
                             {its->max, x->allowed.max, own->max}};
    const struct judge *j = c->judge;
    const struct case_data *d = &j->data[s->worst_case];
    const struct case_output *must = &d->outputs[c->side][output];

    for (int k = 2; k >= 0 && fate_open(fate); k--)
        if (of[k][0] > of[k][1])
            fate_is(fate, VERDICT_WRONG, 0,
                    arena_printf(
                        c->arena,
                        "the %s error of %s is %.3g ulps, allowed are %.3g (the original has %.3g); worst is "
                        "element %" PRIu64 ": %.9g, exact %.9g (%s)",
                        names[k], x->output, of[k][0], of[k][1], of[k][2], element_of(must, s->worst_element),
                        got, must->exact[s->worst_element], case_where(c->arena, j->task, d->about)));
    if (fate_open(fate) && x->candidate.drift > x->allowed_drift)
        fate_is(
            fate, VERDICT_WRONG, 0,
            arena_printf(c->arena,
                         "%s is not rounded to the nearest: %.0f %% more of its elements are off to one side "
                         "than to the other, allowed are %.0f %% (the original has %.0f %%)",
                         x->output, 100 * x->candidate.drift, 100 * x->allowed_drift, 100 * x->original.drift));
}

static double share_of_allowed(const struct trial_accuracy *x)
{
    const struct trial_errors *got = &x->candidate.at;

    return got->max == 0
               ? 0
               : fmax(got->max / x->allowed.max, fmax(got->p50 / x->allowed.p50, got->p99 / x->allowed.p99));
}

void judge_pools(struct comparison *c, struct trial *t, struct fate *fate)
{
    struct judge *j = c->judge;
    size_t n = j->n_distributions * j->n_outputs;
    struct trial_accuracy *all = arena_array(c->arena, struct trial_accuracy, n);
    double worst_share = -1;

    t->accuracy = all;
    t->n_accuracy = 0;
    for (size_t i = 0; i < n; i++) {
        size_t o = i % j->n_outputs;
        if (!type_is_floating(j->task->args[j->outputs[o]].type) || c->pools[i].errors.n == 0)
            continue;
        struct error_stats s = error_stats(&c->pools[i]);
        struct trial_accuracy *x = &all[t->n_accuracy++];
        *x = case_accuracy(j, o, i / j->n_outputs, &j->original_errors[c->side][i], &s);
        double share = share_of_allowed(x);
        if (share > worst_share) {
            worst_share = share;
            t->error = x->candidate.at;
            t->original_error = x->original.at;
            t->allowed_error = x->allowed;
            t->error_where = arena_printf(c->arena, "%s, values: %s", x->output, x->values);
        }
        judge_pool(c, x, &s, o, c->got[i], fate);
    }
}

/* Where the order may change the outputs it may not change them much. What is allowed was learnt from one order
 * of the original: others may be this much worse. */
static void compare_again(const struct comparison *c, size_t case_i, unsigned char *const *again,
                          const char *when, struct fate *fate)
{
    enum { OTHER_ORDER = 4 };
    const struct judge *j = c->judge;
    const struct case_data *d = &j->data[case_i];

    for (size_t o = 0; o < j->n_outputs && fate_open(fate); o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), pool_i = d->distribution * j->n_outputs + o;
        const struct case_output *must = &d->outputs[c->side][o];
        const struct error_stats *original = &j->original_errors[c->side][pool_i];
        for (size_t e = 0; e < (size_t)d->elements[j->outputs[o]] && fate_open(fate); e++) {
            double got = task_to_double(arg->type, again[o] + e * size);
            double own = task_to_double(arg->type, must->original + e * size), exact = must->exact[e];
            bool floating = type_is_floating(arg->type);
            if (floating ? error_ulps(arg->type, j->ftz, got, exact, own) <= OTHER_ORDER * c->most[pool_i] ||
                               (isfinite(got) && error_absolute(arg->type, got, exact, own) <=
                                                     3 * OTHER_ORDER * original->absolute) ||
                               error_excused(arg->type, j->task->tolerance, original, got, exact)
                         : fabs(got - own) <= 1)
                continue;
            fate_is(fate, VERDICT_WRONG, 0,
                    arena_printf(c->arena, "element %" PRIu64 " of %s is %.9g %s, must be %.9g (%s)",
                                 element_of(must, e), arg->name, got, when, floating ? exact : own,
                                 case_where(c->arena, j->task, d->about)));
        }
    }
}

static bool run_case(struct comparison *c, struct version *v, const struct stage_ops *ops, size_t i,
                     struct arena *scratch, unsigned char **outputs, struct trial *t, struct fate *fate,
                     struct err *err)
{
    struct judge *j = c->judge;
    /* Far more work than the original's is a hang for every practical purpose. */
    uint64_t max_insns = 1000000 + 50 * j->data[i].warp_insns;
    unsigned char *again[MAX_ARGS];
    bool ok = case_run_twice(j, v, scratch, i, ops, max_insns, outputs, again, NULL, &t->printed, fate, err);

    if (ok && fate_open(fate) && again[0] && j->task->accept_nondeterminism)
        compare_again(c, i, again, what_differed(ops), fate);
    if (!fate_open(fate))
        fate->words = arena_strdup(c->arena, fate->words);
    t->printed = arena_strdup(c->arena, t->printed);
    return ok;
}

/* Each input changed alone. Who is wrong may well ignore one, and is told that, rather than where it shows. */
static bool verify_inputs(struct comparison *c, struct version *v, const struct stage_ops *ops,
                          struct arena *scratch, struct trial *t, struct fate *fate, struct err *err)
{
    struct judge *j = c->judge;
    unsigned char *outputs[MAX_ARGS + 1][MAX_ARGS];
    struct fate own = {0};

    for (size_t i = 0; i < j->n_inputs && fate_open(&own); i++)
        if (!run_case(c, v, ops, j->first_input + i, scratch, outputs[i], t, &own, err))
            return false;
    if (fate_open(&own)) {
        inputs_judge(j, c->side, c->arena, outputs, !fate_open(fate), &own);
        if (!fate_open(&own))
            *fate = own;
    } else if (fate_open(fate)) {
        *fate = own;
    }
    for (size_t i = 0; i < j->n_inputs && fate_open(fate); i++) {
        compare_case(c, j->first_input + i, outputs[i], fate);
        t->cases += fate_open(fate);
    }
    return true;
}

static bool verify_suite(struct judge *j, struct version *v, const struct stage_ops *ops, struct arena *a,
                         struct trial *t, struct fate *fate, struct err *err)
{
    struct arena *scratch = arena_open();
    struct comparison c;
    bool ok = true;

    comparison_open(&c, j, ops->side, a);
    t->cases = 0;
    for (size_t i = 0; ok && fate_open(fate) && i < j->first_input; i++) {
        unsigned char *outputs[MAX_ARGS];
        ok = run_case(&c, v, ops, i, scratch, outputs, t, fate, err);
        if (ok && fate_open(fate))
            compare_case(&c, i, outputs, fate);
        t->cases += ok && fate_open(fate);
        arena_reset(scratch);
    }
    if (ok && (fate_open(fate) || fate->verdict == VERDICT_WRONG))
        ok = verify_inputs(&c, v, ops, scratch, t, fate, err);
    if (ok && fate_open(fate))
        judge_pools(&c, t, fate);
    t->identical_cases = c.identical_cases;
    t->elements = c.elements;
    t->identical_elements = c.identical_elements;
    comparison_close(&c);
    arena_close(scratch);
    return ok;
}

/* Who is wrong by the original's own errors is asked again by those that its arithmetic can make: one run of
 * the original is one draw of them, and few rows, or one statistic of a row, may have come out well by luck. */
bool verify_candidate(struct judge *j, struct version *v, const struct stage_ops *ops, struct arena *a,
                      struct trial *t, struct fate *fate, struct err *err)
{
    enum stage_side side = ops->side;
    struct error_stats *own = j->original_errors[side];

    if (!verify_suite(j, v, ops, a, t, fate, err))
        return false;
    if (fate->verdict != VERDICT_WRONG)
        return true;
    if (!original_can(j, side, err))
        return false;
    j->original_errors[side] = j->can[side];
    *fate = (struct fate){0};
    bool ok = verify_suite(j, v, ops, a, t, fate, err);
    j->original_errors[side] = own;
    return ok;
}
