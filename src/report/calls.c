/* What was said to models and what they said, with cost and outcome beside it. */
#include "report/report.h"

static const char *end_of(const struct store_call *c, struct arena *a, const char **text)
{
    json_t *j = json_parse(c->reply, strlen(c->reply), "stored reply", NULL);
    const char *end = arena_strdup(a, json_text(j, "end", "?")), *words = json_text(j, "words", NULL);

    *text = arena_strdup(a, json_text(j, "text", ""));
    if (words && *words)
        end = arena_printf(a, "%s: %s", end, words);
    json_decref(j);
    return end;
}

/* The calls of a strategy: its own label, and what follows it after a dash. */
static bool belongs(const struct store_strategy *x, const struct store_call *c)
{
    size_t n = strlen(x->label);

    return !strncmp(c->label, x->label, n) && (c->label[n] == 0 || c->label[n] == '-');
}

static const struct store_candidate *candidate_of(const struct told *t, int id)
{
    for (size_t i = 0; i < t->n_candidates; i++)
        if (t->candidates[i].id == id)
            return &t->candidates[i];
    return NULL;
}

/* The tries before the last one of a strategy, by its candidate. */
static size_t earlier_tries(const struct told *t, const struct store_strategy *x)
{
    const struct store_candidate *c = candidate_of(t, x->candidate);
    size_t n = 0;

    while (c && (c = candidate_of(t, c->repairs)) && c->round == x->round)
        n++;
    return n;
}

static const char *verdict_words(struct arena *a, const struct store_candidate *c)
{
    return c->words && *c->words ? arena_printf(a, "%s: %s", c->verdict, c->words) : c->verdict;
}

static bool is_asked_again(const struct told *t, const struct store_call *c)
{
    size_t n = strlen(c->label);

    for (size_t i = 0; i < t->n_calls; i++)
        if (!strncmp(t->calls[i].label, c->label, n) && str_eq(t->calls[i].label + n, "-again"))
            return true;
    return false;
}

/* Each reply with a file makes a try: that of `coder-1-2-repair-1` the second one. The last of them may be
 * without a candidate: dropped, or a duplicate. What a candidate is may have changed in its confirmation. */
struct call_fate report_call_fate(const struct told *t, struct arena *a, const struct store_call *c)
{
    struct call_fate f = {.candidate = -1};
    const char *repair;
    size_t n, tries;

    for (size_t i = 0; i < t->n_strategies && !f.strategy; i++)
        f.strategy = belongs(&t->strategies[i], c) ? &t->strategies[i] : NULL;
    if (!f.strategy)
        return f;
    repair = strstr(c->label + strlen(f.strategy->label), "-repair-");
    n = repair ? strtoull(repair + strlen("-repair-"), NULL, 10) : 0;
    tries = earlier_tries(t, f.strategy);
    f.outcome = f.strategy->outcome ? f.strategy->outcome : "under way";
    if (is_asked_again(t, c)) {
        f.outcome = "unusable: asked again";
        return f;
    }
    if (n > tries || f.strategy->candidate < 0)
        return f;
    f.candidate = f.strategy->candidate;
    for (; n < tries; n++)
        f.candidate = candidate_of(t, f.candidate)->repairs;
    const struct store_candidate *made = candidate_of(t, f.candidate);
    if (made && made->verdict)
        f.outcome = verdict_words(a, made);
    return f;
}

static bool read_told(struct store *s, struct arena *a, struct told *t, struct err *err)
{
    return store_calls(s, a, &t->calls, &t->n_calls, err) &&
           store_strategies(s, a, &t->strategies, &t->n_strategies, err) &&
           store_candidates(s, a, &t->candidates, &t->n_candidates, err);
}

static void add_call(const struct store_call *c, const char *outcome, struct arena *a, struct table *t)
{
    const char *text, *end = end_of(c, a, &text);

    table_row(t, NULL);
    table_int(t, c->id);
    table_text(t, c->label);
    table_int(t, c->tokens_in);
    table_int(t, c->tokens_cached);
    table_int(t, c->tokens_out);
    table_num(t, c->usd, 4, "");
    table_num(t, c->wall_s, 1, "");
    table_text(t, report_one_line(a, end, 40));
    table_text(t, report_one_line(a, outcome, 60));
}

static void add_sums(const json_t *cost, struct str *out)
{
    str_addf(out, "\n%lld calls, %lld tokens in, %lld out%s, %.1f s, ", json_count(cost, "calls"),
             json_count(cost, "tokens_in"), json_count(cost, "tokens_out"),
             json_flag(cost, "tokens_estimated", false) ? " (estimated where the provider did not report them)"
                                                        : "",
             json_num(cost, "seconds"));
    if (isfinite(json_num(cost, "usd")))
        str_addf(out, "%.4f USD\n", json_num(cost, "usd"));
    else
        str_add(out, "USD unknown: no price for a model\n");
}

bool report_calls(struct store *s, struct arena *a, struct str *out, struct err *err)
{
    struct table *t = table_new(a, "Calls of models");
    struct told told;
    json_t *cost;

    if (!read_told(s, a, &told, err) || !report_cost(s, a, &cost, err))
        return false;
    table_columns(t, "call#|label|tokens in#|cached#|out#|cost#USD|seconds#|end|what came of it");
    for (size_t i = 0; i < told.n_calls; i++) {
        const char *outcome = report_call_fate(&told, a, &told.calls[i]).outcome;
        add_call(&told.calls[i], outcome ? outcome : "", a, t);
    }
    if (told.n_calls)
        table_as_text(t, out);
    else
        str_add(out, "this run asked no model\n");
    for (size_t i = 0; i < told.n_strategies; i++)
        str_addf(out, "%sstrategy %d, %s: %s\n", i ? "" : "\n", told.strategies[i].id, told.strategies[i].label,
                 report_one_line(a, told.strategies[i].name, 90));
    if (told.n_calls)
        add_sums(cost, out);
    json_decref(cost);
    return true;
}

