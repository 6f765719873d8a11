/* memory: what earlier runs learned. */
#include "cmd/cmd.h"
#include "report/report.h"
#include "optimize/optimize.h"
#include "store/store.h"

#include <limits.h>

const char *cmd_memory_path(struct arena *a)
{
    const char *named = getenv("ASTRA_MEMORY"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (named)
        return *named ? fs_absolute(a, named) : NULL;
    if (data && *data == '/')
        return fs_join(a, data, "astra/memory.db");
    return home && *home == '/' ? fs_join(a, home, ".local/share/astra/memory.db") : NULL;
}

struct rows {
    const struct memory_row *v;
    size_t n;
};

/* ---- shown ---- */

struct group { /* rows of one kernel on one device, or of one transform alone */
    const struct memory_row *best, *last;
    const char *name;
    size_t trials, failed, timed;
    double log_gain;
};

static void group_add(struct group *g, const struct memory_row *row)
{
    enum verdict verdict;

    g->trials++;
    g->last = row;
    g->failed += !verdict_parse(row->verdict, &verdict) || !verdict_correct(verdict);
    if (!(row->gain > 0))
        return;
    g->timed++;
    g->log_gain += log(row->gain);
    if (!g->best || row->gain > g->best->gain)
        g->best = row;
}

static struct group *group_of(struct arena *a, struct map *groups, const char *key, const char *name)
{
    struct group *g = map_get(groups, key);

    if (!g) {
        g = arena_new(a, struct group);
        g->name = name;
        map_put(groups, key, g);
    }
    return g;
}

/* "vectorise 16 + split-row 128" of the steps as they are kept; *only: the transform, where there is one step.
 */
static char *steps_words(struct arena *a, const char *steps, const char **only)
{
    json_t *list = json_parse(steps, strlen(steps), "steps", NULL);
    struct str s = {.arena = a};

    *only = NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *step = json_array_get(list, i);
        const char *name = json_string_value(json_array_get(step, 0));
        int setting = (int)json_integer_value(json_array_get(step, 1));
        name = name && transform_find(name) ? transform_find(name)->name : NULL;
        str_addf(&s, "%s%s", i ? " + " : "", name ? transform_words(a, name, setting) : "?");
        *only = i == 0 ? name : NULL;
    }
    json_decref(list);
    return str_take(&s, a);
}

static void group_rows(struct arena *a, struct rows rows, struct map *kernels, struct map *transforms)
{
    for (size_t i = 0; i < rows.n; i++) {
        const struct memory_row *row = &rows.v[i];
        const char *key = arena_printf(a, "%s\n%s\n%s", row->kernel, row->device, row->basis), *only;
        group_add(group_of(a, kernels, key, row->kernel), row);
        steps_words(a, row->steps, &only);
        if (only)
            group_add(group_of(a, transforms, only, only), row);
    }
}

static void add_tables(struct arena *a, struct map *kernels, struct map *transforms, struct str *out)
{
    struct table *t = table_new(a, "Kernels");
    const char *only;

    table_columns(t, "kernel|device|times|trials#|failed#|best#|until");
    for (size_t i = 0; i < kernels->n; i++) {
        const struct group *g = kernels->entries[i].value;
        table_row(t, g->name);
        table_text(t, g->last->device);
        table_text(t, g->last->basis);
        table_int(t, (int64_t)g->trials);
        table_int(t, (int64_t)g->failed);
        table_num(t, g->best ? g->best->gain : NAN, 2, "x");
        table_text(t, arena_strndup(a, g->last->noted, 10));
        if (g->best && g->best->gain > 1)
            table_under(t, steps_words(a, g->best->steps, &only));
    }
    table_as_text(t, out);
    t = table_new(a, "Transforms");
    table_columns(t, "alone|trials#|failed#|mean gain#|best#");
    for (size_t i = 0; i < transforms->n; i++) {
        const struct group *g = transforms->entries[i].value;
        table_row(t, g->name);
        table_int(t, (int64_t)g->trials);
        table_int(t, (int64_t)g->failed);
        table_num(t, g->timed ? exp(g->log_gain / (double)g->timed) : NAN, 2, "x");
        table_num(t, g->best ? g->best->gain : NAN, 2, "x");
    }
    str_addc(out, '\n');
    table_as_text(t, out);
}

static json_t *groups_json(struct arena *a, const struct map *groups, bool of_kernel)
{
    json_t *list = json_array();

    for (size_t i = 0; i < groups->n; i++) {
        const struct group *g = groups->entries[i].value;
        json_t *o = json_object();
        const char *only;
        json_put_text(o, of_kernel ? "kernel" : "transform", g->name);
        if (of_kernel) {
            json_put_text(o, "device", g->last->device);
            json_put_text(o, "basis", g->last->basis);
            json_put_text(o, "noted", g->last->noted);
        }
        json_put_int(o, "trials", (int64_t)g->trials);
        json_put_int(o, "failed", (int64_t)g->failed);
        json_put_num(o, "mean_gain", g->timed ? exp(g->log_gain / (double)g->timed) : NAN);
        json_put_num(o, "best_gain", g->best ? g->best->gain : NAN);
        json_put_text(o, "best_steps", g->best ? steps_words(a, g->best->steps, &only) : NULL);
        json_array_append_new(list, o);
    }
    return list;
}

