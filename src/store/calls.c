/* Calls of models, trials on their way to a candidate, strategies. */
#include "internal.h"

bool store_put_trial(struct store *s, const char *hash, const char *trial, struct err *err)
{
    sqlite3_stmt *q = prepare(s, "INSERT OR REPLACE INTO trial (hash, trial) VALUES (?, ?)", err);

    if (!q)
        return false;
    bind_text(q, 1, hash);
    bind_text(q, 2, trial);
    return finish(s, q, err);
}

static void bind_tokens(sqlite3_stmt *q, int at, int64_t n)
{
    if (n >= 0)
        sqlite3_bind_int64(q, at, n);
    else
        sqlite3_bind_null(q, at);
}

static int64_t tokens_of(sqlite3_stmt *q, int at)
{
    return sqlite3_column_type(q, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, at);
}

/* Other rows may be lost with the machine's power and are made again; this one was paid for. */
bool store_put_call(struct store *s, const struct store_call *c, struct err *err)
{
    sqlite3_stmt *q;
    bool ok;

    if (!execute(s, "PRAGMA synchronous = FULL", err))
        return false;
    q = prepare(s,
                "INSERT OR REPLACE INTO call (label, role, provider, model, hash, request, reply, failed,"
                " started, tokens_in, tokens_cached, tokens_reasoning, tokens_out, estimated, usd, wall_s)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                err);
    if (!q)
        return false;
    bind_text(q, 1, c->label);
    bind_text(q, 2, c->role);
    bind_text(q, 3, c->provider);
    bind_text(q, 4, c->model);
    bind_text(q, 5, c->hash);
    bind_text(q, 6, c->request);
    bind_text(q, 7, c->reply);
    sqlite3_bind_int(q, 8, c->failed);
    bind_text(q, 9, c->started);
    bind_tokens(q, 10, c->tokens_in);
    bind_tokens(q, 11, c->tokens_cached);
    bind_tokens(q, 12, c->tokens_reasoning);
    bind_tokens(q, 13, c->tokens_out);
    sqlite3_bind_int(q, 14, c->estimated);
    bind_number(q, 15, c->usd);
    bind_number(q, 16, c->wall_s);
    ok = finish(s, q, err);
    return execute(s, "PRAGMA synchronous = NORMAL", err) && ok;
}

bool store_find_call(struct store *s, struct arena *a, const char *hash, const char **reply, struct err *err)
{
    sqlite3_stmt *q = prepare(s, "SELECT reply FROM call WHERE hash = ?", err);
    int code;

    *reply = NULL;
    if (!q)
        return false;
    bind_text(q, 1, hash);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *reply = text_of(a, q, 0);
    sqlite3_finalize(q);
    return code == SQLITE_ROW || code == SQLITE_DONE || fail(s, err);
}

bool store_calls(struct store *s, struct arena *a, const struct store_call **list, size_t *n, struct err *err)
{
    VEC(struct store_call) rows = {0};
    sqlite3_stmt *q = prepare(s,
                              "SELECT id, label, role, provider, model, hash, request, reply, failed, started,"
                              " tokens_in, tokens_cached, tokens_reasoning, tokens_out, estimated, usd, wall_s"
                              " FROM call ORDER BY id",
                              err);
    int code;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_call c = {
            .id = sqlite3_column_int(q, 0),
            .label = text_of(a, q, 1),
            .role = text_of(a, q, 2),
            .provider = text_of(a, q, 3),
            .model = text_of(a, q, 4),
            .hash = text_of(a, q, 5),
            .request = text_of(a, q, 6),
            .reply = text_of(a, q, 7),
            .failed = sqlite3_column_int(q, 8),
            .started = text_of(a, q, 9),
            .tokens_in = tokens_of(q, 10),
            .tokens_cached = tokens_of(q, 11),
            .tokens_reasoning = tokens_of(q, 12),
            .tokens_out = tokens_of(q, 13),
            .estimated = sqlite3_column_int(q, 14),
            .usd = number_of(q, 15),
            .wall_s = number_of(q, 16),
        };
        vec_push(&rows, c);
    }
    sqlite3_finalize(q);
    *list = arena_copy(a, rows.v, rows.n * sizeof(*rows.v));
    *n = rows.n;
    vec_free(&rows);
    return code == SQLITE_DONE || fail(s, err);
}

bool store_forget_failures(struct store *s, struct err *err)
{
    return execute(s,
                   "DELETE FROM call WHERE failed AND"
                   " id > (SELECT coalesce(max(id), 0) FROM call WHERE NOT failed)",
                   err);
}

bool store_put_strategy(struct store *s, const struct store_strategy *x, struct err *err)
{
    sqlite3_stmt *q = prepare(s,
                              "INSERT OR REPLACE INTO strategy (id, label, round, parent, name, reason, plan,"
                              " expected_gain, confidence, outcome, candidate)"
                              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              err);

    if (!q)
        return false;
    sqlite3_bind_int(q, 1, x->id);
    bind_text(q, 2, x->label);
    sqlite3_bind_int(q, 3, x->round);
    sqlite3_bind_int(q, 4, x->parent);
    bind_text(q, 5, x->name);
    bind_text(q, 6, x->reason);
    bind_text(q, 7, x->plan);
    bind_number(q, 8, x->expected_gain);
    bind_number(q, 9, x->confidence);
    bind_text(q, 10, x->outcome);
    bind_id(q, 11, x->candidate);
    return finish(s, q, err);
}

bool store_strategies(struct store *s, struct arena *a, const struct store_strategy **list, size_t *n,
                      struct err *err)
{
    VEC(struct store_strategy) rows = {0};
    sqlite3_stmt *q = prepare(s,
                              "SELECT id, label, round, parent, name, reason, plan, expected_gain, confidence,"
                              " outcome, candidate FROM strategy ORDER BY id",
                              err);
    int code;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_strategy x = {
            .id = sqlite3_column_int(q, 0),
            .label = text_of(a, q, 1),
            .round = sqlite3_column_int(q, 2),
            .parent = sqlite3_column_int(q, 3),
            .name = text_of(a, q, 4),
            .reason = text_of(a, q, 5),
            .plan = text_of(a, q, 6),
            .expected_gain = number_of(q, 7),
            .confidence = number_of(q, 8),
            .outcome = text_or_null(a, q, 9),
            .candidate = id_of(q, 10),
        };
        vec_push(&rows, x);
    }
    sqlite3_finalize(q);
    *list = arena_copy(a, rows.v, rows.n * sizeof(*rows.v));
    *n = rows.n;
    vec_free(&rows);
    return code == SQLITE_DONE || fail(s, err);
}
