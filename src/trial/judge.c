/* The judge: a task opened once, then file after file. Nothing here decides on more than what was run: a
 * verdict carries the words of whoever found it. */
#include "internal.h"

#define BETTER     1.03   /* on a model, less than this is no gain */
#define NOT_SLOWER 0.9999 /* any workload; the rest is rounding */

static const char *const verdict_names[] = {
    [VERDICT_PASSED] = "passed",
    [VERDICT_SLOWER] = "slower",
    [VERDICT_NOT_UNDERSTOOD] = "not-understood",
    [VERDICT_COMPILE_FAILED] = "compile-failed",
    [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_LAUNCH_FAILED] = "launch-failed",
    [VERDICT_CRASHED] = "crashed",
    [VERDICT_HUNG] = "hung",
    [VERDICT_UNSAFE] = "unsafe",
    [VERDICT_NONDETERMINISTIC] = "nondeterministic",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_CHEAT] = "cheat",
};

const char *verdict_name(enum verdict v)
{
    return verdict_names[v];
}

bool verdict_parse(const char *name, enum verdict *v)
{
    for (size_t i = 0; i < ARRAY_LEN(verdict_names); i++)
        if (!strcmp(name, verdict_names[i])) {
            *v = (enum verdict)i;
            return true;
        }
    return false;
}

void limits_of_device(const struct ptx_device *d, struct kernel_limits *limits)
{
    *limits = (struct kernel_limits){
        .device_name = d->full_name,
        .sm_count = d->sm_count,
        .cc_major = d->cc_major,
        .cc_minor = d->cc_minor,
        .max_threads_per_block = d->max_threads_per_block,
        .max_threads_per_sm = d->max_threads_per_sm,
        .max_blocks_per_sm = d->max_blocks_per_sm,
        .warp_size = 32,
        .shared_per_block = d->shared_per_block,
        .shared_per_block_optin = d->shared_per_block_optin,
        .shared_per_sm = d->shared_per_sm,
        .l2_bytes = (int64_t)d->l2_bytes,
        .registers_per_sm = d->registers_per_sm,
        .sm_clock_khz = (int)(d->sm_clock_mhz * 1000),
        /* from the bandwidth, on the 6144-bit bus of such devices at two transfers a clock */
        .memory_clock_khz = (int)(d->dram_peak_gbs * 1e6 / (2 * 6144 / 8)),
    };
}

static bool read_headers(struct judge *j, struct err *err)
{
    struct gpu_header *h = arena_array(j->arena, struct gpu_header, j->task->n_headers + 1);

    for (size_t i = 0; i < j->task->n_headers; i++) {
        char *text;
        if (!fs_read(j->arena, fs_join(j->arena, j->task->dir, j->task->headers[i]), &text, NULL, err))
            return false;
        h[i] = (struct gpu_header){j->task->headers[i], text};
    }
    j->headers = h;
    return true;
}

static void put_resources(const struct version *v, struct trial *t)
{
    for (size_t i = 0; i < v->compiled.image.n_kernels; i++) {
        const struct ptx_resources *r = &v->compiled.image.kernels[i].resources;
        t->registers = MAX(t->registers, r->registers);
        t->spill_bytes = MAX(t->spill_bytes, r->spill_load_bytes + r->spill_store_bytes);
        t->stack_bytes = MAX(t->stack_bytes, r->stack_bytes);
        t->shared_bytes = MAX(t->shared_bytes, r->shared_bytes);
    }
}

static void start(const struct judge *j, struct trial *t)
{
    *t = (struct trial){
        .words = "", .score = NAN, .n_dims = j->task->n_dims, .missing_checks = j->missing_checks};
    t->error = t->original_error = t->allowed_error = (struct trial_errors){NAN, NAN, NAN};
}

static bool judge_original_version(struct judge *j, struct err *err)
{
    const struct task *t = j->task;
    struct version v;
    struct fate fate = {0};
    double start_s = time_s(), verified_s;
    char *text;
    bool ok;

    start(j, &j->original);
    if (!fs_read(j->arena, t->source_path, &text, NULL, err))
        return false;
    ok = version_open(&v, j, j->arena, t, t->source_path, text, &fate, err);
    if (ok && !fate_open(&fate))
        ok = err_at(err, t->source_path, fate.line, fate.col, "the original: %s: %s",
                    verdict_name(fate.verdict), fate.words);
    if (ok && !j->options.measure_only)
        ok = verify_prepare(j, &v, err) && verify_prepare_extremes(j, &v, err);
    verified_s = time_s();
    j->original.compile_s = v.compile_s;
    j->original.verify_s = verified_s - start_s - v.compile_s;
    j->original.cases = j->options.measure_only ? 0 : j->n_cases;
    if (ok && !j->options.verify_only) {
        ok = measure_version(j, &v, j->arena, &j->original, &fate, err);
        if (ok && !fate_open(&fate))
            ok = err_at(err, t->source_path, fate.line, 0, "the original on its workloads: %s: %s",
                        verdict_name(fate.verdict), fate.words);
        j->original.score = 1;
    }
    j->original.measure_s = time_s() - verified_s;
    j->original.wall_s = time_s() - start_s;
    put_resources(&v, &j->original);
    version_close(&v);
    return ok;
}

