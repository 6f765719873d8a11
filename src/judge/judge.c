/* The judge: a task opened once, then file after file. Nothing here decides on more than what was run: a
 * verdict carries the words of whoever found it. */
#include "beside.h"
#include "timing/paired.h"

/* On a model, less than this is neither gain nor loss: how far off the ratio of two versions' times is
 * (docs/simulator.md, "Ratios"). */
#define MODEL_ERROR 0.03
#define NOISE       0.005 /* measured, the least that counts as a loss on one workload, */
#define TINY_NOISE  0.015 /* and below */
#define TINY_US     5.0

void judge_limits(const struct ptx_device *d, struct kernel_limits *limits)
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

static void put_resources(const struct version *v, struct trial *t)
{
    t->dynamic_shared_bytes = v->dynamic_shared_bytes;
    for (size_t i = 0; i < v->compiled.image.n_kernels; i++) {
        const struct ptx_resources *r = &v->compiled.image.kernels[i].resources;
        t->registers = MAX(t->registers, r->registers);
        t->spill_bytes = MAX(t->spill_bytes, r->spill_load_bytes + r->spill_store_bytes);
        t->stack_bytes = MAX(t->stack_bytes, r->stack_bytes);
        t->shared_bytes = MAX(t->shared_bytes, r->shared_bytes);
    }
}

void judge_doing(const struct judge *j, const char *what)
{
    if (j->options.doing)
        j->options.doing(j->options.phase_context, what);
}

struct trial_clocks clocks_now(const struct cuda *gpu)
{
    struct cuda_clocks k;

    cuda_clocks(gpu, &k);
    return (struct trial_clocks){.sm_mhz = k.sm_mhz,
                                 .memory_mhz = k.memory_mhz,
                                 .temperature_c = k.temperature_c,
                                 .power_w = k.power_w,
                                 .throttle_reasons = k.throttle_reasons,
                                 .known = k.known};
}

static void start(const struct judge *j, struct trial *t)
{
    *t = (struct trial){.words = "",
                        .score = NAN,
                        .low = NAN,
                        .high = NAN,
                        .empty_us = NAN,
                        .gpu_verify_s = NAN,
                        .gpu_measure_s = NAN,
                        .n_dims = j->task->n_dims,
                        .dim_names = j->task->dims,
                        .missing_checks = j->missing_checks,
                        .exact = j->original.exact,
                        .shadow_lost = j->original.shadow_lost,
                        .underived = j->original.underived};
    t->error = t->original_error = t->allowed_error = (struct trial_errors){NAN, NAN, NAN};
}

bool judge_gpu_take(struct judge *j, struct err *err)
{
    double left_s = j->gpu_left_s;
    bool ok;

    j->gpu_left_s = 0;
    if (j->options.phase)
        j->options.phase(j->options.phase_context, true);
    ok = cuda_lock(j->gpu, -1, err);
    if (j->options.phase)
        j->options.phase(j->options.phase_context, false);
    if (left_s > 0)
        j->gpu_away_s += time_s() - left_s;
    return ok;
}

void judge_gpu_leave(struct judge *j)
{
    cuda_unlock(j->gpu);
    j->gpu_left_s = time_s();
}

/* What the clock models stays as the diagnosis beside what was measured. */
static void add_model(struct trial *t, const struct trial *model)
{
    struct trial_workload *w = (struct trial_workload *)t->workloads;

    for (size_t i = 0; i < t->n_workloads && i < model->n_workloads; i++)
        for (enum regime regime = 0; regime < N_REGIMES; regime++) {
            const struct trial_time *from = &model->workloads[i].times[regime];
            struct trial_time *to = &w[i].times[regime], measured = *to;
            *to = *from;
            to->us = measured.us;
            to->copy_us = measured.copy_us;
            to->base_us = measured.base_us;
            to->speedup = measured.speedup;
            to->low = measured.low;
            to->high = measured.high;
            to->neighbours_us = measured.neighbours_us;
            to->pairs = measured.pairs;
        }
    t->lines = model->lines;
    t->n_lines = model->n_lines;
}

static void say_where(struct arena *a, struct fate *fate)
{
    if (!fate_open(fate))
        fate->words = arena_printf(a, "on the GPU: %s", fate->words);
}

