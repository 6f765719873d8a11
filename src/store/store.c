#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { SCHEMA_VERSION = 3, BUSY_WAIT_MS = 3000 };

bool store_open(struct store **out, const char *folder, bool create, struct err *err)
{
    struct store *s = mem_zalloc(sizeof(*s));
    struct str path = {0};
    sqlite3_stmt *q;
    int version = 0;
    bool ok;

    s->lock_fd = -1;
    str_addf(&path, "%s/run.db", folder);
    s->path = path.s;
    if (!create && !fs_exists(s->path)) {
        err_input(err, "%s is not a run: it has no run.db; `astra runs` lists the runs here", folder);
        store_close(s);
        return false;
    }
    ok = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), NULL) ==
         SQLITE_OK;
    if (!ok) {
        err_world(err, "cannot open %s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "out of memory");
        store_close(s);
        return false;
    }
    sqlite3_busy_timeout(s->db, BUSY_WAIT_MS);
    q = prepare(s, "PRAGMA user_version", err);
    ok = q && sqlite3_step(q) == SQLITE_ROW;
    if (ok)
        version = sqlite3_column_int(q, 0);
    else if (q)
        fail(s, err);
    sqlite3_finalize(q);
    if (ok && version == 0 && create)
        ok = execute(s, share_text("sql/schema.sql"), err) && execute(s, "PRAGMA user_version = 3", err);
    else if (ok && version == 0)
        ok = err_input(err, "%s holds no run yet: one is just beginning there, or ended before it began",
                       s->path);
    else if (ok && version != SCHEMA_VERSION)
        ok = err_input(
            err,
            "%s is of store version %d, this astra reads version %d: show or resume it with the astra that "
            "began it; its best.cu and result.json stand",
            s->path, version, SCHEMA_VERSION);
    if (!ok) {
        store_close(s);
        return false;
    }
    *out = s;
    return true;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s->path);
    free(s);
}

/* A byte of run.db that SQLite locks never: it uses those from 0x40000000 to 0x400001ff. The kernel lets go of
 * it when the process ends, however it ends. */
static struct flock writer(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40001000, .l_len = 1};
}

bool store_lock(struct store *s, const char *folder, struct err *err)
{
    struct flock mine = writer(), other = writer();

    s->lock_fd = open(s->path, O_RDWR | O_CLOEXEC);
    if (s->lock_fd < 0)
        return err_world(err, "cannot open %s: %s", s->path, strerror(errno));
    if (fcntl(s->lock_fd, F_SETLK, &mine) == 0)
        return true;
    if (errno != EACCES && errno != EAGAIN)
        return err_world(err, "cannot lock %s: %s", s->path, strerror(errno));
    if (fcntl(s->lock_fd, F_GETLK, &other) != 0 || other.l_type == F_UNLCK || other.l_pid <= 0)
        return err_input(err, "%s is still running in another process; wait for it, or stop it first", folder);
    return err_input(err, "%s is still running, in process %d; wait for it, or stop it first (kill -INT %d)",
                     folder, (int)other.l_pid, (int)other.l_pid);
}

bool store_in_use(const char *folder)
{
    struct flock other = writer();
    struct str path = {0};
    bool in_use;
    int fd;

    str_addf(&path, "%s/run.db", folder);
    fd = open(path.s, O_RDWR | O_CLOEXEC);
    in_use = fd >= 0 && fcntl(fd, F_GETLK, &other) == 0 && other.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    str_free(&path);
    return in_use;
}

