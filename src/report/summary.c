#include "report/report.h"
#include "report/words.h"

char *report_one_line(struct arena *a, const char *text, size_t max)
{
    char *s = arena_strdup(a, text);
    size_t len = strcspn(s, "\r\n");

    s[len] = 0;
    if (len > max && max > 3) {
        strcpy(s + utf8_cut(s, max - 3), "...");
    }
    return s;
}

char *report_dims(struct arena *a, const json_t *workload)
{
    struct str s = {.arena = a};
    const char *name;
    json_t *v;

    json_object_foreach(json_object_get(workload, "dims"), name, v)
        str_addf(&s, "%s%s=%lld", s.len ? " " : "", name, (long long)json_integer_value(v));
    return str_take(&s, a);
}

static enum regime scoring_of(const json_t *result)
{
    enum regime regime = REGIME_COLD;

    regime_parse(json_text(json_array_get(json_object_get(result, "workloads"), 0), "regime", ""), &regime);
    return regime;
}

json_t *report_rows(const json_t *result, enum regime regime)
{
    static const char *const keys[] = {"workloads", "other_regime", "further_regimes"};
    json_t *list = json_array(), *w;
    size_t i;

    for (size_t k = 0; k < ARRAY_LEN(keys); k++)
        json_array_foreach(json_object_get(result, keys[k]), i,
                           w) if (str_eq(json_text(w, "regime", ""), regime_name(regime)))
            json_array_append(list, w);
    return list;
}

static void add_basis(const json_t *result, struct str *out)
{
    const json_t *device = json_object_get(result, "device"), *noise = json_object_get(result, "noise"),
                 *clocks = json_object_get(result, "clocks");
    static const char *const places[N_REGIMES] = {
        [REGIME_COLD] = "inputs from DRAM (cold)",
        [REGIME_HOT] = "what fits in the L2 (hot)",
        [REGIME_STREAM] = "what a plan adds between its neighbours (stream)",
        [REGIME_STREAM_PDL] = "what a plan adds between neighbours that use PDL (stream-pdl)"};
    const char *name = json_text(device, "name", "?"), *caches = places[scoring_of(result)];

    if (!str_eq(json_text(device, "basis", ""), "measured")) {
        str_addf(out, "Times are modelled for %s, %s%s.\n", name, caches,
                 json_is_false(json_object_get(device, "validated"))
                     ? "; its model is not validated against measured times"
                     : "; docs/simulator.md states the model's error");
        return;
    }
    str_addf(out, "Times are measured on %s (driver %s), %s", name, json_text(device, "driver", "?"), caches);
    if (json_is_object(clocks))
        str_addf(out, ", SM %lld MHz, memory %lld MHz", json_count(clocks, "sm_mhz"),
                 json_count(clocks, "memory_mhz"));
    str_add(out, ", intervals at 95 %.");
    if (isfinite(json_num(noise, "low")))
        str_addf(out, " The original against itself: %.4fx to %.4fx.", json_num(noise, "low"),
                 json_num(noise, "high"));
    str_add(out, "\nWhat bounds a version is modelled");
    if (!json_flag(device, "same_model", true))
        str_addf(out, " for the nearest GPU there is a model of, sim:%s", json_text(device, "model", "?"));
    str_add(out, ".\n");
}

const char *report_mean_words(const json_t *result)
{
    const json_t *first = json_array_get(json_object_get(result, "workloads"), 0);

    return json_object_get(first, "weight") ? "weighted geometric mean" : "geometric mean";
}

struct table *report_workload_table(struct arena *a, const json_t *result, enum regime regime)
{
    json_t *list = report_rows(result, regime), *w;
    const json_t *speedup = json_object_get(result, "speedup");
    bool measured = str_eq(json_text(json_object_get(result, "device"), "basis", ""), "measured");
    struct table *t = table_new(a, words_capital(a, words_regime(regime)));
    size_t i;

    table_columns(t, "workload|original#us");
    table_column(t, json_object_get(result, "file") ? "version" : "best", "us");
    table_column(t, "speed-up", "");
    if (measured)
        table_column(t, "95 % interval", "");
    table_columns(t, "of copy#|bound by");
    if (measured && regime_is_stream(regime))
        table_column(t, "neighbours", "us");
    json_array_foreach(list, i, w)
    {
        table_row(t, report_dims(a, w));
        table_num(t, json_num(w, "baseline_us"), 2, "");
        table_num(t, json_num(w, "best_us"), 2, "");
        table_num(t, json_num(w, "speedup"), 2, "x");
        if (measured)
            table_interval(t, json_num(w, "low"), json_num(w, "high"));
        table_num(t, 100 * json_num(w, "light_us") / json_num(w, "best_us"), 0, " %");
        table_text(t, json_text(w, "bound_by", NULL));
        if (measured && regime_is_stream(regime))
            table_num(t, json_num(w, "neighbours_us"), 2, "");
    }
    json_decref(list);
    if (regime != scoring_of(result))
        return t;
    table_total(t, report_mean_words(result));
    table_text(t, "");
    table_text(t, "");
    table_num(t, json_num(speedup, "geomean"), 2, "x");
    if (measured)
        table_interval(t, json_num(speedup, "low"), json_num(speedup, "high"));
    return t;
}

/* The geometric mean over the workloads; NAN: they were not timed so. */
static double speedup_in(const json_t *result, enum regime regime)
{
    json_t *list = report_rows(result, regime), *w;
    size_t i, n = json_array_size(list);
    double sum = 0;

    json_array_foreach(list, i, w) sum += log(json_num(w, "speedup"));
    json_decref(list);
    return n ? exp(sum / (double)n) : NAN;
}

