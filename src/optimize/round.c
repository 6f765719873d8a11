/* Rounds in which models think: what they are told, what they are asked, who stands in where a reply is of no
 * use. chain.c works out the strategies. */
#include "round.h"

#include <sys/resource.h>

/* ---- what models are told ---- */

void lessons_catch_up(struct run *r)
{
    for (; r->n_learnt < r->candidates.n; r->n_learnt++) {
        const struct candidate *c = r->candidates.v[r->n_learnt];
        const char *words = refine_words(&c->trial);
        /* What was left out of the best says what the best does not need, not what could be tried. */
        if (c->id == 0 || !c->judged || str_starts(c->strategy.name, REFINE_WITHOUT))
            continue;
        if (c->trial.line && words == c->trial.words)
            words = arena_printf(r->arena, "line %d: %s", c->trial.line, words);
        vec_push(&r->lessons,
                 ((struct agent_lesson){.id = c->id,
                                        .name = c->strategy.name,
                                        .what = c->strategy.plan,
                                        .verdict = verdict_name(c->trial.verdict),
                                        .words = words,
                                        .gain = c->trial.score / r->search.nodes.v[c->parent].score,
                                        .score = c->trial.score}));
    }
}

static void brief_open(struct thinking *t)
{
    struct run *r = t->r;

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
                                    .parent_text = t->parent->text,
                                    .version = t->version,
                                    .parent_score = r->search.nodes.v[t->parent->id].score,
                                    .profile = &t->profile,
                                    .diagnosis = &t->diagnosis,
                                    .lessons = r->lessons.v,
                                    .n_lessons = r->lessons.n,
                                    .max_strategies = (size_t)r->o->models.strategies,
                                    .suite_text = r->suite_text};
}

/* ---- one question, one answer ---- */

typedef bool reader(void *context, const char *reply, struct err *complaint);

void reply_unusable(const char *label, const char *words)
{
    trace_text("unusable", "%s: %s", label, words);
}

void reply_cut_short(const struct llm_reply *r, struct err *complaint)
{
    if (r->end == LLM_CUT)
        err_context(complaint, "the reply was cut off at the limit of its length; be shorter");
}

/* *read: false when there was no usable reply: not after a re-ask, or because the run stops. */
static bool ask(struct run *r, enum models_role role, const char *label, struct agent_prompt p,
                reader *read_reply, void *context, bool *read, struct err *err)
{
    *read = false;
    for (int asked = 0; asked < 2; asked++) {
        struct err complaint = {0};
        struct call *c;
        if (!calls_ask(r, role, label, &p, &c, err) || !calls_wait(r, c, err))
            return false;
        if (c->state != CALL_ANSWERED)
            return true;
        if (c->reply.end == LLM_FAILED || c->reply.end == LLM_REFUSED) {
            reply_unusable(label, c->reply.words ? c->reply.words : call_end_name(c->reply.end));
            return true;
        }
        *read = read_reply(context, c->reply.text, &complaint);
        if (*read)
            return true;
        reply_cut_short(&c->reply, &complaint);
        reply_unusable(label, complaint.text);
        agent_prompt_again(&p, c->reply.text, NULL, complaint.text, r->arena, &p);
        label = arena_printf(r->arena, "%s-again", label);
    }
    return true;
}

struct reading {
    struct thinking *t;
    const struct agent_strategy *strategies;
    size_t n;
};

static bool read_planner(void *context, const char *reply, struct err *complaint)
{
    struct reading *x = context;

    return agent_read_planner(reply, &x->t->brief, x->t->r->arena, &x->strategies, &x->n, complaint);
}

static bool read_profiler(void *context, const char *reply, struct err *complaint)
{
    struct thinking *t = context;

    return agent_read_profiler(reply, &t->brief, t->r->arena, &t->diagnosis, complaint);
}

struct testing {
    struct run *r;
    struct agent_suite *suite;
    size_t dropped;
};

