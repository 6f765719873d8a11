/* One round: what everybody is told of its parent, the plan, the attempts, and what costs no plan. */
#include "round.h"

#include <sys/resource.h>

/* ---- what is told ---- */

/* Which workload a version gains on, and what bounds it there; NULL where the score says it all. */
static const char *by_workload(struct run *r, const struct trial *t)
{
    struct str s = {.arena = r->arena};

    for (size_t i = 0; i < t->n_workloads && t->n_workloads > 1 && verdict_correct(t->verdict); i++) {
        const struct trial_time *x = &t->workloads[i].times[r->task->regime];
        str_addf(&s, "%s%.2f", i ? ", " : "", x->speedup);
        if (x->bound && !r->o->models.no_profiler)
            str_addf(&s, " (%s)", trial_bound_words(x, r->arena));
    }
    return s.len ? str_take(&s, r->arena) : NULL;
}

void lessons_catch_up(struct run *r)
{
    for (; r->n_learnt < r->candidates.n; r->n_learnt++) {
        const struct candidate *c = r->candidates.v[r->n_learnt];
        const char *words = confirm_words(&c->trial);
        /* What was left out of the best says what the best does not need, not what could be tried. */
        if (c->id == 0 || !c->judged || c->pruned || !verdict_stands(c->trial.verdict))
            continue;
        if (c->trial.line && words == c->trial.words)
            words = arena_printf(r->arena, "line %d: %s", c->trial.line, words);
        vec_push(&r->lessons,
                 ((struct agent_lesson){.id = c->id,
                                        .name = c->name,
                                        .what = c->strategy.plan,
                                        .verdict = verdict_name(c->trial.verdict),
                                        .words = words,
                                        .by_workload = by_workload(r, &c->trial),
                                        .gain = c->trial.score / r->search.nodes.v[c->parent].score,
                                        .score = c->trial.score}));
    }
}

void round_brief(struct round *t)
{
    struct run *r = t->r;
    bool alone = r->o->models.no_profiler;

    diagnose_profile(r->task, &t->parent->trial, t->parent->text, r->limits.device_name, r->arena, &t->profile);
    t->diagnosis = t->parent->diagnosis;
    diagnose_profile(r->task, &r->candidates.v[0]->trial, NULL, r->limits.device_name, r->arena, &t->original);
    lessons_catch_up(r);
    t->brief = (struct agent_brief){.task = r->task,
                                    .limits = &r->limits,
                                    .device = t->profile.device,
                                    .basis = t->profile.basis,
                                    .workloads = t->profile.workloads,
                                    .n_workloads = t->profile.n_workloads,
                                    .original = t->original.workloads,
                                    .n_original = t->original.n_workloads,
                                    .peaks = &pool_device(r->pool)->peaks,
                                    .parent_text = t->parent->text,
                                    .version = t->version,
                                    .parent_score = r->search.nodes.v[t->parent->id].score,
                                    .times_alone = alone,
                                    .profile = alone ? NULL : &t->profile,
                                    .diagnosis = alone ? NULL : &t->diagnosis,
                                    .lessons = r->lessons.v,
                                    .n_lessons = r->lessons.n,
                                    .max_strategies = (size_t)r->o->models.strategies,
                                    .suite_text = r->suite_text};
}

/* ---- a round ---- */

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The rules go by the clock's shares: counters cost the GPU seconds a version, and no candidate is judged then.
 */
static bool round_reads_counters(const struct round *t)
{
    return models_any(&t->r->o->models) && (round_asks(t) || !t->r->o->models.rules_first);
}

static bool round_open(struct round *t, struct err *err)
{
    struct run *r = t->r;

    t->parent = r->candidates.v[search_ask(&r->search)];
    candidate_learn(r);
    tell_round(r, t->number, t->parent->id, round_asks(t) ? "llm" : "rules");
    if ((round_reads_counters(t) && !look_counters(r, t->parent, err)) ||
        !candidate_version(r, t->parent, &t->version, err))
        return false;
    round_brief(t);
    return true;
}

static size_t most_strategies(const struct round *t)
{
    return (size_t)(round_asks(t) ? t->r->o->models.strategies : t->r->o->candidates);
}

static bool plan(struct round *t, struct err *err)
{
    struct run *r = t->r;
    const struct agent_strategy *list;
    size_t n;

    /* The rules' own rounds before any model is asked ask none. */
    if ((round_asks(t) || !r->o->models.rules_first) && !llm_diagnosis(t, err))
        return false;
    t->in = (struct agent_plan_input){.version = t->version,
                                      .parent = t->parent->id,
                                      .diagnosis = &t->diagnosis,
                                      .registers = t->parent->trial.registers,
                                      .max_strategies = most_strategies(t)};
    candidate_lineage(r, t->parent->id, &t->in);
    candidate_history(r, &t->in);
    t->in.memory = r->memory;
    if (r->memory)
        remember_features(r, t->parent, &t->in.features);
    if (!t->planner->plan(t, &list, &n, err))
        return false;
    t->n_attempts = MIN(n, t->in.max_strategies);
    tell_plan(t->number, t->parent->id, &t->diagnosis, list, t->n_attempts);
    t->attempts = arena_array(r->arena, struct attempt, t->n_attempts);
    for (size_t i = 0; i < t->n_attempts; i++) {
        struct attempt *x = &t->attempts[i];
        *x = (struct attempt){.parent = t->parent, .strategy = list[i]};
        const char *coder = round_asks(t) ? "coder" : "rules";
        x->label = t->coder == &backend_single ? list[i].name
                                               : arena_printf(r->arena, "%s-%d-%zu", coder, t->n, i + 1);
        if (round_asks(t))
            x->row = (struct store_strategy){.id = ++r->n_strategies,
                                             .round = t->number,
                                             .parent = t->parent->id,
                                             .label = x->label,
                                             .name = list[i].name,
                                             .reason = list[i].reason,
                                             .plan = list[i].plan,
                                             .expected_gain = list[i].expected_gain,
                                             .confidence = list[i].confidence,
                                             .candidate = -1};
    }
    return true;
}

/* What costs no plan: tunables that a coder left, and the original where a candidate loses. */
static bool derive(struct round *t, struct err *err)
{
    return run_stopping(t->r) ||
           (derive_tuned(t->r, (size_t)t->first_id, t->number, err) &&
            (run_stopping(t->r) || derive_dispatch(t->r, (size_t)t->first_id, t->number, err)));
}

bool round_play(struct run *r, const struct backend *planner, const struct backend *coder, int number, int n,
                size_t *made, struct err *err)
{
    struct round t = {.r = r,
                      .planner = planner,
                      .coder = coder,
                      .number = number,
                      .n = n,
                      .first_id = (int)r->candidates.n,
                      .max_repairs = MAX_REPAIRS};
    double cpu_before_s = cpu_s();
    json_t *e;

    if (!round_open(&t, err) || !plan(&t, err))
        return false;
    if (!round_asks(&t))
        trace_doing("judge", "%zu version%s written and judged", t.n_attempts, t.n_attempts == 1 ? "" : "s");
    if (!attempts_run(&t, err) || !derive(&t, err))
        return false;
    *made = r->candidates.n - (size_t)t.first_id;
    e = json_object();
    json_put_int(e, "round", t.number);
    json_put_int(e, "made", (int64_t)*made);
    json_put_num(e, "cpu_ms", 1e3 * (cpu_s() - cpu_before_s));
    trace_event("round_end", e);
    return true;
}
