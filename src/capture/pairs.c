/* A program with kernels of its own replaced by results': what is prepared for it, and the program run in turns
 * as it is and replaced. */
#include "capture/capture.h"
#include "inject/replace.h"

#include <sys/wait.h>

enum { FEWEST_FOR_INTERVAL = 6 };

/* ---- preparing ---- */

static bool prepare_one(struct capture_pairs *p, const char *path, const json_t *kept, size_t i,
                        struct err *err)
{
    struct report_bundle b = {0};
    struct capture_plan plan;
    json_t *row = json_object(), *o;
    size_t n;
    bool ok = report_bundle_open(&b, p->a, path, err);

    if (ok && (!b.task || !b.intact))
        ok = err_input(err, "%s: its files are not those that were judged; `astra verify` says more", path);
    if (ok && !str_eq(json_text(b.result, "outcome", ""), "improved"))
        ok = err_input(err, "%s improved nothing: there is no version to put in the original's place", path);
    if (ok && !capture_plan(p->a, &b, kept, &plan, err))
        ok = i ? err_context(err, "%s", path) : false;
    if (ok) {
        json_put_text(row, "result", path);
        json_put_text(row, "task", json_text(b.result, "task", ""));
        json_put_text(row, "symbol", plan.symbol);
        json_put_int(row, "launches_prepared", (int64_t)plan.launches);
        json_array_foreach(plan.skipped, n, o)
            json_array_append(json_object_get(p->report, "launches_not_prepared"), o);
        json_put(row, "launches_not_prepared", plan.skipped);
        ok = capture_plan_write(p->a, p->folder, i, &plan, err);
    }
    json_array_append_new(json_object_get(p->report, "kernels"), row);
    report_bundle_close(&b);
    return ok;
}

/* Two results for one kernel: which would it be? */
static bool are_different(const struct capture_pairs *p, struct err *err)
{
    const json_t *list = json_object_get(p->report, "kernels"), *x, *y;
    size_t i, j;

    json_array_foreach(list, i, x) json_array_foreach(
        list, j,
        y) if (j < i && str_eq(json_text(x, "symbol", "?"),
                               json_text(y, "symbol", ""))) return err_input(err, "%s and %s are both for %s",
                                                                             json_text(y, "result", ""),
                                                                             json_text(x, "result", ""),
                                                                             json_text(x, "symbol", ""));
    return true;
}

bool capture_pairs_prepare(struct capture_pairs *p, const char *const *results, size_t n, const char *capture,
                           struct err *err)
{
    json_t *ranking = NULL;
    bool ok = n <= REPLACE_SETS || err_input(err, "at most %d results can be put into a program", REPLACE_SETS);

