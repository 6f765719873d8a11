#include "report/runs.h"

#include "report/report.h"
#include "store/store.h"

#include <dirent.h>
#include <fnmatch.h>
#include <time.h>

struct found {
    struct arena *arena;
    VEC(struct runs_row) rows;
};

/* ---- one run ---- */

/* A resumed run has a result that it wrote before. */
static bool is_over(const struct store_run *run)
{
    return !str_eq(run->status, "running");
}

/* The result that the run wrote, or what can be said of it by now. */
static json_t *result_of(struct store *s, struct arena *a, const struct store_run *run)
{
    json_t *result = NULL;

    if (run->result && is_over(run))
        return json_parse(run->result, strlen(run->result), "result", NULL);
    return report_result(s, a, &result, NULL) ? result : NULL;
}

static const char *stored(struct arena *a, const json_t *o, const char *key, const char *fallback)
{
    return arena_strdup(a, json_text(o, key, fallback));
}

static void row_fill(struct runs_row *row, struct arena *a, const struct store_run *run, const json_t *result,
                     const json_t *options)
{
    const json_t *speedup = json_object_get(result, "speedup"), *device = json_object_get(result, "device"),
                 *candidates = json_object_get(result, "candidates");
    bool cuda = str_starts(json_text(options, "device", ""), "cuda");

    row->task = run->task_name;
    row->status = run->status;
    row->started = run->started;
    row->agents = stored(a, options, "agents", "rules");
    row->outcome = stored(a, result, "outcome", NULL);
    if (!is_over(run) && str_eq(row->outcome, "unchanged"))
        row->outcome = NULL; /* that is not known yet */
    row->kind = stored(a, device, "kind", cuda ? "cuda" : "sim");
    row->device = stored(a, device, "name", NULL);
    row->basis = stored(a, device, "basis", NULL);
    row->speedup = json_num(speedup, "geomean");
    row->low = json_num(speedup, "low");
    row->high = json_num(speedup, "high");
    row->usd = json_num(json_object_get(result, "cost"), "usd");
    row->wall_s = is_over(run) ? run->wall_s : NAN;
    row->candidates = json_int(candidates, "total", -1);
}

static void add_run(struct found *f, const char *folder, const char *name)
{
    struct runs_row row = {.run = name, .folder = folder};
    struct err err = {0};
    struct store_run run;
    struct store *s = NULL;
    /* Before the store is opened: see store_in_use. */
    bool in_use = store_in_use(folder);

    if (store_open(&s, folder, false, &err) && store_get_run(s, f->arena, &run, &err)) {
        json_t *result = result_of(s, f->arena, &run);
        json_t *options = json_parse(run.options, strlen(run.options), "options", NULL);
        row_fill(&row, f->arena, &run, result, options);
        if (str_eq(run.status, "running") && !in_use)
            row.status = "interrupted"; /* killed before it could say so */
        json_decref(options);
        json_decref(result);
    } else {
        row.error = arena_strdup(f->arena, err.text);
    }
    store_close(s);
    vec_push(&f->rows, row);
}

/* ---- a folder of runs ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Gives how many runs there are in the folder, and `depth` folders further down. */
static size_t add_folder(struct found *f, const char *folder, const char *prefix, int depth)
{
    struct dirent **names = NULL;
    size_t found = 0;
    int n = scandir(folder, &names, visible, by_name);

    for (int i = 0; i < n; i++) {
        const char *path = fs_join(f->arena, folder, names[i]->d_name),
                   *name = fs_join(f->arena, prefix, names[i]->d_name);
        if (!fs_is_dir(path)) {
            /* not ours to judge */
        } else if (fs_exists(fs_join(f->arena, path, "run.db"))) {
            add_run(f, path, name);
            found++;
        } else if (depth > 0) {
            size_t below = add_folder(f, path, name, depth - 1);
            if (below == 0)
                vec_push(&f->rows, ((struct runs_row){.run = name, .error = "there is no run.db in it"}));
            found += below;
        }
        free(names[i]);
    }
    free(names);
    return found;
}

/* ---- choice and order ---- */

