/* The suite run on one version. Each case runs twice (the costly ones once): other addresses, another poison in
 * what must be written, another order of warps and blocks; both must leave the same bytes. The simulator's
 * checks are all on. */
#include "internal.h"

enum {
    POISON_A = 0xa5,
    POISON_B = 0x5b,
    INSNS_PER_WARP = 2000,
    TWICE_INSNS =
        200000, /* a candidate's run of a case that costs the original more is not repeated: others are */
};

struct case_run {
    struct version *version;
    struct arena *arena;
    struct stage *stage;
    const char *where;
    uint64_t order, max_insns, insns;
    unsigned checks;
    const char **printed; /* NULL: not wanted */
};

/* Beside a multiple of the original's work: what a grid that fills the device does on any shape, a barrier of
 * the whole grid among it. A tiny shape would else call every persistent kernel endless. */
static uint64_t whole_device_insns(const struct ptx_device *d, const struct ptx_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    double warps = ceil(threads / 32) * l->grid[0] * l->grid[1] * l->grid[2];

    return (uint64_t)(INSNS_PER_WARP * MIN(warps, (double)d->sm_count * d->max_threads_per_sm / 32));
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct case_run *c = context;
    struct ptx_report report = {0};
    const struct ptx_options o = {
        .device = c->version->judge->device,
        .checks = c->checks,
        .seed = c->order,
        .max_warp_insns = c->max_insns ? c->max_insns + whole_device_insns(c->version->judge->device, l) : 0,
        .registers = k->resources.registers};
    bool ok = ptx_run(c->version->module, c->stage->mem, l, &o, &report, err);

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

static const char *where_of(struct arena *a, const struct task *t, const struct task_case *c)
{
    return arena_printf(a, "%s, values: %s", task_dims_text(a, t, c->dims), c->distribution);
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
    else
        fate_is(fate, VERDICT_UNSAFE, 0,
                arena_printf(a, "element %zu of %s is computed from memory that nothing initialised (%s)",
                             element, arg->name, where));
}

/* One run of a case; outputs[i] (n_outputs of the task's out and inout arguments, in order) are the bytes left.
 */
static bool run_case(struct judge *j, struct version *v, struct arena *a, size_t case_i, bool second,
                     unsigned checks, uint64_t max_insns, const unsigned char *const *inputs,
                     unsigned char **outputs, uint64_t *insns, const char **printed, struct fate *fate,
                     struct err *err)
{
    const struct task_case *about = &j->cases[case_i];
    const struct stage_data data = {.values = about->values,
                                    .seed = about->seed,
                                    .inputs = inputs,
                                    .poison = second ? POISON_B : POISON_A,
                                    .place = rng_hash(j->options.seed, case_i * 2 + second)};
    struct stage stage;
    struct case_run run = {.version = v,
                           .arena = a,
                           .stage = &stage,
                           .where = where_of(a, j->task, about),
                           .order = second ? data.place | 1 : 0,
                           .max_insns = max_insns,
                           .checks = checks,
                           .printed = printed};
    const struct stage_visitor visitor = {.context = &run, .launch = launch};
    struct plan plan;
    bool ok;

    if (!stage_open(&stage, v->task, about->dims, &data, err))
        return false;
    ok = version_plan(v, a, about->dims, stage.addr, &plan, fate, err);
    if (ok && fate_open(fate)) {
        uint64_t before = ptx_module_globals_hash(v->module, stage.mem);
        ok = stage_run(&stage, v, &plan, &visitor, a, fate, err);
        if (ok && fate_open(fate) && ptx_module_globals_hash(v->module, stage.mem) != before)
            fate_is(fate, VERDICT_CHEAT, 0,
                    arena_printf(
                        a,
                        "state survives: a __device__ variable holds other bytes after the launch than before "
                        "it (%s)",
                        run.where));
    }
    for (size_t o = 0; ok && fate_open(fate) && o < j->n_outputs; o++) {
        const struct task_arg *arg = &v->task->args[j->outputs[o]];
        int64_t size, unwritten;
        uint64_t addr = stage_arg(&stage, j->outputs[o], &size);
        outputs[o] = arena_alloc(a, (size_t)size + 1);
        bool tracked = checks & PTX_CHECK_INIT;
        unwritten = tracked && size ? ptx_mem_first_uninitialised(stage.mem, addr, (size_t)size) : -1;
        if (size && !ptx_mem_read(stage.mem, addr, outputs[o], (size_t)size))
            BUG("output %s is not readable", arg->name);
        struct ptx_finding who;
        /* A store of something undefined has a line; what nobody wrote has none. */
        if (unwritten >= 0 && ptx_mem_explain(stage.mem, addr + (uint64_t)unwritten, &who) && who.line)
            fate_is(fate, VERDICT_UNSAFE,
                    str_eq(fs_basename(who.file), fs_basename(v->kernel->path)) ? who.line : 0,
                    arena_printf(a, "%s (%s)", who.words, run.where));
        else if (unwritten >= 0)
            judge_unwritten(a, arg, outputs[o], (size_t)unwritten, data.poison, run.where, fate);
    }
    stage_close(&stage);
    if (insns)
        *insns = run.insns;
    return ok;
}

static unsigned checks_of(const struct judge *j)
{
    return j->task->accept_race ? PTX_CHECK_INIT | PTX_CHECK_NC : PTX_CHECK_ALL;
}

/* Both runs; outputs are the first's. The original, whose cost is not known yet, always has both. */
static bool run_twice(struct judge *j, struct version *v, struct arena *a, size_t case_i, uint64_t max_insns,
                      unsigned char **outputs, uint64_t *insns, const char **printed, struct fate *fate,
                      struct err *err)
{
    unsigned char *again[MAX_ARGS];
    const unsigned char *const *inputs = (const unsigned char *const *)j->data[case_i].inputs;

    if (!run_case(j, v, a, case_i, false, checks_of(j), max_insns, inputs, outputs, insns, printed, fate, err))
        return false;
    if (!fate_open(fate) || j->data[case_i].warp_insns > TWICE_INSNS)
        return true;
    /* What the checks look for does not depend on the order or the poison; what is left of them here is the
     * bounds. */
    if (!run_case(j, v, a, case_i, true, 0, max_insns, inputs, again, NULL, NULL, fate, err))
        return false;
    for (size_t o = 0; fate_open(fate) && !j->task->accept_nondeterminism && o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), n = (size_t)j->data[case_i].elements[j->outputs[o]], i = 0;
        while (i < n && !memcmp(outputs[o] + i * size, again[o] + i * size, size))
            i++;
        if (i < n)
            fate_is(
                fate, VERDICT_NONDETERMINISTIC, 0,
                arena_printf(
                    a,
                    "element %zu of %s came out as %.9g and as %.9g when warps and blocks ran in another order "
                    "(%s)",
                    i, arg->name, task_to_double(arg->type, outputs[o] + i * size),
                    task_to_double(arg->type, again[o] + i * size), where_of(a, j->task, &j->cases[case_i])));
    }
    return true;
}

