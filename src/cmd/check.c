/* The verb check: is the task sound, and would its suite notice a fault? */
#include "cmd/session.h"
#include "gpu/gpu.h"
#include "optimize/optimize.h"

/* ---- faults that were not noticed ---- */

/* A fault of the compiled code, which has no text in the source. */
static const char *ptx_words(const char *op)
{
    static const struct {
        const char *op, *words;
    } known[] = {{"ptx-rounding", "a conversion cuts off instead of rounding to the nearest number"},
                 {"ptx-add-sub", "an addition is a subtraction, or the other way round"},
                 {"ptx-compare", "a comparison takes equality too, or no longer"},
                 {"ptx-min-max", "a minimum is a maximum, or the other way round"},
                 {"ptx-barrier", "a barrier is left out"},
                 {"ptx-store", "a store to global memory is left out"},
                 {"ptx-shared-store", "a store to shared memory is left out"},
                 {"ptx-atomic", "an atomic operation is left out, or is another"},
                 {"ptx-fma", "a product is not added to its sum"}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(known[i].op, op))
            return known[i].words;
    return NULL;
}

/* Where in its line the text stands that a fault of the source replaces; 0: not found. */
static int fault_column(struct arena *a, const char *source, const struct mutant *m)
{
    const char *line = source, *end, *at;
    size_t len = strlen(m->what);

    for (int i = 1; i < m->line && *line; i++)
        line += strcspn(line, "\n"), line += *line == '\n';
    if (m->what[0] != '`' || !(end = strchr(m->what + 1, '`')) || (size_t)(end - m->what) > len)
        return 0;
    at = strstr(line, arena_strndup(a, m->what + 1, (size_t)(end - m->what) - 1));
    return at && (size_t)(at - line) < strcspn(line, "\n") ? (int)(at - line) + 1 : 0;
}

static void add_survivor(const struct session *s, const struct mutant *m, const char *source, struct str *out)
{
    const char *words = ptx_words(m->op), *file = fs_basename(s->task->source_path);
    int col = words ? 0 : fault_column(s->arena, source, m);

    str_addf(out, "  not noticed, %s:%d", file, m->line);
    if (col)
        str_addf(out, ":%d", col);
    if (words)
        str_addf(out, ": in the code of this line %s: %s (%s)\n", words, m->what, m->id);
    else
        str_addf(out, ": %s (%s)\n", m->what, m->id);
    cmd_add_place(out, s->task->source_path, m->line, col, false);
}

/* What to do about them, the most useful first. */
static void add_advice(const struct session *s, const struct mutation_score *m, struct str *out)
{
    str_addf(out, "  A candidate with %s would pass. What to do, in this order:\n",
             m->survived == 1 ? "this fault" : "one of these faults");
    str_add(
        out,
        "  - Where callers could meet the wrong answer, let the suite meet it: widen `domain:` to all shapes that\n"
        "    callers pass, give buffers the `values:` that they hold, and scalars all of theirs.\n");
    if (!s->task->reference_path && isfinite(s->original.trial.original_error.max))
        str_add(
            out,
            "  - Write a reference.cu in double: without one a candidate is held to errors as large as the original's.\n");
    if (isfinite(s->task->tolerance))
        str_add(out, "  - Lower `tolerance:`, or leave it out: it lets small differences pass.\n");
    str_add(
        out,
        "  - What cannot change any answer is no fault. Put the ids of these into task.yaml:\n    equivalent: [");
    for (size_t i = 0, n = 0; i < m->n_rows; i++)
        if (m->rows[i].fate == MUTANT_SURVIVED)
            str_addf(out, "%s%s", n++ ? ", " : "", m->rows[i].mutant.id);
    str_add(out, "]\n");
}

static void add_mutants(const struct session *s, const struct mutation_score *m, struct str *out)
{
    char *source = arena_strdup(s->arena, "");

    fs_read(s->arena, s->task->source_path, &source, NULL, NULL);
    str_addf(
        out,
        "mutants    %zu of %zu faults put in%s: %zu noticed, %zu not, %zu change nothing, %zu do not compile",
        m->n_rows, m->n_faults, m->cached ? " (known from before)" : "", m->killed, m->survived, m->equivalent,
        m->stillborn);
    if (isfinite(m->score))
        str_addf(out, "; score %.1f %%", 100 * m->score);
    str_addc(out, '\n');
    for (size_t i = 0; i < m->n_rows; i++)
        if (m->rows[i].fate == MUTANT_SURVIVED)
            add_survivor(s, &m->rows[i].mutant, source, out);
    if (m->survived)
        add_advice(s, m, out);
}

/* ---- the task ---- */

