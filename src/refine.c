/* What is made of results: failures repaired, losers kept for the sizes where they win, the best pruned and
 * confirmed. */
#include "run_internal.h"

enum { MAX_PRUNE = 24 };
#define DETOUR  1.01  /* what a loser must promise over the best */
#define AS_GOOD 0.995 /* of the best's score: less is more than a reader gains by fewer changes */

bool refine_failures(struct run *r, size_t first, struct agent_plan_input *in, struct err *err)
{
    size_t last = r->candidates.n;

    candidate_history(r, in);
    for (size_t i = first; i < last; i++) {
        const struct candidate *c = r->candidates.v[i];
        struct agent_strategy repaired;
        if (!c->judged || verdict_correct(c->trial.verdict))
            continue;
        if (agent_repair_rules(&c->strategy, in, r->arena, &repaired) &&
            !candidate_submit(r, in->parent, c->round, &repaired, c->id, NULL, err))
            return false;
    }
    return candidate_collect(r, err);
}

/* A correct candidate that is clearly faster on the whole but loses on some workloads: the same with the
 * original kept for these. */
bool refine_losers(struct run *r, size_t first, int round, struct err *err)
{
    const struct candidate *c = NULL, *original = r->candidates.v[0];
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
        speedups[w] = diagnose_scoring(r->task, &original->trial.workloads[w])->us /
                      diagnose_scoring(r->task, &c->trial.workloads[w])->us;
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
        .name = arena_printf(r->arena, "the best without %s", agent_steps_text(r->arena, out, n_out)),
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
    return c && c->judged && c->trial.verdict == VERDICT_PASSED &&
           c->trial.score >= AS_GOOD * r->search.nodes.v[r->search.best].score;
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
        trace_text("pruned", "candidate %d: %s", chosen->id,
                   agent_steps_text(r->arena, chosen->steps, chosen->n_steps));
    }
    return true;
}

/* The best, judged once more by a fresh process on seeds and data that no candidate has seen, and as nvcc
 * compiles it where there is one. One that fails there gets that verdict and the next best takes its place; the
 * original needs no confirmation. */
bool refine_confirm(struct run *r, struct err *err)
{
    struct trial_options o = {
        .device = r->o->device, .seed = rng_hash(r->o->seed, 0x68696464656eull), .with_nvcc = true};
    struct pool *fresh = NULL;
    bool ok = true;

    while (ok && r->search.best != 0 && !run_interrupted()) {
        struct candidate *c = r->candidates.v[r->search.best];
        struct trial t;
        int id = -1;
        if (!fresh)
            ok = pool_open(&fresh, r->task, &o, 1, NULL, err);
        ok = ok && pool_submit(fresh, c->id, r->task->source_path, c->text, err);
        while (ok && id < 0 && !run_interrupted())
            ok = pool_collect(fresh, 0.2, r->arena, &id, &t, err);
        if (!ok || id < 0)
            break;
        trace_text("confirm", "candidate %d: %s", c->id, verdict_name(t.verdict));
        if (t.verdict == VERDICT_PASSED) {
            json_t *j = trial_to_json(&t);
            ok = store_note(r->store, "confirmation", json_line(r->arena, j), err);
            json_decref(j);
            break;
        }
        t.words = arena_printf(r->arena, "hidden cases: %s", t.words);
        c->trial = t;
        search_tell(&r->search, c->id, verdict_correct(t.verdict), false, t.score);
        ok = candidate_store(r, c, err);
    }
    pool_close(fresh);
    return ok;
}