bool verify_on_gpu(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                   struct err *err)
{
    bool ok;

    if (!judge_gpu_take(j, err))
        return false;
    ok = version_load(v, fate, err);
    if (ok && !fate_open(fate)) { /* a driver older than nvcc takes no PTX of its */
        trial_add_missing(a, t, "nvcc's device code on the GPU");
        *fate = (struct fate){0};
    } else if (ok) {
        ok = verify_candidate(j, v, &stage_gpu, a, t, fate, err) &&
             (!fate_open(fate) || verify_workloads(j, v, a, t, fate, err));
    }
    say_where(a, fate);
    cuda_unlock(j->gpu);
    return ok;
}

/* Verified and timed on the GPU, which nobody else uses meanwhile. What the original leaves is what the others
 * are held to. */
static bool judge_on_gpu(struct version *v, const struct trial *model, struct trial *t, struct fate *fate,
                         struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = v->arena;
    const struct trial_options *o = &j->options;
    double start_s;
    bool ok, original = v == &j->baseline;

    if (!judge_gpu_take(j, err))
        return false;
    j->gpu_away_s = 0;
    start_s = time_s();
    ok = version_load(v, fate, err);
    if (ok && fate_open(fate) && !o->measure_only)
        ok = original ? verify_prepare_gpu(j, v, err)
                      : verify_candidate(j, v, &stage_gpu, a, t, fate, err) &&
                            (!fate_open(fate) || verify_workloads(j, v, a, t, fate, err));
    t->gpu_verify_s = time_s() - start_s - j->gpu_away_s;
    t->verify_s += t->gpu_verify_s;
    if (ok && fate_open(fate) && !o->verify_only && !(original && o->no_control)) {
        start_s = time_s();
        ok = measure_paired(v, t, fate, err);
        t->clocks = clocks_now(j->gpu);
        t->gpu_measure_s = time_s() - start_s;
        t->measure_s += t->gpu_measure_s;
        if (ok && fate_open(fate))
            refuse_impossible(j, a, t, model, v->compiled.image.ptx, fate);
    }
    say_where(a, fate);
    cuda_unlock(j->gpu);
    return ok;
}

/* The score and its interval from those of the workloads; *worst is the one that is surest to be slow. False:
 * not all were timed. */
static bool sum_up(const struct task *task, struct arena *a, struct trial *t, size_t *worst)
{
    struct pair_result *pairs = arena_array(a, struct pair_result, t->n_workloads + 1);

    *worst = 0;
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_time *x = &t->workloads[i].times[task->regime];
        pairs[i] = (struct pair_result){
            .ratio = x->speedup, .low = x->low, .high = x->high, .weight = t->workloads[i].weight};
        if (!(x->speedup > 0) || !(x->low > 0) || !(x->high > 0))
            return false;
        if (x->high < pairs[*worst].high)
            *worst = i;
    }
    pair_geomean(pairs, t->n_workloads, &t->score, &t->low, &t->high);
    return t->n_workloads > 0;
}

/* Half of the widest interval of the original against itself: what is less than that is nobody's gain or loss.
 */
static double noise_of(const struct task *task, const struct trial *control)
{
    double widest = NAN;

    for (size_t i = 0; i < control->n_workloads; i++) {
        const struct trial_time *x = &control->workloads[i].times[task->regime];
        widest = fmax(widest, fmax(fabs(1 - x->low), fabs(x->high - 1)));
    }
    return widest;
}

