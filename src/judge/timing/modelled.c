/* Times of all workloads in all regimes on the simulator's clock, modelled: cold starts from an empty cache,
 * or, as on a GPU, from what a round through other sets of buffers left of the little that a plan touches, hot
 * is the same plan once more on the cache that the first run left, and in a stream it is the hot one less what
 * its first launch was measured to gain by beginning early. What the clock cannot tell is NAN, never a guess.
 */
#include "../internal.h"

enum { WHOLE_INSNS = 60000000 }; /* of a launch that is run whole for what a later one finds */

struct earlier { /* a launch of the plan under way */
    struct ptx_launch launch;
    unsigned registers;
};

struct timing {
    struct version *version;
    struct stage *stage;
    struct arena *arena;
    struct ptx_cache *cache;
    struct trial_time *time;
    double longest_us;
    const struct work *work; /* NULL: nobody counted */
    size_t launch_i;         /* of the plan */
    bool waits;              /* some launch's blocks wait for others, and what a sample left hides which: */
    size_t waits_i;          /* it is this one */
    VEC(struct earlier) earlier;
    size_t n_whole; /* the first ones of these are known to have left all that they leave */
    bool scoring;   /* this regime's lines go into the profile */
    line_sums lines;
};

static void add_lines(struct timing *t, const struct ptx_time *x)
{
    for (size_t i = 0; i < x->n_lines; i++) {
        const struct ptx_line_stats *s = &x->lines[i];
        struct line_sum *l = lines_at(&t->lines, s->line);
        l->time += s->stall_share * x->us;
        l->insns += s->warp_insns;
        l->lanes += s->lanes_active * s->warp_insns;
        l->requests += s->global_requests;
        l->sectors += s->global_sectors;
        l->ideal += s->ideal_sectors;
        l->shared += s->shared_requests;
        l->conflicts += s->bank_conflicts;
    }
}

static void add_bound(struct timing *t, double us, const char *bound)
{
    if (us > t->longest_us || !t->time->bound) {
        t->longest_us = us;
        t->time->bound = bound;
    }
    t->time->us += us;
}

static const struct ptx_work *work_of_launch(const struct timing *t)
{
    return t->work && t->launch_i < t->work->n_launches ? &t->work->launches[t->launch_i] : NULL;
}

static bool time_launch(const struct timing *t, const struct ptx_launch *l, const struct image_kernel *k,
                        struct ptx_time *x, struct fate *fate, struct err *err)
{
    struct ptx_report report = {0};
    const struct ptx_options o = {.device = t->version->judge->model,
                                  .registers = k->resources.registers,
                                  .sample_seed = rng_hash(t->version->judge->options.seed, 0x73616d70),
                                  .work = work_of_launch(t)};
    const struct ptx_timed on = {t->version->module,
                                 t->stage->mem,
                                 &o,
                                 &k->resources,
                                 t->cache,
                                 t->arena,
                                 t->waits && t->waits_i == t->launch_i};
    bool ok = ptx_time_launch(&on, l, x, &report, err);

    if (ok)
        fate_of_report(t->arena, t->version, &report, task_dims_text(t->arena, t->stage->task, t->stage->dims),
                       fate);
    ptx_report_clear(&report);
    return ok;
}

/* The clock runs a sample of each launch's blocks. Where a later launch goes by what all of them leave, an
 * index say, the earlier ones are run whole, without a clock. */
static bool run_earlier(struct timing *t, bool *ended, struct err *err)
{
    bool ok = true;

    *ended = true;
    for (; ok && *ended && t->n_whole < t->earlier.n; t->n_whole++) {
        const struct earlier *x = &t->earlier.v[t->n_whole];
        const struct ptx_options o = {
            .device = t->version->judge->model, .registers = x->registers, .max_warp_insns = WHOLE_INSNS};
        struct ptx_report report = {0};
        ok = ptx_run(t->version->module, t->stage->mem, &x->launch, &o, &report, err);
        *ended = report.end == PTX_DONE;
        ptx_report_clear(&report);
    }
    return ok;
}

