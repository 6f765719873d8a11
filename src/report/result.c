#include "report/report.h"

#include "verdict/verdict.h"

enum { RESULT_SCHEMA = 1 };

struct facts {
    struct store_run run;
    json_t *options;
    const struct store_candidate *list;
    size_t n;
    const struct store_candidate *best; /* list[0], the original, when nothing is better */
    const char *regime, *tester;        /* tester: JSON; NULL: it was the rules */
    struct trial_device device;
    /* The best's own trial; what a fresh process said of it, and of the original beside it. */
    struct trial original, own, hidden, control;
    bool has_hidden, has_control;
    const char *mutation; /* JSON; NULL: not looked at */
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

static bool read_trial(struct arena *a, const char *text, struct trial *t, struct err *err)
{
    json_t *j = json_parse(text, strlen(text), "stored trial", err);
    bool ok = j && trial_from_json(j, a, t, err);

    json_decref(j);
    return ok;
}

static bool read_device(struct arena *a, const char *text, struct trial_device *d, struct err *err)
{
    json_t *j = json_parse(text ? text : "", text ? strlen(text) : 0, "stored device", err);
    bool ok = j && trial_device_from_json(j, a, d, err);

    json_decref(j);
    return ok || err_context(err, "the run was written by another version");
}

static bool facts_read(struct store *s, struct arena *a, struct facts *f, struct err *err)
{
    const char *device, *hidden, *control;

    if (!store_get_run(s, a, &f->run, err) || !store_candidates(s, a, &f->list, &f->n, err) ||
        !store_get_note(s, a, "regime", &f->regime, err) || !store_get_note(s, a, "device", &device, err) ||
        !store_get_note(s, a, "confirmation", &hidden, err) ||
        !store_get_note(s, a, "control", &control, err) || !store_get_note(s, a, "tester", &f->tester, err) ||
        !store_get_note(s, a, "mutation", &f->mutation, err))
        return false;
    if (f->n == 0)
        return err_world(err, "the run stopped before its original was judged; run it again");
    if (!best_of(s, a, f->list, f->n, &f->best, err) || !read_device(a, device, &f->device, err) ||
        !read_trial(a, f->list[0].trial, &f->original, err) || !read_trial(a, f->best->trial, &f->own, err))
        return false;
    f->has_hidden = f->best->id != 0 && hidden;
    f->has_control = f->has_hidden && control;
    if ((f->has_hidden && !read_trial(a, hidden, &f->hidden, err)) ||
        (f->has_control && !read_trial(a, control, &f->control, err)))
        return false;
    f->options = json_parse(f->run.options, strlen(f->run.options), "the run's options", err);
    return f->options != NULL;
}

/* The trial whose times count: what was measured once more in a fresh process is free of the luck of being the
 * best of many. Modelled times are the same in every process. */
static const struct trial *timed(const struct facts *f)
{
    return f->has_hidden && trial_device_measures(&f->device) && f->hidden.n_workloads ? &f->hidden : &f->own;
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

json_t *report_workload(const char *dims, const struct trial_time *original, const struct trial_time *best,
                        const char *regime)
{
    json_t *o = json_object();
    /* The original's time beside the best's in the same pairs, where there were pairs. */
    double base_us = best && isfinite(best->base_us) ? best->base_us : original->us;
    double speedup = !best ? NAN : isfinite(best->speedup) ? best->speedup : base_us / best->us;

    json_put(o, "dims", dims_to_json(dims));
    json_put_num(o, "baseline_us", base_us);
    json_put_num(o, "best_us", best ? best->us : NAN);
    json_put_num(o, "speedup", speedup);
    json_put_num(o, "low", best ? best->low : NAN);
    json_put_num(o, "high", best ? best->high : NAN);
    json_put_num(o, "light_us", original->light_us);
    json_put_num(o, "compulsory_bytes", original->compulsory_bytes);
    json_put_num(o, "baseline_flops", original->flops);
    json_put_num(o, "best_flops", best ? best->flops : NAN);
    json_put_num(o, "baseline_dram_bytes", original->dram_bytes);
    json_put_num(o, "best_dram_bytes", best ? best->dram_bytes : NAN);
    json_put_text(o, "regime", regime);
    json_put_text(o, "bound_by", best ? best->bound : NULL);
    return o;
}

static bool workloads_to_json(struct store *s, struct arena *a, const struct facts *f, const char *regime,
                              json_t **out, struct err *err)
{
    const struct store_workload *rows; /* for the dims' names */
    const struct trial *best = timed(f);
    json_t *list = json_array();
    bool hot = str_eq(regime, "hot");
    size_t n, at = 0;

    if (!store_workloads(s, a, 0, &rows, &n, err)) {
        json_decref(list);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(rows[i].regime, regime) || at >= f->original.n_workloads)
            continue;
        const struct trial_workload *o = &f->original.workloads[at],
                                    *b = at < best->n_workloads ? &best->workloads[at] : NULL;
        struct trial_time own = hot ? o->hot : o->cold; /* the original as its own best */
        own.base_us = own.us;
        own.speedup = 1;
        own.low = own.high = NAN;
        json_array_append_new(list, report_workload(rows[i].dims, hot ? &o->hot : &o->cold,
                                                    f->best->id == 0 ? &own
                                                    : !b             ? NULL
                                                    : hot            ? &b->hot
                                                                     : &b->cold,
                                                    regime));
        at++;
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

/* A note as it was kept; null when there is none that can be read. */
static json_t *noted(const char *text)
{
    json_t *o = text ? json_parse(text, strlen(text), "stored note", NULL) : NULL;

    return o ? o : json_null();
}

json_t *report_verification(const struct trial *own, const struct trial *hidden, json_t *mutation)
{
    json_t *o = json_object();

    json_put_int(o, "cases", (int64_t)own->cases);
    json_put_int(o, "hidden", hidden ? (int64_t)hidden->cases : 0);
    json_put_num(o, "max_error", fmax(own->error.max, hidden ? hidden->error.max : NAN));
    json_put_num(o, "original_error", fmax(own->original_error.max, hidden ? hidden->original_error.max : NAN));
    json_put_num(o, "allowed_error", fmax(own->allowed_error.max, hidden ? hidden->allowed_error.max : NAN));
    json_put_text(o, "unit", "ulp");
    json_put(o, "ulp_edges", trial_edges_to_json());
    json_put(o, "errors", trial_accuracy_to_json(hidden && hidden->n_accuracy ? hidden : own));
    json_put_text(o, "exact", own->exact);
    json_put_num(o, "shadow_lost", own->shadow_lost);
    json_put_text(o, "underived", own->underived);
    json_put(o, "mutation", mutation);
    json_put_text(o, "missing", hidden ? hidden->missing_checks : own->missing_checks);
    return o;
}

static json_t *speedup_to_json(const struct facts *f, const json_t *workloads)
{
    json_t *o = json_object(), *w;
    double sum = 0;
    size_t i;

    json_array_foreach(workloads, i, w) sum += log(json_num(w, "speedup"));
    json_put_num(o, "geomean", exp(sum / (double)json_array_size(workloads)));
    json_put_num(o, "low", f->best->id ? timed(f)->low : NAN);
    json_put_num(o, "high", f->best->id ? timed(f)->high : NAN);
    return o;
}

json_t *report_device(const struct trial_device *d)
{
    json_t *o = trial_device_to_json(d);

    json_object_del(o, "limits"); /* of no use to a reader */
    json_object_del(o, "peaks");
    return o;
}

json_t *report_noise(const struct trial *control, bool hot)
{
    json_t *o = json_object();
    double low = NAN, high = NAN;

    for (size_t i = 0; i < control->n_workloads; i++) {
        const struct trial_time *x = hot ? &control->workloads[i].hot : &control->workloads[i].cold;
        low = fmin(low, x->low);
        high = fmax(high, x->high);
    }
    json_put_num(o, "low", low);
    json_put_num(o, "high", high);
    return o;
}

bool report_result(struct store *s, struct arena *a, json_t **result, struct err *err)
{
    struct facts f = {0};
    json_t *o, *workloads, *other, *cost, *provenance;
    char digest[65];
    int rounds = 0;

    if (!facts_read(s, a, &f, err))
        return false;
    if (!workloads_to_json(s, a, &f, f.regime, &workloads, err)) {
        json_decref(f.options);
        return false;
    }
    if (!workloads_to_json(s, a, &f, str_eq(f.regime, "hot") ? "cold" : "hot", &other, err)) {
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
    json_put(o, "device", report_device(&f.device));
    json_put_text(o, "agents", json_text(f.options, "agents", "rules"));
    json_put(o, "speedup", speedup_to_json(&f, workloads));
    json_put(o, "workloads", workloads);
    json_put(o, "other_regime", other);
    json_put(o, "noise", report_noise(f.has_control ? &f.control : &f.original, str_eq(f.regime, "hot")));
    json_put(o, "clocks", trial_clocks_to_json(&timed(&f)->clocks));
    json_put(o, "verification",
             report_verification(&f.own, f.has_hidden ? &f.hidden : NULL, noted(f.mutation)));
    json_put(o, "candidates", candidates_to_json(&f));
    json_put_int(o, "rounds", rounds);
    json_put_int(o, "best_candidate", f.best->id);
    json_put_text(o, "best", "best.cu");
    json_put_text(o, "diff", "best.diff");
    json_put_num(o, "wall_s", f.run.wall_s);
    json_put(o, "tester", noted(f.tester));
    json_decref(f.options);
    if (!report_cost(s, a, &cost, err)) {
        json_decref(o);
        return false;
    }
    json_put(o, "cost", cost);
    if (!report_provenance(s, a, f.best->text, &provenance, err)) {
        json_decref(o);
        return false;
    }
    json_put(o, "provenance", provenance);
    report_digest(a, o, digest);
    json_put_text(provenance, "digest", digest);
    *result = o;
    return true;
}

bool report_best(struct store *s, struct arena *a, const json_t *result, const char **text, struct err *err)
{
    const struct store_candidate *list, *best;
    size_t n;

    if (!store_candidates(s, a, &list, &n, err) || !best_of(s, a, list, n, &best, err))
        return false;
    *text = arena_printf(a, "%s%s", report_header(a, result), best->text);
    return true;
}

bool report_write(struct store *s, struct arena *a, const char *folder, const json_t *result, struct err *err)
{
    const struct store_candidate *list;
    const char *best;
    size_t n;

    if (!store_candidates(s, a, &list, &n, err) || !report_best(s, a, result, &best, err))
        return false;
    return fs_write_text(fs_join(a, folder, "best.cu"), best, err) &&
           fs_write_text(fs_join(a, folder, "best.diff"),
                         diff_unified(a, "original.cu", list[0].text, "best.cu", best), err) &&
           fs_write_text(fs_join(a, folder, "result.json"), arena_printf(a, "%s\n", json_pretty(a, result)),
                         err);
}