static bool judge_original_version(struct judge *j, struct err *err)
{
    const struct task *t = j->task;
    struct version *v = &j->baseline;
    struct fate fate = {0};
    double start_s = time_s(), verified_s;
    char *text;
    bool ok;

    start(j, &j->original);
    j->original.shadow_lost = NAN;
    if (!fs_read(j->arena, t->source_path, &text, NULL, err))
        return false;
    *v = (struct version){.judge = j, .arena = j->arena, .task = t};
    ok = version_open(v, t->source_path, text, &fate, err);
    if (j->gpu && fate.verdict == VERDICT_UNSUPPORTED) {
        j->unsimulated = fate.words;
        fate = (struct fate){0};
    }
    if (ok && !fate_open(&fate))
        ok = err_at(err, t->source_path, fate.line, fate.col, "the original: %s: %s",
                    verdict_name(fate.verdict == VERDICT_CHEAT ? VERDICT_NOT_UNDERSTOOD : fate.verdict),
                    fate.words); /* whose kernel it is does not cheat */
    ok = ok && beside_find(j, err);
    if (ok && !j->options.measure_only)
        ok = verify_prepare(j, v, err);
    if (ok && !j->options.measure_only && !j->unsimulated)
        ok =
            v->module && v->kernels.n > 0
                ? verify_prepare_extremes(j, v, err)
                : err_at(
                      err, t->source_path, 0, 0,
                      "the original: %s launches no kernel on any of the suite's %zu cases; say in domain: which "
                      "shapes it takes, and in values: which numbers",
                      t->entry, j->n_cases);
    if (ok && !j->options.measure_only)
        j->original.coverage = version_coverage(v, j->arena);
    if (ok && !j->options.measure_only)
        j->original.n_waste = version_waste(v, j->arena, &j->original.waste);
    verified_s = time_s();
    j->original.compile_s = v->compile_s;
    j->original.verify_s = verified_s - start_s - v->compile_s;
    j->original.cases = j->options.measure_only ? 0 : j->n_cases;
    if (ok && !j->unsimulated) {
        mutants_of_ptx(v->compiled.image.ptx, v->compiled.image.ptx_len, j->arena, &j->faults, &j->n_faults);
        ok = version_code(v, &j->original.code, &fate, err);
    }
    if (ok && fate_open(&fate) && !j->options.verify_only && !j->unsimulated)
        ok = model_version(j, v, j->arena, j->gpu ? &j->modelled : &j->original, &fate, err);
    if (!j->gpu)
        j->modelled = j->original;
    j->original.measure_s = time_s() - verified_s;
    if (j->gpu && fate.verdict == VERDICT_UNSUPPORTED)
        fate = (struct fate){0}; /* it is the model that lacks something */
    if (ok && fate_open(&fate) && j->gpu)
        ok = judge_on_gpu(v, &j->modelled, &j->original, &fate, err);
    if (ok && !fate_open(&fate))
        ok = err_at(err, t->source_path, fate.line, 0, "the original on its workloads: %s: %s",
                    verdict_name(fate.verdict), fate.words);
    if (j->gpu) {
        size_t worst;
        add_model(&j->original, &j->modelled);
        j->noise = noise_of(t, &j->original);
        sum_up(t, j->arena, &j->original, &worst);
    }
    if (!j->options.verify_only)
        j->original.score = 1;
    if (j->unsimulated)
        trial_add_missing(j->arena, &j->original,
                          arena_printf(j->arena, "the simulator's sanitizer: %s", j->unsimulated));
    j->missing_checks = j->original.missing_checks;
    j->original.wall_s = time_s() - start_s;
    put_resources(v, &j->original);
    return ok;
}

static bool check_flags(struct judge *j, struct err *err)
{
    const char *option;

    for (size_t i = 0; i < j->task->n_flags; i++)
        if (!gpu_flag_check(j->arena, j->task->flags[i], &option, err))
            return err_context(err, "%s: flags", j->task->path);
    j->exceptions = RULE_ALL & ~j->options.without;
    if (!task_flushes(j->task))
        j->exceptions &= ~(1u << RULE_FLUSHED);
    return true;
}

/* The device and what is known of it; what the simulator runs on has the GPU's limits. */
static bool open_device(struct judge *j, struct err *err)
{
    const char *name = j->options.device;
    struct ptx_peaks peaks;
    int major, minor;

    j->about = (struct trial_device){.kind = "sim", .index = -1};
    if (str_starts(name, "cuda:")) {
        if (!cuda_open(&j->gpu, atoi(name + strlen("cuda:")), err))
            return false;
        const struct cuda_info *i = cuda_info(j->gpu);
        if (!cuda_target_find(j->gpu, j->nvrtc, j->arena, &j->target, err))
            return false;
        j->device = &i->limits;
        name = i->model;
        j->arch = j->target.arch;
        j->about = (struct trial_device){.kind = "cuda",
                                         .uuid = i->uuid,
                                         .driver = i->driver,
                                         .index = i->index,
                                         .driver_cuda = i->driver_cuda,
                                         .same_model = i->same_model};
    }
    j->model = ptx_device_find(name);
    if (!j->model)
        return err_input(err, "no simulated device %s", name);
    if (!j->gpu) {
        j->device = j->model;
        j->about.same_model = true;
        j->arch = arena_printf(j->arena, "sm_%d%d", j->device->cc_major, j->device->cc_minor);
    }
    nvrtc_version(j->nvrtc, &major, &minor, NULL, NULL);
    j->about.nvrtc = arena_printf(j->arena, "%d.%d", major, minor);
    j->about.name = j->device->full_name;
    j->about.model = j->model->name;
    j->about.model_name = j->model->full_name;
    peaks = ptx_device_peaks(j->model);
    j->about.peaks = (struct trial_peaks){.dram_bytes = j->model->dram_peak_gbs * 1e9,
                                          .l2_bytes = j->model->l2_gbs * 1e9,
                                          .fp64 = peaks.fp64,
                                          .fp32 = peaks.fp32,
                                          .fp16 = peaks.fp16,
                                          .tensor_fp16 = peaks.tensor_fp16};
    j->about.validated = j->model->validated;
    judge_limits(j->device, &j->limits);
    j->about.limits = j->limits;
    return true;
}

