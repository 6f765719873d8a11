/* What is made of results: failures repaired, losers kept for the sizes where they win, the best pruned and
 * confirmed. */
#include "internal.h"

#include <errno.h>
#include <sys/random.h>

enum { MAX_PRUNE = 24, MAX_TUNED = 12 };
#define DETOUR           1.01  /* what a loser must promise over the best */
#define AS_GOOD          0.995 /* of the best's score: less is more than a reader gains by fewer changes */
#define AS_GOOD_MEASURED 0.99  /* the best of many is a little lucky */
#define ONE_LOSES        1.02  /* on one workload: more than noise */
#define TOO_GOOD         10.0  /* measured, to be believed at first sight */

bool refine_failures(struct run *r, size_t first, struct agent_plan_input *in, struct err *err)
{
    size_t last = r->candidates.n;

    candidate_history(r, in);
    for (size_t i = first; i < last; i++) {
        const struct candidate *c = r->candidates.v[i];
        struct agent_strategy repaired;
        if (!c->judged || verdict_correct(c->trial.verdict))
            continue;
        const struct agent_failure why = {c->steps, c->n_steps, c->trial.line};
        if (agent_repair_rules(&c->strategy, &why, in, r->arena, &repaired) &&
            !candidate_submit(r, in->parent, c->round, &repaired, c->id, NULL, err))
            return false;
    }
    return candidate_collect(r, err);
}

/* A correct candidate that is clearly faster on the whole but loses on some workloads: the same with the
 * original kept for these. */
bool refine_losers(struct run *r, size_t first, int round, struct err *err)
{
    const struct candidate *c = NULL;
    double *speedups = arena_array(r->arena, double, r->task->n_workloads);
    struct agent_strategy s;

    for (size_t i = first; i < r->candidates.n; i++) {
        const struct candidate *x = r->candidates.v[i];
        if (x->judged && x->trial.verdict == VERDICT_SLOWER && x->trial.n_workloads == r->task->n_workloads &&
            x->trial.score > DETOUR * r->search.nodes.v[r->search.best].score &&
            (!c || x->trial.score > c->trial.score))
            c = x;
    }
    if (!c)
        return true;
    for (size_t w = 0; w < r->task->n_workloads; w++)
        speedups[w] = c->trial.workloads[w].times[r->task->regime].speedup;
    return !agent_dispatch_rules(r->task, speedups, r->arena, &s) ||
           (candidate_submit(r, c->id, round, &s, -1, NULL, err) && candidate_collect(r, err));
}

/* Judges the steps from the original less the dropped ones; *c is NULL when that made no code. */
static bool try_without(struct run *r, int round, const struct agent_step *steps, size_t n, const bool *drop,
                        struct candidate **c, struct err *err)
{
    struct agent_step *left = arena_array(r->arena, struct agent_step, n),
                      *out = arena_array(r->arena, struct agent_step, n);
    size_t n_left = 0, n_out = 0;
    struct agent_strategy s;

    for (size_t i = 0; i < n; i++)
        if (drop[i])
            out[n_out++] = steps[i];
        else
            left[n_left++] = steps[i];
    *c = NULL;
    if (n_left == 0)
        return true;
    s = (struct agent_strategy){
        .name = arena_printf(r->arena, REFINE_WITHOUT "%s", agent_steps_text(r->arena, out, n_out)),
        .reason = "a step that does not pay is left out: fewer changes to review",
        .plan = agent_steps_text(r->arena, left, n_left),
        .steps = left,
        .n_steps = n_left,
        .expected_gain = 1,
        .confidence = 1};
    return candidate_submit(r, 0, round, &s, -1, c, err);
}

static bool as_good(const struct run *r, const struct candidate *c)
{
    double as_good = trial_device_measures(pool_device(r->pool)) ? AS_GOOD_MEASURED : AS_GOOD;

    if (!c || !c->judged || c->trial.verdict != VERDICT_PASSED ||
        c->trial.score < as_good * r->search.nodes.v[r->search.best].score)
        return false;
    /* A mean over many workloads hides what one of them loses. */
    const struct trial *best = &r->candidates.v[r->search.best]->trial;
    for (size_t w = 0; w < c->trial.n_workloads && w < best->n_workloads; w++)
        if (c->trial.workloads[w].times[r->task->regime].us >
            ONE_LOSES * best->workloads[w].times[r->task->regime].us)
            return false;
    return true;
}

/* One after the other, from the last step, what was not missed alone is left out as long as the rest is as
 * good. */
