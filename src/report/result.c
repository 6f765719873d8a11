#include "report/report.h"

#include "ptx/ptx.h"
#include "source/source.h"
#include "trial/trial.h"

enum { RESULT_SCHEMA = 1 };

struct facts {
    struct store_run run;
    json_t *options;
    const struct store_candidate *list;
    size_t n;
    const struct store_candidate *best; /* list[0], the original, when nothing is better */
    const char *regime, *device, *confirmation;
};

/* The run notes its best when it ends; before that it is the fastest that passed, the older one on a tie. */
static bool best_of(struct store *s, struct arena *a, const struct store_candidate *list, size_t n,
                    const struct store_candidate **best, struct err *err)
{
    const char *noted;
    double score = 1;

    if (!store_get_note(s, a, "best", &noted, err))
        return false;
    *best = &list[0];
    for (size_t i = 1; i < n; i++)
        if (noted ? list[i].id == atoi(noted) : str_eq(list[i].verdict, "passed") && list[i].score > score) {
            *best = &list[i];
            score = list[i].score;
        }
    return true;
}

static bool facts_read(struct store *s, struct arena *a, struct facts *f, struct err *err)
{
    if (!store_get_run(s, a, &f->run, err) || !store_candidates(s, a, &f->list, &f->n, err) ||
        !store_get_note(s, a, "regime", &f->regime, err) || !store_get_note(s, a, "device", &f->device, err) ||
        !store_get_note(s, a, "confirmation", &f->confirmation, err))
        return false;
    if (f->n == 0)
        return err_world(err, "the run stopped before its original was judged; run it again");
    if (!best_of(s, a, f->list, f->n, &f->best, err))
        return false;
    f->options = json_parse(f->run.options, strlen(f->run.options), "the run's options", err);
    return f->options != NULL;
}

static json_t *dims_to_json(const char *dims)
{
    json_t *o = json_object();
    char name[64];
    long long value;
    int used;

    while (sscanf(dims, " %63[^= ]=%lld%n", name, &value, &used) == 2) {
        json_put_int(o, name, value);
        dims += used;
    }
    return o;
}

json_t *report_workload(const char *dims, double baseline_us, double best_us, double light_us,
                        const char *regime, const char *bound)
{
    json_t *o = json_object();

    json_put(o, "dims", dims_to_json(dims));
    json_put_num(o, "baseline_us", baseline_us);
    json_put_num(o, "best_us", best_us);
    json_put_num(o, "speedup", baseline_us / best_us);
    json_put_num(o, "low", NAN); /* intervals belong to measured times */
    json_put_num(o, "high", NAN);
    json_put_num(o, "light_us", light_us);
    json_put_text(o, "regime", regime);
    json_put_text(o, "bound_by", bound);
    return o;
}

static bool workloads_to_json(struct store *s, struct arena *a, const struct facts *f, const char *regime,
                              json_t **out, struct err *err)
{
    const struct store_workload *base, *best;
    size_t n_base, n_best;
    json_t *list = json_array();

    if (!store_workloads(s, a, 0, &base, &n_base, err) ||
        !store_workloads(s, a, f->best->id, &best, &n_best, err)) {
        json_decref(list);
        return false;
    }
    for (size_t i = 0; i < n_base; i++) {
        double best_us = NAN;
        const char *bound = NULL;
        if (!str_eq(base[i].regime, regime))
            continue;
        for (size_t k = 0; k < n_best; k++)
            if (str_eq(best[k].regime, regime) && str_eq(best[k].dims, base[i].dims)) {
                best_us = best[k].us;
                bound = best[k].bound;
            }
        json_array_append_new(
            list, report_workload(base[i].dims, base[i].us, best_us, base[i].light_us, regime, bound));
    }
    *out = list;
    return true;
}

static json_t *candidates_to_json(const struct facts *f)
{
    json_t *o = json_object(), *by_verdict = json_object(), *by_mind = json_object();
    int64_t passed = 0;

    json_put_int(by_mind, "rules", 0);
    json_put_int(by_mind, "llm", 0);
    for (size_t i = 1; i < f->n; i++) {
        const struct store_candidate *c = &f->list[i];
        passed += str_eq(c->verdict, "passed");
        json_put_int(by_verdict, c->verdict, json_int(by_verdict, c->verdict, 0) + 1);
        json_put_int(by_mind, c->mind, json_int(by_mind, c->mind, 0) + 1);
    }
    json_put_int(o, "total", (int64_t)f->n - 1);
    json_put_int(o, "passed", passed);
    json_put(o, "by_verdict", by_verdict);
    json_put(o, "by_mind", by_mind);
    return o;
}