static void note_launch(struct timing *t, const struct ptx_launch *l, const struct image_kernel *k)
{
    struct earlier x = {*l, k->resources.registers};

    x.launch.args = arena_copy(t->arena, l->args, l->n_args * sizeof(*l->args));
    vec_push(&t->earlier, x);
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct timing *t = context;
    struct ptx_time x = {.us = NAN};

    if (!time_launch(t, l, k, &x, fate, err))
        return false;
    if (!fate_open(fate) && t->n_whole < t->earlier.n) {
        bool ended;
        if (!run_earlier(t, &ended, err))
            return false;
        *fate = (struct fate){0};
        if (ended && !time_launch(t, l, k, &x, fate, err))
            return false;
        if (!ended || !fate_open(fate))
            *fate = (struct fate){
                .verdict = VERDICT_UNSUPPORTED,
                .line = step->line,
                .words = arena_printf(t->arena,
                                      "cannot be timed: %s goes by what all blocks of an earlier "
                                      "launch leave (%s)",
                                      step->kernel, task_dims_text(t->arena, t->stage->task, t->stage->dims))};
    }
    note_launch(t, l, k);
    if (fate->verdict == VERDICT_HUNG)
        t->waits_i = t->launch_i;
    t->launch_i++;
    /* The suite has seen it come to an end: here it is only too long for a clock that cannot take a sample of
     * it. */
    if (fate->verdict == VERDICT_HUNG)
        fate_isf(fate, t->arena, VERDICT_UNSUPPORTED, fate->line, "cannot be timed: %s", fate->words);
    if (!fate_open(fate))
        return true;
    if (x.light && !t->version->unclocked)
        t->version->unclocked =
            arena_printf(t->version->arena,
                         "all blocks of %s need %.3g times the instructions, and the slowest %.3g times those, "
                         "of the blocks that the clock sampled (%s)",
                         step->kernel, x.work_ratio, x.slowest_ratio,
                         task_dims_text(t->arena, t->stage->task, t->stage->dims));
    bool longest = x.us > t->longest_us || !t->time->bound;
    add_bound(t, x.us, ptx_bound_name(x.bound));
    t->time->dram_us += x.dram_us;
    t->time->l2_us += x.l2_us;
    t->time->issue_us += x.issue_us;
    t->time->latency_us += x.latency_us;
    t->time->launch_us += x.launch_us;
    t->time->sync_us += x.sync_us;
    t->time->dram_bytes += x.dram_bytes;
    t->time->flops += x.flops;
    for (size_t i = 0; i < x.n_lines; i++)
        t->time->asked_bytes += x.lines[i].bytes_used;
    t->time->extrapolated |= x.extrapolated;
    if (longest) {
        t->time->pipe = x.pipe;
        t->time->occupancy = x.occupancy;
        t->time->waves = x.waves;
    }
    if (t->scoring)
        add_lines(t, &x);
    return true;
}

/* A memset or copy is priced as the plain copy of the bytes it moves. */
static void move(void *context, const struct plan_step *step, double bytes)
{
    struct timing *t = context;

    (void)step;
    add_bound(t, ptx_copy_us(t->version->judge->model, bytes, false), ptx_bound_name(PTX_BOUND_DRAM));
    t->time->dram_bytes += bytes;
    t->time->asked_bytes += bytes;
}

/* What the plan adds between neighbours: behind them it finds its inputs in the L2, as it does hot; and the gap
 * to the launch ahead is in every launch's time. Inputs that are stable are not ahead's, and yet no colder
 * here. */
static void stream_times(const struct timing *t, const struct plan *plan, struct trial_workload *w)
{
    const struct plan_step *first = plan->steps;
    bool early = plan->n_steps && first->kind == PLAN_LAUNCH && first->programmatic;

    for (enum regime regime = REGIME_STREAM; regime < N_REGIMES; regime++) {
        w->times[regime] = w->times[REGIME_HOT];
        if (early)
            w->times[regime].us -=
                ptx_early_us(t->version->judge->model, (double)first->grid[0] * first->grid[1] * first->grid[2],
                             regime == REGIME_STREAM_PDL);
    }
}

struct task_values timed_values(const struct task_arg *arg)
{
    struct task_values v = arg->values;

    if (v.kind == VALUE_NORMAL) {
        v.kind = VALUE_UNIFORM;
        v.low = -1.7320508;
        v.high = 1.7320508;
    }
    return v;
}

struct kept_lines { /* what was added up before a try that may not count */
    const struct line_sum *v;
    size_t n;
};

static struct kept_lines keep_lines(const struct timing *t)
{
    return (struct kept_lines){arena_copy(t->arena, t->lines.v, t->lines.n * sizeof(*t->lines.v)), t->lines.n};
}

static void restore_lines(struct timing *t, const struct kept_lines *kept)
{
    t->lines.n = kept->n;
    if (kept->n)
        memcpy(t->lines.v, kept->v, kept->n * sizeof(*kept->v));
}

static void begin_regime(struct timing *t, struct trial_workload *w, enum regime regime, double traffic)
{
    const struct judge *j = t->version->judge;

    t->time = &w->times[regime];
    *t->time = (struct trial_time){.base_us = NAN,
                                   .speedup = NAN,
                                   .low = NAN,
                                   .high = NAN,
                                   .neighbours_us = NAN,
                                   .pairs = NAN,
                                   .occupancy = NAN,
                                   .waves = NAN,
                                   .compulsory_bytes = traffic};
    t->time->copy_us = ptx_copy_us(j->model, traffic, regime == REGIME_HOT);
    t->longest_us = 0;
    t->launch_i = 0;
    t->earlier.n = t->n_whole = 0;
    t->scoring = j->task->regime == regime || (regime == REGIME_HOT && regime_is_stream(j->task->regime));
}

