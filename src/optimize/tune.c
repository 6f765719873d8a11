/* The numbers of the best's steps, searched together: rounds choose them one step at a time. The steps are
 * carried out anew with other settings (agent_template); the simulator's clock is the first rung, where points
 * are timed and nothing else; the cheapest of them are candidates like any other, judged whole. */
#include "round.h"

enum { JUDGED_SHARE = 8 /* one of so many points of the budget is judged */, MAX_JUDGED = 16 };
#define CHEAPER 0.999 /* of the best's cost, where the clock that judges is the one that timed */

struct pricing { /* of one point */
    const char *key;
    struct agent_file file;
    char hash[24];
    double cost; /* above 1: it could not be the result */
    bool known;
    size_t same; /* the place of the first with the same text */
};

struct tuning {
    struct run *r;
    struct candidate *base, *best; /* the steps begin with base, and made best */
    struct agent_template *template;
    const struct tune_space *space;
    json_t *points;            /* for the report, */
    VEC(const char *) hashes;  /* and of their files */
    VEC(struct pricing) batch; /* begun and not priced yet */
    size_t n_waiting;          /* of them, for a worker */
    struct err *err;
    bool failed;
};

static bool measures(const struct run *r)
{
    return trial_device_measures(pool_device(r->pool));
}

/* A version that is slower somewhere cannot be the result: it costs more than any that could. */
static double cost_of(const struct trial *t)
{
    if (t->n_workloads == 0 || !(t->score > 0) || !verdict_correct(t->verdict))
        return INFINITY;
    return (t->verdict == VERDICT_SLOWER ? 1 : 0) + 1 / t->score;
}

/* Judged or timed before, in this run or in the part of it that a kill ended. */
static bool look_up(const struct tuning *u, struct pricing *p, struct err *err)
{
    const struct candidate *c = map_get(&u->r->seen, p->hash);
    const char *stored;
    struct trial t;
    int id;

    if (c && c->judged && !measures(u->r)) {
        p->cost = cost_of(&c->trial);
        p->known = true;
        return true;
    }
    p->key = arena_printf(u->r->arena, "%s timed", p->hash);
    if (!store_find_trial(u->r->store, u->r->arena, p->key, &id, &stored, err))
        return false;
    p->known = stored != NULL;
    if (stored && !trial_from_text(stored, u->r->arena, &t, err))
        return false;
    if (stored)
        p->cost = cost_of(&t);
    return true;
}

/* What workers have done by now. */
static bool take_timed(struct tuning *u, double wait_s, struct err *err)
{
    struct run *r = u->r;

    for (;; wait_s = 0) {
        struct pricing *p;
        struct trial t;
        int id;
        if (!pool_collect(r->pool, wait_s, r->arena, &id, &t, err))
            return false;
        if (id < 0)
            return true;
        p = &u->batch.v[id];
        u->n_waiting--;
        r->unjudged = r->unjudged || !verdict_stands(t.verdict);
        p->cost = cost_of(&t);
        p->known = true;
        if (verdict_stands(t.verdict) && !store_put_trial(r->store, p->key, trial_to_text(r->arena, &t), err))
            return false;
    }
}

static const char *point_name(const struct tuning *u, const struct pricing *p)
{
    return agent_steps_text(u->r->arena, p->file.steps, p->file.n_steps);
}

static void note_point(struct tuning *u, const int *point, const struct pricing *p)
{
    json_t *o = json_object(), *values = json_array();
    bool loses = p->cost > 1;

    for (size_t i = 0; i < u->space->n; i++)
        json_array_append_new(values, json_integer(u->space->parameters[i].values[point[i]]));
    json_put(o, "values", values);
    json_put_text(o, "name", point_name(u, p));
    json_put_num(o, "score", isfinite(p->cost) ? 1 / (p->cost - loses) : NAN);
    json_put_flag(o, "loses", loses);
    json_array_append_new(u->points, o);
    vec_add(u->r->arena, &u->hashes, arena_strdup(u->r->arena, p->hash));
    o = json_copy(o);
    json_put_int(o, "done", (int64_t)u->hashes.n);
    json_put_int(o, "all", u->r->o->tune_budget);
    trace_event("tune_point", o);
}

static bool legal(void *context, const int *point, size_t n)
{
    const struct tuning *u = context;

    return agent_template_legal(u->template, point, n);
}

/* A file is with a worker as soon as it is written, and workers that are done have their next. */
static void begin(void *context, size_t rung, const int *point)
{
    struct tuning *u = context;
    struct run *r = u->r;
    struct pricing p = {.cost = INFINITY, .same = 0};

    (void)rung;
    if (u->failed)
        return;
    agent_template_file(u->template, point, &p.file);
    candidate_hash(r, p.file.text, p.hash);
    while (p.same < u->batch.n && !str_eq(u->batch.v[p.same].hash, p.hash))
        p.same++;
    bool first = p.same == u->batch.n;
    u->failed = first && !look_up(u, &p, u->err);
    vec_add(r->arena, &u->batch, p);
    if (u->failed || !first || p.known)
        return;
    u->n_waiting++;
    u->failed = !pool_submit_timed(r->pool, (int)p.same, r->task->source_path, p.file.text, u->err) ||
                !take_timed(u, 0, u->err);
}

