#include "report/report.h"

#include "verdict/verdict.h"

enum { RESULT_SCHEMA = 1 };

struct facts {
    struct store_run run;
    json_t *options;
    const struct store_candidate *list;
    size_t n;
    const struct store_candidate *best; /* list[0], the original, when nothing is better */
    enum regime regime;
    const char *tester;       /* JSON; NULL: it was the rules */
    const char *confirmed_by; /* JSON; NULL: this machine */
    const char *end_to_end;   /* JSON; NULL: it was not put into its program */
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

static bool facts_read(struct store *s, struct arena *a, struct facts *f, struct err *err)
{
    const char *device, *regime, *hidden, *control;

    if (!store_get_run(s, a, &f->run, err) || !store_candidates(s, a, &f->list, &f->n, err) ||
        !store_get_note(s, a, "regime", &regime, err) || !store_get_note(s, a, "device", &device, err) ||
        !store_get_note(s, a, "confirmation", &hidden, err) ||
        !store_get_note(s, a, "control", &control, err) || !store_get_note(s, a, "tester", &f->tester, err) ||
        !store_get_note(s, a, "confirmed_by", &f->confirmed_by, err) ||
        !store_get_note(s, a, "end_to_end", &f->end_to_end, err) ||
        !store_get_note(s, a, "mutation", &f->mutation, err))
        return false;
    if (f->n == 0)
        return err_world(err, "the run stopped before its original was judged; run it again");
    if (!device || !regime_parse(regime, &f->regime))
        return err_world(err, "the run's notes are not readable; it was written by another version");
    if (!best_of(s, a, f->list, f->n, &f->best, err) || !trial_device_from_text(device, a, &f->device, err) ||
        !trial_from_text(f->list[0].trial, a, &f->original, err) ||
        !trial_from_text(f->best->trial, a, &f->own, err))
        return false;
    f->has_hidden = f->best->id != 0 && hidden;
    f->has_control = f->has_hidden && control;
    if ((f->has_hidden && !trial_from_text(hidden, a, &f->hidden, err)) ||
        ((f->has_control || (f->best->id == 0 && control)) && !trial_from_text(control, a, &f->control, err)))
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

/* A row a workload, at the end of the list. */
static json_t *add_workloads(json_t *list, const struct facts *f, enum regime regime)
{
    const struct trial *best = timed(f);

    for (size_t i = 0; i < f->original.n_workloads; i++) {
        struct trial_time own = f->original.workloads[i].times[regime]; /* the original as its own best */
        const struct trial_time *time = i < best->n_workloads ? &best->workloads[i].times[regime] : NULL;
        own.base_us = own.us;
        own.speedup = 1;
        own.low = own.high = NAN;
        json_array_append_new(list, trial_row_to_json(&f->original, i, f->best->id == 0 ? &own : time, regime));
    }
    return list;
}

static json_t *further_to_json(const struct facts *f)
{
    json_t *list = json_array();

    for (enum regime regime = 0; regime < N_REGIMES; regime++)
        if (regime_is_further(regime, f->regime))
            add_workloads(list, f, regime);
    return list;
}

static json_t *candidates_to_json(const struct facts *f)
{
    json_t *o = json_object(), *by_verdict = json_object(), *by_backend = json_object();
    int64_t passed = 0;

    json_put_int(by_backend, "rules", 0);
    json_put_int(by_backend, "llm", 0);
    for (size_t i = 1; i < f->n; i++) {
        const struct store_candidate *c = &f->list[i];
        passed += str_eq(c->verdict, "passed");
        json_put_int(by_verdict, c->verdict, json_int(by_verdict, c->verdict, 0) + 1);
        json_put_int(by_backend, c->backend, json_int(by_backend, c->backend, 0) + 1);
    }
    json_put_int(o, "total", (int64_t)f->n - 1);
    json_put_int(o, "passed", passed);
    json_put(o, "by_verdict", by_verdict);
    json_put(o, "by_mind", by_backend);
    return o;
}

/* A note as it was kept; null when there is none that can be read. */
static json_t *noted(const char *text)
{
    json_t *o = text ? json_parse(text, strlen(text), "stored note", NULL) : NULL;

    return o ? o : json_null();
}

char *report_uncovered(struct arena *a, const json_t *verification)
{
    struct trial_coverage c;

    trial_coverage_from_json(json_object_get(verification, "coverage"), a, &c);
    return trial_coverage_words(a, &c, "this version");
}

/* Of older results nothing is said: they are in ulps. */
static const char *unit_of(const struct trial *t)
{
    return t->unit ? t->unit : "ulp";
}

json_t *report_verification(struct arena *a, const struct verified *v, json_t *mutation)
{
    const struct trial *own = v->own, *hidden = v->hidden;
    json_t *o = json_object();

    json_put_int(o, "cases", (int64_t)own->cases);
    json_put_int(o, "hidden", hidden ? (int64_t)hidden->cases : 0);
    json_put_int(o, "identical_cases",
                 (int64_t)(own->identical_cases + (hidden ? hidden->identical_cases : 0)));
    json_put_int(o, "elements", (int64_t)(own->elements + (hidden ? hidden->elements : 0)));
    json_put_int(o, "identical_elements",
                 (int64_t)(own->identical_elements + (hidden ? hidden->identical_elements : 0)));
    json_put_num(o, "max_error", fmax(own->error.max, hidden ? hidden->error.max : NAN));
    json_put_num(o, "original_error", fmax(own->original_error.max, hidden ? hidden->original_error.max : NAN));
    json_put_num(o, "allowed_error", fmax(own->allowed_error.max, hidden ? hidden->allowed_error.max : NAN));
    json_put_text(o, "unit", unit_of(hidden ? hidden : own));
    json_put(o, "ulp_edges", trial_edges_to_json());
    json_put(o, "errors", trial_accuracy_to_json(hidden && hidden->n_accuracy ? hidden : own));
    json_put_text(o, "exact", own->exact);
    json_put_num(o, "shadow_lost", own->shadow_lost);
    json_put_text(o, "underived", own->underived);
    json_put(o, "mutation", mutation);
    json_put_text(o, "missing", hidden ? hidden->missing_checks : own->missing_checks);
    const struct trial_coverage both =
        hidden ? trial_coverage_both(a, &own->coverage, &hidden->coverage) : own->coverage;
    json_put(o, "coverage", trial_coverage_to_json(&both));
    json_put(o, "original_coverage", trial_coverage_to_json(&v->original->coverage));
    json_put(o, "confirmation", trial_shipped_to_json(hidden ? &hidden->shipped : &own->shipped));
    json_put(o, "redundant_traffic", trial_waste_to_json(own));
    json_put(o, "original_redundant_traffic", trial_waste_to_json(v->original));
    return o;
}

static json_t *speedup_to_json(const struct facts *f, const json_t *workloads)
{
    json_t *o = json_object(), *w;
    double sum = 0;
    size_t i;

    json_array_foreach(workloads, i, w) sum +=
        log(json_num(w, "speedup")) *
        (json_object_get(w, "weight") ? json_num(w, "weight") : 1 / (double)json_array_size(workloads));
    json_put_num(o, "geomean", exp(sum));
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

json_t *report_noise(const struct trial *control, enum regime regime)
{
    json_t *o = json_object();
    double low = NAN, high = NAN;

    for (size_t i = 0; i < control->n_workloads; i++) {
        const struct trial_time *x = &control->workloads[i].times[regime];
        low = fmin(low, x->low);
        high = fmax(high, x->high);
    }
    json_put_num(o, "low", low);
    json_put_num(o, "high", high);
    return o;
}

/* The steps from the original to the best that moved a rounding, as the trials on the way saw it: since the
 * last version that was bit-identical, those whose answers are not as near to the original's, or as far, as
 * before. */
static bool roundings_to_json(const struct facts *f, struct arena *a, json_t **out, struct err *err)
{
    const struct store_candidate **way = arena_array(a, const struct store_candidate *, f->n + 1);
    struct trial before = {.bit_identical = true}, t;
    size_t n = 0;

    *out = json_array();
    for (const struct store_candidate *c = f->best; c->id > 0 && n < f->n; c = &f->list[c->parent])
        way[n++] = c;
    while (n-- > 0) {
        if (!trial_from_text(way[n]->trial, a, &t, err))
            return false;
        if (t.bit_identical) {
            json_array_clear(*out);
        } else if (before.bit_identical || t.identical_elements != before.identical_elements ||
                   trial_apart(&t) != trial_apart(&before)) {
            json_t *o = json_object();
            json_put_int(o, "candidate", way[n]->id);
            json_put_text(o, "step", way[n]->name);
            json_put_num(o, "apart_ulp", trial_apart(&t));
            json_put_int(o, "identical_elements", (int64_t)t.identical_elements);
            json_put_int(o, "elements", (int64_t)t.elements);
            json_array_append_new(*out, o);
        }
        before = t;
    }
    return true;
}

static void put_beside(json_t *o, const struct facts *f)
{
    json_t *list = json_array();

    report_add_beside(list, &f->control, "original");
    report_add_beside(list, &f->hidden, "best");
    if (json_array_size(list))
        json_put(o, "beside", list);
    else
        json_decref(list);
}

bool report_result(struct store *s, struct arena *a, json_t **result, struct err *err)
{
    struct facts f = {0};
    json_t *o, *workloads, *cost, *provenance, *roundings;
    char digest[65];
    int rounds = 0;

    if (!facts_read(s, a, &f, err))
        return false;
    if (!roundings_to_json(&f, a, &roundings, err)) {
        json_decref(roundings);
        json_decref(f.options);
        return false;
    }
    workloads = add_workloads(json_array(), &f, f.regime);
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
    if (f.end_to_end && *f.end_to_end)
        json_put(o, "end_to_end", noted(f.end_to_end));
    json_put(o, "workloads", workloads);
    json_put(o, "other_regime", add_workloads(json_array(), &f, regime_other(f.regime)));
    json_put(o, "further_regimes", further_to_json(&f));
    put_beside(o, &f);
    json_put(o, "noise", report_noise(f.has_control ? &f.control : &f.original, f.regime));
    json_put(o, "clocks", trial_clocks_to_json(&timed(&f)->clocks));
    const struct verified verified = {&f.original, &f.own, f.has_hidden ? &f.hidden : NULL};
    json_put(o, "verification", report_verification(a, &verified, noted(f.mutation)));
    json_put(json_object_get(o, "verification"), "roundings", roundings);
    if (f.has_hidden && f.confirmed_by && *f.confirmed_by)
        json_put(json_object_get(o, "verification"), "confirmed_by", noted(f.confirmed_by));
    json_put(o, "candidates", candidates_to_json(&f));
    json_put_int(o, "rounds", rounds);
    json_put_int(o, "best_candidate", f.best->id);
    json_put_text(o, "best", "best.cu");
    json_put_text(o, "diff", "best.diff");
    json_put_num(o, "wall_s", f.run.wall_s);
    json_put(o, "tester", noted(f.tester));
    bool exact = json_flag(f.options, "exact", false);
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
    json_put_flag(provenance, "exact", exact);
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
