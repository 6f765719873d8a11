/* The verbs that judge one version: check, bench, profile. Each opens the task, lets one worker judge and
 * prints. */
#include "optimize/optimize.h"
#include "agent/agent.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "worker/worker.h"
#include "tui/tui.h"

struct session {
    struct arena *arena;
    struct task *task;
    struct pool *pool;
    struct trial original, version;
    const struct trial_device *device;
    bool has_version;
};

static void session_close(struct session *s)
{
    pool_close(s->pool);
    arena_close(s->arena);
}

static bool session_open(struct session *s, const struct cmd_args *args, bool confirm, struct err *err)
{
    struct trial_options o = {.seed = (uint64_t)args->seed, .confirm = confirm};
    const char *file = args->n_words > 1 ? args->words[1] : NULL;
    char *text;
    int id = -1;

    *s = (struct session){.arena = arena_open()};
    tui_open(&(struct tui_options){.quiet = args->quiet});
    if (!cmd_device(args->device, s->arena, args->quiet, &o.device, err) ||
        !task_open(&s->task, s->arena, args->words[0], err))
        return false;
    if (file && !fs_read(s->arena, file, &text, NULL, err)) {
        err->kind = ERR_INPUT;
        return false;
    }
    trace_doing("judge", "judges the original");
    if (!pool_open(&s->pool, s->task, &o, 1, NULL, err) || !pool_original(s->pool, s->arena, &s->original, err))
        return false;
    s->device = pool_device(s->pool);
    s->has_version = file != NULL;
    if (!file) {
        s->version = s->original;
        return true;
    }
    trace_doing("judge", "judges %s", file);
    if (!pool_submit(s->pool, 1, file, text, err))
        return false;
    while (id < 0)
        if (!pool_collect(s->pool, 1, s->arena, &id, &s->version, err))
            return false;
    return true;
}

static json_t *workloads_to_json(const struct session *s, enum regime regime)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->original.n_workloads; i++) {
        const struct trial_workload *w = i < s->version.n_workloads ? &s->version.workloads[i] : NULL;
        json_array_append_new(list, trial_row_to_json(&s->original, i, w ? &w->times[regime] : NULL, regime));
    }
    return list;
}

static json_t *bench_to_json(const struct session *s)
{
    const struct trial *t = &s->version;
    json_t *o = json_object(), *speedup = json_object();

    json_put_text(o, "astra", ASTRA_VERSION);
    json_put_int(o, "schema", 1);
    json_put_text(o, "task", s->task->name);
    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_text(o, "words", t->words ? t->words : "");
    json_put(o, "line", t->line ? json_integer(t->line) : json_null());
    json_put_num(speedup, "geomean", t->score);
    json_put_num(speedup, "low", t->low);
    json_put_num(speedup, "high", t->high);
    json_put(o, "speedup", speedup);
    json_put(o, "device", report_device(s->device));
    json_put(o, "noise", report_noise(&s->original, s->task->regime));
    json_put(o, "clocks", trial_clocks_to_json(&t->clocks));
    json_put(o, "workloads", workloads_to_json(s, s->task->regime));
    json_put(o, "other_regime", workloads_to_json(s, regime_other(s->task->regime)));
    json_put(o, "verification", report_verification(t, NULL, json_null()));
    json_put_num(o, "wall_s", t->wall_s);
    return o;
}

static void add_verdict(const struct session *s, struct str *out)
{
    const struct trial *t = &s->version;
    json_t *verification = report_verification(t, NULL, json_null());

    str_addf(out, "verdict: %s", verdict_name(t->verdict));
    if (t->line)
        str_addf(out, ", line %d", t->line);
    if (t->line && t->col)
        str_addf(out, ":%d", t->col);
    if (t->words && *t->words)
        str_addf(out, ": %s", t->words);
    str_addf(out, "\n%zu verification cases", t->cases);
    if (s->has_version && verdict_correct(t->verdict))
        str_addf(out, ": %s", report_exactness(s->arena, verification));
    json_decref(verification);
    str_addf(out, "\njudged in %.2f s (compile %.2f, verify %.2f, measure %.2f)\n", t->wall_s, t->compile_s,
             t->verify_s, t->measure_s);
    if (t->missing_checks)
        str_addf(out, "not checked: %s\n", t->missing_checks);
    report_derived(t->shadow_lost, t->underived, out);
}

static int print_and_close(struct session *s, const struct cmd_args *args, bool ok, const struct str *text,
                           struct err *err)
{
    int status = ok && cmd_print_result(args, str_text(text), err) ? EXIT_OK : cmd_fail(err);

    session_close(s);
    return status;
}

