/* verify: a result judged again from its folder's files alone. First the hashes: is everything what the result
 * says it is of? Then the judgement: the suite with the recorded seed, the hidden cases with theirs, and the
 * figures. Each thing that does not hold is named; one is enough for exit status 1. */
#include "cmd/cmd.h"
#include "report/report.h"
#include "run.h"
#include "source/source.h"
#include "trial/trial.h"

#define SAME      1e-6 /* modelled figures repeat to the last printed digit */
#define SAME_KIND 0.05 /* of another version's model, or measured on another day */

struct verify {
    struct arena *arena;
    const char *folder;
    json_t *result;
    const json_t *provenance, *device;
    const char *best; /* best.cu whole */
    struct task *task;
    const struct task_case *cases; /* the tester's */
    size_t n_cases;
    json_t *held, *broken; /* of sentences */
    bool timed;            /* on a device like the recorded one */
    double tolerance;
    const char *nvrtc; /* here */
};

__attribute__((format(printf, 3, 4))) static bool holds(struct verify *v, bool ok, const char *words, ...)
{
    char text[1000];
    va_list ap;

    va_start(ap, words);
    vsnprintf(text, sizeof(text), words, ap);
    va_end(ap);
    json_array_append_new(ok ? v->held : v->broken, json_string(text));
    return ok;
}

static bool hash_is(const char *text, size_t n, const char *recorded)
{
    char hex[65];

    hash_sha256_hex(text, n, hex);
    return str_eq(hex, recorded);
}

/* ---- is everything what the result says it is of? ---- */

static bool check_files(struct verify *v)
{
    const json_t *hash;
    const char *name;
    bool all = true;

    json_object_foreach(json_object_get(v->provenance, "files"), name, hash)
    {
        struct err why = {0};
        char *text;
        size_t n;
        bool there = name[0] != '/' && !strstr(name, "..") &&
                     fs_read(v->arena, fs_join(v->arena, v->folder, arena_printf(v->arena, "task/%s", name)),
                             &text, &n, &why);
        if (!there || !hash_is(text, n, json_string_value(hash)))
            all = holds(v, false, there ? "task/%s is not the file that was judged" : "task/%s is not there",
                        name);
    }
    if (all)
        holds(v, true, "the task's files are those that were judged");
    return all;
}

static bool check_suite(struct verify *v, struct err *err)
{
    char *path = fs_join(v->arena, v->folder, "suite.json"), *text;
    uint64_t seed = (uint64_t)json_int(v->provenance, "seed", 0);
    struct err why = {0};
    struct task_case *cases;
    json_t *suite, *again, *o;
    size_t n, i;
    bool ok = true;

    if (!fs_read(v->arena, path, &text, &n, &why))
        return holds(v, false, "suite.json is not there");
    if (!hash_is(text, n, json_text(v->provenance, "suite", "")))
        return holds(v, false, "suite.json is not the suite that was passed");
    suite = json_parse(text, n, "suite.json", err);
    if (!suite)
        return false;
    cases = arena_array(v->arena, struct task_case, json_array_size(json_object_get(suite, "tester")) + 1);
    json_array_foreach(json_object_get(suite, "tester"), i, o) ok =
        ok && task_case_from_json(v->task, o, v->arena, &cases[i], &why);
    v->cases = cases;
    v->n_cases = json_array_size(json_object_get(suite, "tester"));
    again = report_suite(v->task, v->arena, seed, cases, ok ? v->n_cases : 0);
    ok = ok && str_eq(json_line(v->arena, again), json_line(v->arena, suite));
    json_decref(again);
    json_decref(suite);
    return holds(v, ok,
                 ok ? "the suite is that of the task and the recorded seed"
                    : "suite.json is not what this version draws from the task and the recorded seed");
}

static bool check_best(struct verify *v, struct err *err)
{
    const char *header = report_header(v->arena, v->result), *judged = v->best + strlen(header);
    const char *source = json_text(v->provenance, "source", NULL);
    bool improved = str_eq(json_text(v->result, "outcome", ""), "improved");
    struct err why = {0};
    char *original, *diff, *kept;
    bool ok = str_starts(v->best, header) && (improved == (*header != 0)), same;

    if (!ok)
        judged = report_judged(v->best);
    holds(v, ok,
          ok ? "best.cu says what the result says"
             : "best.cu's first comment does not say what the result says");
    same = hash_is(judged, strlen(judged), json_text(v->provenance, "best", ""));
    ok &= holds(v, same,
                same ? "best.cu is the text that was judged" : "best.cu is not the text that was judged");
    if (!source || !fs_read(v->arena, fs_join(v->arena, v->task->dir, source), &original, NULL, &why))
        return holds(v, false, "the result does not say which file of the task is the original");
    if (!improved && !str_eq(original, v->best))
        ok = holds(v, false, "nothing was improved, and best.cu is not the original");
    if (!source_diff(v->arena, "original.cu", original, "best.cu", v->best, &diff, err))
        return false;
    same =
        fs_read(v->arena, fs_join(v->arena, v->folder, "best.diff"), &kept, NULL, &why) && str_eq(kept, diff);
    ok &= holds(v, same,
                same ? "best.diff leads from the original to best.cu"
                     : "best.diff does not lead from the original to best.cu");
    return ok;
}