bool runs_time(struct arena *a, const char *option, const char *text, const char **utc, struct err *err)
{
    static const struct {
        const char *unit;
        time_t s;
    } units[] = {{"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
    int year, month, day, used = 0, hour, minute;
    char *end, buf[32];
    long long age = strtoll(text, &end, 10);
    struct tm tm;

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (end != text && str_eq(end, units[i].unit) && age >= 0 && age < 1000000) {
            time_t then = time(NULL) - (time_t)age * units[i].s;
            strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&then, &tm));
            *utc = arena_strdup(a, buf);
            return true;
        }
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && used == 10 && month >= 1 &&
        month <= 12 && day >= 1 && day <= 31 &&
        (!text[10] ||
         (sscanf(text + 10, "T%2d:%2d%n", &hour, &minute, &used) == 2 && used == 6 && !text[16]))) {
        *utc = text; /* times of this form sort as texts */
        return true;
    }
    return err_input(
        err,
        "%s takes a day (2026-11-20), a time in UTC (2026-11-20T18:00) or an age (90m, 12h, 3d, 2w), not '%s'",
        option, text);
}

static bool chosen(const struct runs_row *row, const struct runs_choice *c, const char *since)
{
    return (!c->task || fnmatch(c->task, row->task, 0) == 0) &&
           (!c->agents || str_eq(c->agents, row->agents)) && (!c->kind || str_eq(c->kind, row->kind)) &&
           (!since || strcmp(row->started, since) >= 0) &&
           (!c->outcome || str_eq(c->outcome, row->status) || str_eq(c->outcome, row->outcome));
}

/* What a run is sorted by: a number, greatest first, or a text. */
enum { BY_SPEEDUP, BY_DATE, BY_TASK, BY_COST, BY_TIME, N_ORDERS };
static const char *const order_names[N_ORDERS + 1] = {"speedup", "date", "task", "cost", "time", NULL};

struct order {
    int key, sign;
};

/* Unknown numbers are last in either direction. */
static int by_number(double a, double b, int sign)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return sign * ((a < b) - (a > b));
}

static int compare(const void *x, const void *y, void *context)
{
    const struct runs_row *a = x, *b = y;
    const struct order *o = context;
    int newest = strcmp(b->started, a->started), c = 0;

    switch (o->key) {
    case BY_SPEEDUP:
        c = by_number(a->speedup, b->speedup, o->sign);
        break;
    case BY_COST:
        c = by_number(a->usd, b->usd, o->sign);
        break;
    case BY_TIME:
        c = by_number(a->wall_s, b->wall_s, o->sign);
        break;
    case BY_TASK:
        c = o->sign * strcmp(a->task, b->task);
        break;
    default:
        c = o->sign * newest;
    }
    if (!c)
        c = newest;
    return c ? c : strcmp(a->run, b->run);
}

static bool order_read(const struct runs_choice *c, struct order *o, struct err *err)
{
    const char *name = c->sort ? c->sort : "date";
    bool minus = name[0] == '-';

    *o = (struct order){.key = N_ORDERS, .sign = minus != c->reverse ? -1 : 1};
    for (int i = 0; i < N_ORDERS; i++)
        if (str_eq(order_names[i], name + minus))
            o->key = i;
    return o->key < N_ORDERS ||
           err_input(err, "--sort takes speedup, date, task, cost or time, not '%s'", name);
}

static bool choice_check(const struct runs_choice *c, struct err *err)
{
    static const char *const outcomes[] = {"improved",    "unchanged", "done",   "budget",
                                           "interrupted", "failed",    "running"};
    bool known = !c->outcome;

    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        known = known || str_eq(c->outcome, outcomes[i]);
    if (!known)
        return err_input(
            err, "--outcome takes improved, unchanged, done, budget, interrupted, failed or running, not '%s'",
            c->outcome);
    return !c->kind || str_eq(c->kind, "sim") || str_eq(c->kind, "cuda") ||
           err_input(err, "--device takes sim or cuda here, not '%s'", c->kind);
}

