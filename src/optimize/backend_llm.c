/* LLMs as profiler, planner, coder and tester: what they are asked, how their replies are read, who stands in
 * where a reply is of no use. */
#include "round.h"

/* ---- one question, one answer ---- */

struct reader {
    bool (*read)(void *context, const char *reply, struct err *complaint);
    void *context;
};

static void reply_unusable(const char *label, const char *words)
{
    trace_text("unusable", "%s: %s", label, words);
}

static void reply_cut_short(const struct llm_reply *r, struct err *complaint)
{
    if (r->end == LLM_CUT)
        err_context(complaint, "the reply was cut off at the limit of its length; be shorter");
}

/* *read: false when there was no usable reply: not after a re-ask, or because the run stops. */
static bool ask(struct run *r, enum models_role role, const char *label, struct agent_prompt p,
                struct reader reader, bool *read, struct err *err)
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
        *read = reader.read(reader.context, c->reply.text, &complaint);
        if (*read)
            return true;
        reply_cut_short(&c->reply, &complaint);
        reply_unusable(label, complaint.text);
        agent_prompt_again(&p, c->reply.text, NULL, complaint.text, r->arena, &p);
        label = arena_printf(r->arena, "%s-again", label);
    }
    return true;
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

bool llm_suite(struct run *r, struct agent_suite *suite, struct err *err)
{
    struct round t = {.r = r, .parent = r->candidates.v[0]};
    struct testing x = {r, suite, 0};
    struct agent_prompt p;
    bool read;

    *suite = (struct agent_suite){0};
    round_brief(&t);
    t.brief.version = NULL;
    t.brief.diagnosis = NULL;
    agent_prompt_tester(&t.brief, r->arena, &p);
    if (!ask(r, FOR_TESTER, "tester", p, (struct reader){read_tester, &x}, &read, err))
        return false;
    if (!read)
        *suite = (struct agent_suite){0};
    if (read)
        trace_text("tester", "%s (%zu dropped)", suite->text, x.dropped);
    return true;
}

/* ---- the profiler and the planner ---- */

static bool read_profiler(void *context, const char *reply, struct err *complaint)
{
    struct round *t = context;

    return agent_read_profiler(reply, &t->brief, t->r->arena, &t->diagnosis, complaint);
}

bool llm_diagnosis(struct round *t, struct err *err)
{
    struct run *r = t->r;
    struct agent_prompt p;
    bool read = true;

    if (!r->o->models.asked[FOR_PROFILER] || t->coder == &backend_single)
        return true;
    agent_prompt_profiler(&t->brief, r->arena, &p);
    if (!ask(r, FOR_PROFILER, arena_printf(r->arena, "profiler-%d", t->n), p, (struct reader){read_profiler, t},
             &read, err))
        return false;
    if (!read) {
        t->diagnosis = t->parent->diagnosis;
        trace_text("stands_in", "profiler-%d gave no usable reply: the rules' diagnosis stands", t->n);
    }
    return true;
}

struct planning {
    struct round *t;
    const struct agent_strategy **list;
    size_t *n;
};

static bool read_planner(void *context, const char *reply, struct err *complaint)
{
    struct planning *x = context;

    return agent_read_planner(reply, &x->t->brief, x->t->r->arena, x->list, x->n, complaint);
}

static bool plan(struct round *t, const struct agent_strategy **list, size_t *n, struct err *err)
{
    struct planning x = {t, list, n};
    struct agent_prompt p;
    bool read;

    *n = 0;
    agent_prompt_planner(&t->brief, t->r->arena, &p);
    if (!ask(t->r, FOR_PLANNER, arena_printf(t->r->arena, "planner-%d", t->n), p,
             (struct reader){read_planner, &x}, &read, err))
        return false;
    t->r->enough = read && *n == 0;
    if (t->r->enough)
        trace_text("enough", "planner-%d: nothing is worth another try", t->n);
    return true;
}

/* ---- the coder ---- */

static bool ask_coder(struct round *t, struct attempt *x, const char *label, struct err *err)
{
    x->state = ATTEMPT_ASKING;
    x->coder = t->coder;
    return calls_ask(t->r, t->coder == &backend_single ? FOR_SINGLE : FOR_CODER, label, &x->prompt, &x->call,
                     err);
}

/* A plan of transforms alone needs no call where they can be carried out. The rules' strategies are transforms
 * all of them: an LLM that codes for these is asked for its own file. */
static bool code(struct round *t, struct attempt *x, struct err *err)
{
    const char *why_not;
    bool made = false;

    x->asked = x->label;
    agent_prompt_coder(&t->brief, &x->strategy, t->r->arena, &x->prompt);
    if (t->planner == &backend_llm && x->strategy.n_steps && !rules_carry_out(t, x, &made, &why_not, err))
        return false;
    return made || ask_coder(t, x, x->asked, err);
}