static bool prune_one_by_one(struct run *r, int round, const struct agent_plan_input *in,
                             const bool *not_missed, struct candidate **chosen, struct err *err)
{
    bool drop[MAX_PRUNE] = {false};

    for (size_t i = in->n_lineage; i-- > 0 && !run_stopping(r);) {
        struct candidate *c;
        if (!not_missed[i])
            continue;
        drop[i] = true;
        if (!try_without(r, round, in->lineage, in->n_lineage, drop, &c, err) || !candidate_collect(r, err))
            return false;
        drop[i] = as_good(r, c);
        if (drop[i])
            *chosen = c;
    }
    return true;
}

/* A reviewer reads every changed line, so a step must pay for itself: leave each out alone, then all that were
 * not missed together, or as many of them as can go. */
bool refine_prune(struct run *r, int round, struct err *err)
{
    struct agent_plan_input in = {0};
    struct candidate *lean[MAX_PRUNE], *chosen = NULL;
    bool not_missed[MAX_PRUNE] = {false}, any = false;

    candidate_lineage(r, r->search.best, &in);
    if (r->search.best == 0 || in.n_lineage < 2 || in.n_lineage > MAX_PRUNE)
        return true;
    trace_doing("planner", "leaves out steps of candidate %d that do not pay", r->search.best);
    for (size_t i = 0; i < in.n_lineage; i++) {
        bool one[MAX_PRUNE] = {false};
        one[i] = true;
        if (!try_without(r, round, in.lineage, in.n_lineage, one, &lean[i], err))
            return false;
    }
    if (!candidate_collect(r, err))
        return false;
    for (size_t i = 0; i < in.n_lineage; i++) {
        not_missed[i] = as_good(r, lean[i]);
        any = any || not_missed[i];
    }
    if (!any || run_stopping(r))
        return true;
    if (!try_without(r, round, in.lineage, in.n_lineage, not_missed, &chosen, err) ||
        !candidate_collect(r, err))
        return false;
    if (!as_good(r, chosen)) {
        chosen = NULL;
        if (!prune_one_by_one(r, round, &in, not_missed, &chosen, err))
            return false;
    }
    if (chosen) {
        r->search.best = chosen->id;
        tell_best(r);
        trace_text("pruned", "candidate %d: %s", chosen->id,
                   agent_steps_text(r->arena, chosen->steps, chosen->n_steps));
    }
    return true;
}

/* The other values of c's tunables, each alone. */
static bool tune_one(struct run *r, const struct candidate *c, int round, struct err *err)
{
    const struct transform *tune = transform_find("tune");
    const struct transform_site *sites;
    struct agent_version v;
    struct err why;
    size_t n;
    bool ok = true;

    if (!strstr(c->text, "astra: tune") ||
        !agent_version_open(&v, r->arena, r->task, r->task->source_path, c->text, &r->limits, &why))
        return true; /* it passed, so it opened before: nothing to tune is no failure */
    n = MIN(tune->find(&v.input, r->arena, &sites), (size_t)MAX_TUNED);
    for (size_t i = 0; ok && i < n; i++) {
        struct agent_step *step = arena_new(r->arena, struct agent_step);
        *step = (struct agent_step){"tune", sites[i].setting};
        struct agent_strategy s = {.name = arena_printf(r->arena, "tune %s", sites[i].where),
                                   .reason = sites[i].why,
                                   .plan = sites[i].where,
                                   .steps = step,
                                   .n_steps = 1,
                                   .expected_gain = 1,
                                   .confidence = 0.5};
        ok = candidate_submit(r, c->id, round, &s, -1, NULL, err);
    }
    agent_version_close(&v);
    return ok;
}

/* A second wave tunes the first wave's best, if that was one of its own: tunables that depend on each other. */
bool refine_tunables(struct run *r, size_t first, int round, struct err *err)
{
    size_t last = r->candidates.n;

    for (size_t i = first; i < last; i++) {
        const struct candidate *c = r->candidates.v[i];
        if (c->judged && verdict_correct(c->trial.verdict) && str_eq(c->mind, "llm") &&
            !tune_one(r, c, round, err))
            return false;
    }
    if (!candidate_collect(r, err))
        return false;
    if (run_stopping(r) || r->search.best < (int)last)
        return true;
    return tune_one(r, r->candidates.v[r->search.best], round, err) && candidate_collect(r, err);
}

/* Drawn when the first version is final, so that nothing before it can follow from it; kept, so that a resumed
 * run and a verification draw the same cases. */