bool runs_read(struct arena *a, const char *folder, const struct runs_choice *choice,
               const struct runs_row **list, size_t *n, size_t *n_all, struct err *err)
{
    const char *prefix = str_eq(folder, "astra-runs") ? "" : folder, *since = NULL;
    struct found f = {.arena = a};
    struct runs_row *rows;
    struct order order;
    size_t n_rows = 0, n_broken = 0;

    if (!choice_check(choice, err) || !order_read(choice, &order, err) ||
        (choice->since && !runs_time(a, "--since", choice->since, &since, err)))
        return false;
    if (fs_exists(fs_join(a, folder, "run.db")))
        add_run(&f, folder, folder);
    else
        add_folder(&f, folder, prefix, 1);
    /* Those that cannot be read after the others. */
    rows = arena_array(a, struct runs_row, f.rows.n + 1);
    for (size_t i = 0; i < f.rows.n; i++)
        if (!f.rows.v[i].error && chosen(&f.rows.v[i], choice, since))
            rows[n_rows++] = f.rows.v[i];
    qsort_r(rows, n_rows, sizeof(*rows), compare, &order);
    for (size_t i = 0; i < f.rows.n; i++)
        if (f.rows.v[i].error)
            rows[n_rows + n_broken++] = f.rows.v[i];
    *list = rows;
    *n = n_rows + n_broken;
    *n_all = f.rows.n - n_broken;
    vec_free(&f.rows);
    return true;
}

/* ---- drawn ---- */

static const char *seconds_text(struct arena *a, double s)
{
    if (!isfinite(s))
        return NULL;
    if (s < 60)
        return arena_printf(a, "%.1f s", s);
    return s < 3600 ? arena_printf(a, "%.1f min", s / 60) : arena_printf(a, "%.1f h", s / 3600);
}

/* "modelled for NVIDIA H200" */
static const char *basis_text(struct arena *a, const struct runs_row *r)
{
    if (!r->basis)
        return r->kind;
    return arena_printf(a, "%s %s %s", r->basis, str_eq(r->kind, "cuda") ? "on" : "for", r->device);
}

static void add_row(struct arena *a, const struct runs_row *r, struct table *t)
{
    const char *state = str_eq(r->status, "done") ? r->outcome : r->status,
               *time = strlen(r->started) > 11 ? r->started + 11 : "";

    table_row(t, r->run);
    table_text(t, state ? state : "?");
    table_num(t, r->speedup, 2, "x");
    table_text(t, seconds_text(a, r->wall_s));
    table_num(t, r->usd, 2, "");
    table_under(t, report_one_line(a,
                                   arena_printf(a, "  %.10s %.5s  %s, %s, %s", r->started, time, r->task,
                                                r->agents, basis_text(a, r)),
                                   80));
}

void runs_table(const struct runs_row *list, size_t n, size_t n_all, struct str *out)
{
    struct arena *a = arena_open();
    struct table *t = table_new(a, "Runs");
    size_t n_rows;

    table_columns(t, "run|outcome|speed-up#|time#|USD#");
    for (size_t i = 0; i < n; i++)
        if (!list[i].error)
            add_row(a, &list[i], t);
    n_rows = table_rows(t);
    if (n_rows)
        table_as_text(t, out);
    if (n_rows < n_all)
        str_addf(out, "%zu of %zu runs\n", n_rows, n_all);
    else if (n_all)
        str_addf(out, "%zu run%s\n", n_all, n_all == 1 ? "" : "s");
    arena_close(a);
}

#define ROW(member) MEMBER(struct runs_row, member)

static const struct member row_members[] = {
    ROW(run),     ROW(folder),
    ROW(task),    ROW(status),
    ROW(outcome), ROW(started),
    ROW(agents),  ROW(kind),
    ROW(device),  ROW(basis),
    ROW(speedup), ROW(low),
    ROW(high),    MEMBER_AS(struct runs_row, candidates, MEMBER_INT64_OR_NULL),
    ROW(usd),     ROW(wall_s),
    {0}};

json_t *runs_json(const struct runs_row *list, size_t n)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n && !list[i].error; i++)
        json_array_append_new(all, json_of_members(row_members, &list[i]));
    return all;
}