/* What a candidate may have, from the original's own errors: p50, p99, max. */
static void allowed_errors(const struct judge *j, const struct task_arg *arg, const char *distribution,
                           const struct error_stats *own, double allowed[3])
{
    error_allowed(arg->type, j->task->tolerance, own, allowed);
    /* What the original computes exactly from small integers must stay exact. */
    if (!strcmp(distribution, "small integers") && own->max == 0)
        allowed[0] = allowed[1] = allowed[2] = 0;
}

/* ---- the original and the reference ---- */

static void make_inputs(struct judge *j, size_t case_i)
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
        task_fill(arg, &c->values[i], c->dims, c->seed, 0, d->elements[i], d->inputs[i]);
    }
}

static bool finding_is_error(const struct judge *j, const struct version *v, const struct fate *f,
                             struct err *err)
{
    return err_at(err, v->kernel ? v->kernel->path : j->task->source_path, f->line, 0,
                  "the original itself is at fault: %s: %s", verdict_name(f->verdict), f->words);
}

static bool run_reference(struct judge *j, struct version *ref, struct arena *scratch, size_t case_i,
                          struct err *err)
{
    struct case_data *d = &j->data[case_i];
    const unsigned char *inputs[MAX_ARGS] = {0};
    unsigned char *outputs[MAX_ARGS];
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
    if (!run_case(j, ref, scratch, case_i, false, PTX_CHECK_INIT, 0, inputs, outputs, NULL, NULL, &fate, err))
        return false;
    if (!fate_open(&fate))
        return err_at(err, j->task->reference_path, fate.line, 0, "the reference is at fault: %s: %s",
                      verdict_name(fate.verdict), fate.words);
    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &ref->task->args[j->outputs[o]];
        size_t n = (size_t)d->elements[j->outputs[o]];
        for (size_t e = 0; e < n; e++)
            d->outputs[o].exact[e] = task_to_double(arg->type, outputs[o] + e * kernel_type_size(arg->type));
    }
    return true;
}