/* Cases of a program's own data, and what is left out of them: on the simulator, through which every version
 * goes, large ones would take minutes. */
static bool real_cases(struct judge *j, const struct task_case **list, size_t *n, struct err *err)
{
    enum { MOST_SIMULATED = 2 << 20 };
    const struct task_case *all;
    struct task_case *kept;
    size_t n_all, absent, large = 0;

    if (!task_real(j->task, j->arena, &all, &n_all, &absent, err))
        return false;
    *list = kept = arena_array(j->arena, struct task_case, n_all + 1);
    *n = 0;
    for (size_t i = 0; i < n_all; i++) {
        if (task_case_elements(j->task, all[i].dims) > MOST_SIMULATED)
            large++;
        else
            kept[(*n)++] = all[i];
    }
    if (absent + large)
        j->missing_checks = arena_printf(
            j->arena, "%s%s%zu of %zu cases of a program's own data (%s)",
            j->missing_checks ? j->missing_checks : "", j->missing_checks ? "; " : "", absent + large,
            n_all + absent, absent ? "their files are not on this machine" : "too large for the simulator");
    return true;
}

/* The rules' cases, the hidden ones, those of real data, those asked for, and those that change each input
 * alone. */
static bool suite(struct judge *j, struct err *err)
{
    struct {
        const struct task_case *list;
        size_t n;
    } parts[] = {{0}, {0}, {0}, {j->options.cases, j->options.n_cases}, {0}};
    struct task_case *to;

    task_suite(j->task, j->arena, j->options.seed, &parts[0].list, &parts[0].n);
    if (j->options.hidden) {
        task_hidden(j->task, j->arena, j->options.seed, &parts[1].list, &parts[1].n);
        if (!real_cases(j, &parts[2].list, &parts[2].n, err))
            return false;
    }
    task_inputs(j->task, j->arena, j->options.seed, &parts[4].list, &parts[4].n);
    j->n_inputs = parts[4].n;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        j->n_cases += parts[i].n;
    j->cases = to = arena_array(j->arena, struct task_case, j->n_cases);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        for (size_t k = 0; k < parts[i].n; k++)
            *to++ = parts[i].list[k];
    j->first_input = j->n_cases - j->n_inputs;
    return true;
}

/* The task with its device, its suite and, unless it is judged alone, its original. */
static bool open_task(struct judge *j, const struct trial_options *o, struct err *err)
{
    const struct task *t = j->task;

    j->options.exact |= t->exact;
    if (j->options.exact && t->accept_nondeterminism)
        return err_at(
            err, t->path, 0, 0,
            "outputs that differ from run to run (`accept: [nondeterminism]`) cannot be bit-identical to others");
    if (!nvrtc_open(&j->nvrtc, err) || !open_device(j, err))
        return false;
    if (!beside_open(j, err))
        return false;
    if (o->scratch)
        j->missing_checks = worker_sandbox_enter(j, o->scratch);
    if (t->accept_race)
        j->missing_checks = j->missing_checks
                                ? arena_printf(j->arena, "%s; races (the task accepts them)", j->missing_checks)
                                : "races (the task accepts them)";
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role == ROLE_OUT || t->args[i].role == ROLE_INOUT)
            j->outputs[j->n_outputs++] = i;
    if (!suite(j, err))
        return false;
    j->data = arena_array(j->arena, struct case_data, j->n_cases);
    if (j->n_cases == j->n_inputs)
        return err_at(err, t->path, 0, 0, "no shape in the domain is small enough to be verified: %s",
                      task_suite_hindrance(t, j->arena));
    return check_flags(j, err) && judge_read_headers(j->arena, j->task, &j->headers, err) &&
           (o->alone || judge_original_version(j, err));
}

