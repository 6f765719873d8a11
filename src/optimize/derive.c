/* Candidates that no round planned: losers kept for the sizes where they win, other values of tunables. */
#include "round.h"

enum { MAX_TUNED = 12 };
#define DETOUR 1.01 /* what a loser must promise over the best */
#define PAYS   1.01 /* what a last step must gain */

/* A correct candidate that is clearly faster on the whole but loses on some workloads: the same with the
 * original kept for these. */
bool derive_dispatch(struct run *r, size_t first, int round, struct err *err)
{
    struct candidate *c = NULL;
    double *speedups = arena_array(r->arena, double, r->task->n_workloads);
    struct attempt x = {0};

    for (size_t i = first; i < r->candidates.n; i++) {
        struct candidate *y = r->candidates.v[i];
        if (y->judged && y->trial.verdict == VERDICT_SLOWER && y->trial.n_workloads == r->task->n_workloads &&
            y->trial.score > DETOUR * r->search.nodes.v[r->search.best].score &&
            (!c || y->trial.score > c->trial.score))
            c = y;
    }
    if (!c)
        return true;
    for (size_t w = 0; w < r->task->n_workloads; w++)
        speedups[w] = c->trial.workloads[w].times[r->task->regime].speedup;
    x.parent = c;
    return !agent_dispatch_rules(r->task, speedups, r->arena, &x.strategy) ||
           attempts_of_steps(r, round, "dispatch", &x, 1, err);
}

/* Transforms that come last, each on the best there is then; kept where they pay, since a reviewer reads every
 * changed line. Launches that begin early show in a stream, or on a GPU. */
bool derive_last(struct run *r, int round, struct err *err)
{
    bool shows = regime_is_stream(r->task->regime) || trial_device_measures(pool_device(r->pool));

    for (size_t m = 0; shows && transform_all[m] && !run_stopping(r); m++) {
        const struct transform *ops = transform_all[m];
        struct candidate *best = r->candidates.v[r->search.best];
        struct agent_step *step = arena_new(r->arena, struct agent_step);
        const struct transform_site *sites;
        struct agent_version v;
        struct err why;
        if (!ops->last ||
            !agent_version_open(&v, r->arena, r->task, r->task->source_path, best->text, &r->limits, &why))
            continue;
        size_t n = agent_version_sites(&v, ops, &sites);
        if (n)
            *step = (struct agent_step){ops->name, sites[0].setting};
        struct attempt x = {.parent = best,
                            .strategy = {.name = n ? agent_steps_text(r->arena, step, 1) : "",
                                         .reason = n ? sites[0].why : "",
                                         .plan = ops->summary,
                                         .steps = step,
                                         .n_steps = 1,
                                         .expected_gain = 1,
                                         .confidence = 0.5}};
        agent_version_close(&v);
        if (n && !attempts_of_steps(r, round, ops->name, &x, 1, err))
            return false;
        if (r->search.best != best->id &&
            r->search.nodes.v[r->search.best].score < PAYS * r->search.nodes.v[best->id].score) {
            r->search.best = best->id;
            tell_best(r);
        }
    }
    return true;
}

typedef VEC(struct attempt) attempts;

/* The other values of c's tunables, each alone. */
static void add_tunables(struct run *r, struct candidate *c, attempts *list)
{
    const struct transform *tune = transform_find("tune");
    const struct transform_site *sites;
    struct agent_version v;
    struct err why;
    size_t n;

    if (!strstr(c->text, "astra: tune") ||
        !agent_version_open(&v, r->arena, r->task, r->task->source_path, c->text, &r->limits, &why))
        return; /* it passed, so it opened before: nothing to tune is no failure */
    n = MIN(transform_sites(tune, &v.input, r->arena, &sites), (size_t)MAX_TUNED);
    for (size_t i = 0; i < n; i++) {
        struct agent_step *step = arena_new(r->arena, struct agent_step);
        *step = (struct agent_step){"tune", sites[i].setting};
        vec_push(list, ((struct attempt){.parent = c,
                                         .strategy = {.name = arena_printf(r->arena, "tune %s", sites[i].where),
                                                      .reason = sites[i].why,
                                                      .plan = sites[i].where,
                                                      .steps = step,
                                                      .n_steps = 1,
                                                      .expected_gain = 1,
                                                      .confidence = 0.5}}));
    }
    agent_version_close(&v);
}

/* A second wave tunes the first wave's best, if that was one of its own: tunables that depend on each other. */
bool derive_tuned(struct run *r, size_t first, int round, struct err *err)
{
    size_t last = r->candidates.n;
    attempts list = {0};
    bool ok;

    for (size_t i = first; i < last; i++) {
        struct candidate *c = r->candidates.v[i];
        if (c->judged && verdict_correct(c->trial.verdict) && str_eq(c->backend, "llm"))
            add_tunables(r, c, &list);
    }
    ok = attempts_of_steps(r, round, "tune", list.v, list.n, err);
    vec_clear(&list);
    if (ok && !run_stopping(r) && r->search.best >= (int)last) {
        add_tunables(r, r->candidates.v[r->search.best], &list);
        ok = attempts_of_steps(r, round, "tune", list.v, list.n, err);
    }
    vec_free(&list);
    return ok;
}