/* Of the batch that was begun. */
static bool price(void *context, size_t rung, const int *points, size_t n, double *costs)
{
    struct tuning *u = context;

    (void)rung;
    BUG_IF(!u->failed && n != u->batch.n);
    while (!u->failed && u->n_waiting > 0 && !run_stopping(u->r))
        u->failed = !take_timed(u, 0.2, u->err);
    if (run_stopping(u->r))
        pool_drop(u->r->pool);
    if (u->failed || run_stopping(u->r)) {
        vec_clear(&u->batch); /* the search may ask for more before it hears of the end */
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct pricing *p = &u->batch.v[i];
        costs[i] = p->cost = u->batch.v[p->same].cost;
        note_point(u, points + i * u->space->n, p);
    }
    vec_clear(&u->batch);
    return true;
}

/* ---- which steps ---- */

/* The steps from the last file on that somebody wrote. */
static bool find_steps(struct tuning *u, struct agent_template_of *of)
{
    struct run *r = u->r;
    struct agent_plan_input in = {0};
    size_t n;

    u->best = r->candidates.v[r->search.best];
    u->base = candidate_base(r, u->best->id, &n);
    candidate_lineage(r, u->best->id, &in);
    *of = (struct agent_template_of){.task = r->task,
                                     .path = r->task->source_path,
                                     .text = u->base->text,
                                     .limits = &r->limits,
                                     .steps = in.lineage + (in.n_lineage - n),
                                     .n_steps = n};
    return n > 0;
}

/* ---- the last rung ---- */

static void add_attempt(const struct tuning *u, const int *point, double gain, struct attempt *x)
{
    struct run *r = u->r;
    struct agent_file file;

    agent_template_file(u->template, point, &file);
    *x = (struct attempt){.parent = u->base, .pruned = true};
    x->strategy = (struct agent_strategy){
        .name = agent_steps_text(r->arena, file.steps, file.n_steps),
        .reason =
            arena_printf(r->arena,
                         "the steps of candidate %d with other numbers: the simulator's clock has them at "
                         "%.3f times its speed",
                         u->best->id, gain),
        .plan = "the same steps with other numbers, searched together",
        .steps = file.steps,
        .n_steps = file.n_steps,
        .expected_gain = gain,
        .confidence = 0.8};
}

/* The cheapest points as candidates. Where the GPU has the last word, also those that are not modelled to be
 * faster. */
static bool judge_cheapest(struct tuning *u, const struct tune_result *found, int round, size_t *n_judged,
                           struct err *err)
{
    struct run *r = u->r;
    size_t places[MAX_JUDGED + 1],
        n = MIN((size_t)MAX(r->o->tune_budget / JUDGED_SHARE, 1), (size_t)MAX_JUDGED);
    struct attempt list[MAX_JUDGED];
    const struct tune_priced *start = found->list.v;

    *n_judged = 0;
    n = tune_cheapest(found, 0, places, n + 1);
    for (size_t i = 0; i < n && *n_judged < MAX_JUDGED; i++) {
        const struct tune_priced *x = &found->list.v[places[i]];
        if (places[i] != 0 && (measures(r) || x->cost < CHEAPER * start->cost))
            add_attempt(u, x->point, start->cost / x->cost, &list[(*n_judged)++]);
    }
    return attempts_of_steps(r, round, "tune", list, *n_judged, err);
}

/* The space and what was tried, for the report. */
static bool keep(const struct tuning *u, struct err *err)
{
    json_t *o = json_object(), *parameters = json_array();
    const char *text;

    for (size_t i = 0; i < u->hashes.n; i++) {
        const struct candidate *c = map_get(&u->r->seen, u->hashes.v[i]);
        if (c)
            json_put_int(json_array_get(u->points, i), "candidate", c->id);
    }
    for (size_t i = 0; i < u->space->n; i++) {
        const struct tune_parameter *p = &u->space->parameters[i];
        json_t *x = json_object(), *values = json_array();
        for (size_t k = 0; k < p->n; k++)
            json_array_append_new(values, json_integer(p->values[k]));
        json_put_text(x, "name", p->name);
        json_put(x, "values", values);
        json_array_append_new(parameters, x);
    }
    json_put_int(o, "candidate", u->best->id);
    json_put_int(o, "budget", u->r->o->tune_budget);
    json_put(o, "parameters", parameters);
    json_put(o, "points", json_incref(u->points));
    text = json_take_line(u->r->arena, o);
    return store_note(u->r->store, "tuning", text, err);
}

bool tune_best(struct run *r, int round, struct err *err)
{
    static const double shares[] = {1};
    struct tuning u = {.r = r, .err = err};
    const struct tune_oracle oracle = {&u, shares, ARRAY_LEN(shares), legal, price, begin};
    struct agent_template_of of;
    struct tune_result found;
    size_t n_judged = 0;
    bool ok;

    if (r->o->tune_budget == 0 || r->search.best == 0 || run_stopping(r) || !find_steps(&u, &of))
        return true;
    u.template = agent_template_open(r->arena, &of);
    if (!u.template)
        return true;
    u.space = agent_template_space(u.template);
    u.points = json_array();
    trace_doing("planner",
                "tunes the %zu numbers of candidate %d together: at most %d settings of them are timed",
                u.space->n, u.best->id, r->o->tune_budget);
    tune_search(
        u.space, &oracle,
        &(struct tune_options){TUNE_LOCAL, r->o->seed, r->o->tune_budget, agent_template_start(u.template)},
        r->arena, &found);
    ok = !u.failed;
    if (ok && !run_stopping(r) && found.list.n > 0)
        ok = judge_cheapest(&u, &found, round, &n_judged, err);
    if (ok && !run_stopping(r))
        trace_text("tuned", "%zu settings timed, %zu judged: the best is candidate %d%s", found.list.n,
                   n_judged, r->search.best, r->search.best == u.best->id ? " as before" : "");
    ok = ok && keep(&u, err);
    agent_template_close(u.template);
    json_decref(u.points);
    return ok;
}
