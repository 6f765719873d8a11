/* A reviewer reads every changed line: steps of the best that do not pay are left out. */
#include "round.h"

enum { MAX_PRUNE = 24, AHEAD = 4 };
#define AS_GOOD          0.995 /* of the best's score: less is more than a reader gains by fewer changes */
#define AS_GOOD_MEASURED 0.99  /* the best of many is a little lucky */
#define ONE_LOSES        1.02  /* on one workload: more than noise */

/* The steps from the original less the dropped ones. False: none is left. */
static bool without(struct run *r, const struct agent_plan_input *in, const bool *drop, struct attempt *x)
{
    size_t n = in->n_lineage, n_left = 0, n_out = 0;
    struct agent_step *left = arena_array(r->arena, struct agent_step, n),
                      *out = arena_array(r->arena, struct agent_step, n);

    for (size_t i = 0; i < n; i++)
        if (drop[i])
            out[n_out++] = in->lineage[i];
        else
            left[n_left++] = in->lineage[i];
    *x = (struct attempt){.parent = r->candidates.v[0], .pruned = true};
    x->strategy = (struct agent_strategy){
        .name = agent_steps_text(r->arena, left, n_left),
        .reason = arena_printf(
            r->arena, "the best without %s: a step that does not pay is left out, fewer changes to review",
            agent_steps_text(r->arena, out, n_out)),
        .plan = agent_steps_text(r->arena, left, n_left),
        .steps = left,
        .n_steps = n_left,
        .expected_gain = 1,
        .confidence = 1};
    return n_left > 0;
}

/* Judges that alone; *c NULL when it made no code. */
static bool try_without(struct run *r, int round, const struct agent_plan_input *in, const bool *drop,
                        struct candidate **c, struct err *err)
{
    struct attempt x;
    bool ok = !without(r, in, drop, &x) || attempts_of_steps(r, round, "prune", &x, 1, err);

    *c = attempt_result(&x);
    return ok;
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
 * good. Some are judged ahead, as if each before them could go. */
static bool prune_one_by_one(struct run *r, int round, const struct agent_plan_input *in,
                             const bool *not_missed, struct candidate **chosen, struct err *err)
{
    bool drop[MAX_PRUNE] = {false};
    size_t left = in->n_lineage;

    while (!run_stopping(r)) {
        struct attempt ahead[AHEAD];
        size_t steps[AHEAD], n = 0;
        bool with[MAX_PRUNE];
        memcpy(with, drop, sizeof(with));
        for (size_t i = left; i-- > 0 && n < AHEAD;) {
            if (!not_missed[i])
                continue;
            with[i] = true;
            if (!without(r, in, with, &ahead[n]))
                break;
            steps[n++] = i;
        }
        if (!n)
            break;
        if (!attempts_of_steps(r, round, "prune", ahead, n, err))
            return false;
        for (size_t i = 0; i < n; i++) {
            struct candidate *c = attempt_result(&ahead[i]);
            left = steps[i];
            if (!as_good(r, c))
                break;
            drop[left] = true;
            *chosen = c;
        }
    }
    return true;
}

/* Leave each step out alone, then all that were not missed together, or as many of them as can go. */
bool prune_best(struct run *r, int round, struct err *err)
{
    struct agent_plan_input in = {0};
    struct attempt lean[MAX_PRUNE];
    struct candidate *chosen = NULL;
    bool not_missed[MAX_PRUNE] = {false}, any = false;

    candidate_lineage(r, r->search.best, &in);
    if (r->search.best == 0 || in.n_lineage < 2 || in.n_lineage > MAX_PRUNE)
        return true;
    trace_doing("planner", "leaves out steps of candidate %d that do not pay", r->search.best);
    for (size_t i = 0; i < in.n_lineage; i++) {
        bool one[MAX_PRUNE] = {false};
        one[i] = true;
        without(r, &in, one, &lean[i]);
    }
    if (!attempts_of_steps(r, round, "prune", lean, in.n_lineage, err))
        return false;
    for (size_t i = 0; i < in.n_lineage; i++) {
        not_missed[i] = as_good(r, attempt_result(&lean[i]));
        any = any || not_missed[i];
    }
    if (!any || run_stopping(r))
        return true;
    if (!try_without(r, round, &in, not_missed, &chosen, err))
        return false;
    if (!as_good(r, chosen)) {
        chosen = NULL;
        if (!prune_one_by_one(r, round, &in, not_missed, &chosen, err))
            return false;
    }
    if (chosen) {
        r->search.best = chosen->id;
        tell_best(r);
        trace_text("pruned", "candidate %d: %s", chosen->id, chosen->name);
    }
    return true;
}