/* ---- does the judgement repeat? ---- */

static bool judge(struct verify *v, const char *device, uint64_t seed, bool hidden, struct trial *t,
                  struct trial *original, struct err *err)
{
    const struct trial_options o = {.device = device,
                                    .seed = seed,
                                    .cases = v->cases,
                                    .n_cases = v->n_cases,
                                    .hidden = hidden,
                                    .confirm = hidden,
                                    .with_nvcc = hidden,
                                    .verify_only = !v->timed};
    struct pool *p = NULL;
    int id = -1;
    bool ok = pool_open(&p, v->task, &o, 1, NULL, err) && pool_original(p, v->arena, original, err) &&
              pool_submit(p, 1, v->task->source_path, report_judged(v->best), err);

    while (ok && id < 0)
        ok = pool_collect(p, 1, v->arena, &id, t, err);
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
        holds(v, false, "%s: the result says %.9g, it is %.9g", what, then, now);
}

static double now_of(const struct trial_time *x, const char *key)
{
    return str_eq(key, "best_us") ? x->us : str_eq(key, "baseline_us") ? x->base_us : x->speedup;
}

static void compare_workloads(struct verify *v, const char *list, bool hot, const struct trial *t)
{
    static const char *const keys[] = {"baseline_us", "best_us", "speedup"};
    const json_t *rows = json_object_get(v->result, list), *row;
    size_t i;

    if (json_array_size(rows) != t->n_workloads) {
        holds(v, false, "%s: the task has %zu workloads, the result %zu", list, t->n_workloads,
              json_array_size(rows));
        return;
    }
    json_array_foreach(rows, i, row) for (size_t k = 0; k < ARRAY_LEN(keys); k++) same_number(
        v, arena_printf(v->arena, "%s of %s", keys[k], task_dims_text(v->arena, v->task, t->workloads[i].dims)),
        row, keys[k], now_of(hot ? &t->workloads[i].hot : &t->workloads[i].cold, keys[k]));
}

static void compare(struct verify *v, const struct trial *own, const struct trial *hidden)
{
    const json_t *x = json_object_get(v->result, "verification"), *device = v->device;
    bool measured = str_eq(json_text(device, "kind", ""), "cuda");
    const struct trial *timed = measured ? hidden : own;

    if (json_int(x, "cases", -1) != (int64_t)own->cases)
        holds(v, false, "cases of the suite: the result says %lld, it is %zu",
              (long long)json_int(x, "cases", -1), own->cases);
    if (json_int(x, "hidden", -1) != (int64_t)hidden->cases)
        holds(v, false, "hidden cases: the result says %lld, it is %zu", (long long)json_int(x, "hidden", -1),
              hidden->cases);
    if (!v->timed)
        return;
    if (!measured) {
        same_number(v, "max_error", x, "max_error", fmax(own->error.max, hidden->error.max));
        same_number(v, "original_error", x, "original_error",
                    fmax(own->original_error.max, hidden->original_error.max));
        same_number(v, "allowed_error", x, "allowed_error",
                    fmax(own->allowed_error.max, hidden->allowed_error.max));
        compare_workloads(v, "workloads", v->task->hot, timed);
        compare_workloads(v, "other_regime", !v->task->hot, timed);
    }
    same_number(v, "speedup", json_object_get(v->result, "speedup"), "geomean", timed->score);
}

static void say_verdict(struct verify *v, const char *what, const struct trial *t)
{
    bool ok = v->timed ? t->verdict == VERDICT_PASSED : verdict_correct(t->verdict);

    holds(v, ok, "%s: %s%s%s", what, verdict_name(t->verdict), !ok && *t->words ? ": " : "",
          ok ? "" : t->words);
}

