/* verify: a result judged again from its folder's files alone. First the hashes: is everything what the result
 * says it is of? Then the judgement: the suite with the recorded seed, the hidden cases with theirs, and the
 * figures. Each thing that does not hold is named; one is enough for exit status 1. */
#include "cmd/cmd.h"
#include "report/report.h"
#include "optimize/optimize.h"
#include "worker/worker.h"

#define SAME      1e-6 /* modelled figures repeat to the last printed digit */
#define SAME_KIND 0.05 /* of another version's model, or measured on another day */

struct verify {
    struct arena *arena;
    struct report_bundle bundle;
    const struct task_case *cases; /* the tester's */
    size_t n_cases;
    bool timed; /* on a device like the recorded one */
    double tolerance;
    const char *nvrtc, *note; /* here; what is not repeated, NULL: nothing */
};

static bool check_suite(struct verify *v, struct err *err)
{
    char *path = fs_join(v->arena, v->bundle.folder, "suite.json"), *text;
    uint64_t seed = (uint64_t)json_int(v->bundle.provenance, "seed", 0);
    struct err why = {0};
    struct task_case *cases;
    json_t *suite, *again, *o;
    size_t n, i;
    bool ok = true;

    if (!fs_read(v->arena, path, &text, &n, &why))
        return report_holds(&v->bundle, false, "suite.json is not there");
    if (!report_hash_is(text, n, json_text(v->bundle.provenance, "suite", "")))
        return report_holds(&v->bundle, false, "suite.json is not the suite that was passed");
    suite = json_parse(text, n, "suite.json", err);
    if (!suite)
        return false;
    cases = arena_array(v->arena, struct task_case, json_array_size(json_object_get(suite, "tester")) + 1);
    json_array_foreach(json_object_get(suite, "tester"), i, o) ok =
        ok && task_case_from_json(v->bundle.task, o, v->arena, &cases[i], &why);
    v->cases = cases;
    v->n_cases = json_array_size(json_object_get(suite, "tester"));
    again = report_suite(v->bundle.task, v->arena, seed, cases, ok ? v->n_cases : 0);
    ok = ok && str_eq(json_line(v->arena, again), json_line(v->arena, suite));
    json_decref(again);
    json_decref(suite);
    return report_holds(&v->bundle, ok,
                        ok ? "the suite is that of the task and the recorded seed"
                           : "suite.json is not what this version draws from the task and the recorded seed");
}

/* ---- does the judgement repeat? ---- */

static bool judge(struct verify *v, const char *device, uint64_t seed, bool hidden, struct trial *t,
                  struct trial *original, struct err *err)
{
    const struct trial_options o = {.device = device,
                                    .seed = seed,
                                    .cases = v->cases,
                                    .n_cases = v->n_cases,
                                    .exact = json_flag(v->bundle.provenance, "exact", false),
                                    .hidden = hidden,
                                    .confirm = hidden,
                                    .with_nvcc = hidden,
                                    .verify_only = !v->timed};
    struct pool *p = NULL;
    int id = -1;
    bool ok = pool_open(&p, v->bundle.task, &o, 1, NULL, err) && pool_original(p, v->arena, original, err) &&
              pool_submit(p, 1, v->bundle.task->source_path, v->bundle.judged, err);

    while (ok && id < 0)
        ok = pool_collect(p, 1, v->arena, &id, t, err);
    if (ok && !verdict_stands(t->verdict))
        ok = err_world(err, "%s: %s", v->bundle.task->name, t->words);
    if (ok)
        v->nvrtc = arena_strdup(v->arena, pool_device(p)->nvrtc);
    pool_close(p);
    return ok;
}

static void same_number(struct verify *v, const char *what, const json_t *o, const char *key, double now)
{
    double then = json_num(o, key);

    if (isnan(then) && isnan(now))
        return;
    if (!(fabs(then - now) <= v->tolerance * fabs(then)))
        report_holds(&v->bundle, false, "%s: the result says %.9g, it is %.9g", what, then, now);
}

static double now_of(const struct trial_time *x, const char *key)
{
    if (str_eq(key, "best_us"))
        return x->us;
    return str_eq(key, "baseline_us") ? x->base_us : x->speedup;
}

static void compare_workloads(struct verify *v, enum regime regime, const struct trial *t)
{
    static const char *const keys[] = {"baseline_us", "best_us", "speedup"};
    json_t *rows = report_rows(v->bundle.result, regime), *row;
    bool further = regime_is_further(regime, v->bundle.task->regime);
    size_t i, n = json_array_size(rows);

    if (n != t->n_workloads && !(further && n == 0)) /* older results have the two regimes alone */
        report_holds(&v->bundle, false, "%s: the task has %zu workloads, the result %zu", regime_name(regime),
                     t->n_workloads, n);
    if (n != t->n_workloads) {
        json_decref(rows);
        return;
    }
    json_array_foreach(rows, i, row) for (size_t k = 0; k < ARRAY_LEN(keys); k++)
        same_number(v,
                    arena_printf(v->arena, "%s of %s", keys[k],
                                 task_dims_text(v->arena, v->bundle.task, t->workloads[i].dims)),
                    row, keys[k], now_of(&t->workloads[i].times[regime], keys[k]));
    json_decref(rows);
}

