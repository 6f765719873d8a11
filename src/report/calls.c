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

/* The strategies, with what their candidates are by now: the confirmation may have found more than the first
 * judge. */
static bool strategies_now(struct store *s, struct arena *a, const struct store_strategy **list, size_t *n,
                           struct err *err)
{
    const struct store_candidate *made;
    size_t n_made;

    if (!store_strategies(s, a, list, n, err) || !store_candidates(s, a, &made, &n_made, err))
        return false;
    struct store_strategy *now = arena_copy(a, *list, *n * sizeof(*now));
    for (size_t i = 0; i < *n; i++)
        for (size_t k = 0; k < n_made; k++) {
            const struct store_candidate *c = &made[k];
            bool other = now[i].outcome && c->verdict && str_starts(now[i].outcome, "passed") &&
                         !str_eq(c->verdict, "passed");
            if (c->id == now[i].candidate && other)
                now[i].outcome =
                    c->words && *c->words ? arena_printf(a, "%s: %s", c->verdict, c->words) : c->verdict;
        }
    *list = now;
    return true;
}

static const char *outcome_of(const struct store_strategy *list, size_t n, const struct store_call *c)
{
    for (size_t i = 0; i < n; i++)
        if (belongs(&list[i], c))
            return list[i].outcome ? list[i].outcome : "under way";
    return "";
}

static void add_call(const struct store_call *c, const char *outcome, struct arena *a, struct table *t)
{
    const char *text, *end = end_of(c, a, &text);

    table_row(t);
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
    str_addf(out, "\n%lld calls, %lld tokens in, %lld out%s, %.1f s, ", (long long)json_int(cost, "calls", 0),
             (long long)json_int(cost, "tokens_in", 0), (long long)json_int(cost, "tokens_out", 0),
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
    static const struct {
        const char *heading, *unit;
    } columns[] = {{"call", ""},    {"label", NULL}, {"tokens in", ""}, {"cached", ""},        {"out", ""},
                   {"cost", "USD"}, {"seconds", ""}, {"end", NULL},     {"its strategy", NULL}};
    struct table *t = table_new(a, "Calls of models");
    const struct store_call *calls;
    const struct store_strategy *list;
    json_t *cost;
    size_t n, n_list;

    if (!store_calls(s, a, &calls, &n, err) || !strategies_now(s, a, &list, &n_list, err) ||
        !report_cost(s, a, &cost, err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        table_column(t, columns[i].heading, columns[i].unit);
    for (size_t i = 0; i < n; i++)
        add_call(&calls[i], outcome_of(list, n_list, &calls[i]), a, t);
    if (n)
        table_as_text(t, out);
    else
        str_add(out, "this run asked no model\n");
    for (size_t i = 0; i < n_list; i++)
        str_addf(out, "%sstrategy %d, %s: %s\n", i ? "" : "\n", list[i].id, list[i].label,
                 report_one_line(a, list[i].name, 90));
    if (n)
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

json_t *report_call_row(const struct store_call *c, const char *end, const struct store_strategy *x)
{
    json_t *o = json_object();

    json_put_members(o, call_members, c);
    json_put_text(o, "end", end);
    json_put(o, "strategy", x ? json_integer(x->id) : json_null());
    json_put_text(o, "outcome", x ? x->outcome : NULL);
    json_put(o, "candidate", x && x->candidate >= 0 ? json_integer(x->candidate) : json_null());
    return o;
}

bool report_calls_json(struct store *s, struct arena *a, json_t **out, struct err *err)
{
    const struct store_call *calls;
    const struct store_strategy *list;
    size_t n, n_list;

    if (!store_calls(s, a, &calls, &n, err) || !strategies_now(s, a, &list, &n_list, err))
        return false;
    *out = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct store_strategy *x = NULL;
        const char *text;
        for (size_t k = 0; k < n_list; k++)
            x = belongs(&list[k], &calls[i]) ? &list[k] : x;
        json_array_append_new(*out, report_call_row(&calls[i], end_of(&calls[i], a, &text), x));
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
    const struct store_call *calls;
    const struct store_strategy *list;
    const char *outcome;
    size_t n, n_list;

    if (!store_calls(s, a, &calls, &n, err) || !strategies_now(s, a, &list, &n_list, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (calls[i].id != id)
            continue;
        add_conversation(a, &calls[i], 0, out);
        outcome = outcome_of(list, n_list, &calls[i]);
        if (*outcome)
            str_addf(out, "---- what became of it: %s\n", outcome);
        return true;
    }
    return err_input(err, "there is no call %d in this run; `astra show RUN --calls` lists them", id);
}

bool report_strategy(struct store *s, struct arena *a, int id, struct str *out, struct err *err)
{
    const struct store_call *calls;
    const struct store_strategy *list, *x = NULL;
    size_t n, n_list, said = 0;

    if (!store_calls(s, a, &calls, &n, err) || !strategies_now(s, a, &list, &n_list, err))
        return false;
    for (size_t i = 0; i < n_list; i++)
        x = list[i].id == id ? &list[i] : x;
    if (!x)
        return err_input(err, "there is no strategy %d in this run; `astra show RUN --calls` lists them", id);
    str_addf(out, "strategy %d (%s), round %d, from candidate %d\nname      %s\nreason    %s\nplan      %s\n",
             x->id, x->label, x->round, x->parent, x->name, x->reason, x->plan);
    if (isfinite(x->expected_gain))
        str_addf(out, "expected  %.2fx, confidence %.2f\n", x->expected_gain, x->confidence);
    str_addf(out, "outcome   %s\n", x->outcome ? x->outcome : "under way");
    if (x->candidate >= 0)
        str_addf(out, "candidate %d\n", x->candidate);
    for (size_t i = 0; i < n; i++)
        if (belongs(x, &calls[i])) {
            str_addc(out, '\n');
            said = add_conversation(a, &calls[i], said, out) + 1; /* the reply is a message of the next call */
        }
    return true;
}