/* How often a measurement's block goes round its *sets of buffers, as bench.c lays them out. */
static size_t cold_rounds(const struct timing *t, const int64_t *dims, size_t *sets)
{
    const struct judge *j = t->version->judge;
    uint64_t bytes = 1;

    for (size_t i = 0; i < j->task->n_args; i++) {
        const struct task_arg *arg = &j->task->args[i];
        struct err none = {0};
        int64_t elements;
        if (arg->role == ROLE_INOUT)
            return 1;
        if (arg->role != ROLE_SCALAR && task_shape(j->task, arg, dims, &elements, &none))
            bytes += (uint64_t)elements * kernel_type_size(arg->type);
    }
    *sets = lap_sets(j->model->l2_bytes, bytes);
    return lap_rounds(*sets, t->time->copy_us, t->time->us);
}

static bool model_once(struct timing *t, size_t workload, struct trial_workload *w, struct fate *fate,
                       struct err *err)
{
    struct version *v = t->version;
    struct judge *j = v->judge;
    const int64_t *dims = w->dims;
    struct task_values values[MAX_ARGS];
    const struct stage_data data = {
        .values = values, .seed = rng_hash(j->options.seed, 0x74696d65), .trusted = true, .place = 1};
    const struct stage_visitor visitor = {.context = t, .launch = launch, .move = move};
    /* Who asks for a time alone asks for the one that scores; hot follows from what cold left. */
    const enum regime last = j->timed && j->task->regime == REGIME_COLD ? REGIME_COLD : REGIME_HOT;
    struct stage stage;
    struct plan plan;
    int64_t traffic;
    bool ok;

    for (size_t i = 0; i < j->task->n_args; i++)
        values[i] = timed_values(&j->task->args[i]);
    judge_doing(j, arena_printf(t->arena, "modelling the time of %s", task_dims_text(t->arena, j->task, dims)));
    t->work = NULL;
    /* The last word's times are checked by the work of more blocks than the clock runs; so are those that
     * nothing could have. */
    if ((j->options.confirm || v->counted) && !j->gpu && !version_work(v, workload, &t->work, err))
        return false;
    if (!task_traffic(j->task, dims, &traffic, err) ||
        !stage_open(&stage, j, &stage_sim, j->task, dims, &data, err))
        return false;
    t->stage = &stage;
    t->cache = ptx_cache_open(j->model);
    ok = version_plan(v, t->arena, dims, stage.addr, &plan, fate, err);
    for (enum regime regime = REGIME_COLD; regime <= REGIME_HOT && ok && fate_open(fate); regime++) {
        const struct kept_lines kept = keep_lines(t);
        begin_regime(t, w, regime, (double)traffic);
        if (regime > last) {
            t->time->us = NAN;
            break;
        }
        ok = stage_run(&stage, v, &plan, &visitor, t->arena, fate, err);
        if (regime != REGIME_COLD || !ok || !fate_open(fate))
            continue;
        /* Where a measurement goes round its sets, only the first plan of each finds it cold. */
        double first_us = t->time->us;
        size_t sets, rounds = cold_rounds(t, dims, &sets);
        if (rounds > 1 && ptx_cache_round(t->cache, sets)) {
            restore_lines(t, &kept);
            begin_regime(t, w, regime, (double)traffic);
            ok = stage_run(&stage, v, &plan, &visitor, t->arena, fate, err);
            t->time->us += (first_us - t->time->us) / (double)rounds;
        }
    }
    if (ok && fate_open(fate))
        stream_times(t, &plan, w);
    ptx_cache_close(t->cache);
    stage_close(&stage);
    return ok;
}

/* Blocks that wait for others leave their counters raised in a sample, so that the smaller grid, which has all
 * that wait for each other, begins with what nobody cleared. It has its own memory, then. */
static bool measure_workload(struct timing *t, size_t workload, struct trial_workload *w, struct fate *fate,
                             struct err *err)
{
    struct fate again = {0};
    const struct kept_lines kept = keep_lines(t);

    t->waits = false;
    t->waits_i = SIZE_MAX;
    if (!model_once(t, workload, w, fate, err))
        return false;
    if (fate_open(fate) || t->waits_i == SIZE_MAX)
        return true;
    t->waits = true;
    restore_lines(t, &kept);
    if (!model_once(t, workload, w, &again, err))
        return false;
    if (fate_open(&again))
        *fate = again;
    return true;
}

bool model_version(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                   struct err *err)
{
    const struct task *task = j->task;
    struct trial_workload *list = arena_array(a, struct trial_workload, task->n_workloads);
    struct timing sum = {.version = v, .arena = arena_open()};
    bool ok = true;

    for (size_t i = 0; ok && fate_open(fate) && i < task->n_workloads; i++) {
        list[i].dims = task->workloads + i * task->n_dims;
        list[i].weight = task->weights ? task->weights[i] : 0;
        ok = measure_workload(&sum, i, &list[i], fate, err);
        if (!fate_open(fate))
            fate->words = arena_strdup(a, fate->words);
        arena_reset(sum.arena);
    }
    if (ok && fate_open(fate)) {
        t->workloads = list;
        t->n_workloads = task->n_workloads;
        t->n_dims = task->n_dims;
        t->dim_names = task->dims;
        lines_put(&sum.lines, a, t);
    }
    vec_free(&sum.lines);
    vec_free(&sum.earlier);
    arena_close(sum.arena);
    return ok;
}