static bool read_tester(void *context, const char *reply, struct err *complaint)
{
    struct testing *x = context;

    return agent_read_tester(reply, x->r->task, x->r->arena, x->suite, &x->dropped, complaint);
}

bool think_suite(struct run *r, struct agent_suite *suite, struct err *err)
{
    struct thinking t = {.r = r, .parent = r->candidates.v[0]};
    struct testing x = {r, suite, 0};
    struct agent_prompt p;
    bool read;

    *suite = (struct agent_suite){0};
    brief_open(&t);
    t.brief.version = NULL;
    t.brief.diagnosis = NULL;
    agent_prompt_tester(&t.brief, r->arena, &p);
    if (!ask(r, FOR_TESTER, "tester", p, read_tester, &x, &read, err))
        return false;
    if (!read)
        *suite = (struct agent_suite){0};
    if (read)
        trace_text("tester", "%s (%zu dropped)", suite->text, x.dropped);
    return true;
}

/* ---- a round ---- */

static bool diagnose(struct thinking *t, int n, struct err *err)
{
    struct run *r = t->r;
    struct agent_prompt p;
    bool read = true;

    if (!r->o->models.asked[FOR_PROFILER])
        return true;
    agent_prompt_profiler(&t->brief, r->arena, &p);
    if (!ask(r, FOR_PROFILER, arena_printf(r->arena, "profiler-%d", n), p, read_profiler, t, &read, err))
        return false;
    if (!read) {
        t->diagnosis = t->parent->diagnosis;
        trace_text("stands_in", "profiler-%d gave no usable reply: the rules' diagnosis stands", n);
    }
    return true;
}

bool think_diagnosis(struct run *r, struct candidate *parent, const struct agent_version *version, int n,
                     struct agent_diagnosis *d, struct err *err)
{
    struct thinking t = {.r = r, .parent = parent, .version = version};

    brief_open(&t);
    if (!diagnose(&t, n, err))
        return false;
    *d = t.diagnosis;
    return true;
}

static bool plan(struct thinking *t, int n, struct err *err)
{
    struct run *r = t->r;
    const struct models *m = &r->o->models;
    struct reading x = {.t = t};
    struct agent_prompt p;
    bool read;

    if (!diagnose(t, n, err))
        return false;
    t->in = (struct agent_plan_input){.version = t->version,
                                      .parent = t->parent->id,
                                      .diagnosis = &t->diagnosis,
                                      .max_strategies = (size_t)m->strategies};
    candidate_lineage(r, t->parent->id, &t->in);
    candidate_history(r, &t->in);
    if (m->asked[FOR_PLANNER]) {
        agent_prompt_planner(&t->brief, r->arena, &p);
        if (!ask(r, FOR_PLANNER, arena_printf(r->arena, "planner-%d", n), p, read_planner, &x, &read, err))
            return false;
    } else {
        agent_plan_rules(&t->in, r->arena, &x.strategies, &x.n);
    }
    t->n_chains = MIN(x.n, (size_t)m->strategies);
    tell_plan(t->round, t->parent->id, &t->diagnosis, x.strategies, t->n_chains);
    t->chains = arena_array(r->arena, struct chain, t->n_chains);
    for (size_t i = 0; i < t->n_chains; i++) {
        struct chain *c = &t->chains[i];
        const struct agent_strategy *s = &x.strategies[i];
        *c = (struct chain){.role = FOR_CODER, .strategy = *s};
        c->row = (struct store_strategy){.id = ++r->n_strategies,
                                         .round = t->round,
                                         .parent = t->parent->id,
                                         .label = arena_printf(r->arena, "coder-%d-%zu", n, i + 1),
                                         .name = s->name,
                                         .reason = s->reason,
                                         .plan = s->plan,
                                         .expected_gain = s->expected_gain,
                                         .confidence = s->confidence,
                                         .candidate = -1};
        if (m->asked[FOR_CODER])
            agent_prompt_coder(&t->brief, s, r->arena, &c->prompt);
    }
    return true;
}

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool round_open(struct thinking *t, struct run *r, int round, struct err *err)
{
    *t = (struct thinking){.r = r, .round = round, .first_id = (int)r->candidates.n};
    t->parent = r->candidates.v[search_ask(&r->search)];
    candidate_learn(r);
    if (!look_counters(r, t->parent, err))
        return false;
    if (!candidate_version(r, t->parent, &t->version, err))
        return false;
    brief_open(t);
    tell_round(r, round, t->parent->id, "llm");
    return true;
}

