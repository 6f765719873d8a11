#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { SCHEMA_VERSION = 3, BUSY_WAIT_MS = 3000 };

bool store_open(struct store **out, const char *folder, bool create, struct err *err)
{
    struct store *s = mem_zalloc(sizeof(*s));
    struct str path = {0};
    int64_t version;
    bool ok;

    s->what = "run";
    s->busy = "wait for it, or give this run another --out";
    s->full = "free some space, then `astra resume` goes on";
    s->broken = "use another --out folder";
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
    ok = sql_number(s, "PRAGMA user_version", &version, err);
    if (ok && version == 0 && create)
        ok =
            sql_execute(s, share_text("sql/schema.sql"), err) && sql_execute(s, "PRAGMA user_version = 3", err);
    else if (ok && version == 0)
        ok = err_input(err, "%s holds no run yet: one is just beginning there, or ended before it began",
                       s->path);
    else if (ok && version != SCHEMA_VERSION)
        ok = err_input(
            err,
            "%s is of store version %d, this astra reads version %d: show or resume it with the astra that "
            "began it; its best.cu and result.json stand",
            s->path, (int)version, SCHEMA_VERSION);
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
    const char *network = fs_network(folder);

    if (network)
        return err_input(
            err,
            "%s lies on %s, where locks do not keep two writers apart and a run could be lost: give "
            "--out on a local disk; its files can be copied from there",
            folder, network);
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

#define RUN(member)            MEMBER(struct store_run, member)
#define RUN_TEXT(member)       MEMBER_AS(struct store_run, member, MEMBER_TEXT)
#define CANDIDATE(member)      MEMBER(struct store_candidate, member)
#define CANDIDATE_TEXT(member) MEMBER_AS(struct store_candidate, member, MEMBER_TEXT)
#define CANDIDATE_ID(member)   MEMBER_AS(struct store_candidate, member, MEMBER_INT_OR_NULL)

static const struct member run_columns[] = {RUN(id),
                                            RUN_TEXT(astra),
                                            RUN_TEXT(task_name),
                                            RUN_TEXT(task_dir),
                                            RUN_TEXT(source_hash),
                                            RUN_TEXT(options),
                                            RUN_TEXT(started),
                                            RUN(ended),
                                            RUN_TEXT(status),
                                            RUN(wall_s),
                                            RUN(result),
                                            {0}};

static const struct member candidate_columns[] = {
    CANDIDATE(id),
    CANDIDATE_ID(parent),
    CANDIDATE(round),
    CANDIDATE_ID(repairs),
    MEMBER_NAMED("mind", struct store_candidate, backend, MEMBER_TEXT),
    CANDIDATE_TEXT(name),
    CANDIDATE_TEXT(reason),
    CANDIDATE_TEXT(plan),
    CANDIDATE_TEXT(steps),
    CANDIDATE_TEXT(text),
    CANDIDATE_TEXT(hash),
    CANDIDATE_TEXT(verdict),
    CANDIDATE_TEXT(words),
    CANDIDATE(line),
    CANDIDATE(gain),
    CANDIDATE(score),
    CANDIDATE(trial),
    CANDIDATE(wall_s),
    CANDIDATE(bound_by),
    CANDIDATE(diagnosis),
    {0}};

struct note {
    const char *key, *value;
};

static const struct member note_columns[] = {MEMBER(struct note, key), MEMBER(struct note, value), {0}};

bool store_put_run(struct store *s, const struct store_run *r, struct err *err)
{
    struct store_run row = *r;

    row.id = 1;
    return sql_put_row(s, "run", run_columns, &row, err);
}

bool store_get_run(struct store *s, struct arena *a, struct store_run *r, struct err *err)
{
    size_t n;
    const struct store_run *list = sql_rows(s, a, "run", run_columns, sizeof(*r), &n, err);

    if (list && n)
        *r = *list;
    return list && (n || err_input(err, "%s holds no run", s->path));
}

bool store_put_candidate(struct store *s, const struct store_candidate *c, struct err *err)
{
    return sql_put_row(s, "candidate", candidate_columns, c, err);
}

bool store_candidates(struct store *s, struct arena *a, const struct store_candidate **list, size_t *n,
                      struct err *err)
{
    *list = sql_rows(s, a, "candidate", candidate_columns, sizeof(**list), n, err);
    return *list;
}

bool store_find_trial(struct store *s, struct arena *a, const char *hash, int *id, const char **trial,
                      struct err *err)
{
    return sql_find(s, a,
                    "SELECT id, trial FROM candidate WHERE hash = ?1 AND trial IS NOT NULL"
                    " UNION ALL SELECT NULL, trial FROM trial WHERE hash = ?1 ORDER BY id NULLS LAST LIMIT 1",
                    hash, id, trial, err);
}

bool store_note(struct store *s, const char *key, const char *value, struct err *err)
{
    const struct note note = {key, value};

    return sql_put_row(s, "meta", note_columns, &note, err);
}

bool store_get_note(struct store *s, struct arena *a, const char *key, const char **value, struct err *err)
{
    return sql_find(s, a, "SELECT value FROM meta WHERE key = ?", key, NULL, value, err);
}
