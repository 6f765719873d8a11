/* campaign.json: read, compared with the list of now, written whole after each step. */
#include "campaign/internal.h"

#include "task/task.h"

#define ROW(member) MEMBER(struct kernel_row, member)

static const struct member row_members[] = {
    ROW(name),    ROW(dir),     ROW(share), ROW(said), ROW(hash),  ROW(run),           ROW(status), ROW(words),
    ROW(outcome), ROW(speedup), ROW(low),   ROW(high), ROW(basis), ROW(share_of_copy), ROW(wall_s), {0}};

/* What the task is made of; "" where it cannot be read, which its run will say. */
static const char *hash_of(struct arena *a, const char *dir)
{
    struct task *t;
    struct str all = {.arena = a};
    char *hex = arena_alloc(a, 65);

    if (!task_open(&t, a, dir, NULL))
        return "";
    const char *files[] = {t->path, t->source_path, t->reference_path};
    for (size_t i = 0; i < ARRAY_LEN(files) + t->n_headers; i++) {
        const char *path =
            i < ARRAY_LEN(files) ? files[i] : fs_join(a, t->dir, t->headers[i - ARRAY_LEN(files)]);
        char *text;
        size_t n;
        if (path && fs_read(a, path, &text, &n, NULL)) {
            str_addf(&all, "%zu ", n);
            str_addn(&all, text, n);
        }
    }
    hash_sha256_hex(str_text(&all), all.len, hex);
    return hex;
}

static bool has_name(const struct campaign *c, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(c->rows[i].name, name))
            return true;
    return false;
}

/* Every row has a share: what the list says. What it does not know is no part of the application's figure; a
 * list that knows none stands for kernels that take the same time each. */
static void share_out(struct campaign *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n; i++)
        any = any || c->rows[i].said;
    for (size_t i = 0; i < c->n; i++)
        if (!c->rows[i].said)
            c->rows[i].share = any ? 0 : 1 / (double)c->n;
}

static const struct kernel_row *known(const struct kernel_row *list, size_t n, const char *dir)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].dir, dir))
            return &list[i];
    return NULL;
}

static const char *fresh_run(const struct campaign *c, const char *name)
{
    const char *run = name;

    for (int i = 2; fs_exists(fs_join(c->a, c->out, run)); i++)
        run = arena_printf(c->a, "%s-%d", name, i);
    return run;
}

static struct kernel_row row_of(struct campaign *c, size_t i, const struct kernel_row *was)
{
    const struct campaign_task *t = &c->o->list[i];
    struct kernel_row row = {.dir = t->dir, .status = "waiting"};
    const char *hash = hash_of(c->a, t->dir);

    if (was && str_eq(was->hash, hash)) {
        row = *was;
        if (str_eq(row.status, "failed")) { /* the world may have changed */
            row.status = "waiting";
            row.words = NULL;
        }
    } else {
        row.speedup = row.low = row.high = row.share_of_copy = NAN;
        row.name = was ? was->name : fs_basename(t->dir);
        for (int k = 2; !was && has_name(c, i, row.name); k++)
            row.name = arena_printf(c->a, "%s-%d", fs_basename(t->dir), k);
        row.hash = hash;
        row.run = fresh_run(c, row.name);
    }
    row.said = isfinite(t->share);
    row.share = t->share;
    return row;
}

static bool same_options(const struct campaign *c, const json_t *old, struct err *err)
{
    json_t *now = json_texts(c->passed, c->n_passed);
    bool same = json_equal(now, json_object_get(old, "options"));
    struct str before = {.arena = c->a};
    const json_t *word;
    size_t i;

    json_decref(now);
    json_array_foreach(json_object_get(old, "options"), i, word)
        str_addf(&before, " %s", json_string_value(word));
    return same ||
           err_input(err,
                     "the campaign in %s was begun with%s; its figures can only be set beside others of the "
                     "same options: say the same ones, or give another --out",
                     c->out, before.len ? str_text(&before) : " no options for its runs");
}

