/* A program with a kernel of its own replaced by a result's: once, or in turns with the program as it is. */
#include "cmd/cmd.h"
#include "capture/capture.h"

#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEWEST_FOR_INTERVAL = 6 };

struct session {
    struct arena *a;
    const struct cmd_args *args;
    const char *const *program; /* and its words */
    const char *folder;         /* of plans, counters and outputs; ours */
    regex_t metric;
    json_t *report;
    int status; /* of the last run */
};

static bool prepare(struct session *s, struct err *err)
{
    const char *path = s->args->words[0];
    struct report_bundle b = {0};
    struct capture_plan plan;
    json_t *ranking = NULL;
    char *folder = NULL;
    bool ok = fs_exists(path) || cmd_run_folder(s->a, path, &folder, err);

    ok = ok && report_bundle_open(&b, s->a, folder ? folder : path, err);
    if (ok && (!b.task || !b.intact))
        ok = err_input(err, "%s: its files are not those that were judged; `astra verify` says more", path);
    if (ok && !str_eq(json_text(b.result, "outcome", ""), "improved"))
        ok = err_input(err, "%s improved nothing: there is no version to put in the original's place", path);
    ok = ok && capture_read(s->a, s->args->capture, &ranking, err) &&
         capture_plan(s->a, &b, json_object_get(ranking, "launches_kept"), &plan, err);
    if (ok) {
        json_put_int(s->report, "launches_prepared", (int64_t)plan.launches);
        json_put(s->report, "launches_not_prepared", plan.skipped);
        ok = capture_plan_write(s->a, s->folder, &plan, err);
    }
    json_decref(ranking);
    report_bundle_close(&b);
    return ok;
}

static bool run_once(struct session *s, bool replaced, const char *out, struct err *err)
{
    const struct capture_options o = {.argv = s->program,
                                      .replace = replaced ? s->folder : NULL,
                                      .stdout_path = out,
                                      .alone = !replaced,
                                      .own_stdout = s->args->json};

    return capture_run(&o, s->a, &s->status, err);
}

/* ---- pairs ---- */

static bool metric_of(struct session *s, const char *out, double *value, struct err *err)
{
    regmatch_t m[2];
    char *text;

    if (!fs_read(s->a, out, &text, NULL, err))
        return false;
    if (regexec(&s->metric, text, 2, m, 0) != 0 || m[1].rm_so < 0)
        return err_input(err, "--metric '%s' finds nothing in what %s prints", s->args->metric, s->program[0]);
    *value = strtod(text + m[1].rm_so, NULL);
    return *value > 0 || err_input(err, "--metric '%s' finds no number above 0", s->args->metric);
}

static bool measure_one(struct session *s, bool replaced, double *value, struct err *err)
{
    const char *out = fs_join(s->a, s->folder, replaced ? "replaced.out" : "original.out");
    double start_s = time_s();

    if (!run_once(s, replaced, out, err))
        return false;
    *value = time_s() - start_s;
    if (s->status)
        return err_world(err, "%s %s: wait status %d", s->program[0], replaced ? "replaced" : "as it is",
                         s->status);
    return !s->args->metric || metric_of(s, out, value, err);
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

static bool compare_outputs(struct session *s, struct err *err)
{
    char *x, *y;
    size_t n_x, n_y;
    const char *words;

    if (!fs_read(s->a, fs_join(s->a, s->folder, "original.out"), &x, &n_x, err) ||
        !fs_read(s->a, fs_join(s->a, s->folder, "replaced.out"), &y, &n_y, err))
        return false;
    if ((words = first_difference(s->a, x, n_x, y, n_y)) && !json_object_get(s->report, "first_difference"))
        json_put_text(s->report, "first_difference", words);
    return true;
}

static bool measure(struct session *s, struct err *err)
{
    size_t n = (size_t)s->args->pairs;
    double *as_it_is = arena_array(s->a, double, n), *replaced = arena_array(s->a, double, n),
           *ratios = arena_array(s->a, double, n), low = NAN, high = NAN;
    const char *what = s->args->metric ? s->args->metric : "seconds";

    for (size_t i = 0; i < n; i++) {
        bool turn = i % 2; /* who begins */
        if (!measure_one(s, turn, turn ? &replaced[i] : &as_it_is[i], err) ||
            !measure_one(s, !turn, turn ? &as_it_is[i] : &replaced[i], err) ||
            (s->args->compare && !compare_outputs(s, err)))
            return false;
        ratios[i] = replaced[i] / as_it_is[i];
        if (!s->args->quiet)
            fprintf(stderr, "pair %zu of %zu: %.6g as it is, %.6g replaced\n", i + 1, n, as_it_is[i],
                    replaced[i]);
    }
    if (n >= FEWEST_FOR_INTERVAL)
        stats_bootstrap_median(ratios, n, 1, &low, &high);
    json_put_text(s->report, "of", what);
    json_put_int(s->report, "pairs", (int64_t)n);
    json_put_num(s->report, "as_it_is", stats_median(as_it_is, n));
    json_put_num(s->report, "replaced", stats_median(replaced, n));
    json_put_num(s->report, "ratio", stats_median(ratios, n));
    json_put_num(s->report, "low", low);
    json_put_num(s->report, "high", high);
    if (s->args->compare)
        json_put_flag(s->report, "outputs_same", !json_object_get(s->report, "first_difference"));
    return true;
}

/* ---- words ---- */

static void add_counts(const struct session *s, struct str *out)
{
    const json_t *counts = json_object_get(s->report, "launches"), *n, *skipped, *o;
    const char *words;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)counts, words,
                        n) if (json_integer_value(n) && !str_eq(words, "processes"))
        str_addf(out, "%10lld launches: %s\n", (long long)json_integer_value(n),
                 str_starts(words, "replaced") ? words : arena_printf(s->a, "the original (%s)", words));
    if (!out->len)
        str_add(out, "the program did not launch the kernel, or the library could not see it\n");
    skipped = json_object_get(s->report, "launches_not_prepared");
    json_array_foreach(skipped, i, o)
        str_addf(out, "not prepared: grid %s, block %s: %s\n", json_line(s->a, json_object_get(o, "grid")),
                 json_line(s->a, json_object_get(o, "block")), json_text(o, "why", ""));
}