bool store_put_run(struct store *s, const struct store_run *r, struct err *err)
{
    sqlite3_stmt *q =
        prepare(s,
                "INSERT OR REPLACE INTO run (id, astra, task_name, task_dir, source_hash, options, started,"
                " ended, status, wall_s, result) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                err);

    if (!q)
        return false;
    bind_text(q, 1, r->astra);
    bind_text(q, 2, r->task_name);
    bind_text(q, 3, r->task_dir);
    bind_text(q, 4, r->source_hash);
    bind_text(q, 5, r->options);
    bind_text(q, 6, r->started);
    bind_text(q, 7, r->ended);
    bind_text(q, 8, r->status);
    sqlite3_bind_double(q, 9, r->wall_s);
    bind_text(q, 10, r->result);
    return finish(s, q, err);
}

bool store_get_run(struct store *s, struct arena *a, struct store_run *r, struct err *err)
{
    sqlite3_stmt *q =
        prepare(s,
                "SELECT astra, task_name, task_dir, source_hash, options, started, ended, status, wall_s,"
                " result FROM run",
                err);
    int code;

    if (!q)
        return false;
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *r = (struct store_run){
            .astra = text_of(a, q, 0),
            .task_name = text_of(a, q, 1),
            .task_dir = text_of(a, q, 2),
            .source_hash = text_of(a, q, 3),
            .options = text_of(a, q, 4),
            .started = text_of(a, q, 5),
            .ended = text_or_null(a, q, 6),
            .status = text_of(a, q, 7),
            .wall_s = sqlite3_column_double(q, 8),
            .result = text_or_null(a, q, 9),
        };
    sqlite3_finalize(q);
    if (code == SQLITE_ROW)
        return true;
    return code == SQLITE_DONE ? err_input(err, "%s holds no run", s->path) : fail(s, err);
}

bool store_put_candidate(struct store *s, const struct store_candidate *c, struct err *err)
{
    sqlite3_stmt *q =
        prepare(s,
                "INSERT OR REPLACE INTO candidate (id, parent, round, repairs, mind, name, reason, plan,"
                " steps, text, hash, verdict, words, line, gain, score, trial, wall_s, bound_by, diagnosis)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                err);

    if (!q)
        return false;
    sqlite3_bind_int(q, 1, c->id);
    bind_id(q, 2, c->parent);
    sqlite3_bind_int(q, 3, c->round);
    bind_id(q, 4, c->repairs);
    bind_text(q, 5, c->mind);
    bind_text(q, 6, c->name);
    bind_text(q, 7, c->reason);
    bind_text(q, 8, c->plan);
    bind_text(q, 9, c->steps);
    bind_text(q, 10, c->text);
    bind_text(q, 11, c->hash);
    bind_text(q, 12, c->verdict);
    bind_text(q, 13, c->words);
    sqlite3_bind_int(q, 14, c->line);
    bind_number(q, 15, c->gain);
    bind_number(q, 16, c->score);
    bind_text(q, 17, c->trial);
    bind_number(q, 18, c->wall_s);
    bind_text(q, 19, c->bound_by);
    bind_text(q, 20, c->diagnosis);
    return finish(s, q, err);
}

bool store_candidates(struct store *s, struct arena *a, const struct store_candidate **list, size_t *n,
                      struct err *err)
{
    VEC(struct store_candidate) rows = {0};
    sqlite3_stmt *q =
        prepare(s,
                "SELECT id, parent, round, repairs, mind, name, reason, plan, steps, text, hash, verdict,"
                " words, line, gain, score, trial, wall_s, bound_by, diagnosis FROM candidate ORDER BY id",
                err);
    int code;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_candidate c = {
            .id = sqlite3_column_int(q, 0),
            .parent = id_of(q, 1),
            .round = sqlite3_column_int(q, 2),
            .repairs = id_of(q, 3),
            .mind = text_of(a, q, 4),
            .name = text_of(a, q, 5),
            .reason = text_of(a, q, 6),
            .plan = text_of(a, q, 7),
            .steps = text_of(a, q, 8),
            .text = text_of(a, q, 9),
            .hash = text_of(a, q, 10),
            .verdict = text_of(a, q, 11),
            .words = text_of(a, q, 12),
            .line = sqlite3_column_int(q, 13),
            .gain = number_of(q, 14),
            .score = number_of(q, 15),
            .trial = text_or_null(a, q, 16),
            .wall_s = number_of(q, 17),
            .bound_by = text_or_null(a, q, 18),
            .diagnosis = text_or_null(a, q, 19),
        };
        vec_push(&rows, c);
    }
    sqlite3_finalize(q);
    *list = arena_copy(a, rows.v, rows.n * sizeof(*rows.v));
    *n = rows.n;
    vec_free(&rows);
    return code == SQLITE_DONE || fail(s, err);
}

bool store_find_trial(struct store *s, struct arena *a, const char *hash, int *id, const char **trial,
                      struct err *err)
{
    sqlite3_stmt *q =
        prepare(s,
                "SELECT id, trial FROM candidate WHERE hash = ?1 AND trial IS NOT NULL"
                " UNION ALL SELECT NULL, trial FROM trial WHERE hash = ?1 ORDER BY id NULLS LAST LIMIT 1",
                err);
    int code;

    *trial = NULL;
    if (!q)
        return false;
    bind_text(q, 1, hash);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW) {
        *id = id_of(q, 0);
        *trial = text_of(a, q, 1);
    }
    sqlite3_finalize(q);
    return code == SQLITE_ROW || code == SQLITE_DONE || fail(s, err);
}

bool store_note(struct store *s, const char *key, const char *value, struct err *err)
{
    sqlite3_stmt *q = prepare(s, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", err);

    if (!q)
        return false;
    bind_text(q, 1, key);
    bind_text(q, 2, value);
    return finish(s, q, err);
}

bool store_get_note(struct store *s, struct arena *a, const char *key, const char **value, struct err *err)
{
    sqlite3_stmt *q = prepare(s, "SELECT value FROM meta WHERE key = ?", err);
    int code;

    *value = NULL;
    if (!q)
        return false;
    bind_text(q, 1, key);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *value = text_of(a, q, 0);
    sqlite3_finalize(q);
    return code == SQLITE_ROW || code == SQLITE_DONE || fail(s, err);
}