bool campaign_open_rows(struct campaign *c, struct err *err)
{
    json_t *old = NULL;
    const json_t *list, *o;
    size_t i;

    if (campaign_is(c->out) && !campaign_read(c->a, c->out, &old, err))
        return false;
    list = json_object_get(old, "kernels");
    struct kernel_row *rows = arena_array(c->a, struct kernel_row, json_array_size(list) + 1);
    json_array_foreach(list, i, o) json_get_members(o, row_members, c->a, &rows[i]);
    c->spent_s = old ? fmax(0, json_num(old, "spent_s")) : 0;
    c->budget_s = c->o->budget_s > 0 || !old ? c->o->budget_s : json_num(old, "budget_s");
    c->budget_s = isfinite(c->budget_s) ? c->budget_s : 0;
    c->passed = c->o->passed;
    c->n_passed = c->o->n_passed;
    if (!c->o->list) { /* goes on as it was */
        const json_t *options = json_object_get(old, "options");
        const char **passed = arena_array(c->a, const char *, json_array_size(options) + 1);
        struct campaign_task *tasks = arena_array(c->a, struct campaign_task, json_array_size(list) + 1);
        struct campaign_options *own = arena_new(c->a, struct campaign_options);
        json_array_foreach(options, i, o) passed[i] = arena_strdup(c->a, json_string_value(o));
        for (i = 0; i < json_array_size(list); i++)
            tasks[i] = (struct campaign_task){rows[i].dir, rows[i].said ? rows[i].share : NAN};
        c->passed = passed;
        c->n_passed = json_array_size(options);
        *own = *c->o;
        own->list = tasks;
        own->n = json_array_size(list);
        c->o = own;
    } else if (old && !same_options(c, old, err)) {
        json_decref(old);
        return false;
    }
    c->n = c->o->n;
    c->rows = arena_array(c->a, struct kernel_row, c->n + 1);
    for (i = 0; i < c->n; i++)
        c->rows[i] = row_of(c, i, known(rows, json_array_size(list), c->o->list[i].dir));
    share_out(c);
    json_decref(old);
    return true;
}

/* The application's time before over its time after, in the parts that the shares say; without any share said,
 * as if every kernel took the same time. low: by the lower ends of the intervals, where times are measured. */
static double application(const struct campaign *c, bool low)
{
    double before = 0, after = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct kernel_row *row = &c->rows[i];
        double s = low && isfinite(row->low) ? row->low : row->speedup;
        before += row->share;
        after += row->share / (isfinite(s) && s > 1 ? s : 1);
    }
    return (1 - before + before) / (1 - before + after);
}

json_t *campaign_to_json(const struct campaign *c)
{
    json_t *o = json_object(), *list = json_array(), *speedup = json_object();

    json_put_int(o, "schema", 1);
    json_put_text(o, "astra", ASTRA_VERSION);
    json_put_text(o, "out", c->out);
    json_put(o, "options", json_texts(c->passed, c->n_passed));
    json_put_num(o, "budget_s", c->budget_s > 0 ? c->budget_s : NAN);
    json_put_num(o, "spent_s", campaign_spent_s(c));
    json_put_num(speedup, "application", application(c, false));
    json_put_num(speedup, "low", application(c, true));
    json_put(o, "speedup", speedup);
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(list, json_of_members(row_members, &c->rows[i]));
    json_put(o, "kernels", list);
    return o;
}

bool campaign_save(const struct campaign *c, struct err *err)
{
    json_t *o = campaign_to_json(c);
    bool ok = fs_write_text(fs_join(c->a, c->out, "campaign.json"), json_pretty(c->a, o), err);

    json_decref(o);
    return ok;
}

bool campaign_is(const char *folder)
{
    struct str path = {0};
    str_addf(&path, "%s/campaign.json", folder);
    bool is = fs_exists(str_text(&path));

    str_free(&path);
    return is;
}

bool campaign_read(struct arena *a, const char *folder, json_t **result, struct err *err)
{
    const char *path = fs_join(a, folder, "campaign.json");
    char *text;
    size_t n, i;
    const json_t *row;

    if (!fs_read(a, path, &text, &n, err))
        return false;
    *result = json_parse(text, n, path, err);
    if (!*result)
        return false;
    bool whole = json_int(*result, "schema", 0) == 1 && json_is_array(json_object_get(*result, "kernels"));
    json_array_foreach(json_object_get(*result, "kernels"), i, row) whole =
        whole && json_text(row, "dir", NULL) && json_text(row, "name", NULL) && json_text(row, "run", NULL) &&
        json_text(row, "status", NULL) && json_text(row, "hash", NULL);
    if (whole)
        return true;
    json_decref(*result);
    *result = NULL;
    return err_world(err, "%s is not a campaign's file of this version", path);
}