bool judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err)
{
    struct arena *a = arena_open();
    struct judge *j = arena_new(a, struct judge);

    *j = (struct judge){.arena = a, .task = t, .options = *o, .noise = NAN, .fault = -1};
    if (!open_task(j, o, err)) {
        judge_close(j);
        return false;
    }
    *out = j;
    return true;
}

void judge_faults(const struct judge *j, const struct mutant **list, size_t *n)
{
    *list = j->faults;
    *n = j->n_faults;
}

void judge_set_mutant(struct judge *j, bool mutant, int fault)
{
    j->mutant = mutant;
    j->fault = fault;
}

void judge_set_timed(struct judge *j, bool timed)
{
    j->timed = timed;
}

void judge_set_precompiling(struct judge *j, bool wanted)
{
    nvrtc_set_precompiling(j->nvrtc, wanted);
}

void judge_close(struct judge *j)
{
    if (!j)
        return;
    bench_close(j->bench);
    extremes_close(j);
    map_free(&j->own_plans);
    version_close(&j->baseline);
    version_close(&j->exact);
    terms_close(j);
    beside_close(j->beside);
    cuda_close(j->gpu);
    nvrtc_close(j->nvrtc);
    arena_close(j->arena);
}

const struct trial *judge_original(const struct judge *j)
{
    return &j->original;
}

const struct trial_device *judge_device(const struct judge *j)
{
    return &j->about;
}

double judge_noise(const struct judge *j)
{
    return j->noise;
}

void judge_set_noise(struct judge *j, double half_width)
{
    if (!isnan(half_width))
        j->noise = half_width;
}

bool judge_spoilt(const struct judge *j)
{
    return j->gpu && cuda_spoilt(j->gpu);
}

/* On n of the workloads, most on that of number i. */
static void slower_on(const struct judge *j, struct arena *a, const struct trial *t, size_t n, size_t i,
                      struct fate *fate)
{
    const struct trial_workload *w = &t->workloads[i];
    const struct trial_time *x = &w->times[j->task->regime];

    fate_isf(fate, a, VERDICT_SLOWER, 0,
             "slower on %zu of %zu workloads%s %s: %.2f us, the original %.2f us (%+.1f %%); %.2fx in the "
             "geometric mean",
             n, t->n_workloads, n == 1 ? "," : ", most on", task_dims_text(a, j->task, w->dims), x->us,
             x->base_us, 100 * (x->us / x->base_us - 1), t->score);
}

/* Modelled times are compared with the original's own. */
static void score_model(const struct judge *j, struct arena *a, struct trial *t, struct fate *fate)
{
    struct trial_workload *list = (struct trial_workload *)t->workloads;
    double ratios[256] = {0}, worst = INFINITY, sum = 0;
    size_t n = MIN(MIN(t->n_workloads, j->modelled.n_workloads), ARRAY_LEN(ratios)), worst_i = 0, n_slower = 0;

    for (size_t i = 0; i < n; i++)
        for (enum regime regime = 0; regime < N_REGIMES; regime++) {
            struct trial_time *x = &list[i].times[regime];
            x->base_us = j->modelled.workloads[i].times[regime].us;
            x->speedup = x->base_us / x->us;
        }
    for (size_t i = 0; i < n; i++) {
        ratios[i] = list[i].times[j->task->regime].speedup;
        if (!(ratios[i] > 0))
            return; /* not timed: no score */
        sum += log(ratios[i]) * (list[i].weight > 0 ? list[i].weight : 1 / (double)n);
        n_slower += ratios[i] < 1 / (1 + MODEL_ERROR);
        if (ratios[i] < worst) {
            worst = ratios[i];
            worst_i = i;
        }
    }
    t->score = n ? exp(sum) : NAN;
    if (n_slower)
        slower_on(j, a, t, n_slower, worst_i, fate);
    else if (t->score < 1 + MODEL_ERROR)
        fate_isf(fate, a, VERDICT_SLOWER, 0, "%.3fx the original's speed: a modelled gain counts from %.2fx",
                 t->score, 1 + MODEL_ERROR);
}