int cmd_bench(const struct cmd_args *args)
{
    struct session s;
    struct str out = {0};
    struct err err = {0};
    json_t *o = NULL;
    bool ok = session_open(&s, args, true, &err);
    int status;

    if (ok) {
        o = bench_to_json(&s);
        if (args->json) {
            str_addf(&out, "%s\n", json_pretty(s.arena, o));
        } else {
            report_workloads(o, &out);
            str_addc(&out, '\n');
            report_errors(json_object_get(json_object_get(o, "verification"), "errors"), !s.has_version, &out);
            str_addc(&out, '\n');
            add_verdict(&s, &out);
        }
    }
    status = print_and_close(&s, args, ok, &out, &err);
    if (status == EXIT_OK)
        status = cmd_fail_under(args, o);
    json_decref(o);
    str_free(&out);
    return status;
}

static json_t *profile_to_json(struct session *s, const struct agent_diagnosis *d)
{
    json_t *o = json_object(), *trial = trial_to_json(&s->version);

    json_put_text(o, "bound_by", d->bound_by);
    json_put_text(o, "diagnosis", d->text);
    json_put_num(o, "share_of_copy", d->share_of_copy);
    json_put(o, "trial", trial);
    return o;
}

static void add_profile(struct session *s, const struct agent_diagnosis *d, const char *text, struct str *out)
{
    const struct trial *t = &s->version;

    str_addf(out, "%s\n\n%-28s %9s %9s  %-8s %8s %8s %8s %8s %8s %6s\n", d->text, "workload", "us", "copy",
             "bound by", "dram", "l2", "issue", "latency", "sync", "occ.");
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_time *x = &t->workloads[i].times[s->task->regime];
        str_addf(out, "%-28s %9.2f %9.2f  %-8s %8.2f %8.2f %8.2f %8.2f %8.2f %5.0f%%%s\n",
                 trial_dims_text(s->arena, t, i), x->us, x->light_us, x->bound ? x->bound : "-", x->dram_us,
                 x->l2_us, x->issue_us, x->latency_us, x->sync_us, 100 * x->occupancy,
                 x->extrapolated ? "  extrapolated from a smaller shape" : "");
    }
    str_addf(out, "\n%u registers, %u bytes spilled, %u bytes of shared memory\n", t->registers, t->spill_bytes,
             t->shared_bytes);
    str_addf(out, "\n%5s %6s %6s %16s %10s  %s\n", "line", "time", "lanes", "sectors/request", "conflicts",
             "source");
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct trial_line *l = &t->lines[i];
        if (l->line == 0)
            continue; /* code of no line: the compiler's own */
        str_addf(out, "%5d %5.0f%% %6.1f", l->line, 100 * l->share, l->lanes_active);
        if (isfinite(l->sectors_per_request))
            str_addf(out, " %7.1f of %5.1f", l->sectors_per_request, l->ideal_sectors_per_request);
        else
            str_addf(out, " %16s", "-");
        if (isfinite(l->conflicts_per_request))
            str_addf(out, " %10.1f", l->conflicts_per_request);
        else
            str_addf(out, " %10s", "-");
        const char *source = diagnose_line(s->arena, text, l->line);
        str_addf(out, "  %.70s\n", source ? source : "");
    }
    if (t->counters)
        str_addf(out, "\nTimes are measured; what bounds them and the lines are counters of the GPU (%s).\n",
                 t->counters);
    else
        str_add(out,
                trial_device_measures(s->device)
                    ? "\nTimes of workloads are measured; all other figures are modelled by the simulator, "
                      "docs/simulator.md states its error.\n"
                    : "\nAll figures are modelled by the simulator; docs/simulator.md states its error.\n");
}

int cmd_profile(const struct cmd_args *args)
{
    struct session s;
    struct str out = {0};
    struct err err = {0};
    struct agent_diagnosis d;
    const char *path, *why_not = NULL;
    char *text;
    int status;
    bool ok = session_open(&s, args, false, &err);

    path = ok && s.has_version ? args->words[1] : ok ? s.task->source_path : NULL;
    ok = ok && fs_read(s.arena, path, &text, NULL, &err);
    if (ok && verdict_correct(s.version.verdict) && trial_device_measures(s.device))
        ok = watch_counters(s.task, trial_device_id(s.arena, s.device), path, text, false, s.arena, &s.version,
                            &why_not, &err);

    if (ok && !verdict_correct(s.version.verdict)) {
        add_verdict(&s, &out);
        str_add(&out, "A version that is not correct is not profiled.\n");
    } else if (ok) {
        diagnose_trial(s.task, &s.version, s.device->name, s.arena, &d);
        if (args->json) {
            json_t *o = profile_to_json(&s, &d);
            str_addf(&out, "%s\n", json_pretty(s.arena, o));
            json_decref(o);
        } else {
            add_profile(&s, &d, text, &out);
            if (why_not)
                str_addf(&out, "No counters of the GPU: %s.\n", why_not);
        }
    }
    status = print_and_close(&s, args, ok, &out, &err);
    str_free(&out);
    return status;
}