/* How it stands in streams, where it does not score there. */
static void add_streams(const json_t *result, struct str *out)
{
    for (enum regime regime = REGIME_STREAM; regime < N_REGIMES; regime++) {
        double speedup = regime == scoring_of(result) ? NAN : speedup_in(result, regime);
        if (isfinite(speedup))
            str_addf(out, "Speed-up in a stream%s: %.2fx.\n",
                     regime == REGIME_STREAM ? "" : " whose kernels use PDL (stream-pdl)", speedup);
    }
}

void report_workloads(const json_t *result, struct str *out)
{
    struct arena *a = arena_open();

    table_as_text(report_workload_table(a, result, scoring_of(result)), out);
    add_basis(result, out);
    add_streams(result, out);
    report_beside(result, scoring_of(result), out);
    arena_close(a);
}

static void add_tried(struct arena *a, const struct store_candidate *list, size_t n, int best, struct str *out)
{
    int round = 0;

    for (size_t i = 1; i < n; i++) {
        const struct store_candidate *c = &list[i];
        if (c->round != round) {
            round = c->round;
            str_addf(out, "\nround %d, from %s (%.2fx)\n", round,
                     c->parent ? arena_printf(a, "candidate %d", c->parent) : "the original",
                     list[c->parent].score);
            if (list[c->parent].diagnosis)
                str_addf(out, "  %s\n", list[c->parent].diagnosis);
        }
        str_addf(out, "  %s%3d  %-9s", c->id == best ? "*" : " ", c->id, c->verdict);
        if (isfinite(c->score))
            str_addf(out, " %6.2fx", c->score);
        else
            str_add(out, "       -");
        str_addf(out, "  %s\n", report_one_line(a, c->name, 90));
        if (c->words[0]) {
            if (c->line)
                str_addf(out, "                       line %d: %s\n", c->line,
                         report_one_line(a, c->words, 140));
            else
                str_addf(out, "                       %s\n", report_one_line(a, c->words, 140));
        } else if (isfinite(c->gain)) {
            str_add(out, "                       ");
            if (c->parent > 0)
                str_addf(out, "%+.0f %% over its parent: ", 100 * (c->gain - 1));
            str_addf(out, "%s\n", report_one_line(a, c->reason, 120));
        }
    }
}

static void add_tuning(struct arena *a, const char *text, struct str *out)
{
    json_t *tuning = json_parse(text, strlen(text), "tuning", NULL);

    str_addf(out, "%s:\n", report_tuning_words(a, tuning));
    table_as_text(report_tuning_table(a, tuning), out);
    str_add(out, "\n");
    json_decref(tuning);
}

bool report_summary(struct store *s, struct arena *a, const char *folder, unsigned parts, struct str *out,
                    struct err *err)
{
    const struct store_candidate *list;
    const char *suite, *tuning;
    json_t *result, *v;
    size_t n;
    int best;

    if (!store_candidates(s, a, &list, &n, err) || !store_get_note(s, a, "suite", &suite, err) ||
        !store_get_note(s, a, "tuning", &tuning, err) || !report_result(s, a, &result, err))
        return false;
    best = (int)json_int(result, "best_candidate", 0);
    if (words_end_to_end(a, result))
        str_addf(out, "%s\n\n", words_end_to_end(a, result));
    if (n > 1 && !(parts & REPORT_TOLD)) {
        str_add(out, "What was tried, and what it taught:\n");
        add_tried(a, list, n, best, out);
        str_add(out, "\n");
    }
    if (tuning && !(parts & REPORT_TOLD))
        add_tuning(a, tuning, out);
    if (suite)
        str_addf(out, "Suite: %s.\n\n", suite);
    report_workloads(result, out);
    v = json_object_get(result, "verification");
    str_add(out, "\n");
    if (json_text(v, "missing", NULL))
        str_addf(out, "Not checked: %s.\n", json_text(v, "missing", ""));
    if (report_uncovered(a, v))
        str_addf(out, "%s.\n", report_uncovered(a, v));
    report_shipped(v, out);
    report_derived(json_num(v, "shadow_lost"), json_text(v, "underived", NULL), out);
    if (best == 0)
        str_addf(out, "Nothing tried is provably faster: the original stays.\n");
    else
        str_addf(out,
                 "Verified on %lld cases, and on %lld more of a hidden seed: %s.\n"
                 "Equality is shown on the tested domain, not proved beyond it.\n",
                 json_count(v, "cases"), json_count(v, "hidden"), report_exactness(a, v));
    const json_t *by = json_object_get(v, "confirmed_by");
    if (by)
        str_addf(out, "Confirmed by the worker %s, which its file %s trusted.\n", json_text(by, "worker", "?"),
                 json_flag(by, "trusted", false) ? "calls" : "does not call");
    if (parts & REPORT_ERRORS) {
        str_addc(out, '\n');
        report_errors(json_object_get(v, "errors"), best == 0, out);
    }
    str_addf(out, "\n%s/best.cu  best.diff  result.json\n`astra report %s` makes a page for its reviewer",
             folder, arena_shell(a, folder));
    if (best && json_int(v, "hidden", 0) > 0 && !str_eq(json_text(result, "status", ""), "interrupted"))
        str_addf(out, "; `astra export %s --to cuda`, patch or torch makes what other projects take in",
                 arena_shell(a, folder));
    str_add(out, ".\n");
    json_decref(result);
    return true;
}
