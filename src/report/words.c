#include "report/words.h"

#include "report/report.h"
#include "rewrite/rewrite.h"

enum { MIN_MUTATION = 60 }; /* per cent: the option's default */

const char *words_regime(enum regime regime)
{
    static const char *const words[N_REGIMES] = {
        [REGIME_COLD] = "cold: inputs come from DRAM",
        [REGIME_HOT] = "hot: what fits stays in the L2",
        [REGIME_STREAM] = "stream: what the plan adds between neighbours that know nothing of PDL",
        [REGIME_STREAM_PDL] = "stream-pdl: what the plan adds between neighbours that use PDL"};

    return words[regime];
}

const char *words_capital(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);

    if (*copy >= 'a' && *copy <= 'z')
        *copy = (char)(*copy - 'a' + 'A');
    return copy;
}

const char *words_seconds(struct arena *a, double s)
{
    long whole = lround(s);

    if (s < 10)
        return arena_printf(a, "%.1f s", s);
    if (whole < 60)
        return arena_printf(a, "%ld s", whole);
    if (whole < 3600)
        return arena_printf(a, "%ld min %ld s", whole / 60, whole % 60);
    return arena_printf(a, "%ld h %ld min", whole / 3600, whole / 60 % 60);
}

const char *words_steps(struct arena *a, const struct view_candidate *c)
{
    struct str s = {0};

    for (size_t i = 0; i < c->n_steps; i++)
        str_addf(&s, "%s%s", i ? " + " : "", transform_words(a, c->steps[i].transform, c->steps[i].setting));
    return str_take(&s, a);
}

const char *words_author(const char *backend)
{
    if (str_eq(backend, "also"))
        return "somebody: a file given with --also";
    return str_eq(backend, "llm") ? "a model" : "the rules";
}

const char *words_parent(struct arena *a, int parent)
{
    return parent > 0 ? arena_printf(a, "candidate %d", parent) : "the original";
}

void words_copy(const struct view *v, enum regime regime, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t i = 0; i < v->n_workloads; i++) {
        const struct trial_time *t = &v->workloads[i].times[regime];
        *low = fmin(*low, t->copy_us / t->us);
        *high = fmax(*high, t->copy_us / t->us);
    }
}

const char *words_occupancy(struct arena *a, const struct trial *t, enum regime regime)
{
    double low = NAN, high = NAN;

    for (size_t i = 0; i < t->n_workloads; i++) {
        low = fmin(low, 100 * t->workloads[i].times[regime].occupancy);
        high = fmax(high, 100 * t->workloads[i].times[regime].occupancy);
    }
    if (!isfinite(low))
        return NULL;
    return lround(low) == lround(high) ? arena_printf(a, "%.0f %%", low)
                                       : arena_printf(a, "%.0f to %.0f %%", low, high);
}

/* ---- the verdict ---- */

static bool improved(const struct view *v)
{
    return v->best && v->best->row.id > 0;
}

static double geomean(const struct view *v)
{
    return json_num(json_object_get(v->result, "speedup"), "geomean");
}

const char *words_end_to_end(struct arena *a, const json_t *result)
{
    const json_t *e = json_object_get(result, "end_to_end");
    const char *verdict = json_text(e, "verdict", ""), *command = json_text(e, "command", "");
    const char *of = json_text(e, "of", ""), *figures;

    if (!e)
        return NULL;
    if (str_eq(verdict, "not measured"))
        return arena_printf(a, "In the program (%s) it was not measured: %s.", command,
                            json_text(e, "why", ""));
    figures = arena_printf(
        a, "%s: %.6g as it is, %.6g replaced; the median of %lld pairs is %.4f, 95 %% interval %.4f to %.4f",
        of, json_num(e, "as_it_is"), json_num(e, "replaced"), json_count(e, "pairs"), json_num(e, "ratio"),
        json_num(e, "low"), json_num(e, "high"));
    if (str_eq(verdict, "faster"))
        return arena_printf(a, "In the program it is faster, too (%s; %s).", command, figures);
    return arena_printf(a, "Faster alone, not in the program: %s (%s; %s).",
                        str_eq(verdict, "slower") ? "the program is slower with it"
                                                  : "no difference can be told there",
                        command, figures);
}

const char *words_headline(const struct view *v, struct arena *a)
{
    const char *there = json_text(json_object_get(v->result, "end_to_end"), "verdict", "");

    if (!v->result)
        return "No result";
    if (improved(v) && str_in(there, "slower|no difference"))
        return arena_printf(a, "Faster alone (%.2f times), not in the program", geomean(v));
    return improved(v) ? arena_printf(a, "%.2f times the original's speed", geomean(v)) : "The original stays";
}