static bool go_on(struct round *t, struct attempt *x, bool *moved, struct err *err)
{
    struct run *r = t->r;
    const struct llm_reply *reply = &x->call->reply;
    struct agent_brief brief = t->brief;
    struct err complaint = {0};
    struct agent_file file;

    if (x->call->state != CALL_ANSWERED && x->call->state != CALL_NOT_MADE)
        return true;
    *moved = true;
    if (x->call->state == CALL_NOT_MADE) {
        attempt_give_up(x, ATTEMPT_DROPPED, "the budget is spent");
        return true;
    }
    if (reply->end == LLM_FAILED || reply->end == LLM_REFUSED) {
        attempt_give_up(x, ATTEMPT_DROPPED, reply->words ? reply->words : call_end_name(reply->end));
        return true;
    }
    if (t->coder == &backend_single && agent_says_done(reply->text)) {
        r->enough = true;
        trace_text("enough", "%s: nothing is worth another try", x->call->label);
        attempt_give_up(x, ATTEMPT_DROPPED, "nothing is worth another try");
        return true;
    }
    brief.last_text = x->n_tries ? x->tries[x->n_tries - 1].file.text : NULL;
    if (agent_read_coder(reply->text, &brief, r->arena, &file, &complaint))
        return attempt_take(t, x, &file, err);
    reply_cut_short(reply, &complaint);
    reply_unusable(x->call->label, complaint.text);
    if (x->again) {
        attempt_give_up(x, ATTEMPT_DROPPED, arena_strdup(r->arena, complaint.text));
        return true;
    }
    x->again = true;
    agent_prompt_again(&x->prompt, reply->text, NULL, complaint.text, r->arena, &x->prompt);
    return ask_coder(t, x, arena_printf(r->arena, "%s-again", x->asked), err);
}

static bool repair(struct round *t, struct attempt *x, struct err *err)
{
    struct run *r = t->r;
    const struct trial *judged = &x->tries[x->n_tries - 1].trial;
    const char *verdict = verdict_name(judged->verdict), *words = judged->words ? judged->words : "";

    if (judged->line)
        words = arena_printf(r->arena, "line %d: %s", judged->line, words);
    trace_text("repair", "%s: %s: %s", x->call->label, verdict, words);
    words = arena_printf(r->arena, "%s\n%s", words,
                         text_around(r->arena, x->tries[x->n_tries - 1].file.text, judged->line));
    agent_prompt_again(&x->prompt, x->call->reply.text, verdict, words, r->arena, &x->prompt);
    x->asked = arena_printf(r->arena, "%s-repair-%zu", x->label, x->n_tries);
    return ask_coder(t, x, x->asked, err);
}

const struct backend backend_llm = {
    .name = "llm", .plan = plan, .code = code, .go_on = go_on, .repair = repair};

/* ---- one LLM in one conversation ---- */

static bool plan_single(struct round *t, const struct agent_strategy **list, size_t *n, struct err *err)
{
    struct agent_strategy *s = arena_new(t->r->arena, struct agent_strategy);

    (void)err;
    *s = (struct agent_strategy){.name = arena_printf(t->r->arena, "single-%d", t->n),
                                 .reason = "the one agent's next file",
                                 .plan = "",
                                 .expected_gain = NAN,
                                 .confidence = NAN};
    *list = s;
    *n = 1;
    return true;
}

/* What became of its last file is what its next turn begins with. */
static bool code_single(struct round *t, struct attempt *x, struct err *err)
{
    struct run *r = t->r;
    const struct attempt *last = r->single;
    VEC(struct llm_message) said = {0};

    if (last && last->call && last->call->state == CALL_ANSWERED && last->call->reply.text) {
        for (size_t i = 0; i < last->prompt.n_messages; i++)
            vec_push(&said, last->prompt.messages[i]);
        vec_push(&said, ((struct llm_message){true, last->call->reply.text}));
        r->said = arena_copy(r->arena, said.v, said.n * sizeof(*said.v));
        r->n_said = said.n;
        vec_free(&said);
    }
    t->brief.attempt = last ? last->row.candidate : 0;
    if (last && last->n_tries && last->tries[last->n_tries - 1].trial.line)
        t->brief.last_lines = text_around(r->arena, last->tries[last->n_tries - 1].file.text,
                                          last->tries[last->n_tries - 1].trial.line);
    agent_prompt_single(&t->brief, r->said, r->n_said, r->arena, &x->prompt);
    r->single = x;
    x->asked = x->label;
    return ask_coder(t, x, x->asked, err);
}

const struct backend backend_single = {.name = "llm", .plan = plan_single, .code = code_single, .go_on = go_on};