static void show(struct arena *a, const char *path, struct rows rows, bool as_json, struct str *out)
{
    struct map kernels = {0}, transforms = {0};

    group_rows(a, rows, &kernels, &transforms);
    if (as_json) {
        json_t *o = json_object();
        json_put_text(o, "file", path);
        json_put_int(o, "trials", (int64_t)rows.n);
        json_put(o, "kernels", groups_json(a, &kernels, true));
        json_put(o, "transforms", groups_json(a, &transforms, false));
        json_print(out, o);
    } else if (rows.n) {
        str_addf(out, "%s: %zu trials\n\n", path, rows.n);
        add_tables(a, &kernels, &transforms, out);
    } else {
        str_addf(out, "%s: nothing is learned yet; `astra optimize` adds to it\n", path);
    }
    map_free(&kernels);
    map_free(&transforms);
}

/* ---- the verbs of the verb ---- */

static bool memory_read(struct arena *a, const char *path, struct rows *rows, struct err *err)
{
    struct store *s;
    bool ok = memory_open(&s, path, false, err) && (!s || memory_rows(s, a, INT_MAX, &rows->v, &rows->n, err));

    store_close(s);
    return ok;
}

static bool export_all(struct arena *a, const struct cmd_args *args, struct rows rows, struct str *out,
                       struct err *err)
{
    json_t *o = memory_to_json(rows.v, rows.n);

    if (!args->out) {
        json_print(out, o);
        return true;
    }
    return fs_write_text(args->out, arena_printf(a, "%s\n", json_take_line(a, o)), err);
}

static bool import_file(struct arena *a, const char *file, struct store *s, struct str *out, struct err *err)
{
    struct rows rows = {0};
    json_t *o = NULL;
    char *text;
    size_t size;
    bool ok = fs_read(a, file, &text, &size, err) && (o = json_parse(text, size, file, err)) &&
              (memory_from_json(o, a, &rows.v, &rows.n, err) || err_context(err, "%s", file)) &&
              memory_put(s, rows.v, rows.n, err);

    json_decref(o);
    if (ok)
        str_addf(out, "%s: %zu trials taken in\n", file, rows.n);
    return ok;
}

static bool import_files(struct arena *a, const char *path, const struct cmd_args *args, struct str *out,
                         struct err *err)
{
    struct store *s = NULL;
    bool ok = args->n_words > 1 ||
              err_input(err, "`astra memory import` needs FILE..., written by `astra memory export`");

    ok = ok && memory_open(&s, path, true, err);
    for (int i = 1; ok && i < args->n_words; i++)
        ok = import_file(a, args->words[i], s, out, err);
    store_close(s);
    return ok;
}

/* An id as the table has it, or the id of a task's kernel. */
static bool kernel_id(struct arena *a, const char *word, const char **id, struct err *err)
{
    struct task *t;
    char *text, hex[65];
    size_t size;

    *id = word;
    if (!word || !fs_is_dir(word))
        return !word || (*word && word[strspn(word, "0123456789abcdef")] == 0) ||
               err_input(err, "--kernel takes an id of `astra memory`, or the folder of a task, not '%s'",
                         word);
    if (!task_open(&t, a, word, err) || !fs_read(a, t->source_path, &text, &size, err))
        return false;
    hash_sha256_hex(text, size, hex);
    *id = remember_kernel(a, t, hex);
    return true;
}

static bool forget(struct arena *a, const char *path, const struct cmd_args *args, struct str *out,
                   struct err *err)
{
    struct memory_choice choice = {.device = args->only_device};
    struct store *s = NULL;
    size_t n = 0;
    bool some = args->only_kernel || args->only_device || args->before, ok;

    if (some == args->all)
        return err_input(
            err, "`astra memory forget` needs either --all, or --kernel, --device or --before: only what "
                 "all of them hold for is forgotten");
    ok = kernel_id(a, args->only_kernel, &choice.kernel, err) &&
         (!args->before || runs_time(a, "--before", args->before, &choice.before, err)) &&
         memory_open(&s, path, false, err) && (!s || memory_forget(s, &choice, &n, err));
    store_close(s);
    if (ok)
        str_addf(out, "%s: %zu trials forgotten\n", path, n);
    return ok;
}

int cmd_memory(const struct cmd_args *args)
{
    const char *what = args->n_words ? args->words[0] : "", *path;
    struct arena *a = arena_open();
    struct rows rows = {0};
    struct str out = {.arena = a};
    struct err err = {0};
    bool reads = !*what || str_eq(what, "export"), ok;

    path = cmd_memory_path(a);
    ok = path || err_input(&err, "there is no memory: ASTRA_MEMORY is empty, or there is no home folder");
    if (ok && args->n_words > 1 && !str_eq(what, "import"))
        ok =
            err_input(&err, "`astra memory %s` takes no '%s'; see `astra memory --help`", what, args->words[1]);
    if (ok && !str_eq(what, "forget") && (args->only_kernel || args->only_device || args->before || args->all))
        ok = err_input(&err, "--kernel, --device, --before and --all say what `astra memory forget` forgets");
    if (ok && reads)
        ok = memory_read(a, path, &rows, &err);
    if (ok && str_eq(what, "export"))
        ok = export_all(a, args, rows, &out, &err);
    else if (ok && str_eq(what, "import"))
        ok = import_files(a, path, args, &out, &err);
    else if (ok && str_eq(what, "forget"))
        ok = forget(a, path, args, &out, &err);
    else if (ok && *what)
        ok = err_input(&err, "`astra memory` does not %s; it takes nothing, export, import FILE... or forget",
                       what);
    else if (ok)
        show(a, path, rows, args->json, &out);
    ok = ok && (!out.len || cmd_print_as(args->json || str_eq(what, "export") ? CMD_EXACT : CMD_TEXT,
                                         str_text(&out), &err));
    arena_close(a);
    return ok ? EXIT_OK : cmd_fail(&err);
}
