/* The verbs that read finished or stopped runs: runs, show, diff. */
#include "cmd/cmd.h"
#include "report/report.h"
#include "store/store.h"

int cmd_runs(const struct cmd_args *args)
{
    const struct runs_choice choice = {.task = args->only_task,
                                       .agents = args->only_agents,
                                       .kind = args->only_device,
                                       .outcome = args->only_outcome,
                                       .since = args->since,
                                       .sort = args->sort,
                                       .reverse = args->reverse};
    const char *dir = args->n_words ? args->words[0] : "astra-runs";
    struct arena *a = arena_open();
    const struct runs_row *list;
    struct str out = {.arena = a};
    struct err err = {0};
    size_t n = 0, n_all;
    bool ok = !args->n_words || fs_is_dir(dir) || err_input(&err, "there is no folder %s", dir);

    ok = ok && runs_read(a, dir, &choice, &list, &n, &n_all, &err);
    if (ok && args->json) {
        json_print(&out, runs_json(list, n));
    } else if (ok && n_all) {
        runs_table(list, n, n_all, &out);
    } else if (ok) {
        str_addf(&out, "no runs below %s; `astra optimize DIR` makes one\n", dir);
    }
    ok = ok && cmd_print_result(args, str_text(&out), &err);
    for (size_t i = 0; ok && i < n; i++)
        if (list[i].error)
            fprintf(stderr, "left out: %s: %s\n", list[i].run, list[i].error);
    arena_close(a);
    return ok ? EXIT_OK : cmd_fail(&err);
}

struct opened {
    struct arena *arena;
    struct store *store;
    char *folder;
    const struct store_candidate *list;
    size_t n;
    long long candidate; /* -1: not named */
};

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == 0;
}

static bool is_run(struct arena *a, const char *word)
{
    return fs_is_dir(word) || fs_is_dir(fs_join(a, "astra-runs", word));
}

static bool opened_run(struct opened *o, const struct cmd_args *args, const char *verb, struct err *err)
{
    const char *number = args->n_words > 1 ? args->words[1] : NULL;
    char *end = NULL;

    *o = (struct opened){.arena = arena_open(), .candidate = -1};
    if (args->n_words == 1 && is_number(args->words[0]) && !is_run(o->arena, args->words[0])) {
        number = args->words[0];
        if (!cmd_run_newest(o->arena, verb, &o->folder, err))
            return false;
    } else if (!cmd_run_named(o->arena, args, verb, &o->folder, err)) {
        return false;
    }
    if (!store_open(&o->store, o->folder, false, err) ||
        !store_candidates(o->store, o->arena, &o->list, &o->n, err))
        return false;
    if (number) {
        o->candidate = strtoll(number, &end, 10);
        if (*end || end == number || o->candidate < 0 || o->candidate >= (long long)o->n)
            return err_input(err, "'%s' is no candidate of this run; it has 0 (the original) to %zd", number,
                             (ssize_t)o->n - 1);
    }
    return true;
}

static int opened_close(struct opened *o, bool ok, enum cmd_form form, struct str *out, struct err *err)
{
    int status = ok && cmd_print_as(form, str_text(out), err) ? EXIT_OK : cmd_fail(err);

    str_free(out);
    store_close(o->store);
    arena_close(o->arena);
    return status;
}