/* The recorded device where it is here; else the simulator, for the answers alone. */
static const char *device_of(struct verify *v, const char **note)
{
    const char *kind = json_text(v->device, "kind", ""), *name = json_text(v->device, "name", ""),
               *model = json_text(v->device, "model", "");
    const char *words;
    int n = str_eq(kind, "cuda") ? cuda_count(v->arena, &words) : 0;

    v->timed = str_eq(kind, "sim");
    v->tolerance = SAME;
    if (!str_eq(json_text(v->result, "astra", ""), ASTRA_VERSION)) {
        v->tolerance = SAME_KIND;
        *note = arena_printf(v->arena, "the result was written by Astra %s, this is %s",
                             json_text(v->result, "astra", "?"), ASTRA_VERSION);
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
        *note = arena_printf(v->arena,
                             "there is no %s here: only the answers were judged again, on the simulator", name);
    return model;
}

static bool rejudge(struct verify *v, const char **note, struct err *err)
{
    const char *device = device_of(v, note);
    uint64_t seed = (uint64_t)json_int(v->provenance, "seed", 0),
             hidden_seed = (uint64_t)json_int(v->provenance, "hidden_seed", 0);
    struct trial own, hidden = {0}, original;
    struct err why = {0};

    if (str_eq(json_text(v->result, "outcome", ""), "unchanged")) {
        v->timed = false;
        return judge(v, device, seed, false, &own, &original, err) &&
               (say_verdict(v, "the original, on the suite", &own), true);
    }
    if (!judge(v, device, seed, false, &own, &original, &why) ||
        !judge(v, device, hidden_seed, true, &hidden, &original, &why)) {
        if (why.kind == ERR_INPUT)
            return holds(v, false, "the task: %s", why.text);
        *err = why;
        return false;
    }
    if (!str_eq(v->nvrtc, json_text(v->device, "nvrtc", ""))) {
        v->tolerance = SAME_KIND;
        *note = arena_printf(v->arena, "%s%sit was compiled by NVRTC %s, here by %s", *note ? *note : "",
                             *note ? "; " : "", json_text(v->device, "nvrtc", "?"), v->nvrtc);
    }
    say_verdict(v, "the suite", &own);
    say_verdict(v, "the hidden cases", &hidden);
    compare(v, &own, &hidden);
    return true;
}

static bool open_result(struct verify *v, const char *path, struct err *err)
{
    const char *file = fs_is_dir(path) ? fs_join(v->arena, path, "result.json") : path;
    char *text, *best, hex[65];
    size_t n;
    struct err why = {0};

    v->folder = fs_is_dir(path) ? path : fs_dirname(v->arena, path);
    if (!fs_read(v->arena, file, &text, &n, err)) {
        err->kind = ERR_INPUT;
        return false;
    }
    v->result = json_parse(text, n, file, err);
    if (!v->result)
        return false;
    v->provenance = json_object_get(v->result, "provenance");
    v->device = json_object_get(v->result, "device");
    if (!json_is_object(json_object_get(v->provenance, "files")) || !json_is_object(v->device))
        return err_input(
            err, "%s says nothing of where it comes from: it is no result of a run, or of an older one", file);
    report_digest(v->arena, v->result, hex);
    bool same = str_eq(hex, json_text(v->provenance, "digest", ""));
    holds(v, same, same ? "result.json is as it was written" : "result.json was changed after it was written");
    if (!fs_read(v->arena, fs_join(v->arena, v->folder, "best.cu"), &best, NULL, &why))
        best = arena_strdup(v->arena, "");
    v->best = best;
    return true;
}

static void put_words(struct verify *v, const char *note, bool json, struct str *out)
{
    bool ok = json_array_size(v->broken) == 0;
    const json_t *line;
    size_t i;

    if (json) {
        json_t *o = json_object();
        json_put_flag(o, "holds", ok);
        json_put(o, "held", json_incref(v->held));
        json_put(o, "broken", json_incref(v->broken));
        json_put_text(o, "note", note);
        str_addf(out, "%s\n", json_pretty(v->arena, o));
        json_decref(o);
        return;
    }
    json_array_foreach(v->held, i, line) str_addf(out, "holds   %s\n", json_string_value(line));
    json_array_foreach(v->broken, i, line) str_addf(out, "BROKEN  %s\n", json_string_value(line));
    if (note)
        str_addf(out, "note    %s\n", note);
    str_addf(out, "%s\n", ok ? "The result holds." : "The result does not hold.");
}

int cmd_verify(const struct cmd_args *args)
{
    struct verify v = {.arena = arena_open(), .held = json_array(), .broken = json_array()};
    struct str out = {0};
    struct err err = {0};
    const char *note = NULL;
    bool ok = open_result(&v, args->words[0], &err);
    int status;

    if (ok && check_files(&v)) {
        ok = task_open(&v.task, v.arena, fs_join(v.arena, v.folder, "task"), &err);
        /* What is not what was judged is not worth judging. */
        if (ok && (check_best(&v, &err) & check_suite(&v, &err)) && err.kind == ERR_NONE)
            ok = rejudge(&v, &note, &err) || err.kind == ERR_NONE;
        ok = ok && err.kind == ERR_NONE;
    }
    if (ok)
        put_words(&v, note, args->json, &out);
    ok = ok && cmd_print(str_text(&out), &err);
    if (ok && json_array_size(v.broken) > 0)
        ok = err_world(&err, "%s does not hold: %s%s", args->words[0],
                       json_string_value(json_array_get(v.broken, 0)),
                       json_array_size(v.broken) > 1 ? ", and more" : "");
    status = ok ? cmd_fail_under(args, v.result) : cmd_fail(&err);
    str_free(&out);
    json_decref(v.held);
    json_decref(v.broken);
    json_decref(v.result);
    arena_close(v.arena);
    return status;
}
