/* The planner's strategies are worked out side by side, each a chain: a call of the coder, a trial, and what
 * went wrong goes back to it, at most twice. What a chain does follows from the state at the round's start and
 * from its own replies and trials; what it made is counted, told and stored in the order of labels. So the
 * order in which replies arrive changes nothing. */
#include "round.h"

static void chain_end(struct chain *c, const char *verdict, const char *words)
{
    c->state = CHAIN_ENDED;
    c->verdict = verdict;
    c->words = words;
}

static bool chain_ask(struct thinking *t, struct chain *c, const char *label, struct err *err)
{
    c->state = CHAIN_ASKING;
    return calls_ask(t->r, c->role, label, &c->prompt, &c->call, err);
}

static int ticket_of(const struct thinking *t, const struct chain *c)
{
    return (int)(c - t->chains) * MAX_ATTEMPTS + (int)c->n_attempts - 1;
}

/* As the call's that wrote it. */
static const char *attempt_label(const struct run *r, const struct chain *c, size_t i)
{
    return i ? arena_printf(r->arena, "%s-repair-%zu", c->row.label, i) : c->row.label;
}

static const struct attempt *in_trial(const struct thinking *t, const struct attempt *x)
{
    for (size_t i = 0; i < t->n_chains; i++)
        for (size_t k = 0; k < t->chains[i].n_attempts; k++) {
            const struct attempt *y = &t->chains[i].attempts[k];
            if (y != x && !y->same && str_eq(y->hash, x->hash))
                return y;
        }
    return NULL;
}

static bool chain_judge(struct thinking *t, struct chain *c, const char *text, struct err *err)
{
    struct run *r = t->r;
    struct attempt *x = &c->attempts[c->n_attempts];
    const struct candidate *known;
    const char *stored;
    int id;

    *x = (struct attempt){.text = text};
    candidate_hash(r, text, x->hash);
    known = map_get(&r->seen, x->hash);
    if (known && known->id < t->first_id) {
        chain_end(c, "duplicate",
                  known->id ? arena_printf(r->arena, "the same code as candidate %d", known->id)
                            : "the same code as the original");
        return true;
    }
    c->n_attempts++;
    c->state = CHAIN_JUDGING;
    x->same = in_trial(t, x);
    if (x->same)
        return true;
    if (!store_find_trial(r->store, r->arena, x->hash, &id, &stored, err))
        return false;
    if (stored)
        return x->judged = trial_from_text(stored, r->arena, &x->trial, err);
    return tell_submit(r, ticket_of(t, c), attempt_label(r, c, c->n_attempts - 1), c->strategy.name, t->round,
                       t->parent->id, text, err);
}

/* The built-in moves of a strategy, carried out without a call. Where they cannot be, the coder's model is
 * asked. */
static bool rules_code(struct thinking *t, struct chain *c, struct err *err)
{
    struct run *r = t->r;
    const struct agent_step *done;
    struct err why = {0};
    size_t n_done;
    char *text;

    if (agent_code_rules(r->task, r->task->source_path, t->parent->text, &c->repaired, &r->limits, r->arena,
                         &text, &done, &n_done, &why))
        return chain_judge(t, c, text, err);
    if (r->o->models.asked[FOR_CODER] && c->n_attempts == 0)
        return chain_ask(t, c, c->asked, err);
    chain_end(c, "dropped",
              c->repaired.n_steps ? arena_strdup(r->arena, why.text)
                                  : "no built-in move, and the coder is the rules");
    return true;
}

static bool chain_start(struct thinking *t, struct chain *c, struct err *err)
{
    const bool *asked = t->r->o->models.asked;

    if (!store_put_strategy(t->r->store, &c->row, err))
        return false;
    c->asked = c->row.label;
    c->repaired = c->strategy;
    /* The rules' strategies are moves all of them: a model that codes for these is asked for its own file. */
    if (c->role == FOR_CODER && (!asked[FOR_CODER] || (asked[FOR_PLANNER] && c->strategy.n_steps)))
        return rules_code(t, c, err);
    return chain_ask(t, c, c->asked, err);
}

static bool chain_reply(struct thinking *t, struct chain *c, struct err *err)
{
    struct run *r = t->r;
    const struct llm_reply *reply = &c->call->reply;
    struct err complaint = {0};
    char *text;

    if (c->call->state == CALL_NOT_MADE) {
        chain_end(c, "dropped", "the budget is spent");
        return true;
    }
    if (reply->end == LLM_FAILED || reply->end == LLM_REFUSED) {
        chain_end(c, "dropped", reply->words ? reply->words : call_end_name(reply->end));
        return true;
    }
    if (agent_read_coder(reply->text, &t->brief, r->arena, &text, &complaint))
        return chain_judge(t, c, text, err);
    reply_cut_short(reply, &complaint);
    reply_unusable(c->call->label, complaint.text);
    if (c->again) {
        chain_end(c, "dropped", arena_strdup(r->arena, complaint.text));
        return true;
    }
    c->again = true;
    agent_prompt_again(&c->prompt, reply->text, NULL, complaint.text, r->arena, &c->prompt);
    return chain_ask(t, c, arena_printf(r->arena, "%s-again", c->asked), err);
}