static bool show_candidate(struct opened *o, struct str *out, struct err *err)
{
    const struct store_candidate *c = &o->list[o->candidate];
    struct trial trial = {0};
    struct table *t;

    if (c->trial && !trial_from_text(c->trial, o->arena, &trial, err))
        return false;
    str_addf(out, "candidate %d, round %d, from candidate %d, by %s\n", c->id, c->round, c->parent,
             str_eq(c->backend, "also") ? "somebody (--also)" : c->backend);
    str_addf(out, "strategy  %s\nreason    %s\nplan      %s\n", c->name, c->reason, c->plan);
    str_addf(out, "verdict   %s", c->verdict);
    if (c->line)
        str_addf(out, ", line %d", c->line);
    str_addf(out, "%s%s\n", c->words[0] ? ": " : "", c->words);
    if (isfinite(c->score))
        str_addf(out, "speed     %.3fx the original, %.3fx its parent\n", c->score, c->gain);
    if (c->diagnosis)
        str_addf(out, "diagnosis %s\n", c->diagnosis);
    t = table_new(o->arena, "Times");
    table_columns(t, "workload|regime|time#us|copy#us|bound by");
    for (size_t i = 0; i < N_REGIMES * trial.n_workloads; i++) {
        enum regime regime = (enum regime)(i / trial.n_workloads);
        const struct trial_time *x = &trial.workloads[i % trial.n_workloads].times[regime];
        table_row(t, trial_dims_text(o->arena, &trial, i % trial.n_workloads));
        table_text(t, regime_name(regime));
        table_num(t, x->us, 2, "");
        table_num(t, x->copy_us, 2, "");
        table_text(t, x->bound);
    }
    if (trial.n_workloads) {
        str_addc(out, '\n');
        table_as_text(t, out);
    }
    str_addf(out, "\n%s", c->text);
    return true;
}

int cmd_show(const struct cmd_args *args)
{
    struct opened o;
    struct str out = {0};
    struct err err = {0};
    json_t *result = NULL;
    bool whole = !args->calls && !args->prompt && !args->strategy;
    bool ok = opened_run(&o, args, "show", &err);
    int status, under = EXIT_OK;

    if (ok && args->fail_under && (!whole || o.candidate >= 0))
        ok = err_input(&err, "--fail-under is about a run's result: `astra show RUN`");
    if (ok && args->calls && args->json) {
        ok = report_calls_json(o.store, o.arena, &result, &err);
        if (ok)
            json_print(&out, json_incref(result));
    } else if (ok && args->calls)
        ok = report_calls(o.store, o.arena, &out, &err);
    else if (ok && args->prompt)
        ok = report_call(o.store, o.arena, (int)args->prompt, &out, &err);
    else if (ok && args->strategy)
        ok = report_strategy(o.store, o.arena, (int)args->strategy, &out, &err);
    else if (ok && o.candidate >= 0)
        ok = show_candidate(&o, &out, &err);
    else if (ok && args->json) {
        ok = report_result(o.store, o.arena, &result, &err);
        if (ok)
            json_print(&out, json_incref(result));
    } else if (ok)
        ok = report_summary(o.store, o.arena, o.folder, REPORT_ERRORS, &out, &err);
    if (ok && args->fail_under)
        ok = (result || report_result(o.store, o.arena, &result, &err)) &&
             (under = cmd_fail_under(args, result), true);
    json_decref(result);
    status = opened_close(&o, ok, whole && o.candidate < 0 && !args->json ? CMD_TEXT : CMD_EXACT, &out, &err);
    return status == EXIT_OK ? under : status;
}

int cmd_diff(const struct cmd_args *args)
{
    struct opened o;
    struct str out = {0};
    struct err err = {0};
    json_t *result = NULL;
    const char *text;
    bool ok;

    if (args->n_words > 1 && !is_number(args->words[1]))
        return cmd_diff_runs(args);
    if (args->json) {
        err_input(&err, "--json is for a diff of two runs; of one there is a patch");
        return cmd_fail(&err);
    }
    ok = opened_run(&o, args, "diff", &err);
    if (ok && o.candidate < 0)
        ok = report_result(o.store, o.arena, &result, &err) &&
             report_best(o.store, o.arena, result, &text, &err);
    else if (ok)
        text = o.list[o.candidate].text;
    if (ok)
        str_add(&out, diff_unified(o.arena, "original.cu", o.list[0].text, "best.cu", text));
    json_decref(result);
    return opened_close(&o, ok, CMD_PATCH, &out, &err);
}