static bool open_reference(struct judge *j, struct version *ref, struct err *err)
{
    struct fate fate = {0};
    char *text;

    if (!fs_read(j->arena, j->task->reference_path, &text, NULL, err) ||
        !version_open(ref, j, j->arena, task_reference(j->arena, j->task), j->task->reference_path, text, &fate,
                      err))
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

/* The original against the reference: its own errors, which bound the candidates'. One that is far from the
 * reference in half of its elements shows that one of the two computes something else. */
static bool measure_original(struct judge *j, struct err *err)
{
    j->original_errors = arena_array(j->arena, struct error_stats, j->n_distributions * j->n_outputs);
    for (size_t k = 0; k < j->n_distributions; k++)
        for (size_t o = 0; o < j->n_outputs; o++) {
            const struct task_arg *arg = &j->task->args[j->outputs[o]];
            size_t size = kernel_type_size(arg->type);
            struct error_pool pool = {0};
            double absolute = 0;
            for (size_t i = 0; i < j->n_cases; i++) {
                const struct case_data *d = &j->data[i];
                const struct case_output *x = &d->outputs[o];
                for (size_t e = 0; d->distribution == k && e < (size_t)d->elements[j->outputs[o]]; e++) {
                    double v = task_to_double(arg->type, x->original + e * size), ulps;
                    if (type_is_floating(arg->type)) {
                        ulps = error_ulps(arg->type, j->ftz, v, x->exact[e], v);
                        absolute =
                            MAX(absolute, isfinite(v) ? error_absolute(arg->type, v, x->exact[e], NAN) : 0);
                        x->ill[e] = error_is_ill(arg->type, j->task->tolerance, x->exact[e], ulps);
                    } else {
                        ulps = v == x->exact[e] ? 0 : INFINITY;
                    }
                    if (!x->ill[e])
                        error_add(&pool, ulps, i, e);
                }
            }
            struct error_stats *s = &j->original_errors[k * j->n_outputs + o];
            *s = error_stats(&pool);
            s->absolute = absolute;
            vec_free(&pool.errors);
            double allowed[3];
            allowed_errors(j, arg, j->distributions[k], s, allowed);
            if (k == 0 && type_is_floating(arg->type) && s->n && !(s->max <= j->original.error.max)) {
                j->original.error = j->original.original_error = (struct trial_errors){s->p50, s->p99, s->max};
                j->original.allowed_error = (struct trial_errors){allowed[0], allowed[1], allowed[2]};
                j->original.error_where =
                    arena_printf(j->arena, "%s, values: %s", arg->name, j->distributions[k]);
            }
            double quarter = arg->type == KT_F16 ? 0x1p9 : arg->type == KT_BF16 ? 0x1p6 : 0x1p22;
            if (k == 0 && s->n && !(s->p50 < quarter))
                return err_at(
                    err, j->task->reference_path, 0, 0,
                    "the original and the reference do not compute the same: half of the elements of %s are more "
                    "than a quarter apart, for example element %zu (%s)",
                    arg->name, s->worst_element, where_of(j->arena, j->task, &j->cases[s->worst_case]));
            if (s->n && !type_is_floating(arg->type) && s->max > 0)
                return err_at(err, j->task->reference_path, 0, 0,
                              "the original and the reference differ in element %zu of %s, an integer (%s)",
                              s->worst_element, arg->name,
                              where_of(j->arena, j->task, &j->cases[s->worst_case]));
        }
    return true;
}

bool verify_prepare(struct judge *j, struct version *original, struct err *err)
{
    struct version ref = {0};
    struct arena *scratch = arena_open();
    bool ok = !j->task->reference_path || open_reference(j, &ref, err);

    find_distributions(j);
    for (size_t i = 0; ok && i < j->n_cases; i++) {
        struct case_data *d = &j->data[i];
        unsigned char *outputs[MAX_ARGS];
        struct fate fate = {0};
        make_inputs(j, i);
        uint64_t insns = 0;
        ok = run_twice(j, original, scratch, i, 0, outputs, &insns, NULL, &fate, err);
        d->warp_insns = insns;
        if (ok && !fate_open(&fate)) {
            ok = finding_is_error(j, original, &fate, err);
            if (fate.verdict == VERDICT_NONDETERMINISTIC)
                err_context(err, "say accept: [nondeterminism] if that is meant");
        }
        d->outputs = arena_array(j->arena, struct case_output, j->n_outputs);
        for (size_t o = 0; ok && o < j->n_outputs; o++) {
            const struct task_arg *arg = &j->task->args[j->outputs[o]];
            size_t size = kernel_type_size(arg->type), n = (size_t)d->elements[j->outputs[o]];
            d->outputs[o].original = arena_copy(j->arena, outputs[o], n * size + 1);
            d->outputs[o].exact = arena_array(j->arena, double, n + 1);
            d->outputs[o].ill = arena_array(j->arena, bool, n + 1);
            for (size_t e = 0; e < n; e++)
                d->outputs[o].exact[e] = task_to_double(arg->type, outputs[o] + e * size);
        }
        if (ok && j->task->reference_path)
            ok = run_reference(j, &ref, scratch, i, err);
        arena_reset(scratch);
    }
    ok = ok && measure_original(j, err);
    version_close(&ref);
    arena_close(scratch);
    return ok;
}

/* ---- a candidate ---- */

struct comparison {
    struct judge *judge;
    struct arena *arena;
    struct error_pool *pools; /* n_distributions x n_outputs */
    double *got;              /* worst element's value, per pool */
};

/* Integers must be equal; NaN and inf in their places; the rest goes into the pools. */
static void compare_case(struct comparison *c, size_t case_i, unsigned char *const *outputs, struct fate *fate)
{
    const struct judge *j = c->judge;
    const struct case_data *d = &j->data[case_i];

    for (size_t o = 0; o < j->n_outputs && fate_open(fate); o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), pool_i = d->distribution * j->n_outputs + o;
        struct error_pool *pool = &c->pools[pool_i];
        for (size_t e = 0; e < (size_t)d->elements[j->outputs[o]]; e++) {
            const unsigned char *got_bytes = outputs[o] + e * size,
                                *own_bytes = d->outputs[o].original + e * size;
            double got = task_to_double(arg->type, got_bytes), own = task_to_double(arg->type, own_bytes);
            double exact = d->outputs[o].exact[e];
            bool equal = !memcmp(got_bytes, own_bytes, size), floating = type_is_floating(arg->type);
            double ulps = floating ? error_ulps(arg->type, j->ftz, got, exact, own) : equal ? 0 : INFINITY;
            if (isinf(ulps)) {
                fate_is(fate, VERDICT_WRONG, 0,
                        arena_printf(c->arena, "element %zu of %s is %.9g, must be %.9g (%s)", e, arg->name,
                                     got, floating ? exact : own, where_of(c->arena, j->task, d->about)));
                return;
            }
            if (d->outputs[o].ill[e]) {
                double most = 3 * j->original_errors[pool_i].absolute;
                if (ulps == 0 || error_absolute(arg->type, got, exact, own) <= most)
                    continue;
                fate_is(fate, VERDICT_WRONG, 0,
                        arena_printf(c->arena,
                                     "element %zu of %s is %.9g, exact %.9g: allowed there is three times the "
                                     "original's largest error, %.3g (%s)",
                                     e, arg->name, got, exact, most, where_of(c->arena, j->task, d->about)));
                return;
            }
            if (ulps > pool->max || pool->errors.n == 0)
                c->got[pool_i] = got;
            error_add(pool, ulps, case_i, e);
        }
    }
}