#define CALL(member)        MEMBER(struct store_call, member)
#define CALL_TOKENS(member) MEMBER_AS(struct store_call, member, MEMBER_INT64_OR_NULL)

static const struct member call_members[] = {
    MEMBER_NAMED("call", struct store_call, id, MEMBER_INT),
    CALL(label),
    CALL(role),
    CALL(provider),
    CALL(model),
    CALL(started),
    CALL(tokens_in),
    CALL_TOKENS(tokens_cached),
    CALL_TOKENS(tokens_reasoning),
    CALL(tokens_out),
    MEMBER_NAMED("tokens_estimated", struct store_call, estimated, MEMBER_FLAG),
    CALL(usd),
    MEMBER_NAMED("seconds", struct store_call, wall_s, MEMBER_NUMBER),
    {0}};

json_t *report_call_row(const struct store_call *c, const char *end, const struct call_fate *f)
{
    json_t *o = json_object();

    json_put_members(o, call_members, c);
    json_put_text(o, "end", end);
    json_put(o, "strategy", f->strategy ? json_integer(f->strategy->id) : json_null());
    json_put_text(o, "outcome", f->outcome);
    json_put(o, "candidate", f->candidate >= 0 ? json_integer(f->candidate) : json_null());
    return o;
}

bool report_calls_json(struct store *s, struct arena *a, json_t **out, struct err *err)
{
    struct told told;

    if (!read_told(s, a, &told, err))
        return false;
    *out = json_array();
    for (size_t i = 0; i < told.n_calls; i++) {
        const struct call_fate fate = report_call_fate(&told, a, &told.calls[i]);
        const char *text;
        json_array_append_new(*out, report_call_row(&told.calls[i], end_of(&told.calls[i], a, &text), &fate));
    }
    return true;
}

static void add_block(struct str *out, const char *who, const char *text)
{
    str_addf(out, "---- %s\n%s%s", who, text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* messages from `from` on, then the reply; gives how many messages there were. */
static size_t add_conversation(struct arena *a, const struct store_call *c, size_t from, struct str *out)
{
    json_t *j = json_parse(c->request, strlen(c->request), "stored request", NULL), *m;
    const json_t *messages = json_object_get(j, "messages");
    const char *text, *end = end_of(c, a, &text);
    size_t i, n = json_array_size(messages);

    str_addf(out, "call %d, %s: %s %s, %lld tokens in, %lld out, %.1f s, ", c->id, c->label, c->provider,
             c->model, (long long)c->tokens_in, (long long)c->tokens_out, c->wall_s);
    if (isfinite(c->usd))
        str_addf(out, "%.4f USD, ", c->usd);
    str_addf(out, "%s\n", end);
    if (from == 0)
        add_block(out, "system", json_text(j, "system", ""));
    json_array_foreach(messages, i, m) if (i >= from)
        add_block(out, json_text(m, "from", "?"), json_text(m, "text", ""));
    add_block(out, "model", text);
    json_decref(j);
    return n;
}

bool report_call(struct store *s, struct arena *a, int id, struct str *out, struct err *err)
{
    struct told told;

    if (!read_told(s, a, &told, err))
        return false;
    for (size_t i = 0; i < told.n_calls; i++) {
        const struct call_fate fate = report_call_fate(&told, a, &told.calls[i]);
        if (told.calls[i].id != id)
            continue;
        add_conversation(a, &told.calls[i], 0, out);
        if (fate.outcome)
            str_addf(out, "---- what became of it: %s\n", fate.outcome);
        return true;
    }
    return err_input(err, "there is no call %d in this run; `astra show RUN --calls` lists them", id);
}

bool report_strategy(struct store *s, struct arena *a, int id, struct str *out, struct err *err)
{
    const struct store_strategy *x = NULL;
    const struct store_call *last = NULL;
    struct told told;
    size_t said = 0;

    if (!read_told(s, a, &told, err))
        return false;
    for (size_t i = 0; i < told.n_strategies; i++)
        x = told.strategies[i].id == id ? &told.strategies[i] : x;
    if (!x)
        return err_input(err, "there is no strategy %d in this run; `astra show RUN --calls` lists them", id);
    for (size_t i = 0; i < told.n_calls; i++)
        last = belongs(x, &told.calls[i]) ? &told.calls[i] : last;
    str_addf(out, "strategy %d (%s), round %d, from candidate %d\nname      %s\nreason    %s\nplan      %s\n",
             x->id, x->label, x->round, x->parent, x->name, x->reason, x->plan);
    if (isfinite(x->expected_gain))
        str_addf(out, "expected  %.2fx, confidence %.2f\n", x->expected_gain, x->confidence);
    const char *outcome = last ? report_call_fate(&told, a, last).outcome : x->outcome;
    str_addf(out, "outcome   %s\n", outcome ? outcome : "under way");
    if (x->candidate >= 0)
        str_addf(out, "candidate %d\n", x->candidate);
    for (size_t i = 0; i < told.n_calls; i++)
        if (belongs(x, &told.calls[i])) {
            str_addc(out, '\n');
            /* The reply is a message of the next call. */
            said = add_conversation(a, &told.calls[i], said, out) + 1;
        }
    return true;
}
