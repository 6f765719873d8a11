/* SQLite as the files of this folder use it. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "store.h"

#include <sqlite3.h>

struct store {
    sqlite3 *db;
    char *path;
    int lock_fd; /* of store_lock; -1: this process does not write the run */
};

static inline bool fail(struct store *s, struct err *err)
{
    int code = sqlite3_errcode(s->db) & 0xff;

    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return err_world(err, "%s is in use by another astra; wait for it, or give this run another --out",
                         s->path);
    if (code == SQLITE_FULL)
        return err_world(err, "%s cannot grow: the disk is full; free some space, then `astra resume` goes on",
                         s->path);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return err_world(err, "%s is not a readable run (%s); use another --out folder", s->path,
                         sqlite3_errmsg(s->db));
    return err_world(err, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

static inline bool execute(struct store *s, const char *sql, struct err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(s, err);
}

static inline sqlite3_stmt *prepare(struct store *s, const char *sql, struct err *err)
{
    sqlite3_stmt *q = NULL;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        fail(s, err);
    return q;
}

static inline bool finish(struct store *s, sqlite3_stmt *q, struct err *err)
{
    int code = sqlite3_step(q);

    return sqlite3_finalize(q) == SQLITE_OK && code == SQLITE_DONE ? true : fail(s, err);
}

static inline void bind_text(sqlite3_stmt *q, int at, const char *text)
{
    sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static inline void bind_number(sqlite3_stmt *q, int at, double v)
{
    if (isfinite(v))
        sqlite3_bind_double(q, at, v);
    else
        sqlite3_bind_null(q, at);
}

static inline void bind_id(sqlite3_stmt *q, int at, int id)
{
    if (id >= 0)
        sqlite3_bind_int(q, at, id);
    else
        sqlite3_bind_null(q, at);
}

/* Of a column that may be NULL. */
static inline const char *text_or_null(struct arena *a, sqlite3_stmt *q, int at)
{
    return arena_strdup(a, (const char *)sqlite3_column_text(q, at));
}

/* Of a column that is never NULL in what Astra writes; a file that somebody gives may be anything. */
static inline const char *text_of(struct arena *a, sqlite3_stmt *q, int at)
{
    const char *text = text_or_null(a, q, at);

    return text ? text : "";
}

static inline double number_of(sqlite3_stmt *q, int at)
{
    return sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : sqlite3_column_double(q, at);
}

static inline int id_of(sqlite3_stmt *q, int at)
{
    return sqlite3_column_type(q, at) == SQLITE_NULL ? -1 : sqlite3_column_int(q, at);
}

#endif