static void add_note(struct verify *v, const char *words)
{
    v->note = v->note ? arena_printf(v->arena, "%s; %s", v->note, words) : words;
}

/* Not compared: false, null, or fewer shapes than were planned. */
static bool is_missing(const json_t *confirmation, const char *key, const json_t *value)
{
    if (json_is_object(value))
        return json_is_string(json_object_get(confirmation, "not_run_because"));
    return !str_eq(key, "plans") && !json_is_true(value) && !json_is_string(value);
}

/* The compiled file beside the judged one, then and now. What only one of the two could compare is told. */
static void compare_confirmation(struct verify *v, const json_t *then, const struct trial_shipped *shipped)
{
    static const char *const keys[] = {"tokens", "symbols", "device_code", "plans"};
    json_t *now = trial_shipped_to_json(shipped);

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *x = json_object_get(then, keys[i]), *y = json_object_get(now, keys[i]);
        bool then_missing = is_missing(then, keys[i], x), now_missing = is_missing(now, keys[i], y);
        if (then_missing != now_missing)
            add_note(v, arena_printf(v->arena, "confirmation.%s was compared %s", keys[i],
                                     now_missing ? "when the result was written, not here"
                                                 : "here, not when the result was written"));
        else if (!then_missing && v->tolerance <= SAME && !json_equal(x, y))
            report_holds(&v->bundle, false, "confirmation.%s: the result says %s, it is %s", keys[i],
                         json_line(v->arena, x), json_line(v->arena, y));
    }
    if (!shipped->not_run_because)
        report_holds(&v->bundle, true, "the compiled launcher gave the judged plans for %u of %u shapes",
                     shipped->compared, shipped->shapes);
    json_decref(now);
}

static void compare(struct verify *v, const struct trial *own, const struct trial *hidden)
{
    const json_t *x = json_object_get(v->bundle.result, "verification"), *device = v->bundle.device;
    bool measured = str_eq(json_text(device, "kind", ""), "cuda");
    const struct trial *timed = measured ? hidden : own;

    if (json_int(x, "cases", -1) != (int64_t)own->cases)
        report_holds(&v->bundle, false, "cases of the suite: the result says %lld, it is %zu",
                     (long long)json_int(x, "cases", -1), own->cases);
    if (json_int(x, "hidden", -1) != (int64_t)hidden->cases)
        report_holds(&v->bundle, false, "hidden cases: the result says %lld, it is %zu",
                     (long long)json_int(x, "hidden", -1), hidden->cases);
    if (verdict_correct(hidden->verdict))
        compare_confirmation(v, json_object_get(x, "confirmation"), &hidden->shipped);
    if (!v->timed)
        return;
    if (!measured) {
        same_number(v, "max_error", x, "max_error", fmax(own->error.max, hidden->error.max));
        same_number(v, "original_error", x, "original_error",
                    fmax(own->original_error.max, hidden->original_error.max));
        same_number(v, "allowed_error", x, "allowed_error",
                    fmax(own->allowed_error.max, hidden->allowed_error.max));
        for (enum regime regime = 0; regime < N_REGIMES; regime++)
            compare_workloads(v, regime, timed);
    }
    same_number(v, "speedup", json_object_get(v->bundle.result, "speedup"), "geomean", timed->score);
}

static void say_verdict(struct verify *v, const char *what, const struct trial *t)
{
    bool ok = v->timed ? t->verdict == VERDICT_PASSED : verdict_correct(t->verdict);

    report_holds(&v->bundle, ok, "%s: %s%s%s", what, verdict_name(t->verdict), !ok && *t->words ? ": " : "",
                 ok ? "" : t->words);
}

/* The recorded device where it is here; else the simulator, for the answers alone. */
static const char *device_of(struct verify *v)
{
    const char *kind = json_text(v->bundle.device, "kind", ""), *name = json_text(v->bundle.device, "name", ""),
               *model = json_text(v->bundle.device, "model", "");
    const char *words;
    int n = str_eq(kind, "cuda") ? cuda_count(v->arena, &words) : 0;

    v->timed = str_eq(kind, "sim");
    v->tolerance = SAME;
    if (!str_eq(json_text(v->bundle.result, "astra", ""), ASTRA_VERSION)) {
        v->tolerance = SAME_KIND;
        add_note(v, arena_printf(v->arena, "the result was written by Astra %s, this is %s",
                                 json_text(v->bundle.result, "astra", "?"), ASTRA_VERSION));
    }
    for (int i = 0; i < n; i++) {
        struct cuda *c;
        bool same;
        if (!cuda_open(&c, i, NULL))
            continue;
        same = str_eq(cuda_info(c)->limits.full_name, name);
        cuda_close(c);
        if (same) {
            v->timed = true;
            v->tolerance = SAME_KIND;
            return arena_printf(v->arena, "cuda:%d", i);
        }
    }
    if (!v->timed)
        add_note(v, arena_printf(v->arena,
                                 "there is no %s here: only the answers were judged again, on the simulator",
                                 name));
    return model;
}