/* By more than the noise. */
static bool for_certain_slower(const struct judge *j, const struct trial_time *x)
{
    return x->high < 1 - fmax(x->base_us < TINY_US ? TINY_NOISE : NOISE, j->noise);
}

/* Of measured times the intervals decide: the whole must be faster for certain, and no workload slower for
 * certain by more than the noise. */
static void score_measured(const struct judge *j, struct arena *a, struct trial *t, struct fate *fate)
{
    size_t worst, n_slower = 0;

    if (!sum_up(j->task, a, t, &worst)) {
        fate_is(fate, VERDICT_UNSUPPORTED, 0, "not all workloads could be timed");
        return;
    }
    for (size_t i = 0; i < t->n_workloads; i++)
        n_slower += for_certain_slower(j, &t->workloads[i].times[j->task->regime]);
    if (for_certain_slower(j, &t->workloads[worst].times[j->task->regime]))
        slower_on(j, a, t, n_slower, worst, fate);
    else if (!(t->low > 1))
        fate_isf(fate, a, VERDICT_SLOWER, 0,
                 "%.3fx the original's speed, 95 %% interval %.3f to %.3f: not faster for certain", t->score,
                 t->low, t->high);
}

/* What the simulator lacks is no reason to reject where there is a GPU: then the GPU decides, and the report
 * says which checks there were not. */
static void forgive_simulator(const struct judge *j, struct arena *a, struct trial *t, struct fate *fate)
{
    if (!j->gpu || j->mutant || fate->verdict != VERDICT_UNSUPPORTED)
        return;
    trial_add_missing(a, t, arena_printf(a, "the simulator's sanitizer: %s", fate->words));
    *fate = (struct fate){0};
}

static bool verified_only(const struct judge *j)
{
    return j->options.verify_only || j->mutant;
}

/* What no case has run; more are sought for it first. */
static bool cover(struct version *v, struct arena *a, struct trial *t, struct fate *fate, struct err *err)
{
    size_t sought = 0;

    t->coverage = version_coverage(v, a);
    if (v->judge->mutant)
        return true;
    if (!seek_verify(v, &t->coverage, a, &sought, fate, err) ||
        (fate_open(fate) && v->judge->options.confirm && v != &v->judge->baseline &&
         !rare_verify(v, &sought, fate, err)))
        return false;
    t->coverage = version_coverage(v, a);
    t->coverage.sought = sought;
    return true;
}

/* The long cases of the last word, and those that are sought. */
static bool verify_last(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                        struct err *err)
{
    bool ok = (!fate_open(fate) || !j->options.confirm || far_verify(v, fate, err)) &&
              (!fate_open(fate) || !j->options.confirm || long_verify(v, fate, err)) &&
              (!fate_open(fate) || !j->options.confirm || hollow_verify(v, fate, err)) &&
              (!fate_open(fate) || !j->options.confirm || j->gpu || verify_workloads(j, v, a, t, fate, err));

    forgive_simulator(j, a, t, fate);
    if (ok && fate_open(fate) && v->ran)
        ok = cover(v, a, t, fate, err);
    return ok;
}

bool verify_simulated(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err)
{
    bool ok = verify_candidate(j, v, &stage_sim, a, t, fate, err);

    if (ok && fate_open(fate) && j->options.with_nvcc && v != &j->baseline)
        ok = shipped_build(j, v, err);
    /* What is shipped has all that follows, where that is not the same. */
    if (v->other_code && !v->nvcc)
        return ok;
    ok = ok && (!fate_open(fate) || branches_verify(v, a, fate, err)) &&
         (!fate_open(fate) || asked_verify(v, a, fate, err)) &&
         (!fate_open(fate) || verify_extremes(j, v, a, fate, err)) &&
         (!fate_open(fate) || !j->options.confirm ||
          (edges_verify(v, a, fate, err) && (!fate_open(fate) || counts_verify(v, a, fate, err))));
    return ok && verify_last(j, v, a, t, fate, err);
}

/* A sample of blocks that differ may be lighter than all of them: its time is asked for again, with their work
 * counted, before anybody is called a cheat for it. */
