#include "cmd/session.h"

#include "tui/tui.h"

/* The most dynamic shared memory that a launch asks for, from the plans of the workloads. */
static int64_t dynamic_shared(struct session *s, const char *path, const char *text)
{
    struct agent_version v;
    int64_t most = 0;

    if (!agent_version_open(&v, s->arena, s->task, path, text, &s->device->limits, NULL))
        return -1;
    for (size_t i = 0; i < v.input.n_plans; i++)
        for (size_t k = 0; k < v.input.plans[i].n_steps; k++)
            most = MAX(most, v.input.plans[i].steps[k].shared_bytes);
    agent_version_close(&v);
    return most;
}

static bool judge_version(struct session *s, struct session_version *v, const char *text, struct err *err)
{
    int id = -1;

    trace_doing("judge", "judges %s", v->file);
    if (!pool_submit(s->pool, 1, v->file, text, err))
        return false;
    while (id < 0)
        if (!pool_collect(s->pool, 1, s->arena, &id, &v->trial, err))
            return false;
    v->dynamic_bytes = dynamic_shared(s, v->file, text);
    return true;
}

bool session_open(struct session *s, const struct cmd_args *args, bool confirm, struct err *err)
{
    struct trial_options o = {.seed = (uint64_t)args->seed,
                              .confirm = confirm,
                              .hidden = args->confirm,
                              .with_nvcc = args->confirm,
                              .exact = args->exact};
    char **texts, *own;
    size_t n_files = (size_t)MAX(args->n_words - 1, 0);

    *s = (struct session){.arena = arena_open()};
    texts = arena_array(s->arena, char *, n_files + 1);
    s->n_versions = MAX(n_files, (size_t)1);
    s->versions = arena_array(s->arena, struct session_version, s->n_versions);
    if (args->confirm && args->hidden_seed > 0)
        o.seed = (uint64_t)args->hidden_seed;
    else if (args->confirm && !rng_fresh_seed(&o.seed, err))
        return false;
    s->seed = o.seed;
    s->confirmed = args->confirm;
    tui_open(&(struct tui_options){.quiet = args->quiet});
    if (!cmd_device(args->device, s->arena, args->quiet, &o.device, err) ||
        !cmd_beside(args, o.device, true, &o.beside, err) ||
        !task_open(&s->task, s->arena, args->words[0], err))
        return false;
    for (size_t i = 0; i < n_files; i++)
        if (!fs_read(s->arena, args->words[i + 1], &texts[i], NULL, err)) {
            err->kind = ERR_INPUT;
            return false;
        }
    trace_doing("judge", "judges the original");
    if (!pool_open(&s->pool, s->task, &o, 1, NULL, err) ||
        !pool_original(s->pool, s->arena, &s->original.trial, err) ||
        !fs_read(s->arena, s->task->source_path, &own, NULL, err))
        return false;
    s->device = pool_device(s->pool);
    s->original.dynamic_bytes = dynamic_shared(s, s->task->source_path, own);
    s->versions[0] = s->original;
    for (size_t i = 0; i < n_files; i++) {
        s->versions[i].file = args->words[i + 1];
        if (!judge_version(s, &s->versions[i], texts[i], err))
            return false;
    }
    return true;
}

/* Of a task that `astra init` wrote: what it could not know is likelier at fault than the original, and what is
 * judged on guesses is no promise. */
static void say_open_questions(struct arena *a, const char *folder, bool failed)
{
    static const char mark[] = "# TODO: ";
    const char *path = fs_join(a, folder, "task.yaml");
    char *text;
    int n = 0, line = 1, first = 0;
    const char *question = "";

    if (!fs_read(a, path, &text, NULL, NULL))
        return;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n', line++) {
        const char *todo = memmem(p, strcspn(p, "\n"), mark, sizeof(mark) - 1);
        if (todo && n++ == 0) {
            first = line;
            question = arena_strndup(a, todo + sizeof(mark) - 1, strcspn(todo + sizeof(mark) - 1, "\r\n"));
        }
    }
    if (n)
        fprintf(stderr, "note: %s leaves %d thing%s to be said, %s. The first, at line %d: %s\n", path, n,
                n == 1 ? "" : "s", failed ? "which may be the cause" : "which is a guess until then", first,
                question);
}

int session_close(struct session *s, const struct cmd_args *args, bool ok, struct str *text, struct err *err)
{
    int status = ok && cmd_print_result(args, str_text(text), err) ? EXIT_OK : cmd_fail(err);

    if (ok ? !args->quiet : err->kind == ERR_INPUT)
        say_open_questions(s->arena, args->words[0], !ok);
    str_free(text);
    pool_close(s->pool);
    arena_close(s->arena);
    return status;
}

void session_add_verdict(const struct session *s, const struct session_version *v, struct str *out)
{
    const struct trial *t = &v->trial;
    const struct verified verified = {&s->original.trial, t, NULL};
    json_t *verification = report_verification(s->arena, &verified, json_null());
    const char *uncovered = report_uncovered(s->arena, verification),
               *waste = trial_waste_words(s->arena, t, true);

    const char *words = t->words ? t->words : "", *name = verdict_name(t->verdict);
    bool names_it = str_starts(words, name); /* "slower on 1 of 2 workloads" */

    str_addf(out, "verdict: %s", names_it ? words : name);
    if (t->line)
        str_addf(out, ", line %d", t->line);
    if (t->line && t->col)
        str_addf(out, ":%d", t->col);
    if (*words && !names_it)
        str_addf(out, ": %s", words);
    str_addc(out, '\n');
    if (v->file && t->line)
        cmd_add_place(out, v->file, t->line, t->col, false);
    str_addf(out, "%zu verification cases", t->cases);
    if (v->file && verdict_correct(t->verdict))
        str_addf(out, ": %s", report_exactness(s->arena, verification));
    str_addf(out, "\njudged in %.2f s (compile %.2f, verify %.2f, measure %.2f)\n", t->wall_s, t->compile_s,
             t->verify_s, t->measure_s);
    if (t->missing_checks)
        str_addf(out, "not checked: %s\n", t->missing_checks);
    if (uncovered && verdict_correct(t->verdict))
        str_addf(out, "coverage: %s\n", uncovered);
    if (waste && verdict_correct(t->verdict))
        str_addf(out, "redundant traffic: %s\n", waste);
    report_shipped(verification, out);
    json_decref(verification);
    report_derived(t->shadow_lost, t->underived, out);
}

static void add_resource_row(const struct session *s, const struct session_version *v, struct table *t)
{
    const struct trial *x = &v->trial;
    bool compiled = x->registers > 0;

    table_row(t, v->file ? v->file : "the original");
    table_int(t, compiled ? (int64_t)x->registers : -1);
    table_int(t, compiled ? (int64_t)x->spill_bytes : -1);
    table_int(t, compiled ? (int64_t)x->shared_bytes : -1);
    table_int(t, v->dynamic_bytes);
    table_text(t, words_occupancy(s->arena, x, s->task->regime));
}

void session_add_resources(const struct session *s, bool markdown, struct str *out)
{
    struct table *t = table_new(s->arena, "Resources");

    table_columns(t, "version|registers#|spilled#B|static shared#B|dynamic shared#B|occupancy");
    add_resource_row(s, &s->original, t);
    for (size_t i = 0; i < s->n_versions; i++)
        if (s->versions[i].file)
            add_resource_row(s, &s->versions[i], t);
    (markdown ? table_as_markdown : table_as_text)(t, out);
}