static bool rejudge(struct verify *v, struct err *err)
{
    const char *device = device_of(v);
    uint64_t seed = (uint64_t)json_int(v->bundle.provenance, "seed", 0),
             hidden_seed = (uint64_t)json_int(v->bundle.provenance, "hidden_seed", 0);
    int looks = (int)MAX(1, MIN(json_int(v->bundle.provenance, "looks", 1), RUN_MAX_LOOKS));
    struct trial own, hidden = {0}, original;
    struct err why = {0};

    if (str_eq(json_text(v->bundle.result, "outcome", ""), "unchanged")) {
        v->timed = false;
        return judge(v, device, seed, false, &own, &original, err) &&
               (say_verdict(v, "the original, on the suite", &own), true);
    }
    bool ok = judge(v, device, seed, false, &own, &original, &why);
    for (int look = 0; ok && look < looks; look++) { /* the last one's figures are the result's */
        ok = judge(v, device, confirm_look_seed(hidden_seed, look), true, &hidden, &original, &why);
        if (ok && look + 1 < looks)
            say_verdict(v, "the hidden cases of an earlier look", &hidden);
    }
    if (!ok) {
        if (why.kind == ERR_INPUT)
            return report_holds(&v->bundle, false, "the task: %s", why.text);
        *err = why;
        return false;
    }
    if (!str_eq(v->nvrtc, json_text(v->bundle.device, "nvrtc", ""))) {
        v->tolerance = SAME_KIND;
        add_note(v, arena_printf(v->arena, "it was compiled by NVRTC %s, here by %s",
                                 json_text(v->bundle.device, "nvrtc", "?"), v->nvrtc));
    }
    say_verdict(v, "the suite", &own);
    say_verdict(v, "the hidden cases", &hidden);
    compare(v, &own, &hidden);
    return true;
}

static void put_words(struct verify *v, bool json, struct str *out)
{
    bool ok = json_array_size(v->bundle.broken) == 0;
    const json_t *line;
    size_t i;

    if (json) {
        json_t *o = json_object();
        json_put_flag(o, "holds", ok);
        json_put(o, "held", json_incref(v->bundle.held));
        json_put(o, "broken", json_incref(v->bundle.broken));
        json_put_text(o, "note", v->note);
        json_print(out, o);
        return;
    }
    json_array_foreach(v->bundle.held, i, line) str_addf(out, "holds   %s\n", json_string_value(line));
    json_array_foreach(v->bundle.broken, i, line) str_addf(out, "BROKEN  %s\n", json_string_value(line));
    if (v->note)
        str_addf(out, "note    %s\n", v->note);
    str_addf(out, "%s\n", ok ? "The result holds." : "The result does not hold.");
}

/* A folder or a file, or the name of a run. */
static bool result_named(struct arena *a, const struct cmd_args *args, char **result, struct err *err)
{
    if (args->n_words == 0 || !fs_exists(args->words[0]))
        return cmd_run_named(a, args, "verify", result, err);
    *result = arena_strdup(a, args->words[0]);
    return true;
}

int cmd_verify(const struct cmd_args *args)
{
    struct verify v = {.arena = arena_open()};
    struct str out = {.arena = v.arena};
    struct err err = {0};
    char *result = NULL;
    bool ok =
        result_named(v.arena, args, &result, &err) && report_bundle_open(&v.bundle, v.arena, result, &err);
    int status;

    /* What is not what was judged is not worth judging. */
    if (ok && v.bundle.task && (check_suite(&v, &err) & v.bundle.intact) && err.kind == ERR_NONE)
        ok = rejudge(&v, &err) || err.kind == ERR_NONE;
    ok = ok && err.kind == ERR_NONE;
    if (ok)
        put_words(&v, args->json, &out);
    ok = ok && cmd_print_result(args, str_text(&out), &err);
    if (ok && json_array_size(v.bundle.broken) > 0)
        ok = err_world(&err, "%s does not hold: %s%s", result,
                       json_string_value(json_array_get(v.bundle.broken, 0)),
                       json_array_size(v.bundle.broken) > 1 ? ", and more" : "");
    status = ok ? cmd_fail_under(args, v.bundle.result) : cmd_fail(&err);
    report_bundle_close(&v.bundle);
    arena_close(v.arena);
    return status;
}
