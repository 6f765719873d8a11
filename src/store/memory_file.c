/* The file of what earlier runs learned. Many runs read and write it, each in one short transaction, with a
 * rollback journal: nothing lies beside the file while nobody writes. */
#include "internal.h"

enum { MEMORY_VERSION = 1, MEMORY_WAIT_MS = 20000, MEMORY_ID = 0x4153544d, MAX_TEXT = 4096 };

#define ROW(member) MEMBER_AS(struct memory_row, member, MEMBER_TEXT)

/* The first is given by SQLite; features and steps are JSON themselves. */
static const struct member columns[] = {MEMBER(struct memory_row, id),
                                        ROW(kernel),
                                        ROW(device),
                                        ROW(basis),
                                        ROW(version),
                                        ROW(features),
                                        ROW(candidate),
                                        ROW(steps),
                                        ROW(verdict),
                                        MEMBER(struct memory_row, gain),
                                        ROW(noted),
                                        {0}};

static bool holds_json(const struct member *m)
{
    return str_eq(m->name, "features") || str_eq(m->name, "steps");
}

/* *empty: a database in which nobody has put anything yet. */
static bool is_ours(struct store *s, bool *empty, struct err *err)
{
    int64_t id, version, tables;

    if (!sql_number(s, "PRAGMA application_id", &id, err) ||
        !sql_number(s, "PRAGMA user_version", &version, err) ||
        !sql_number(s, "SELECT count(*) FROM sqlite_schema", &tables, err))
        return false;
    *empty = id == 0 && version == 0 && tables == 0;
    if (!*empty && id != MEMORY_ID)
        return err_world(err, "%s is another program's database, not a memory of astra; %s", s->path,
                         s->broken);
    if (version > MEMORY_VERSION)
        return err_world(err, "%s was written by a newer astra (format %lld, this one knows %d); %s", s->path,
                         (long long)version, MEMORY_VERSION, s->broken);
    return true;
}

/* Ends the transaction that was begun, as it went. */
static bool finish(struct store *s, bool ok, struct err *err)
{
    ok = ok && sql_execute(s, "COMMIT", err);
    if (!ok)
        sql_execute(s, "ROLLBACK", NULL);
    return ok;
}

static bool make(struct store *s, struct err *err)
{
    return sql_execute(s, "BEGIN IMMEDIATE", err) &&
           finish(s, sql_execute(s, share_text("sql/memory.sql"), err), err);
}

static bool open_file(struct store *s, bool write, bool *empty, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0);

    if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
        return err_world(err, "cannot open %s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "out of memory");
    sqlite3_busy_timeout(s->db, MEMORY_WAIT_MS);
    return sql_execute(s, "PRAGMA trusted_schema = OFF", err) && is_ours(s, empty, err);
}

bool memory_open(struct store **out, const char *path, bool write, struct err *err)
{
    struct store *s;
    struct arena *a;
    bool ok, empty = false;

    *out = NULL;
    if (!write && !fs_exists(path))
        return true;
    a = arena_open();
    ok = !write || fs_mkdirs(fs_dirname(a, path), err);
    arena_close(a);
    if (!ok)
        return false;
    s = mem_zalloc(sizeof(*s));
    s->lock_fd = -1;
    s->path = mem_strdup(path);
    s->what = "memory";
    s->busy = "try again when it has ended";
    s->full = "free some space";
    s->broken = "move it away, or name another file in ASTRA_MEMORY";
    ok = open_file(s, write, &empty, err) && (!empty || !write || make(s, err));
    if (!ok || (empty && !write)) {
        store_close(s);
        return ok;
    }
    *out = s;
    return true;
}

bool memory_rows(struct store *s, struct arena *a, int most, const struct memory_row **list, size_t *n,
                 struct err *err)
{
    char from[80];

    snprintf(from, sizeof(from), "(SELECT * FROM trial ORDER BY id DESC LIMIT %d)", most);
    *list = sql_rows(s, a, from, columns, sizeof(**list), n, err);
    return *list;
}

bool memory_put(struct store *s, const struct memory_row *list, size_t n, struct err *err)
{
    bool ok = sql_execute(s, "BEGIN IMMEDIATE", err);

    if (!ok)
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = sql_put_row(s, "trial", columns + 1, &list[i], err);
    return finish(s, ok, err);
}

bool memory_forget(struct store *s, const struct memory_choice *c, size_t *n_gone, struct err *err)
{
    char *sql =
        sqlite3_mprintf("PRAGMA secure_delete = ON; DELETE FROM trial WHERE"
                        " (%Q IS NULL OR substr(kernel, 1, length(%Q)) = %Q) AND (%Q IS NULL OR device = %Q)"
                        " AND (%Q IS NULL OR noted < %Q)",
                        c->kernel, c->kernel, c->kernel, c->device, c->device, c->before, c->before);
    int before = sqlite3_total_changes(s->db);
    bool ok;

    if (!sql)
        mem_exhausted(0);
    ok = sql_execute(s, sql, err);
    *n_gone = (size_t)(sqlite3_total_changes(s->db) - before);
    sqlite3_free(sql);
    return ok;
}

json_t *memory_to_json(const struct memory_row *list, size_t n)
{
    json_t *o = json_object(), *rows = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = json_of_members(columns + 1, &list[i]);
        for (const struct member *m = columns; m->name; m++)
            if (holds_json(m)) {
                const char *text = json_text(row, m->name, "");
                json_t *value = json_parse(text, strlen(text), m->name, NULL);
                json_put(row, m->name, value ? value : json_null());
            }
        json_array_append_new(rows, row);
    }
    json_put_int(o, "astra_memory", MEMORY_VERSION);
    json_put(o, "trials", rows);
    return o;
}

/* A value of one row as the text that the file has for it; NULL: it is not one. */
static const char *value_text(const json_t *value, const struct member *m, struct arena *a)
{
    const char *text =
        holds_json(m) && value && !json_is_string(value) ? json_line(a, value) : json_string_value(value);

    if (holds_json(m) && !(str_eq(m->name, "steps") ? json_is_array(value) : json_is_object(value)))
        return NULL;
    return text && *text && strlen(text) <= MAX_TEXT ? arena_strdup(a, text) : NULL;
}

bool memory_from_json(const json_t *o, struct arena *a, const struct memory_row **list, size_t *n,
                      struct err *err)
{
    const json_t *rows = json_object_get(o, "trials");
    int64_t version = json_int(o, "astra_memory", 0);
    struct memory_row *out = arena_array(a, struct memory_row, json_array_size(rows) + 1);

    if (version > MEMORY_VERSION)
        return err_input(err, "it was exported by a newer astra (format %lld, this one knows %d)",
                         (long long)version, MEMORY_VERSION);
    if (version < 1 || !json_is_array(rows))
        return err_input(
            err, "it is not what `astra memory export` writes: \"astra_memory\" and \"trials\" are missing");
    *n = json_array_size(rows);
    for (size_t i = 0; i < *n; i++) {
        const json_t *row = json_array_get(rows, i);
        for (const struct member *m = columns + 1; m->name; m++) {
            const json_t *value = json_object_get(row, m->name);
            if (m->kind == MEMBER_NUMBER) {
                *(double *)((char *)&out[i] + m->at) = json_is_number(value) ? json_number_value(value) : NAN;
                continue;
            }
            *(const char **)((char *)&out[i] + m->at) = value_text(value, m, a);
            if (!*(const char **)((char *)&out[i] + m->at))
                return err_input(err,
                                 "trial %zu: \"%s\" is missing, or is not what `astra memory export` writes",
                                 i + 1, m->name);
        }
    }
    *list = out;
    return true;
}
