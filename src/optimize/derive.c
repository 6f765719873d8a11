/* Candidates that no round planned: versions joined, each for the sizes where it wins, files that somebody
 * gave, other values of tunables. */
#include "round.h"

enum { MAX_TUNED = 12, MOST_JOINS = 4 };
#define DETOUR        1.01 /* what a loser must promise over the best */
#define PAYS          1.01 /* what a last step must gain */
#define COSTS_NOTHING 0.99 /* and what one may lose that gives back what the original had */
#define PAYS_MODELLED 1.03 /* and a choice of versions by the simulator's clock: more than its error */

/* ---- several versions in one file, chosen by size ---- */

/* A step that was taken after the best was `before` must have paid: a reviewer reads every changed line. */
static void keep_if_it_pays(struct run *r, int before, double pays)
{
    const struct trial *now = &r->candidates.v[r->search.best]->trial, *then = &r->candidates.v[before]->trial;

    if (r->search.best != before &&
        (now->score < pays * r->search.nodes.v[before].score || now->low <= then->high)) {
        r->search.best = before;
        tell_best(r);
    }
}

/* What it does for each workload; false: that is not known of all. The original is as fast as itself. */
static bool version_of(struct run *r, const struct candidate *c, struct agent_version_of *v)
{
    size_t n = r->task->n_workloads;
    double *speedups = arena_array(r->arena, double, n + 1);
    bool known = c->id == 0 || (c->judged && verdict_correct(c->trial.verdict) && c->trial.n_workloads == n);

    for (size_t w = 0; known && w < n; w++) {
        speedups[w] = c->id ? c->trial.workloads[w].times[r->task->regime].speedup : 1;
        known = speedups[w] > 0;
    }
    *v = (struct agent_version_of){c->id ? arena_printf(r->arena, "candidate %d", c->id) : "the original",
                                   c->text, speedups};
    return known;
}

/* The best two of these in one file, if that is better than `least`: *tried, one of them, which is to be left
 * out if nothing came of it; NULL: there are no two. */
static bool join(struct run *r, struct candidate *const *list, size_t n, double least, int round,
                 struct candidate **tried, struct err *err)
{
    struct agent_version_of *versions = arena_array(r->arena, struct agent_version_of, n + 1);
    struct candidate **known = arena_array(r->arena, struct candidate *, n + 1);
    struct attempt x = {0};
    size_t n_known = 0, base;

    for (size_t i = 0; i < n; i++)
        if (version_of(r, list[i], &versions[n_known]))
            known[n_known++] = list[i];
    *tried = NULL;
    if (!agent_dispatch_rules(r->task, versions, n_known, least, r->arena, &x.strategy, &base))
        return true;
    *tried = x.parent = known[base];
    for (size_t i = 1; x.strategy.steps->other && i < n_known; i++)
        if (x.strategy.steps->other->text == known[i]->text)
            *tried = known[i];
    return attempts_of_steps(r, round, "dispatch", &x, 1, err);
}

/* A correct candidate that is clearly faster on the whole but loses on some workloads: the same with the
 * original kept for these. */
bool derive_dispatch(struct run *r, size_t first, int round, struct err *err)
{
    double best = r->search.nodes.v[r->search.best].score;
    struct candidate *pair[2] = {r->candidates.v[0], NULL}, *tried;

    for (size_t i = first; i < r->candidates.n; i++) {
        struct candidate *y = r->candidates.v[i];
        if (y->judged && y->trial.verdict == VERDICT_SLOWER && y->trial.score > DETOUR * best &&
            (!pair[1] || y->trial.score > pair[1]->trial.score))
            pair[1] = y;
    }
    return !pair[1] || join(r, pair, 2, best, round, &tried, err);
}

/* The best for each size: two versions in one file where that promises more than the best one, that file and a
 * third, and so on; kept where the whole, launcher included, is as promised. */