static void judge_pools(struct comparison *c, struct trial *t, struct fate *fate)
{
    struct judge *j = c->judge;
    double worst_share = -1;

    for (size_t i = 0; i < j->n_distributions * j->n_outputs; i++) {
        size_t o = i % j->n_outputs;
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        const struct error_stats *own = &j->original_errors[i];
        const char *distribution = j->distributions[i / j->n_outputs];
        if (!type_is_floating(arg->type) || c->pools[i].errors.n == 0)
            continue;
        struct error_stats s = error_stats(&c->pools[i]);
        double got[3] = {s.p50, s.p99, s.max}, base[3] = {own->p50, own->p99, own->max}, allowed[3], share = 0;
        static const char *const names[] = {"median", "99th percentile", "largest"};
        int over = -1;
        allowed_errors(j, arg, distribution, own, allowed);
        for (int k = 0; k < 3; k++) {
            share = MAX(share, got[k] == 0 ? 0 : got[k] / allowed[k]);
            if (got[k] > allowed[k])
                over = k;
        }
        if (share > worst_share) {
            worst_share = share;
            t->error = (struct trial_errors){got[0], got[1], got[2]};
            t->original_error = (struct trial_errors){base[0], base[1], base[2]};
            t->allowed_error = (struct trial_errors){allowed[0], allowed[1], allowed[2]};
            t->error_where = arena_printf(c->arena, "%s, values: %s", arg->name, distribution);
        }
        if (over < 0 || !fate_open(fate))
            continue;
        const struct case_data *d = &j->data[s.worst_case];
        fate_is(fate, VERDICT_WRONG, 0,
                arena_printf(
                    c->arena,
                    "the %s error of %s is %.3g ulps, allowed are %.3g (the original has %.3g); worst is "
                    "element %zu: %.9g, exact %.9g (%s)",
                    names[over], arg->name, got[over], allowed[over], base[over], s.worst_element, c->got[i],
                    d->outputs[o].exact[s.worst_element], where_of(c->arena, j->task, d->about)));
    }
}

bool verify_candidate(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err)
{
    struct arena *scratch = arena_open();
    size_t n_pools = j->n_distributions * j->n_outputs;
    struct comparison c = {j, a, arena_array(a, struct error_pool, n_pools), arena_array(a, double, n_pools)};
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < j->n_cases; i++) {
        unsigned char *outputs[MAX_ARGS];
        /* Far more work than the original's is a hang for every practical purpose. */
        uint64_t max_insns = 1000000 + 50 * j->data[i].warp_insns;
        ok = run_twice(j, v, scratch, i, max_insns, outputs, NULL, &t->printed, fate, err);
        if (ok && fate_open(fate))
            compare_case(&c, i, outputs, fate);
        t->cases += ok && fate_open(fate);
        if (!fate_open(fate))
            fate->words = arena_strdup(a, fate->words);
        t->printed = arena_strdup(a, t->printed);
        arena_reset(scratch);
    }
    if (ok && fate_open(fate))
        judge_pools(&c, t, fate);
    for (size_t i = 0; i < n_pools; i++)
        vec_free(&c.pools[i].errors);
    arena_close(scratch);
    return ok;
}