static bool refuse_impossible_model(struct judge *j, struct version *v, struct arena *a, struct trial *t,
                                    struct trial *model, struct fate *fate, struct err *err)
{
    const char *ptx = v->compiled.image.ptx;

    refuse_impossible(j, a, t, model, ptx, fate);
    if (fate_open(fate) || j->options.confirm || v == &j->baseline)
        return true;
    *fate = (struct fate){0};
    v->counted = true;
    if (!model_version(j, v, a, model, fate, err))
        return false;
    if (fate_open(fate))
        refuse_impossible(j, a, t, model, ptx, fate);
    return true;
}

static bool model_simulated(struct judge *j, struct version *v, struct arena *a, struct trial *t,
                            struct trial *model, struct fate *fate, struct err *err)
{
    double start_s = time_s();
    bool ok = true;

    if (!verified_only(j))
        ok = model_version(j, v, a, model, fate, err);
    if (ok && fate_open(fate) && !j->gpu)
        ok = refuse_impossible_model(j, v, a, t, model, fate, err);
    t->measure_s = time_s() - start_s;
    return ok;
}

/* On the simulator: its checks, and the modelled times; where nvcc's code is another one, verify_shipped and
 * then those of that code. */
static bool judge_simulated(struct judge *j, struct version *v, struct arena *a, struct trial *t,
                            struct trial *model, struct fate *fate, struct err *err)
{
    double start_s = time_s();
    bool ok = true, verifies = !j->options.measure_only && !j->timed;

    if (verifies)
        ok = verify_simulated(j, v, a, t, fate, err);
    if (ok && fate_open(fate) && verifies)
        t->n_waste = version_waste(v, a, &t->waste);
    t->verify_s = time_s() - start_s;
    if (ok && fate_open(fate) && !v->other_code)
        ok = model_simulated(j, v, a, t, model, fate, err);
    if (j->gpu && fate->verdict == VERDICT_UNSUPPORTED)
        *fate = (struct fate){0};
    return ok;
}

void judge_set_known(struct judge *j, const json_t *codes)
{
    j->known_codes = codes;
}

static bool is_known(const struct judge *j, const char *code)
{
    size_t i;
    json_t *x;

    json_array_foreach(j->known_codes, i, x) if (str_eq(json_string_value(x), code)) return true;
    return false;
}

bool judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                struct err *err)
{
    struct version v = {.judge = j, .arena = a, .task = j->task};
    struct fate fate = {0};
    struct trial model = {0};
    double start_s = time_s();
    bool on_gpu = j->gpu && !j->mutant && !j->timed, ok;

    start(j, t);
    ok = version_open(&v, path, text, &fate, err);
    if (ok && fate_open(&fate) && j->fault >= 0)
        ok = version_use_fault(&v, (size_t)j->fault, &fate);
    if (ok && fate_open(&fate))
        ok = version_code(&v, &t->code, &fate, err);
    t->known = ok && fate_open(&fate) && is_known(j, t->code);
    if (t->known) {
        version_close(&v);
        return true;
    }
    forgive_simulator(j, a, t, &fate);
    if (ok && fate_open(&fate) && v.module && !j->unsimulated)
        ok = judge_simulated(j, &v, a, t, on_gpu ? &model : t, &fate, err);
    if (ok && fate_open(&fate) && on_gpu)
        ok = judge_on_gpu(&v, &model, t, &fate, err);
    if (on_gpu)
        add_model(t, &model);
    bool other = v.other_code; /* which has no times yet */
    if (ok && fate_open(&fate) && j->options.with_nvcc)
        ok = verify_shipped(j, &v, a, t, &fate, err);
    if (ok && fate_open(&fate) && other)
        ok = model_simulated(j, &v, a, t, t, &fate, err);
    if (ok && fate_open(&fate) && !verified_only(j))
        (on_gpu ? score_measured : score_model)(j, a, t, &fate);
    if (fate.verdict == VERDICT_SLOWER && v.unclocked)
        fate.words = arena_printf(a, "%s; %s", fate.words, v.unclocked);
    t->compile_s = v.compile_s;
    t->wall_s = time_s() - start_s;
    t->verdict = fate.verdict;
    t->line = fate.line;
    t->col = fate.col;
    t->words = fate.words ? fate.words : "";
    put_resources(&v, t);
    version_close(&v);
    return ok;
}