bool derive_per_shape(struct run *r, int round, struct err *err)
{
    double pays = trial_device_measures(pool_device(r->pool)) ? PAYS : PAYS_MODELLED;
    bool *out = arena_array(r->arena, bool, r->candidates.n + MOST_JOINS);

    for (int i = 0; i < MOST_JOINS && !run_stopping(r); i++) {
        struct candidate **list = arena_array(r->arena, struct candidate *, r->candidates.n + 1), *tried;
        int best = r->search.best;
        size_t n = 0;
        for (size_t k = 0; k < r->candidates.n; k++)
            if (k == 0 || !out[k])
                list[n++] = r->candidates.v[k];
        if (!join(r, list, n, pays * r->search.nodes.v[best].score, round, &tried, err))
            return false;
        if (!tried)
            break;
        keep_if_it_pays(r, best, pays);
        out[tried->id] = r->search.best == best;
    }
    return true;
}

/* ---- files that somebody gave ---- */

bool derive_also(struct run *r, int round, struct err *err)
{
    const struct run_options *o = r->o;
    struct attempt *list = arena_array(r->arena, struct attempt, o->n_also + 1);

    for (size_t i = 0; i < o->n_also; i++) {
        const char *noted, *name = fs_basename(o->also[i].path);
        if (!store_get_note(r->store, r->arena, arena_printf(r->arena, "also %zu", i), &noted, err))
            return false;
        list[i] = (struct attempt){.parent = r->candidates.v[0],
                                   .given = noted,
                                   .strategy = {.name = name,
                                                .reason = "a file that somebody wrote, given with --also",
                                                .plan = "as it is",
                                                .expected_gain = 1,
                                                .confidence = 0.5}};
    }
    if (o->n_also)
        trace_doing("judge", "judges %zu file%s given with --also", o->n_also, o->n_also == 1 ? "" : "s");
    return attempts_of_steps(r, round, "also", list, o->n_also, err);
}

/* ---- the last steps ---- */

/* Is an attribute that lets launches begin early made, and no launch has it? Steps that need plain launches
 * left it. */
static bool attribute_lost(const char *text)
{
    return strstr(text, "cudaLaunchAttributeProgrammaticStreamSerialization") &&
           !strstr(text, "cudaLaunchKernelEx");
}

/* Transforms that come last, each on the best there is then; kept where they pay, since a reviewer reads every
 * changed line. One that pays on the whole but loses on some workloads leaves these to the best as it was.
 * Launches that begin early show in a stream, or on a GPU; where the original's did, they do so again anyway,
 * if it costs nothing. */
bool derive_last(struct run *r, int round, struct err *err)
{
    bool shows = regime_is_stream(r->task->regime) || trial_device_measures(pool_device(r->pool));

    for (size_t m = 0; transform_all[m] && !run_stopping(r); m++) {
        const struct transform *ops = transform_all[m];
        struct candidate *best = r->candidates.v[r->search.best], *tried;
        bool lost = attribute_lost(best->text);
        size_t first = r->candidates.n;
        struct agent_step *step = arena_new(r->arena, struct agent_step);
        const struct transform_site *sites;
        struct agent_version v;
        struct err why;
        if (!ops->last || !(shows || lost) ||
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
        double least = PAYS * r->search.nodes.v[best->id].score;
        struct candidate *last = vec_last(&r->candidates), *list[3] = {r->candidates.v[0], last, best};
        bool loses =
            r->candidates.n > first && last->trial.verdict == VERDICT_SLOWER && last->trial.score > least;
        if (loses && !run_stopping(r) && !join(r, list, best->id ? 3 : 2, least, round, &tried, err))
            return false;
        keep_if_it_pays(r, best->id, PAYS);
        if (lost && r->search.best == best->id && last != best && last->trial.verdict == VERDICT_PASSED &&
            last->trial.score >= COSTS_NOTHING * r->search.nodes.v[best->id].score) {
            r->search.best = last->id;
            tell_best(r);
        }
    }
    return true;
}

/* ---- tunables ---- */

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