static bool hidden_seed(struct run *r, uint64_t *seed, struct err *err)
{
    const char *noted;

    if (!store_get_note(r->store, r->arena, "hidden_seed", &noted, err))
        return false;
    if (noted) {
        *seed = strtoull(noted, NULL, 10);
        return true;
    }
    *seed = r->o->hidden_seed;
    if (!*seed) {
        if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
            return err_world(err, "the system gives no random numbers: %s", strerror(errno));
        *seed = 1 + (*seed >> 11); /* exact in every reader of JSON */
    }
    return store_note(r->store, "hidden_seed", arena_printf(r->arena, "%llu", (unsigned long long)*seed), err);
}

uint64_t refine_look_seed(uint64_t hidden, int look)
{
    return look ? rng_hash(hidden, (uint64_t)look) : hidden;
}

/* One look at a candidate by a fresh process that has never seen another: hidden cases, other data, whole
 * workloads, both regimes, and as nvcc compiles it where there is one. *looked: false when it was interrupted.
 */
static bool confirm_once(struct run *r, const struct candidate *c, int look, struct trial *t, bool *looked,
                         struct err *err)
{
    struct trial_options o = {.device = r->o->device,
                              .cases = r->cases,
                              .n_cases = r->n_cases,
                              .hidden = true,
                              .with_nvcc = true,
                              .confirm = true};
    uint64_t seed;

    if (!hidden_seed(r, &seed, err))
        return false;
    o.seed = refine_look_seed(seed, look);
    struct pool *fresh = NULL;
    struct trial control;
    int id = -1;
    bool ok = pool_open(&fresh, r->task, &o, 1, NULL, err) &&
              pool_submit(fresh, c->id, r->task->source_path, c->text, err);

    while (ok && id < 0 && !run_interrupted())
        ok = pool_collect(fresh, 0.2, r->arena, &id, t, err);
    *looked = ok && id >= 0;
    if (*looked && pool_original(fresh, r->arena, &control, err)) {
        ok = store_note(r->store, "control", trial_to_text(r->arena, &control), err);
    }
    pool_close(fresh);
    return ok;
}

/* The best confirmed. What is too good to be true is looked at twice. One that fails gets that verdict and the
 * next best takes its place, or, where refused is not NULL, the caller is told, who may try further; the
 * original needs no confirmation. */
bool refine_confirm(struct run *r, bool *refused, struct err *err)
{
    if (refused)
        *refused = false;
    while (r->search.best != 0 && !run_interrupted()) {
        struct candidate *c = r->candidates.v[r->search.best];
        bool measured = trial_device_measures(pool_device(r->pool)), looked = true;
        int looks = measured && c->trial.score > TOO_GOOD ? RUN_MAX_LOOKS : 1;
        struct trial t = {0};
        trace_doing("judge", "confirms candidate %d on hidden cases, in a fresh process", c->id);
        for (int look = 0; look < looks && (look == 0 || t.verdict == VERDICT_PASSED); look++) {
            if (!confirm_once(r, c, look, &t, &looked, err))
                return false;
            if (!looked)
                return true;
        }
        if (!look_sanitizer(r, c->text, &t, err))
            return false;
        tell_confirm(c, &t);
        if (t.verdict == VERDICT_PASSED) {
            return store_note(r->store, "looks", arena_printf(r->arena, "%d", looks), err) &&
                   store_note(r->store, "confirmation", trial_to_text(r->arena, &t), err);
        }
        t.words = arena_printf(r->arena, REFINE_HIDDEN "%s", t.words);
        c->trial = t;
        for (size_t i = 0; i < r->lessons.n; i++)
            if (r->lessons.v[i].id == c->id) {
                r->lessons.v[i].verdict = verdict_name(t.verdict);
                r->lessons.v[i].words = refine_words(&c->trial);
            }
        search_tell(&r->search, c->id, verdict_correct(t.verdict), false, t.score);
        tell_best(r);
        if (!candidate_store(r, c, err))
            return false;
        if (refused) {
            *refused = true;
            return true;
        }
    }
    return true;
}

const char *refine_words(const struct trial *t)
{
    if (!t->words || !str_starts(t->words, REFINE_HIDDEN))
        return t->words ? t->words : "";
    if (verdict_correct(t->verdict))
        return "measured once more in a fresh process it was not faster for certain";
    return "it passed the suite and failed on hidden cases: sizes and values of the domain that were drawn after it "
           "was final; look for what holds only on particular sizes, alignments or values";
}