static bool check_flags(struct judge *j, struct err *err)
{
    const char *option;

    for (size_t i = 0; i < j->task->n_flags; i++) {
        if (!gpu_flag_check(j->arena, j->task->flags[i], &option, err))
            return err_context(err, "%s: flags", j->task->path);
        if (option && (!strcmp(option, "--use_fast_math") || !strcmp(option, "--ftz=true")))
            j->ftz = true;
    }
    return true;
}

bool judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err)
{
    struct arena *a = arena_open();
    struct judge *j = arena_new(a, struct judge);

    *j = (struct judge){.arena = a, .task = t, .options = *o, .device = ptx_device_find(o->device)};
    if (!j->device) {
        arena_close(a);
        return err_input(err, "no simulated device %s", o->device);
    }
    j->arch = arena_printf(a, "sm_%d%d", j->device->cc_major, j->device->cc_minor);
    if (t->accept_race)
        j->missing_checks = "races (the task accepts them)";
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role == ROLE_OUT || t->args[i].role == ROLE_INOUT)
            j->outputs[j->n_outputs++] = i;
    limits_of_device(j->device, &j->limits);
    task_suite(t, a, o->seed, &j->cases, &j->n_cases);
    j->data = arena_array(a, struct case_data, j->n_cases);
    if (j->n_cases == 0) {
        judge_close(j);
        return err_at(err, t->path, 0, 0, "no shape in the domain is small enough to be verified");
    }
    if (!check_flags(j, err) || !nvrtc_open(&j->nvrtc, err) || !read_headers(j, err) ||
        !judge_original_version(j, err)) {
        judge_close(j);
        return false;
    }
    *out = j;
    return true;
}

void judge_close(struct judge *j)
{
    if (!j)
        return;
    nvrtc_close(j->nvrtc);
    arena_close(j->arena);
}

const struct trial *judge_original(const struct judge *j)
{
    return &j->original;
}

void judge_limits(const struct judge *j, struct kernel_limits *limits)
{
    *limits = j->limits;
}

static void score(const struct judge *j, struct arena *a, struct trial *t, struct fate *fate)
{
    double ratios[256], worst = INFINITY, worst_us = NAN, original_us = NAN;
    size_t n = MIN(t->n_workloads, ARRAY_LEN(ratios)), worst_i = 0;

    for (size_t i = 0; i < n; i++) {
        const struct trial_workload *w = &t->workloads[i], *o = &j->original.workloads[i];
        double us = j->task->hot ? w->hot.us : w->cold.us, own_us = j->task->hot ? o->hot.us : o->cold.us;
        ratios[i] = own_us / us;
        if (isnan(ratios[i]) || ratios[i] <= 0)
            return; /* not timed: no score */
        if (ratios[i] < worst) {
            worst = ratios[i];
            worst_i = i;
            worst_us = us;
            original_us = own_us;
        }
    }
    t->score = stats_geomean(ratios, n);
    if (worst < NOT_SLOWER)
        fate_is(fate, VERDICT_SLOWER, 0,
                arena_printf(a, "%s takes %.2f us, the original %.2f us (%.2fx in the geometric mean)",
                             task_dims_text(a, j->task, t->workloads[worst_i].dims), worst_us, original_us,
                             t->score));
    else if (t->score < BETTER)
        fate_is(
            fate, VERDICT_SLOWER, 0,
            arena_printf(a, "%.3fx the original's speed: a modelled gain counts from %.2fx", t->score, BETTER));
}

/* What nvcc makes of the file must do what NVRTC's code does: the suite once more. */
static bool verify_nvcc(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                        struct err *err)
{
    struct trial again = *t;
    bool used;

    if (!version_use_nvcc(v, &used, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (!used) {
        t->missing_checks = t->missing_checks ? arena_printf(a, "%s; nvcc", t->missing_checks) : "nvcc";
        return true;
    }
    if (!verify_candidate(j, v, a, &again, fate, err))
        return false;
    if (!fate_open(fate))
        fate->words = arena_printf(a, "as nvcc compiles it: %s", fate->words);
    return true;
}

bool judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                struct err *err)
{
    struct version v;
    struct fate fate = {0};
    double start_s = time_s(), opened_s, verified_s;
    bool ok;

    start(j, t);
    ok = version_open(&v, j, a, j->task, path, text, &fate, err);
    opened_s = time_s();
    if (ok && fate_open(&fate) && !j->options.measure_only)
        ok = verify_candidate(j, &v, a, t, &fate, err) &&
             (!fate_open(&fate) || verify_extremes(j, &v, a, &fate, err));
    verified_s = time_s();
    if (ok && fate_open(&fate) && !j->options.verify_only)
        ok = measure_version(j, &v, a, t, &fate, err);
    if (ok && fate_open(&fate) && j->options.with_nvcc)
        ok = verify_nvcc(j, &v, a, t, &fate, err);
    if (ok && fate_open(&fate) && !j->options.verify_only)
        score(j, a, t, &fate);
    t->compile_s = v.compile_s;
    t->verify_s = verified_s - opened_s;
    t->measure_s = time_s() - verified_s;
    t->wall_s = time_s() - start_s;
    t->verdict = fate.verdict;
    t->line = fate.line;
    t->col = fate.col;
    t->words = fate.words ? fate.words : "";
    put_resources(&v, t);
    version_close(&v);
    return ok;
}