/* The candidate's own cases and, where it was confirmed, the hidden ones; the worst error of both. */
static bool verification_to_json(struct arena *a, const struct facts *f, json_t **out, struct err *err)
{
    struct trial own = {0}, hidden = {0};
    json_t *j = f->best->trial ? json_parse(f->best->trial, strlen(f->best->trial), "stored trial", err) : NULL;
    json_t *o;
    bool ok = j && trial_from_json(j, a, &own, err);

    json_decref(j);
    if (ok && f->best->id != 0 && f->confirmation) {
        j = json_parse(f->confirmation, strlen(f->confirmation), "stored confirmation", err);
        ok = j && trial_from_json(j, a, &hidden, err);
        json_decref(j);
    }
    if (!ok)
        return false;
    o = json_object();
    json_put_int(o, "cases", (int64_t)own.cases);
    json_put_int(o, "hidden", (int64_t)hidden.cases);
    json_put_num(o, "max_error", fmax(own.error.max, hidden.cases ? hidden.error.max : NAN));
    json_put_num(o, "original_error",
                 fmax(own.original_error.max, hidden.cases ? hidden.original_error.max : NAN));
    json_put_num(o, "allowed_error",
                 fmax(own.allowed_error.max, hidden.cases ? hidden.allowed_error.max : NAN));
    json_put_text(o, "unit", "ulp");
    *out = o;
    return true;
}

static json_t *speedup_to_json(const json_t *workloads)
{
    json_t *o = json_object(), *w;
    double sum = 0;
    size_t i;

    json_array_foreach(workloads, i, w) sum += log(json_num(w, "speedup"));
    json_put_num(o, "geomean", exp(sum / (double)json_array_size(workloads)));
    json_put_num(o, "low", NAN);
    json_put_num(o, "high", NAN);
    return o;
}

json_t *report_device(const char *name)
{
    const struct ptx_device *list;
    size_t n = ptx_device_list(&list);
    bool validated = false;
    json_t *o = json_object();

    for (size_t i = 0; i < n; i++)
        validated = validated || (str_eq(list[i].full_name, name) && list[i].validated);
    json_put_text(o, "kind", "sim");
    json_put_text(o, "name", name);
    json_put_text(o, "basis", "modelled");
    json_put_flag(o, "validated", validated);
    return o;
}

static json_t *cost_to_json(void)
{
    json_t *o = json_object();

    json_put_num(o, "usd", 0);
    json_put_int(o, "tokens_in", 0);
    json_put_int(o, "tokens_out", 0);
    json_put_int(o, "calls", 0);
    return o;
}

bool report_result(struct store *s, struct arena *a, json_t **result, struct err *err)
{
    struct facts f = {0};
    json_t *o, *workloads, *other, *verification;
    int rounds = 0;

    if (!facts_read(s, a, &f, err))
        return false;
    if (!workloads_to_json(s, a, &f, f.regime, &workloads, err)) {
        json_decref(f.options);
        return false;
    }
    if (!workloads_to_json(s, a, &f, str_eq(f.regime, "hot") ? "cold" : "hot", &other, err) ||
        !verification_to_json(a, &f, &verification, err)) {
        json_decref(workloads);
        json_decref(f.options);
        return false;
    }
    for (size_t i = 0; i < f.n; i++)
        rounds = MAX(rounds, f.list[i].round);
    o = json_object();
    json_put_text(o, "astra", f.run.astra);
    json_put_int(o, "schema", RESULT_SCHEMA);
    json_put_text(o, "task", f.run.task_name);
    json_put_text(o, "outcome", f.best->id ? "improved" : "unchanged");
    json_put_text(o, "status", f.run.status);
    json_put(o, "device", report_device(f.device));
    json_put_text(o, "agents", json_text(f.options, "agents", "rules"));
    json_put(o, "speedup", speedup_to_json(workloads));
    json_put(o, "workloads", workloads);
    json_put(o, "other_regime", other);
    json_put(o, "verification", verification);
    json_put(o, "candidates", candidates_to_json(&f));
    json_put_int(o, "rounds", rounds);
    json_put_int(o, "best_candidate", f.best->id);
    json_put_text(o, "best", "best.cu");
    json_put_text(o, "diff", "best.diff");
    json_put(o, "cost", cost_to_json());
    json_put_num(o, "wall_s", f.run.wall_s);
    json_decref(f.options);
    *result = o;
    return true;
}

bool report_write(struct store *s, struct arena *a, const char *folder, const json_t *result, struct err *err)
{
    const struct store_candidate *list, *best;
    size_t n;
    char *diff;

    if (!store_candidates(s, a, &list, &n, err) || !best_of(s, a, list, n, &best, err))
        return false;
    if (!source_diff(a, "original.cu", list[0].text, "best.cu", best->text, &diff, err))
        return false;
    return fs_write_text(fs_join(a, folder, "best.cu"), best->text, err) &&
           fs_write_text(fs_join(a, folder, "best.diff"), diff, err) &&
           fs_write_text(fs_join(a, folder, "result.json"), arena_printf(a, "%s\n", json_pretty(a, result)),
                         err);
}