static size_t count_launches(struct session *s, size_t *kernels, struct err *err)
{
    struct agent_version v;
    char *text;
    size_t steps = 0;

    *kernels = 0;
    if (!fs_read(s->arena, s->task->source_path, &text, NULL, err) ||
        !agent_version_open(&v, s->arena, s->task, s->task->source_path, text, &s->device->limits, err))
        return 0;
    for (size_t i = 0; i < v.input.n_plans; i++)
        steps = MAX(steps, v.input.plans[i].n_steps);
    *kernels = v.kernel->n_functions;
    agent_version_close(&v);
    return steps;
}

/* Without a reference: what the exact answers are, and whether one must be asked for. */
static void add_derived(const struct trial *t, struct str *out)
{
    if (!isfinite(t->original_error.max))
        str_add(out, "reference  none: the outputs are integers, and candidates must give the original's\n");
    else if (str_eq(t->exact, "shadow"))
        str_addf(
            out,
            "reference  none: exact answers are derived from the original, which is off by at most %.2f ulp\n",
            t->original_error.max);
    else
        str_add(
            out,
            "reference  none, and none could be derived: candidates are held to the original's own answers\n");
    report_derived(t->shadow_lost, t->underived, out);
}

static json_t *check_to_json(const struct session *s, const struct mutation_score *mutants)
{
    const struct trial *t = &s->original.trial;
    json_t *o = json_object();

    json_put_text(o, "task", s->task->name);
    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_int(o, "cases", (int64_t)t->cases);
    json_put_int(o, "workloads", (int64_t)s->task->n_workloads);
    json_put_flag(o, "reference", s->task->reference_path != NULL);
    json_put_num(o, "original_error", t->original_error.max);
    json_put_text(o, "exact", t->exact);
    json_put_num(o, "shadow_lost", t->shadow_lost);
    json_put(o, "ulp_edges", trial_edges_to_json());
    json_put(o, "errors", trial_accuracy_to_json(t));
    json_put(o, "mutation", mutants ? mutation_score_to_json(mutants, false) : json_null());
    return o;
}

static void add_check(struct session *s, const struct mutation_score *mutants, uint64_t seed, struct str *out)
{
    const struct trial *t = &s->original.trial;
    json_t *errors = trial_accuracy_to_json(t);
    struct agent_suite suite;
    struct err err = {0};
    size_t kernels, steps = count_launches(s, &kernels, &err);

    agent_test_rules(s->task, s->arena, seed, &suite);
    str_addf(out, "task       %s (%s)\n", s->task->name, s->task->dir);
    str_addf(out, "kernel     %zu kernel function%s, at most %zu step%s a launch\n", kernels,
             kernels == 1 ? "" : "s", steps, steps == 1 ? "" : "s");
    str_addf(out, "workloads  %zu, scored %s\n", s->task->n_workloads, regime_name(s->task->regime));
    str_addf(out, "suite      %s: right, safe and the same in every order of warps and blocks\n", suite.text);
    if (s->task->reference_path && isfinite(t->original_error.max))
        str_addf(out, "reference  %s; the original is off by at most %.2f ulp\n",
                 fs_basename(s->task->reference_path), t->original_error.max);
    else if (s->task->reference_path)
        str_addf(out, "reference  %s; the outputs are integers, and the original's are right\n",
                 fs_basename(s->task->reference_path));
    else
        add_derived(t, out);
    if (mutants)
        add_mutants(s, mutants, out);
    report_errors(errors, true, out);
    if (mutants && mutants->survived)
        str_addf(
            out,
            "The task is sound: it parses, launches and answers right. Its suite misses %zu fault%s, see above.\n",
            mutants->survived, mutants->survived == 1 ? "" : "s");
    else
        str_add(out, "The task is sound.\n");
    json_decref(errors);
}

int cmd_check(const struct cmd_args *args)
{
    struct session s;
    struct str out = {0};
    struct err err = {0};
    struct mutation_score mutants = {0}, *known = args->mutants > 0 ? &mutants : NULL;
    int status;
    bool ok = session_open(&s, args, false, &err) && judge_nvcc_takes(s.task, &s.device->limits, &err);

    if (ok && known) {
        const struct mutation_score_options o = {.device = s.device->model,
                                                 .seed = (uint64_t)args->seed,
                                                 .most = (size_t)args->mutants,
                                                 .progress = trace_mutants};
        pool_widen(s.pool, args->jobs ? (int)args->jobs : cmd_cores(1));
        ok = mutation_score_measure(s.task, &o, s.pool, s.arena, &mutants, &err);
    }
    if (ok && args->json) {
        json_print(&out, check_to_json(&s, known));
    } else if (ok) {
        add_check(&s, known, (uint64_t)args->seed, &out);
    }
    status = session_close(&s, args, ok, &out, &err);
    return status;
}
