/* The verb sanitize: the simulator's checks on one version, for people and for CI. Findings as text, JSON,
 * SARIF (what code hosts show beside a line) and JUnit (what CI servers list). */
#include "cmd/cmd.h"
#include "judge/judge.h"
#include "report/report.h"
#include "tui/tui.h"

#include <ctype.h>

struct sanitize_run {
    struct arena *arena;
    struct task *task;
    struct judge *judge;
    const char *file;
    struct sanitized found;
    size_t n_unchecked; /* cases that the simulator cannot run */
};

static bool clean(const struct sanitize_run *r)
{
    return r->found.findings.n == 0;
}

static bool unchecked(const struct sanitized_case *c)
{
    return c->verdict == VERDICT_UNSUPPORTED;
}

/* A finding in a header has that header's own path. */
static const char *file_of(const struct sanitize_run *r, const struct sanitized_finding *f)
{
    return !*f->file || str_eq(fs_basename(f->file), fs_basename(r->file)) ? r->file : f->file;
}

static char *cases_text(struct arena *a, size_t n, size_t all)
{
    return arena_printf(a, "%zu of %zu case%s", n, all, all == 1 ? "" : "s");
}

/* ---- text ---- */

static void add_text(const struct sanitize_run *r, struct str *out)
{
    size_t n = r->found.cases.n;

    for (size_t i = 0; i < r->found.findings.n; i++) {
        const struct sanitized_finding *f = &r->found.findings.v[i];
        const char *file = file_of(r, f);
        str_add(out, file);
        if (f->line)
            str_addf(out, ":%d", f->line);
        str_addf(out, ": %s: %s\n", f->kind, f->words);
        if (f->line)
            cmd_add_place(out, file, f->line, 0, false);
        str_addf(out, "    in %s, first in %s\n", cases_text(r->arena, f->n_cases, n), f->where);
    }
    for (size_t i = 0; i < n; i++)
        if (unchecked(&r->found.cases.v[i])) {
            str_addf(out, "not checked: %s, %s\n", cases_text(r->arena, r->n_unchecked, n),
                     r->found.cases.v[i].words);
            break;
        }
    if (clean(r))
        str_addf(
            out,
            "%s: no finding in %s: bounds, alignment, races in shared and global memory, undefined values, "
            "barriers, asynchronous copies\n",
            r->file, cases_text(r->arena, n - r->n_unchecked, n));
    else
        str_addf(out, "%zu finding%s\n", r->found.findings.n, r->found.findings.n == 1 ? "" : "s");
}

/* ---- JSON ---- */

static json_t *to_json(const struct sanitize_run *r)
{
    json_t *o = json_object(), *findings = json_array(), *cases = json_array();

    json_put_text(o, "task", r->task->name);
    json_put_text(o, "file", r->file);
    json_put_flag(o, "clean", clean(r));
    for (size_t i = 0; i < r->found.findings.n; i++) {
        const struct sanitized_finding *f = &r->found.findings.v[i];
        json_t *x = json_object();
        json_put_text(x, "kind", f->kind);
        json_put_text(x, "kernel", f->kernel);
        json_put_text(x, "file", file_of(r, f));
        json_put_int(x, "line", f->line);
        json_put_text(x, "words", f->words);
        json_put_text(x, "first", f->where);
        json_put_int(x, "cases", (int64_t)f->n_cases);
        json_array_append_new(findings, x);
    }
    for (size_t i = 0; i < r->found.cases.n; i++) {
        const struct sanitized_case *c = &r->found.cases.v[i];
        json_t *x = json_object();
        json_put_text(x, "case", c->where);
        json_put_text(x, "verdict", unchecked(c) ? "not checked" : verdict_name(c->verdict));
        if (c->words)
            json_put_text(x, "words", c->words);
        json_array_append_new(cases, x);
    }
    json_put(o, "findings", findings);
    json_put(o, "cases", cases);
    return o;
}

/* A relative path as a URI reference, an absolute one as a file's URI. */
static char *uri_of(struct arena *a, const char *path)
{
    struct str out = {0};

    str_add(&out, *path == '/' ? "file://" : "");
    for (; *path; path++)
        str_addf(&out, isalnum((unsigned char)*path) || strchr("/._-~", *path) ? "%c" : "%%%02X",
                 (unsigned char)*path);
    return str_take(&out, a);
}

/* SARIF 2.1.0: one run, a rule for each kind of finding. */
static json_t *to_sarif(const struct sanitize_run *r)
{
    json_t *rules = json_array(), *results = json_array(), *known = json_object();

    for (size_t i = 0; i < r->found.findings.n; i++) {
        const struct sanitized_finding *f = &r->found.findings.v[i];
        struct line_origin at = {file_of(r, f), f->line};
        char *text;

        if (f->line && fs_read(r->arena, at.file, &text, NULL, NULL))
            origin_find(&at, r->arena, text, f->line,
                        fs_basename(at.file)); /* what a framework's reviewer sees */
        json_t *place = json_pack("{s:{s:{s:s}}}", "physicalLocation", "artifactLocation", "uri",
                                  uri_of(r->arena, at.file));
        if (f->line)
            json_object_set_new(json_object_get(place, "physicalLocation"), "region",
                                json_pack("{s:i}", "startLine", at.line));
        if (!json_object_get(known, f->kind)) {
            json_object_set_new(known, f->kind, json_true());
            json_array_append_new(rules, json_pack("{s:s}", "id", f->kind));
        }
        json_array_append_new(
            results,
            json_pack("{s:s, s:s, s:{s:s}, s:[o]}", "ruleId", f->kind, "level", "error", "message", "text",
                      arena_printf(r->arena, "%s (in %s, first in %s)", f->words,
                                   cases_text(r->arena, f->n_cases, r->found.cases.n), f->where),
                      "locations", place));
    }
    json_decref(known);
    return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:o}}, s:o}]}", "$schema",
                     "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                     "driver", "name", "astra sanitize", "rules", rules, "results", results);
}

