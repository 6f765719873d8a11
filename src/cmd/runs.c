/* The verbs that read finished or stopped runs: runs, show, diff. */
#include "cmd/cmd.h"
#include "report/report.h"
#include "source/source.h"
#include "store/store.h"

#include <dirent.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_run(struct arena *a, const char *folder, json_t *list, struct str *out)
{
    struct store *s;
    struct store_run run;
    json_t *result = NULL, *o;
    struct err err = {0};
    double geomean;

    if (!fs_exists(fs_join(a, folder, "run.db")) || !store_open(&s, folder, false, &err))
        return false;
    if (store_get_run(s, a, &run, &err)) {
        result = run.result ? json_parse(run.result, strlen(run.result), "result", NULL) : NULL;
        geomean = json_num(json_object_get(result, "speedup"), "geomean");
        o = json_object();
        json_put_text(o, "run", folder);
        json_put_text(o, "task", run.task_name);
        json_put_text(o, "status", run.status);
        json_put_text(o, "started", run.started);
        json_put_num(o, "speedup", geomean);
        json_put_num(o, "wall_s", run.wall_s);
        json_array_append_new(list, o);
        str_addf(out, "%-20s  %-12s %8.1f s  ", run.started, run.status, run.wall_s);
        if (isfinite(geomean))
            str_addf(out, "%7.2fx", geomean);
        else
            str_add(out, "       -");
        str_addf(out, "  %-24s %s\n", run.task_name, folder);
    }
    json_decref(result);
    store_close(s);
    return true;
}

int cmd_runs(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    const char *dir = args->n_words ? args->words[0] : "astra-runs";
    struct str out = {0};
    struct dirent **names = NULL;
    json_t *list = json_array();
    struct err err = {0};
    int status, n = scandir(dir, &names, NULL, by_name);

    if (n < 0 && args->n_words)
        err_input(&err, "there is no folder %s", dir);
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            add_run(a, fs_join(a, dir, names[i]->d_name), list, &out);
        free(names[i]);
    }
    free(names);
    if (args->json) {
        str_clear(&out);
        str_addf(&out, "%s\n", json_pretty(a, list));
    } else if (out.len == 0) {
        str_addf(&out, "no runs below %s; `astra optimize DIR` makes one\n", dir);
    }
    status = err.kind || !cmd_print(str_text(&out), &err) ? cmd_fail(&err) : EXIT_OK;
    str_free(&out);
    json_decref(list);
    arena_close(a);
    return status;
}

struct opened {
    struct arena *arena;
    struct store *store;
    char *folder;
    const struct store_candidate *list;
    size_t n;
    long long candidate; /* -1: not named */
};

static bool opened_run(struct opened *o, const struct cmd_args *args, struct err *err)
{
    char *end = NULL;

    *o = (struct opened){.arena = arena_open(), .candidate = -1};
    if (!cmd_run_folder(o->arena, args->words[0], &o->folder, err) ||
        !store_open(&o->store, o->folder, false, err) ||
        !store_candidates(o->store, o->arena, &o->list, &o->n, err))
        return false;
    if (args->n_words > 1) {
        o->candidate = strtoll(args->words[1], &end, 10);
        if (*end || end == args->words[1] || o->candidate < 0 || o->candidate >= (long long)o->n)
            return err_input(err, "'%s' is no candidate of this run; it has 0 (the original) to %zd",
                             args->words[1], (ssize_t)o->n - 1);
    }
    return true;
}

static int opened_close(struct opened *o, bool ok, struct str *out, struct err *err)
{
    int status = ok && cmd_print(str_text(out), err) ? EXIT_OK : cmd_fail(err);

    str_free(out);
    store_close(o->store);
    arena_close(o->arena);
    return status;
}

static bool show_candidate(struct opened *o, struct str *out, struct err *err)
{
    const struct store_candidate *c = &o->list[o->candidate];
    const struct store_workload *w;
    size_t n;

    if (!store_workloads(o->store, o->arena, c->id, &w, &n, err))
        return false;
    str_addf(out, "candidate %d, round %d, from candidate %d, by %s\n", c->id, c->round, c->parent, c->mind);
    str_addf(out, "strategy  %s\nreason    %s\nplan      %s\n", c->name, c->reason, c->plan);
    str_addf(out, "verdict   %s", c->verdict);
    if (c->line)
        str_addf(out, ", line %d", c->line);
    str_addf(out, "%s%s\n", c->words[0] ? ": " : "", c->words);
    if (isfinite(c->score))
        str_addf(out, "speed     %.3fx the original, %.3fx its parent\n", c->score, c->gain);
    if (c->diagnosis)
        str_addf(out, "diagnosis %s\n", c->diagnosis);
    for (size_t i = 0; i < n; i++)
        str_addf(out, "  %-32s %-4s %10.2f us  copy %10.2f us  %s\n", w[i].dims, w[i].regime, w[i].us,
                 w[i].light_us, w[i].bound ? w[i].bound : "");
    str_addf(out, "\n%s", c->text);
    return true;
}

int cmd_show(const struct cmd_args *args)
{
    struct opened o;
    struct str out = {0};
    struct err err = {0};
    json_t *result = NULL;
    bool ok = opened_run(&o, args, &err);

    if (ok && args->calls && args->json) {
        ok = report_calls_json(o.store, o.arena, &result, &err);
        if (ok)
            str_addf(&out, "%s\n", json_pretty(o.arena, result));
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
            str_addf(&out, "%s\n", json_pretty(o.arena, result));
    } else if (ok)
        ok = report_summary(o.store, o.arena, o.folder, &out, &err);
    json_decref(result);
    return opened_close(&o, ok, &out, &err);
}

int cmd_diff(const struct cmd_args *args)
{
    struct opened o;
    struct str out = {0};
    struct err err = {0};
    json_t *result = NULL;
    const char *text;
    char *diff;
    bool ok = opened_run(&o, args, &err);

    if (ok && o.candidate < 0)
        ok = report_result(o.store, o.arena, &result, &err) &&
             report_best(o.store, o.arena, result, &text, &err);
    else if (ok)
        text = o.list[o.candidate].text;
    if (ok)
        ok = source_diff(o.arena, "original.cu", o.list[0].text, "best.cu", text, &diff, &err);
    if (ok)
        str_add(&out, diff);
    json_decref(result);
    return opened_close(&o, ok, &out, &err);
}