/* What costs no call: tunables that the coder left, and the original where a candidate loses. */
static bool round_refine(struct thinking *t, struct err *err)
{
    return run_stopping(t->r) ||
           (refine_tunables(t->r, (size_t)t->first_id, t->round, err) &&
            (run_stopping(t->r) || refine_losers(t->r, (size_t)t->first_id, t->round, err)));
}

static void round_told(const struct thinking *t, double cpu_before_s)
{
    json_t *e = json_object();

    json_put_int(e, "round", t->round);
    json_put_int(e, "made", (int64_t)t->r->candidates.n - t->first_id);
    json_put_num(e, "cpu_ms", 1e3 * (cpu_s() - cpu_before_s));
    trace_event("round_end", e);
}

bool think_rounds(struct run *r, int *round, int first, int last, struct err *err)
{
    r->last_round = *round + last - first + 1;
    for (int n = first; n <= last && !run_stopping(r) && !calls_exhausted(r); n++) {
        struct thinking t;
        double cpu_before_s = cpu_s();
        bool ok;
        if (!round_open(&t, r, ++*round, err))
            return false;
        ok = plan(&t, n, err) && chains_run(&t, err) && round_refine(&t, err);
        if (!ok)
            return false;
        round_told(&t, cpu_before_s);
    }
    return true;
}

bool think_single(struct run *r, int *round, struct err *err)
{
    VEC(struct llm_message) said = {0};
    bool ok = true;
    int last = 0; /* what became of it is what the next turn begins with */

    r->last_round = *round + r->o->rounds;
    for (int n = 1; ok && n <= r->o->rounds && !run_stopping(r) && !calls_exhausted(r); n++) {
        struct thinking t;
        struct chain c = {.role = FOR_SINGLE};
        double cpu_before_s = cpu_s();
        ok = round_open(&t, r, ++*round, err);
        if (!ok)
            break;
        t.chains = &c;
        t.n_chains = 1;
        t.brief.attempt = last;
        agent_prompt_single(&t.brief, arena_copy(r->arena, said.v, said.n * sizeof(*said.v)), said.n, r->arena,
                            &c.prompt);
        c.row = (struct store_strategy){.id = ++r->n_strategies,
                                        .round = t.round,
                                        .parent = t.parent->id,
                                        .label = arena_printf(r->arena, "single-%d", n),
                                        .reason = "the one agent's next file",
                                        .plan = "",
                                        .expected_gain = NAN,
                                        .confidence = NAN,
                                        .candidate = -1};
        c.row.name = c.row.label;
        c.strategy = (struct agent_strategy){.name = c.row.label, .reason = c.row.reason, .plan = ""};
        tell_plan(t.round, t.parent->id, &t.diagnosis, &c.strategy, 1);
        ok = chains_run(&t, err) && round_refine(&t, err);
        if (ok && c.call && c.call->state == CALL_ANSWERED && c.call->reply.text) {
            vec_clear(&said);
            for (size_t i = 0; i < c.prompt.n_messages; i++)
                vec_push(&said, c.prompt.messages[i]);
            vec_push(&said, ((struct llm_message){true, c.call->reply.text}));
        }
        last = c.row.candidate;
        round_told(&t, cpu_before_s);
    }
    vec_free(&said);
    return ok;
}