static void add_measured(const struct session *s, struct str *out)
{
    const json_t *r = s->report;
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
    if (s->args->compare)
        str_addf(out, "%s%s\n",
                 json_flag(r, "outputs_same", false) ? "both print the same" : "they print differently: ",
                 json_text(r, "first_difference", ""));
}

static bool finish(struct session *s, struct err *err)
{
    struct str out = {.arena = s->a};
    json_t *counts = NULL;

    if (!capture_plan_counts(s->a, s->folder, &counts, err))
        return false;
    json_put(s->report, "launches", counts);
    add_counts(s, &out);
    fputs(s->args->json ? "" : str_text(&out), stderr);
    str_clear(&out);
    if (s->args->json)
        str_addf(&out, "%s\n", json_pretty(s->a, s->report));
    else if (s->args->pairs)
        add_measured(s, &out);
    return cmd_print_result(s->args, str_text(&out), err);
}

static bool check_usage(struct session *s, struct err *err)
{
    const struct cmd_args *args = s->args;
    char words[256];
    int code;

    if (args->n_before != 1 || args->n_words < 2)
        return err_input(err, "`astra replace` takes a result, --, and a program; see `astra replace --help`");
    if (!args->capture)
        return err_input(
            err,
            "--capture names the capture whose launches are replaced; `astra capture --keep NAME` makes one");
    if (!args->pairs && (args->metric || args->compare))
        return err_input(err, "--metric and --compare go with --pairs N");
    if (args->metric && (code = regcomp(&s->metric, args->metric, REG_EXTENDED | REG_NEWLINE)) != 0) {
        regerror(code, &s->metric, words, sizeof(words));
        return err_input(err, "--metric '%s': %s", args->metric, words);
    }
    if (args->metric && s->metric.re_nsub != 1) {
        regfree(&s->metric);
        return err_input(err, "--metric '%s' must have one group, around the number", args->metric);
    }
    s->program = args->words + 1;
    return capture_can(s->a, s->program[0], err);
}

int cmd_replace(const struct cmd_args *args)
{
    struct session s = {.a = arena_open(), .args = args, .report = json_object()};
    struct err err = {0};
    bool usage = check_usage(&s, &err), ok = usage && (s.folder = fs_temp_dir(s.a, &err)) && prepare(&s, &err);
    int status = EXIT_OK;

    ok = ok && (args->pairs ? measure(&s, &err) : run_once(&s, true, NULL, &err)) && finish(&s, &err);
    if (ok && s.status)
        ok = err_world(&err, "%s ended with %s %d", s.program[0], WIFSIGNALED(s.status) ? "signal" : "status",
                       WIFSIGNALED(s.status) ? WTERMSIG(s.status) : WEXITSTATUS(s.status));
    if (!ok)
        status = cmd_fail(&err);
    else if (json_object_get(s.report, "first_difference"))
        status = EXIT_UNDER;
    if (usage && args->metric)
        regfree(&s.metric);
    if (s.folder)
        fs_remove_tree(s.folder);
    json_decref(s.report);
    arena_close(s.a);
    return status;
}
