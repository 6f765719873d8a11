/* The verb bench: versions verified and timed against the original. */
#include "cmd/session.h"

/* A row a workload, at the end of the list. */
static json_t *add_workloads(json_t *list, const struct session *s, const struct trial *t, enum regime regime)
{
    const struct trial *original = &s->original.trial;

    for (size_t i = 0; i < original->n_workloads; i++) {
        const struct trial_workload *w = i < t->n_workloads ? &t->workloads[i] : NULL;
        json_array_append_new(list, trial_row_to_json(original, i, w ? &w->times[regime] : NULL, regime));
    }
    return list;
}

static json_t *further_to_json(const struct session *s, const struct trial *t)
{
    json_t *list = json_array();

    for (enum regime regime = 0; regime < N_REGIMES; regime++)
        if (regime_is_further(regime, s->task->regime))
            add_workloads(list, s, t, regime);
    return list;
}

static json_t *resources_to_json(const struct session *s, const struct session_version *v)
{
    const struct trial *t = &v->trial;
    json_t *o = json_object(), *list = json_array();

    json_put_int(o, "registers", t->registers);
    json_put_int(o, "spill_bytes", t->spill_bytes);
    json_put_int(o, "static_shared_bytes", t->shared_bytes);
    json_put(o, "dynamic_shared_bytes", v->dynamic_bytes < 0 ? json_null() : json_integer(v->dynamic_bytes));
    for (size_t i = 0; i < t->n_workloads; i++)
        json_array_append_new(list, json_real(t->workloads[i].times[s->task->regime].occupancy));
    json_put(o, "occupancy", list);
    return o;
}

static json_t *version_to_json(const struct session *s, const struct session_version *v)
{
    const struct trial *t = &v->trial;
    const struct verified verified = {&s->original.trial, t, NULL};
    json_t *o = json_object(), *speedup = json_object(), *resources = json_object();

    json_put_text(o, "astra", ASTRA_VERSION);
    json_put_int(o, "schema", 1);
    json_put_text(o, "task", s->task->name);
    json_put_text(o, "file", v->file);
    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_text(o, "words", t->words ? t->words : "");
    json_put(o, "line", t->line ? json_integer(t->line) : json_null());
    json_put_num(speedup, "geomean", t->score);
    json_put_num(speedup, "low", t->low);
    json_put_num(speedup, "high", t->high);
    json_put(o, "speedup", speedup);
    json_put(o, "device", report_device(s->device));
    if (t->n_beside || s->original.trial.n_beside) {
        json_t *beside = json_array();
        report_add_beside(beside, &s->original.trial, "original");
        if (v->file)
            report_add_beside(beside, t, v->file);
        json_put(o, "beside", beside);
    }
    json_put(o, "noise", report_noise(&s->original.trial, s->task->regime));
    json_put(o, "clocks", trial_clocks_to_json(&t->clocks));
    json_put(o, "workloads", add_workloads(json_array(), s, t, s->task->regime));
    json_put(o, "other_regime", add_workloads(json_array(), s, t, regime_other(s->task->regime)));
    json_put(o, "further_regimes", further_to_json(s, t));
    json_put(o, "verification", report_verification(s->arena, &verified, json_null()));
    json_put(o, "seed", s->seed <= (uint64_t)1 << 53 ? json_integer((json_int_t)s->seed) : json_null());
    json_put(resources, "original", resources_to_json(s, &s->original));
    json_put(resources, "version", resources_to_json(s, v));
    json_put(o, "resources", resources);
    json_put_num(o, "wall_s", t->wall_s);
    return o;
}

/* One object for one file, as it always was; several in `versions`. */
static json_t *all_to_json(const struct session *s, const json_t *list)
{
    json_t *o;

    if (s->n_versions == 1)
        return json_incref(json_array_get(list, 0));
    o = json_object();
    json_put_text(o, "astra", ASTRA_VERSION);
    json_put_int(o, "schema", 1);
    json_put_text(o, "task", s->task->name);
    json_put(o, "versions", json_incref((json_t *)(uintptr_t)list));
    return o;
}

/* Several versions in a row each. */
static void add_overview(const struct session *s, bool markdown, struct str *out)
{
    struct table *t = table_new(s->arena, "Versions");

    table_columns(t, "version|verdict|speed-up#|elements that are the original's#");
    for (size_t i = 0; i < s->n_versions; i++) {
        const struct trial *x = &s->versions[i].trial;
        table_row(t, s->versions[i].file);
        table_text(t, verdict_name(x->verdict));
        table_num(t, x->score, 2, "x");
        table_num(t, x->elements ? 100. * (double)x->identical_elements / (double)x->elements : NAN, 2, " %");
    }
    (markdown ? table_as_markdown : table_as_text)(t, out);
    str_addc(out, '\n');
}

static void add_version(const struct session *s, const struct session_version *v, const json_t *o,
                        bool markdown, struct str *out)
{
    const json_t *checked = json_object_get(o, "verification");

    if (v->file && (markdown || s->n_versions > 1))
        str_addf(out, "%s%s\n\n", markdown ? "## " : "", v->file);
    if (markdown) {
        table_as_markdown(report_workload_table(s->arena, o, s->task->regime), out);
        str_addc(out, '\n');
        if (report_beside_table(s->arena, o)) {
            table_as_markdown(report_beside_table(s->arena, o), out);
            str_addc(out, '\n');
        }
    } else {
        report_workloads(o, out);
        str_addc(out, '\n');
        if (!v->file || !report_far_within(checked)) { /* what the verdict says is enough, else */
            report_errors(json_object_get(checked, "errors"), !v->file, out);
            str_addc(out, '\n');
        }
    }
    session_add_verdict(s, v, out);
    str_addc(out, '\n');
}

static void add_all(const struct session *s, const json_t *list, bool markdown, struct str *out)
{
    if (s->n_versions > 1)
        add_overview(s, markdown, out);
    for (size_t i = 0; i < s->n_versions; i++)
        add_version(s, &s->versions[i], json_array_get(list, i), markdown, out);
    session_add_resources(s, markdown, out);
    if (s->confirmed)
        str_addf(out, "\nThe hidden cases are those of --hidden-seed %llu.\n", (unsigned long long)s->seed);
}

int cmd_bench(const struct cmd_args *args)
{
    struct session s;
    struct str out = {0};
    struct err err = {0};
    json_t *list = json_array();
    bool ok = (!args->json || !args->markdown ||
               err_input(&err, "--json and --markdown are two forms of a result; ask for one"));
    int status;

    if (!ok) {
        json_decref(list);
        return cmd_fail(&err);
    }
    ok = session_open(&s, args, true, &err);
    for (size_t i = 0; ok && i < s.n_versions; i++)
        json_array_append_new(list, version_to_json(&s, &s.versions[i]));
    if (ok && args->json) {
        json_print(&out, all_to_json(&s, list));
    } else if (ok) {
        add_all(&s, list, args->markdown, &out);
    }
    status = session_close(&s, args, ok, &out, &err);
    for (size_t i = 0; status == EXIT_OK && i < json_array_size(list); i++)
        status = cmd_fail_under(args, json_array_get(list, i));
    json_decref(list);
    return status;
}