static bool chain_judged(struct thinking *t, struct chain *c, struct err *err)
{
    struct run *r = t->r;
    struct attempt *x = &c->attempts[c->n_attempts - 1];
    const char *words = x->trial.words ? x->trial.words : "";

    chain_end(c, verdict_name(x->trial.verdict), words);
    if (verdict_correct(x->trial.verdict) || c->n_attempts == MAX_ATTEMPTS || c->role == FOR_SINGLE)
        return true;
    if (!c->call) { /* its file was made by the moves alone */
        struct agent_strategy next;
        if (!agent_repair_rules(&c->repaired, NULL, &t->in, r->arena, &next))
            return true;
        c->repaired = next;
        return rules_code(t, c, err);
    }
    if (x->trial.line)
        words = arena_printf(r->arena, "line %d: %s", x->trial.line, words);
    trace_text("repair", "%s: %s: %s", c->call->label, verdict_name(x->trial.verdict), words);
    agent_prompt_again(&c->prompt, c->call->reply.text, verdict_name(x->trial.verdict), words, r->arena,
                       &c->prompt);
    c->asked = arena_printf(r->arena, "%s-repair-%zu", c->row.label, c->n_attempts);
    return chain_ask(t, c, c->asked, err);
}

/* Goes on as far as it can; *moved when it did. */
static bool chain_step(struct thinking *t, struct chain *c, bool *moved, struct err *err)
{
    struct attempt *x = c->n_attempts ? &c->attempts[c->n_attempts - 1] : NULL;

    if (c->state == CHAIN_ASKING && (c->call->state == CALL_ANSWERED || c->call->state == CALL_NOT_MADE)) {
        *moved = true;
        return chain_reply(t, c, err);
    }
    if (c->state != CHAIN_JUDGING)
        return true;
    if (x->same && x->same->judged) {
        x->trial = x->same->trial;
        x->judged = true;
    }
    if (!x->judged)
        return true;
    *moved = true;
    return chain_judged(t, c, err);
}

/* ---- counted, in the order of labels ---- */

static bool count_attempt(struct thinking *t, struct chain *c, struct attempt *x, struct err *err)
{
    struct run *r = t->r;
    const struct attempt *before = x > c->attempts ? x - 1 : NULL;

    x->made = map_get(&r->seen, x->hash);
    if (x->made)
        return true;
    x->made = candidate_add(r, t->parent->id, t->round, x->text);
    x->made->mind = "llm";
    x->made->label = attempt_label(r, c, (size_t)(x - c->attempts));
    x->made->strategy = c->strategy;
    x->made->repairs = before && before->made ? before->made->id : -1;
    x->made->trial = x->trial;
    candidate_tell(r, x->made);
    return candidate_store(r, x->made, err);
}

static bool count(struct thinking *t, struct chain *c, struct err *err)
{
    struct run *r = t->r;

    for (size_t i = 0; i < c->n_attempts; i++)
        if (!count_attempt(t, c, &c->attempts[i], err))
            return false;
    lessons_catch_up(r);
    c->state = CHAIN_COUNTED;
    c->row.candidate = c->n_attempts ? c->attempts[c->n_attempts - 1].made->id : -1;
    c->row.outcome = *c->words ? arena_printf(r->arena, "%s: %s", c->verdict, c->words) : c->verdict;
    if (c->row.candidate < 0) {
        vec_push(&r->lessons, ((struct agent_lesson){.id = -1,
                                                     .name = c->strategy.name,
                                                     .what = c->strategy.plan,
                                                     .verdict = c->verdict,
                                                     .words = c->words,
                                                     .gain = NAN,
                                                     .score = NAN}));
        tell_learnt(-1, c->strategy.name, c->verdict, c->words, NAN, t->parent->id);
    }
    if (str_eq(c->verdict, "dropped") || str_eq(c->verdict, "duplicate"))
        trace_text("dropped", "%s: %s", c->row.label, c->words);
    return store_put_strategy(r->store, &c->row, err);
}

static bool take_trials(struct thinking *t, double wait_s, struct err *err)
{
    struct run *r = t->r;

    for (;; wait_s = 0) {
        struct trial trial;
        struct attempt *x;
        int id;
        if (!pool_collect(r->pool, wait_s, r->arena, &id, &trial, err))
            return false;
        if (id < 0)
            return true;
        x = &t->chains[id / MAX_ATTEMPTS].attempts[id % MAX_ATTEMPTS];
        x->trial = trial;
        x->judged = true;
        tell_judged(r, id, &trial);
        if (!store_put_trial(r->store, x->hash, trial_to_text(r->arena, &trial), err))
            return false;
    }
}

bool chains_run(struct thinking *t, struct err *err)
{
    struct run *r = t->r;

    for (size_t i = 0; i < t->n_chains; i++)
        if (!chain_start(t, &t->chains[i], err))
            return false;
    while (t->n_counted < t->n_chains) {
        bool moved = false;
        for (size_t i = 0; i < t->n_chains; i++)
            if (!chain_step(t, &t->chains[i], &moved, err))
                return false;
        while (t->n_counted < t->n_chains && t->chains[t->n_counted].state == CHAIN_ENDED)
            if (!count(t, &t->chains[t->n_counted++], err))
                return false;
        if (run_stopping(r))
            return true;
        if (moved || t->n_counted == t->n_chains)
            continue;
        if (pool_busy(r->pool) > 0 && !take_trials(t, calls_under_way(r) ? 0 : 0.2, err))
            return false;
        if (calls_under_way(r) && !calls_turn(r, pool_busy(r->pool) ? 0.05 : 0.25, err))
            return false;
    }
    return true;
}