    json_put(p->report, "launches_not_prepared", json_array());
    json_put(p->report, "kernels", json_array());
    ok = ok && capture_read(p->a, capture, &ranking, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = prepare_one(p, results[i], json_object_get(ranking, "launches_kept"), i, err);
    json_decref(ranking);
    return ok && are_different(p, err);
}

/* ---- running ---- */

bool capture_pairs_run(struct capture_pairs *p, bool replaced, const char *out, struct err *err)
{
    const struct capture_options o = {.argv = p->program,
                                      .replace = replaced ? p->folder : NULL,
                                      .stdout_path = out,
                                      .alone = !replaced,
                                      .own_stdout = p->own_stdout};

    return capture_run(&o, p->a, &p->status, err);
}

static bool metric_of(struct capture_pairs *p, const char *out, double *value, struct err *err)
{
    regmatch_t m[2];
    char *text;

    if (!fs_read(p->a, out, &text, NULL, err))
        return false;
    if (regexec(&p->regex, text, 2, m, 0) != 0 || m[1].rm_so < 0)
        return err_input(err, "--metric '%s' finds nothing in what %s prints", p->metric, p->program[0]);
    *value = strtod(text + m[1].rm_so, NULL);
    return *value > 0 || err_input(err, "--metric '%s' finds no number above 0", p->metric);
}

static bool measure_one(struct capture_pairs *p, bool replaced, double *value, struct err *err)
{
    const char *out = fs_join(p->a, p->folder, replaced ? "replaced.out" : "original.out");
    double start_s = time_s();

    if (!capture_pairs_run(p, replaced, out, err))
        return false;
    *value = time_s() - start_s;
    if (p->status)
        return err_world(err, "%s %s ended with %s %d", p->program[0], replaced ? "replaced" : "as it is",
                         WIFSIGNALED(p->status) ? "signal" : "status",
                         WIFSIGNALED(p->status) ? WTERMSIG(p->status) : WEXITSTATUS(p->status));
    return !p->metric || metric_of(p, out, value, err);
}

/* NULL: the same. */
static const char *first_difference(struct arena *a, const char *x, size_t n_x, const char *y, size_t n_y)
{
    size_t at = 0, line = 1, from = 0;

    while (at < n_x && at < n_y && x[at] == y[at])
        if (x[at++] == '\n') {
            line++;
            from = at;
        }
    if (at == n_x && at == n_y)
        return NULL;
    return arena_printf(a, "line %zu: '%.*s' as it is, '%.*s' replaced", line,
                        (int)MIN(strcspn(x + from, "\n"), (size_t)100), x + from,
                        (int)MIN(strcspn(y + from, "\n"), (size_t)100), y + from);
}

static bool compare_outputs(struct capture_pairs *p, struct err *err)
{
    char *x, *y;
    size_t n_x, n_y;
    const char *words;

    if (!fs_read(p->a, fs_join(p->a, p->folder, "original.out"), &x, &n_x, err) ||
        !fs_read(p->a, fs_join(p->a, p->folder, "replaced.out"), &y, &n_y, err))
        return false;
    if ((words = first_difference(p->a, x, n_x, y, n_y)) && !json_object_get(p->report, "first_difference"))
        json_put_text(p->report, "first_difference", words);
    return true;
}

bool capture_pairs_measure(struct capture_pairs *p, size_t n, struct err *err)
{
    double *as_it_is = arena_array(p->a, double, n), *replaced = arena_array(p->a, double, n),
           *ratios = arena_array(p->a, double, n), low = NAN, high = NAN;

    for (size_t i = 0; i < n; i++) {
        bool turn = i % 2; /* who begins */
        if (!measure_one(p, turn, turn ? &replaced[i] : &as_it_is[i], err) ||
            !measure_one(p, !turn, turn ? &as_it_is[i] : &replaced[i], err) ||
            (p->compare && !compare_outputs(p, err)))
            return false;
        ratios[i] = replaced[i] / as_it_is[i];
        if (!p->quiet)
            fprintf(stderr, "pair %zu of %zu: %.6g as it is, %.6g replaced\n", i + 1, n, as_it_is[i],
                    replaced[i]);
    }
    if (n >= FEWEST_FOR_INTERVAL)
        stats_bootstrap_median(ratios, n, 1, &low, &high);
    json_put_text(p->report, "of", p->metric ? p->metric : "seconds");
    json_put_int(p->report, "pairs", (int64_t)n);
    json_put_num(p->report, "as_it_is", stats_median(as_it_is, n));
    json_put_num(p->report, "replaced", stats_median(replaced, n));
    json_put_num(p->report, "ratio", stats_median(ratios, n));
    json_put_num(p->report, "low", low);
    json_put_num(p->report, "high", high);
    if (p->compare)
        json_put_flag(p->report, "outputs_same", !json_object_get(p->report, "first_difference"));
    return true;
}

/* ---- what became of the launches ---- */

/* Of one kernel, added to those of all. */
static void add_up(json_t *all, const json_t *counts)
{
    const char *words;
    json_t *n;

    json_object_foreach((json_t *)(uintptr_t)counts, words, n)
        json_put_int(all, words, json_count(all, words) + json_integer_value(n));
}

bool capture_pairs_count(struct capture_pairs *p, struct err *err)
{
    json_t *all = json_object(), *row, *counts;
    size_t i;
    int64_t prepared = 0;

    json_array_foreach(json_object_get(p->report, "kernels"), i, row)
    {
        if (!capture_plan_counts(p->a, p->folder, i, &counts, err)) {
            json_decref(all);
            return false;
        }
        add_up(all, counts);
        prepared += json_count(row, "launches_prepared");
        json_put(row, "launches", counts);
    }
    json_put_int(p->report, "launches_prepared", prepared);
    json_put(p->report, "launches", all);
    return true;
}

/* ---- words ---- */

static void add_counts(struct arena *a, const json_t *counts, struct str *out)
{
    const char *words;
    json_t *n;

    json_object_foreach((json_t *)(uintptr_t)counts, words,
                        n) if (json_integer_value(n) && !str_eq(words, "processes"))
        str_addf(out, "%10lld launches: %s\n", (long long)json_integer_value(n),
                 str_starts(words, "replaced") ? words : arena_printf(a, "the original (%s)", words));
}

/* A reason is said once, with the first launch that it is of. */
static void add_not_prepared(struct arena *a, const json_t *list, struct str *out)
{
    const json_t *x, *y;
    size_t i, k;

    json_array_foreach(list, i, x)
    {
        size_t before = 0, n = 0;
        json_array_foreach(list, k, y)
        {
            bool same = str_eq(json_text(x, "why", ""), json_text(y, "why", "")) &&
                        str_eq(json_text(x, "kernel", ""), json_text(y, "kernel", ""));
            before += same && k < i;
            n += same;
        }
        if (before)
            continue;
        str_addf(out, "not prepared: grid %s, block %s", json_line(a, json_object_get(x, "grid")),
                 json_line(a, json_object_get(x, "block")));
        if (n > 1)
            str_addf(out, " and %zu more", n - 1);
        str_addf(out, ": %s\n", json_text(x, "why", ""));
    }
}

void capture_pairs_launches(const struct capture_pairs *p, struct str *out)
{
    const json_t *list = json_object_get(p->report, "kernels"), *row;
    size_t i, before;

    json_array_foreach(list, i, row)
    {
        if (json_array_size(list) > 1)
            str_addf(out, "%s:\n", json_text(row, "task", ""));
        before = out->len;
        add_counts(p->a, json_object_get(row, "launches"), out);
        if (out->len == before)
            str_add(out, "the program did not launch the kernel, or the library could not see it\n");
    }
    add_not_prepared(p->a, json_object_get(p->report, "launches_not_prepared"), out);
}

void capture_pairs_words(const json_t *r, struct str *out)
{
    bool interval = isfinite(json_num(r, "low"));

    str_addf(out, "%s: %.6g as it is, %.6g replaced; replaced / as it is, the median of %lld pairs: %.4f",
             json_text(r, "of", ""), json_num(r, "as_it_is"), json_num(r, "replaced"), json_count(r, "pairs"),
             json_num(r, "ratio"));
    if (interval)
        str_addf(out, ", 95 %% interval %.4f to %.4f\n", json_num(r, "low"), json_num(r, "high"));
    else
        str_addf(out, "; fewer than %d pairs have no interval\n", FEWEST_FOR_INTERVAL);
    if (interval && json_num(r, "low") <= 1 && json_num(r, "high") >= 1)
        str_add(out, "no difference can be told from these pairs\n");
    if (json_object_get(r, "outputs_same"))
        str_addf(out, "%s%s\n",
                 json_flag(r, "outputs_same", false) ? "both print the same" : "they print differently: ",
                 json_text(r, "first_difference", ""));
}