static const char *alone_words(const struct view *v, struct arena *a)
{
    const json_t *speedup = json_object_get(v->result, "speedup");
    const char *over, *name;
    double low = json_num(speedup, "low"), high = json_num(speedup, "high");

    if (!v->result)
        return arena_printf(a, "The run of %s has no result: its original was not judged.", v->run.task_name);
    name = v->device ? v->device->name : "an unknown device";
    if (!improved(v))
        return arena_printf(
            a, "Nothing that was tried on %s is provably faster, with times %s %s: the original stays.",
            v->run.task_name, v->measured ? "measured on" : "modelled for", name);
    over = v->n_workloads == 1
               ? "one workload"
               : arena_printf(a, "the %s of %zu workloads", report_mean_words(v->result), v->n_workloads);
    if (!v->measured)
        return arena_printf(
            a,
            "%s runs %.2f times as fast as the original, modelled for %s (%s, %s). No GPU has timed it, "
            "so there is no interval.",
            v->run.task_name, geomean(v), name, over, words_regime(v->regime));
    if (!isfinite(low) || !isfinite(high))
        return arena_printf(
            a, "%s runs %.2f times as fast as the original, measured on %s (%s, %s), with no interval.",
            v->run.task_name, geomean(v), name, over, words_regime(v->regime));
    return arena_printf(
        a, "%s runs %.2f times as fast as the original, 95 %% interval %.3f to %.3f, measured on %s (%s, %s).",
        v->run.task_name, geomean(v), low, high, name, over, words_regime(v->regime));
}

const char *words_verdict(const struct view *v, struct arena *a)
{
    const char *first = words_end_to_end(a, v->result);

    return first ? arena_printf(a, "%s %s", first, alone_words(v, a)) : alone_words(v, a);
}

struct sentences {
    struct arena *arena;
    const char *list[12];
    size_t n;
};

static void add(struct sentences *s, const char *text)
{
    if (s->n == ARRAY_LEN(s->list))
        BUG("more than %zu sentences", ARRAY_LEN(s->list));
    s->list[s->n++] = text;
}

static const char *const *given(struct sentences *s, size_t *n)
{
    *n = s->n;
    return arena_copy(s->arena, s->list, sizeof(s->list[0]) * s->n + 1);
}

const char *const *words_caveats(const struct view *v, struct arena *a, size_t *n)
{
    struct sentences s = {.arena = a};
    const char *status = v->run.status;

    if (str_eq(status, "running"))
        add(&s, "The run is under way, or was killed; astra resume goes on with one that was killed.");
    else if (str_eq(status, "interrupted"))
        add(&s, "The run was interrupted; astra resume goes on with it. This is what there is so far.");
    else if (str_eq(status, "budget"))
        add(&s, "A budget ended the run: there may be more to find.");
    else if (str_eq(status, "failed"))
        add(&s, v->failure ? arena_printf(a, "The run failed: %s. astra resume goes on with it.", v->failure)
                           : "The run failed, with the reason on its terminal; astra resume goes on with it.");
    if (v->unjudged)
        add(&s,
            "This machine was too slow to judge some of it, or to confirm a better version; astra resume tries "
            "that again.");
    if (improved(v) && !v->hidden)
        add(&s,
            "The best version has passed the suite, but not yet the confirmation in a fresh process on hidden cases.");
    if (v->device && !v->measured && !v->device->validated)
        add(&s,
            arena_printf(a, "The model of %s has not been validated against measured times.", v->device->name));
    return given(&s, n);
}

const char *words_exact(const struct view *v, struct arena *a)
{
    const json_t *o = json_object_get(v->result, "verification");
    const char *exact = json_text(o, "exact", "");
    double lost = json_num(o, "shadow_lost");

    if (str_eq(exact, "reference"))
        return "the task's reference, computed in double";
    if (str_eq(exact, "shadow"))
        return lost > 0 ? arena_printf(
                              a,
                              "derived: the original computed in double on the simulator; for %.2g %% of the "
                              "elements the original's own answer",
                              100 * lost)
                        : "derived: the original computed in double on the simulator";
    if (str_eq(exact, "original"))
        return "the original's own answers, for want of more exact ones";
    return "unknown";
}

const char *const *words_limits(const struct view *v, struct arena *a, size_t *n)
{
    struct sentences s = {.arena = a};
    const json_t *verification = json_object_get(v->result, "verification");
    const char *missing = json_text(verification, "missing", NULL);
    const char *uncovered = report_uncovered(a, verification);

    add(&s, "Equality is shown on the tested domain, not proved beyond it.");
    if (v->result && !v->measured)
        add(&s, "Nothing was measured: a modelled speed-up is a reason to measure, not a measurement.");
    if (missing)
        add(&s, arena_printf(a, "Not checked: %s.", missing));
    if (uncovered)
        add(&s, arena_printf(a, "%s.", uncovered));
    if (v->task && isfinite(v->task->tolerance))
        add(&s, arena_printf(a, "The task itself allows errors of %g ulp, whatever the original's.",
                             v->task->tolerance));
    if (v->task && v->task->accept_race)
        add(&s, "The task accepts races: they were not looked for.");
    if (v->task && v->task->accept_nondeterminism)
        add(&s, "The task accepts answers that differ from run to run within the allowed error.");
    if (v->result && !v->mutation)
        add(&s, "Nobody put faults into the original to see whether the suite notices them.");
    return given(&s, n);
}

