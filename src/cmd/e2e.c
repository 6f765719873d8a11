/* The last gate of a run: its result put into the program that the kernel is of, in turns with the program as
 * it is. What comes of it becomes part of the result. */
#include "cmd/cmd.h"
#include "capture/capture.h"
#include "report/report.h"
#include "store/store.h"

enum { FEWEST_PAIRS = 6 };

static bool compile_metric(const char *metric, regex_t *regex, struct err *err)
{
    char words[256];
    int code = regcomp(regex, metric, REG_EXTENDED | REG_NEWLINE);

    if (code != 0) {
        regerror(code, regex, words, sizeof(words));
        return err_input(err, "--metric '%s': %s", metric, words);
    }
    if (regex->re_nsub == 1)
        return true;
    regfree(regex);
    return err_input(err, "--metric '%s' must have one group, around the number", metric);
}

bool cmd_e2e_check(const struct cmd_args *args, struct arena *a, struct err *err)
{
    json_t *ranking = NULL;
    regex_t regex;
    bool kept;

    if (!args->e2e_cmd)
        return (!args->capture && !args->metric && !args->pairs) ||
               err_input(err, "--capture, --metric and --pairs go with --e2e-cmd 'COMMAND'");
    if (!args->capture)
        return err_input(
            err, "--e2e-cmd needs --capture FOLDER: which launches are the kernel's? `astra capture --keep "
                 "NAME` makes one");
    if (args->pairs && args->pairs < FEWEST_PAIRS)
        return err_input(err, "--pairs: fewer than %d have no interval", FEWEST_PAIRS);
    if (args->metric && !compile_metric(args->metric, &regex, err))
        return false;
    if (args->metric)
        regfree(&regex);
    if (!capture_read(a, args->capture, &ranking, err))
        return false;
    kept = json_array_size(json_object_get(ranking, "launches_kept")) > 0;
    json_decref(ranking);
    return kept || err_input(err, "%s keeps no launches; capture with --keep and a part of the kernel's name",
                             args->capture);
}

/* A time is better when it is shorter, a number of --metric when it is greater. */
static const char *verdict_of(const json_t *report, bool metric)
{
    double low = json_num(report, "low"), high = json_num(report, "high");
    bool above = low > 1, below = high < 1;

    if (!isfinite(low) || !isfinite(high) || (!above && !below))
        return "no difference";
    return above == metric ? "faster" : "slower";
}

static bool measure(const struct cmd_args *args, struct capture_pairs *p, const char *out, struct err *err)
{
    const char *const results[] = {out};
    bool ok = (!args->metric || compile_metric(args->metric, &p->regex, err));

    if (!ok)
        return false;
    ok = (p->folder = fs_temp_dir(p->a, err)) && capture_pairs_prepare(p, results, 1, args->capture, err) &&
         capture_pairs_measure(p, args->pairs ? (size_t)args->pairs : 8, err) && capture_pairs_count(p, err);
    if (args->metric)
        regfree(&p->regex);
    if (p->folder)
        fs_remove_tree(p->folder);
    return ok;
}

/* Into the store, and into the run's files once more. */
static bool keep(struct arena *a, struct store *s, const char *out, const json_t *report, struct err *err)
{
    struct store_run row;
    json_t *result = NULL;
    bool ok = store_note(s, "end_to_end", json_line(a, report), err) && report_result(s, a, &result, err) &&
              store_get_run(s, a, &row, err);

    if (ok) {
        row.result = json_pretty(a, result);
        ok = report_write(s, a, out, result, err) && store_put_run(s, &row, err);
    }
    json_decref(result);
    return ok;
}

bool cmd_e2e(const struct cmd_args *args, const char *out, struct err *err)
{
    struct arena *a = arena_open();
    const char *const program[] = {"sh", "-c", args->e2e_cmd, NULL};
    struct capture_pairs p = {
        .a = a, .program = program, .metric = args->metric, .quiet = true, .report = json_object()};
    struct store *s = NULL;
    json_t *result = NULL;
    struct err why = {0};
    bool ok = store_open(&s, out, true, err) && report_result(s, a, &result, err);

    if (ok && str_eq(json_text(result, "outcome", ""), "improved")) {
        bool measured = measure(args, &p, out, &why);
        json_put_text(p.report, "command", args->e2e_cmd);
        json_put_text(p.report, "verdict", measured ? verdict_of(p.report, args->metric) : "not measured");
        json_put_text(p.report, "why", measured ? NULL : why.text);
        json_object_del(p.report, "kernels");
        ok = keep(a, s, out, p.report, err);
    }
    json_decref(result);
    json_decref(p.report);
    store_close(s);
    arena_close(a);
    return ok;
}
