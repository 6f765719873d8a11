/* The verb profile: where the time of one version goes, by workload and by source line. */
#include "cmd/session.h"
#include "optimize/optimize.h"

/* The hot lines with what stands there. */
static json_t *lines_to_json(struct session *s, const json_t *trial, const char *text)
{
    json_t *list = json_deep_copy(json_object_get(trial, "lines"));

    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *line = json_array_get(list, i);
        json_put_text(line, "source", diagnose_line(s->arena, text, (int)json_int(line, "line", 0)));
    }
    return list;
}

/* d NULL: of a version that is not correct, whose trial says why. */
static json_t *profile_to_json(struct session *s, const struct agent_diagnosis *d, const char *text)
{
    json_t *o = json_object(), *trial = trial_to_json(&s->versions[0].trial);

    json_put_text(o, "bound_by", d ? d->bound_by : NULL);
    json_put_text(o, "diagnosis", d ? d->text : NULL);
    json_put_num(o, "share_of_copy", d ? d->share_of_copy : NAN);
    json_put(o, "device", report_device(s->device));
    json_put_text(o, "regime", regime_name(s->task->regime));
    json_put(o, "lines", lines_to_json(s, trial, text));
    json_put(o, "trial", trial);
    return o;
}

static void add_line(struct arena *a, const struct trial_line *l, const char *text, struct str *out)
{
    const char *source = diagnose_line(a, text, l->line);
    struct line_origin from; /* as in errors: the framework's file and line, too */

    str_addf(out, "%5d %5.0f%% %6.1f", l->line, 100 * l->share, l->lanes_active);
    if (isfinite(l->sectors_per_request))
        str_addf(out, " %7.1f of %5.1f", l->sectors_per_request, l->ideal_sectors_per_request);
    else
        str_addf(out, " %16s", "-");
    if (isfinite(l->conflicts_per_request))
        str_addf(out, " %10.1f", l->conflicts_per_request);
    else
        str_addf(out, " %10s", "-");
    str_addf(out, "  %.70s", source ? source : "");
    if (l->line && origin_find(&from, a, text, l->line, "kernel.cu"))
        str_addf(out, "  (%s:%d)", from.file, from.line);
    str_addc(out, '\n');
}

/* What the lines above leave of the time. */
static void add_other_lines(const struct trial *t, struct str *out)
{
    double listed = 0, compiler = 0;

    for (size_t i = 0; i < t->n_lines; i++)
        *(t->lines[i].line ? &listed : &compiler) += t->lines[i].share;
    if (compiler >= 0.005)
        str_addf(out, "%5s %5.0f%%  code that the compiler made for no line\n", "-", 100 * compiler);
    if (t->n_lines && 1 - listed - compiler >= 0.005)
        str_addf(out, "%5s %5.0f%%  all other lines\n", "-", 100 * (1 - listed - compiler));
}

static void add_profile(struct session *s, const struct agent_diagnosis *d, const char *text, struct str *out)
{
    const struct trial *t = &s->versions[0].trial;

    str_addf(out, "%s\n\n%-28s %9s %9s  %-25s %8s %8s %8s %8s %8s %8s %6s\n", d->text, "workload", "us", "copy",
             "bound by", "dram", "l2", "issue", "latency", "launch", "sync", "occ.");
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_time *x = &t->workloads[i].times[s->task->regime];
        double share = trial_bound_us(x) / x->us;
        const char *bound = x->bound ? trial_bound_words(x, s->arena) : "-";
        if (isfinite(share))
            bound = arena_printf(s->arena, "%s %.0f %%", bound, 100 * share);
        str_addf(out, "%-28s %9.2f %9.2f  %-25s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %5.0f%%%s\n",
                 trial_dims_text(s->arena, t, i), x->us, x->copy_us, bound, x->dram_us, x->l2_us, x->issue_us,
                 x->latency_us, x->launch_us, x->sync_us, 100 * x->occupancy,
                 x->extrapolated ? "  extrapolated from a smaller shape" : "");
    }
    str_add(
        out,
        "The share is what the bound alone explains of the time. The parts overlap and do not add up to it; where the\n"
        "largest is far below the whole, warps wait for several things in turn.\n\n");
    session_add_resources(s, false, out);
    str_addf(out, "\n%5s %6s %6s %16s %10s  %s\n", "line", "time", "lanes", "sectors/request", "conflicts",
             "source");
    for (size_t i = 0; i < t->n_lines; i++)
        if (t->lines[i].line)
            add_line(s->arena, &t->lines[i], text, out);
    add_other_lines(t, out);
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
    const char *path = NULL, *why_not = NULL;
    char *text;
    int status;
    bool ok;

    if (args->capture)
        return cmd_replay(args, true);
    ok = session_open(&s, args, false, &err);

    if (ok) {
        path = s.versions[0].file ? s.versions[0].file : s.task->source_path;
        ok = fs_read(s.arena, path, &text, NULL, &err);
    }
    if (ok && verdict_correct(s.versions[0].trial.verdict) && trial_device_measures(s.device))
        ok = watch_counters(&(struct watched){s.task, trial_device_id(s.arena, s.device), path, text}, false,
                            s.arena, &s.versions[0].trial, &why_not, &err);

    if (ok && !verdict_correct(s.versions[0].trial.verdict) && args->json) {
        json_print(&out, profile_to_json(&s, NULL, text));
    } else if (ok && !verdict_correct(s.versions[0].trial.verdict)) {
        session_add_verdict(&s, &s.versions[0], &out);
        str_add(&out, "A version that is not correct is not profiled.\n");
    } else if (ok) {
        diagnose_trial(s.task, &s.versions[0].trial, s.device->name, true, s.arena, &d);
        if (args->json) {
            json_print(&out, profile_to_json(&s, &d, text));
        } else {
            add_profile(&s, &d, text, &out);
            if (why_not)
                str_addf(&out, "No counters of the GPU: %s.\n", why_not);
        }
    }
    status = session_close(&s, args, ok, &out, &err);
    return status;
}