/* ---- JUnit: a test case for each case of the suite ---- */

static void add_attribute(struct str *out, const char *name, const char *value)
{
    str_addf(out, " %s=\"", name);
    html_text(out, value);
    str_addc(out, '"');
}

static void add_junit(const struct sanitize_run *r, struct str *out)
{
    size_t failed = 0;

    for (size_t i = 0; i < r->found.cases.n; i++)
        failed += r->found.cases.v[i].words && !unchecked(&r->found.cases.v[i]);
    str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    add_attribute(out, "name", arena_printf(r->arena, "astra sanitize %s", r->file));
    str_addf(out, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", r->found.cases.n, failed,
             r->n_unchecked);
    for (size_t i = 0; i < r->found.cases.n; i++) {
        const struct sanitized_case *c = &r->found.cases.v[i];
        str_add(out, "  <testcase");
        add_attribute(out, "classname", r->task->name);
        add_attribute(out, "name", c->where);
        if (!c->words) {
            str_add(out, "/>\n");
            continue;
        }
        str_add(out, unchecked(c) ? "><skipped" : "><failure");
        add_attribute(out, "message",
                      c->line ? arena_printf(r->arena, "line %d: %s", c->line, c->words) : c->words);
        str_add(out, "/></testcase>\n");
    }
    str_add(out, "</testsuite>\n");
}

static bool write_files(const struct sanitize_run *r, const struct cmd_args *args, struct err *err)
{
    struct str text = {.arena = r->arena};
    bool ok = true;

    if (args->sarif) {
        json_print(&text, to_sarif(r));
        ok = fs_write_text(args->sarif, str_text(&text), err);
    }
    if (ok && args->junit) {
        str_clear(&text);
        add_junit(r, &text);
        ok = fs_write_text(args->junit, str_text(&text), err);
    }
    return ok;
}

/* ---- the run ---- */

/* DIR [FILE], or a FILE whose folder is its task's. */
static bool open_task(struct sanitize_run *r, const struct cmd_args *args, struct err *err)
{
    const char *first = args->words[0], *dir = first;
    bool alone = args->n_words == 1 && fs_exists(first) && !fs_is_dir(first);

    if (alone) {
        dir = fs_dirname(r->arena, first);
        if (!fs_exists(fs_join(r->arena, dir, "task.yaml")))
            return err_input(
                err,
                "%s has no task.yaml beside it: a task says with which shapes and values a kernel is "
                "launched; `astra init` writes one, docs/task.md says how it is made by hand",
                first);
    }
    if (!task_open(&r->task, r->arena, dir, err))
        return false;
    r->file = args->words[alone ? 0 : 1];
    if (!r->file)
        r->file = r->task->source_path;
    return true;
}

static bool sanitize(struct sanitize_run *r, const struct cmd_args *args, struct err *err)
{
    struct trial_options o = {.seed = (uint64_t)args->seed, .alone = true};
    char *text;

    if (!cmd_device("sim", r->arena, true, &o.device, err) || !open_task(r, args, err))
        return false;
    if (!fs_read(r->arena, r->file, &text, NULL, err)) {
        err->kind = ERR_INPUT;
        return false;
    }
    if (!judge_open(&r->judge, r->task, &o, err) ||
        !judge_sanitize(r->judge, r->arena, r->file, text, &r->found, err))
        return false;
    for (size_t i = 0; i < r->found.cases.n; i++)
        r->n_unchecked += unchecked(&r->found.cases.v[i]);
    if (r->n_unchecked == r->found.cases.n)
        return err_at(err, r->file, 0, 0, "no case could be checked: %s", r->found.cases.v[0].words);
    return write_files(r, args, err);
}

int cmd_sanitize(const struct cmd_args *args)
{
    struct sanitize_run r = {.arena = arena_open()};
    struct str out = {.arena = r.arena};
    struct err err = {0};
    int status;
    bool ok;

    if (args->capture) {
        arena_close(r.arena);
        return cmd_replay(args, false);
    }
    tui_open(&(struct tui_options){.quiet = args->quiet});
    ok = sanitize(&r, args, &err);
    if (ok && args->json) {
        json_print(&out, to_json(&r));
    } else if (ok) {
        add_text(&r, &out);
    }
    if (!ok || !cmd_print_result(args, str_text(&out), &err))
        status = cmd_fail(&err);
    else
        status = clean(&r) ? EXIT_OK : EXIT_UNDER;
    judge_close(r.judge);
    arena_close(r.arena);
    return status;
}
