/* Rows read and written by the list of a struct's members, which are the columns' names. */
#include "internal.h"

bool sql_fail(struct store *s, struct err *err)
{
    int code = sqlite3_errcode(s->db) & 0xff;

    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return err_world(err, "%s is in use by another astra; %s", s->path, s->busy);
    if (code == SQLITE_FULL)
        return err_world(err, "%s cannot grow: the disk is full; %s", s->path, s->full);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return err_world(err, "%s is not a readable %s (%s); %s", s->path, s->what, sqlite3_errmsg(s->db),
                         s->broken);
    return err_world(err, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

bool sql_execute(struct store *s, const char *sql, struct err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || sql_fail(s, err);
}

static sqlite3_stmt *prepare(struct store *s, const char *sql, struct err *err)
{
    sqlite3_stmt *q = NULL;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        sql_fail(s, err);
    return q;
}

static void bind(sqlite3_stmt *q, int at, const struct member *m, const void *row)
{
    const void *p = (const char *)row + m->at;

    if (member_is_null(m, row))
        sqlite3_bind_null(q, at);
    else if (m->kind == MEMBER_TEXT || m->kind == MEMBER_TEXT_OR_NULL)
        sqlite3_bind_text(q, at, *(const char *const *)p, -1, SQLITE_STATIC);
    else if (m->kind == MEMBER_NUMBER)
        sqlite3_bind_double(q, at, *(const double *)p);
    else
        sqlite3_bind_int64(q, at, member_whole(m, row));
}

/* A file that somebody gives may hold anything: what is NULL where it never should be is "" or 0. */
static void take(sqlite3_stmt *q, int at, const struct member *m, struct arena *a, void *row)
{
    void *p = (char *)row + m->at;
    bool is_null = sqlite3_column_type(q, at) == SQLITE_NULL;
    const char *text;

    if (m->kind == MEMBER_TEXT || m->kind == MEMBER_TEXT_OR_NULL) {
        text = (const char *)sqlite3_column_text(q, at);
        *(const char **)p = arena_strdup(a, text || m->kind == MEMBER_TEXT_OR_NULL ? text : "");
    } else if (m->kind == MEMBER_NUMBER) {
        *(double *)p = is_null ? NAN : sqlite3_column_double(q, at);
    } else {
        bool may_be_null = m->kind == MEMBER_INT_OR_NULL || m->kind == MEMBER_INT64_OR_NULL;
        member_set_whole(m, row, is_null && may_be_null ? -1 : sqlite3_column_int64(q, at));
    }
}

bool sql_put_row(struct store *s, const char *table, const struct member *columns, const void *row,
                 struct err *err)
{
    struct str sql = {0}, values = {0};
    sqlite3_stmt *q;
    int code;

    str_addf(&sql, "INSERT OR REPLACE INTO %s (", table);
    for (const struct member *m = columns; m->name; m++) {
        str_addf(&sql, "%s%s", m == columns ? "" : ", ", m->name);
        str_add(&values, m == columns ? "?" : ", ?");
    }
    str_addf(&sql, ") VALUES (%s)", str_text(&values));
    q = prepare(s, sql.s, err);
    str_free(&sql);
    str_free(&values);
    if (!q)
        return false;
    for (int i = 0; columns[i].name; i++)
        bind(q, i + 1, &columns[i], row);
    code = sqlite3_step(q);
    return (sqlite3_finalize(q) == SQLITE_OK && code == SQLITE_DONE) || sql_fail(s, err);
}

void *sql_rows(struct store *s, struct arena *a, const char *table, const struct member *columns, size_t size,
               size_t *n, struct err *err)
{
    struct str sql = {.arena = a};
    sqlite3_stmt *q;
    size_t cap = 1;
    char *list = arena_alloc(a, size);
    int code;

    str_add(&sql, "SELECT ");
    for (const struct member *m = columns; m->name; m++)
        str_addf(&sql, "%s%s", m == columns ? "" : ", ", m->name);
    str_addf(&sql, " FROM %s ORDER BY id", table);
    q = prepare(s, sql.s, err);
    if (!q)
        return NULL;
    for (*n = 0; (code = sqlite3_step(q)) == SQLITE_ROW; ++*n) {
        if (*n == cap)
            list = arena_grow(a, list, *n, &cap, size);
        for (int i = 0; columns[i].name; i++)
            take(q, i, &columns[i], a, list + *n * size);
    }
    sqlite3_finalize(q);
    if (code != SQLITE_DONE)
        sql_fail(s, err);
    return code == SQLITE_DONE ? list : NULL;
}

bool sql_find(struct store *s, struct arena *a, const char *sql, const char *key, int *id, const char **text,
              struct err *err)
{
    sqlite3_stmt *q = prepare(s, sql, err);
    int code;

    *text = NULL;
    if (!q)
        return false;
    sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW) {
        if (id)
            *id = sqlite3_column_type(q, 0) == SQLITE_NULL ? -1 : sqlite3_column_int(q, 0);
        *text = arena_strdup(a, (const char *)sqlite3_column_text(q, id ? 1 : 0));
    }
    sqlite3_finalize(q);
    return code == SQLITE_ROW || code == SQLITE_DONE || sql_fail(s, err);
}

bool sql_number(struct store *s, const char *query, int64_t *number, struct err *err)
{
    sqlite3_stmt *q = prepare(s, query, err);
    bool ok = q && sqlite3_step(q) == SQLITE_ROW;

    *number = ok ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return ok || (q && sql_fail(s, err));
}
