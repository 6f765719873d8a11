/* Calls of models, trials on their way to a candidate, strategies. */
#include "internal.h"

#define CALL(member)          MEMBER(struct store_call, member)
#define CALL_TEXT(member)     MEMBER_AS(struct store_call, member, MEMBER_TEXT)
#define CALL_TOKENS(member)   MEMBER_AS(struct store_call, member, MEMBER_INT64_OR_NULL)
#define STRATEGY(member)      MEMBER(struct store_strategy, member)
#define STRATEGY_TEXT(member) MEMBER_AS(struct store_strategy, member, MEMBER_TEXT)

/* The first is given by SQLite. */
static const struct member call_columns[] = {CALL(id),
                                             CALL_TEXT(label),
                                             CALL_TEXT(role),
                                             CALL_TEXT(provider),
                                             CALL_TEXT(model),
                                             CALL_TEXT(hash),
                                             CALL_TEXT(request),
                                             CALL_TEXT(reply),
                                             CALL(failed),
                                             CALL_TEXT(started),
                                             CALL_TOKENS(tokens_in),
                                             CALL_TOKENS(tokens_cached),
                                             CALL_TOKENS(tokens_reasoning),
                                             CALL_TOKENS(tokens_out),
                                             CALL(estimated),
                                             CALL(usd),
                                             CALL(wall_s),
                                             {0}};

static const struct member strategy_columns[] = {
    STRATEGY(id),
    STRATEGY_TEXT(label),
    STRATEGY(round),
    STRATEGY(parent),
    STRATEGY_TEXT(name),
    STRATEGY_TEXT(reason),
    STRATEGY_TEXT(plan),
    STRATEGY(expected_gain),
    STRATEGY(confidence),
    STRATEGY(outcome),
    MEMBER_AS(struct store_strategy, candidate, MEMBER_INT_OR_NULL),
    {0}};

struct trial_row {
    const char *hash, *trial;
};

static const struct member trial_columns[] = {
    MEMBER(struct trial_row, hash), MEMBER(struct trial_row, trial), {0}};

bool store_put_trial(struct store *s, const char *hash, const char *trial, struct err *err)
{
    const struct trial_row row = {hash, trial};

    return sql_put_row(s, "trial", trial_columns, &row, err);
}

/* Other rows may be lost with the machine's power and are made again; this one was paid for. */
bool store_put_call(struct store *s, const struct store_call *c, struct err *err)
{
    bool ok;

    if (!sql_execute(s, "PRAGMA synchronous = FULL", err))
        return false;
    ok = sql_put_row(s, "call", call_columns + 1, c, err);
    return sql_execute(s, "PRAGMA synchronous = NORMAL", err) && ok;
}

bool store_find_call(struct store *s, struct arena *a, const char *hash, const char **reply, struct err *err)
{
    return sql_find(s, a, "SELECT reply FROM call WHERE hash = ?", hash, NULL, reply, err);
}

bool store_calls(struct store *s, struct arena *a, const struct store_call **list, size_t *n, struct err *err)
{
    *list = sql_rows(s, a, "call", call_columns, sizeof(**list), n, err);
    return *list;
}

bool store_forget_failures(struct store *s, struct err *err)
{
    return sql_execute(s,
                       "DELETE FROM call WHERE failed AND"
                       " id > (SELECT coalesce(max(id), 0) FROM call WHERE NOT failed)",
                       err);
}

bool store_put_strategy(struct store *s, const struct store_strategy *x, struct err *err)
{
    return sql_put_row(s, "strategy", strategy_columns, x, err);
}

bool store_strategies(struct store *s, struct arena *a, const struct store_strategy **list, size_t *n,
                      struct err *err)
{
    *list = sql_rows(s, a, "strategy", strategy_columns, sizeof(**list), n, err);
    return *list;
}