static void add_survivors(const struct mutation_score *m, struct str *out)
{
    str_addf(
        out,
        "mutants    %zu of %zu faults put in%s: %zu noticed, %zu not, %zu change nothing, %zu do not compile",
        m->n_rows, m->n_faults, m->cached ? " (known from before)" : "", m->killed, m->survived, m->equivalent,
        m->stillborn);
    if (isfinite(m->score))
        str_addf(out, "; score %.1f %%", 100 * m->score);
    str_addc(out, '\n');
    for (size_t i = 0; i < m->n_rows; i++) {
        const struct mutation_score_row *x = &m->rows[i];
        if (x->fate == MUTANT_SURVIVED)
            str_addf(out, "  not noticed, line %d: %s (%s)\n", x->mutant.line, x->mutant.what, x->mutant.id);
    }
    if (m->survived)
        str_add(
            out,
            "  A candidate with such a fault would pass. Widen the domain or the values, add a reference; or, when a "
            "fault\n  changes nothing, list its id under `equivalent:` in task.yaml.\n");
}

static size_t count_launches(struct session *s, size_t *kernels, struct err *err)
{
    struct agent_version v;
    char *text;
    size_t steps = 0;

    *kernels = 0;
    if (!fs_read(s->arena, s->task->source_path, &text, NULL, err) ||
        !agent_version_open(&v, s->arena, s->task, s->task->source_path, text, &s->device->limits, err))
        return 0;
    for (size_t i = 0; i < v.input.n_plans; i++)
        steps = MAX(steps, v.input.plans[i].n_steps);
    *kernels = v.kernel->n_functions;
    agent_version_close(&v);
    return steps;
}

/* Without a reference: what the exact answers are, and whether one must be asked for. */
static void add_derived(const struct trial *t, struct str *out)
{
    if (str_eq(t->exact, "shadow"))
        str_addf(
            out,
            "reference  none: exact answers are derived from the original, which is off by at most %.2f ulp\n",
            isfinite(t->original_error.max) ? t->original_error.max : 0);
    else
        str_add(
            out,
            "reference  none, and none could be derived: candidates are held to the original's own answers\n");
    report_derived(t->shadow_lost, t->underived, out);
}

int cmd_check(const struct cmd_args *args)
{
    struct cmd_args one = *args;
    struct session s;
    struct str out = {0};
    struct err err = {0};
    struct agent_suite suite;
    struct mutation_score mutants = {0};
    size_t steps, kernels;
    json_t *errors = NULL;
    int status;
    bool ok;

    one.n_words = 1;
    ok = session_open(&s, &one, false, &err);
    if (ok && args->mutants > 0) {
        const struct mutation_score_options o = {.device = s.device->model,
                                                 .seed = (uint64_t)args->seed,
                                                 .most = (size_t)args->mutants,
                                                 .progress = trace_mutants};
        pool_widen(s.pool, args->jobs ? (int)args->jobs : cmd_cores());
        ok = mutation_score_measure(s.task, &o, s.pool, s.arena, &mutants, &err);
    }
    if (ok) {
        const struct trial *t = &s.original;
        agent_test_rules(s.task, s.arena, (uint64_t)args->seed, &suite);
        steps = count_launches(&s, &kernels, &err);
        errors = trial_accuracy_to_json(t);
        if (args->json) {
            json_t *o = json_object();
            json_put_text(o, "task", s.task->name);
            json_put_text(o, "verdict", verdict_name(t->verdict));
            json_put_int(o, "cases", (int64_t)t->cases);
            json_put_int(o, "workloads", (int64_t)s.task->n_workloads);
            json_put_flag(o, "reference", s.task->reference_path != NULL);
            json_put_num(o, "original_error", t->original_error.max);
            json_put_text(o, "exact", t->exact);
            json_put_num(o, "shadow_lost", t->shadow_lost);
            json_put(o, "ulp_edges", trial_edges_to_json());
            json_put(o, "errors", json_incref(errors));
            json_put(o, "mutation", args->mutants > 0 ? mutation_score_to_json(&mutants, false) : json_null());
            str_addf(&out, "%s\n", json_pretty(s.arena, o));
            json_decref(o);
        } else {
            str_addf(&out, "task       %s (%s)\n", s.task->name, s.task->dir);
            str_addf(&out, "kernel     %zu kernel function%s, at most %zu step%s a launch\n", kernels,
                     kernels == 1 ? "" : "s", steps, steps == 1 ? "" : "s");
            str_addf(&out, "workloads  %zu, scored %s\n", s.task->n_workloads, regime_name(s.task->regime));
            str_addf(&out, "suite      %s: right, safe and the same in every order of warps and blocks\n",
                     suite.text);
            if (s.task->reference_path)
                str_addf(&out, "reference  %s; the original is off by at most %.2f ulp\n",
                         fs_basename(s.task->reference_path), t->original_error.max);
            else
                add_derived(t, &out);
            if (args->mutants > 0)
                add_survivors(&mutants, &out);
            report_errors(errors, true, &out);
            str_add(&out, "The task is sound.\n");
        }
    }
    json_decref(errors);
    status = print_and_close(&s, args, ok, &out, &err);
    str_free(&out);
    return status;
}