/* ---- again ---- */

static void add_option(struct str *out, const char *name, const char *value)
{
    if (value) {
        str_addf(out, " %s ", name);
        str_add_shell(out, value);
    }
}

static void add_whole(struct str *out, const char *name, int64_t value)
{
    if (value > 0)
        str_addf(out, " %s %lld", name, (long long)value);
}

/* The model of all roles; where roles differ, the first's, and words_unrepeatable says so. */
static const json_t *model_of(const struct view *v, bool *differ)
{
    const json_t *roles = json_object_get(json_object_get(v->options, "models"), "roles"), *first = NULL;
    const char *name;
    json_t *o;

    *differ = false;
    json_object_foreach((json_t *)roles, name, o)
    {
        *differ = *differ || (first && !json_equal(first, o));
        first = first ? first : o;
    }
    return first;
}

static const char *file_name(const char *path)
{
    return path && strchr(path, '/') ? fs_basename(path) : path;
}

const char *words_repeat(const struct view *v, struct arena *a)
{
    const json_t *o = v->options, *models = json_object_get(o, "models"), *m;
    const char *device = json_text(o, "device", "sim");
    struct str s = {0};
    bool differ;

    m = model_of(v, &differ);
    str_add(&s, "astra optimize ");
    str_add_shell(&s, arena_printf(a, "%s/task", fs_basename(fs_absolute(a, v->folder))));
    add_option(&s, "--device", str_starts(device, "cuda") ? device : arena_printf(a, "sim:%s", device));
    if (!str_eq(json_text(o, "agents", "rules"), "rules"))
        add_option(&s, "--agents", json_text(o, "agents", NULL));
    add_option(&s, "--provider", json_text(m, "provider", NULL));
    add_option(&s, "--model", json_text(m, "model", NULL));
    add_option(&s, "--command", json_text(m, "command", NULL) ? "COMMAND" : NULL); /* it may hold a secret */
    add_option(&s, "--effort", json_text(m, "effort", NULL));
    if (isfinite(json_num(m, "temperature")))
        str_addf(&s, " --temperature %g", json_num(m, "temperature"));
    add_whole(&s, "--max-output-tokens", json_int(m, "max_output_tokens", 0));
    add_option(&s, "--replay", file_name(json_text(m, "replay", NULL)));
    for (size_t i = 0; i < json_array_size(json_object_get(o, "also")); i++)
        add_option(&s, "--also", file_name(json_string_value(json_array_get(json_object_get(o, "also"), i))));
    add_whole(&s, "--rounds", json_int(o, "rounds", 0));
    add_whole(&s, "--candidates", json_int(o, "candidates", 0));
    if (json_int(models, "width", 1) != 1)
        add_whole(&s, "--width", json_int(models, "width", 0));
    if (json_int(models, "strategies", 0) != json_int(models, "width", 0))
        add_whole(&s, "--strategies", json_int(models, "strategies", 0));
    add_whole(&s, "--budget-tokens", json_int(models, "budget_tokens", 0));
    if (json_num(models, "budget_usd") > 0)
        str_addf(&s, " --budget-usd %g", json_num(models, "budget_usd"));
    if (json_num(o, "budget_s") > 0)
        str_addf(&s, " --budget-time %gs", json_num(o, "budget_s"));
    if (json_int(o, "min_mutation", MIN_MUTATION) != MIN_MUTATION)
        str_addf(&s, " --min-mutation %lld", json_count(o, "min_mutation"));
    if (json_int(o, "tune_budget", 0) != 2 * json_int(o, "candidates", 0)) /* earlier runs had none */
        str_addf(&s, " --tune-budget %lld", json_count(o, "tune_budget"));
    if (json_flag(o, "exact", false))
        str_add(&s, " --exact");
    str_addf(&s, " --seed %lld", (long long)json_int(o, "seed", 1));
    add_option(&s, "--hidden-seed", v->hidden_seed);
    str_add(&s, " --no-memory");
    return str_take(&s, a);
}

const char *words_verify(const struct view *v, struct arena *a)
{
    struct str s = {0};

    str_add(&s, "astra verify ");
    str_add_shell(&s, fs_basename(fs_absolute(a, v->folder)));
    return str_take(&s, a);
}

const char *words_unrepeatable(const struct view *v)
{
    bool differ;
    const json_t *m = model_of(v, &differ);

    if (differ)
        return "Its roles had different models: those of the command are the first role's, the others stand under "
               "Conversations.";
    if (m && !str_eq(json_text(m, "provider", ""), "replay"))
        return "A model may answer differently when asked again, wherever it is served (--base-url): the judgement is repeatable, "
               "the search is not.";
    if (json_num(v->options, "budget_s") > 0)
        return "How far a run comes within a time depends on the machine.";
    if (v->remembered)
        return "What earlier runs had learned ordered what it tried (docs/rewrites.md); the command leaves that out.";
    if (v->measured)
        return "Times are measured anew and differ within the noise.";
    return NULL;
}
