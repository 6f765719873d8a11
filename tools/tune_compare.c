/* Strategies of src/tune compared on real spaces: the numbers of a stack of steps of an example.
 *
 *     tune_compare table TASK_DIR FILE.csv TRANSFORM SETTING [TRANSFORM SETTING]...
 *     tune_compare replay FILE.csv...
 *
 * `table` times every legal point on the simulator's clock; the settings are the point to begin with, as a
 * run's rounds would. `replay` lets each strategy search the tables, over many seeds, and prints in Markdown
 * how much it spends until it has 98 % of the best speed, and what it has after so much. */
#include <math.h>
#include <stdio.h>

#include "agent/agent.h"
#include "worker/worker.h"

enum { SEEDS = 200, MOST_STEPS = 12, MOST_ROWS = 4096, MOST_WORKLOADS = 32, N_AFTER = 5 };
#define GOOD   0.98
#define BUDGET 48.0 /* of a search, in points timed whole */
static const double after[N_AFTER] = {4, 8, 16, 24, 48};

/* ---- a table ---- */

struct row {
    int point[MOST_STEPS]; /* indices */
    double speedups[MOST_WORKLOADS];
    bool loses; /* slower than the original somewhere: it could not be the result */
};

struct tab {
    const char *name;
    struct tune_space space;
    int start[MOST_STEPS];
    struct row *rows;
    size_t n_rows, n_workloads;
};

static double cost_of(const struct tab *t, const struct row *r, bool all)
{
    double ratios[MOST_WORKLOADS];
    size_t n = 0;

    for (size_t w = 0; w < t->n_workloads; w++)
        if (all || w % 3 == t->n_workloads / 2 % 3)
            ratios[n++] = r->speedups[w];
    return (r->loses && all ? 1 : 0) + 1 / stats_geomean(ratios, n);
}

/* ---- made ---- */

struct made {
    struct agent_template *template;
    const struct tune_space *space;
    VEC(int *) points;
    struct arena *arena;
};

static void enumerate(struct made *m, int *point, size_t i)
{
    if (i == m->space->n) {
        vec_push(&m->points, arena_copy(m->arena, point, m->space->n * sizeof(*point)));
        return;
    }
    for (point[i] = 0; point[i] < (int)m->space->parameters[i].n; point[i]++)
        if (agent_template_legal(m->template, point, i + 1))
            enumerate(m, point, i + 1);
}

static bool time_all(struct made *m, struct pool *p, const struct task *t, FILE *out, struct err *err)
{
    size_t n_failed = 0;
    double compile_s = 0, measure_s = 0;

    for (size_t i = 0; i < m->points.n; i++) {
        struct agent_file file;
        agent_template_file(m->template, m->points.v[i], &file);
        if (!pool_submit_timed(p, (int)i, t->source_path, file.text, err))
            return false;
    }
    while (pool_busy(p) > 0) {
        struct trial x;
        int id;
        if (!pool_collect(p, 1, m->arena, &id, &x, err))
            return false;
        if (id < 0)
            continue;
        if (x.n_workloads == 0) {
            n_failed++;
            continue;
        }
        compile_s += x.compile_s;
        measure_s += x.measure_s;
        for (size_t k = 0; k < m->space->n; k++)
            fprintf(out, "%d,", m->space->parameters[k].values[m->points.v[id][k]]);
        fprintf(out, "%d", x.verdict == VERDICT_SLOWER && strstr(x.words, "slower on") != NULL);
        for (size_t w = 0; w < x.n_workloads; w++)
            fprintf(out, ",%.6g", x.workloads[w].times[t->regime].speedup);
        fprintf(out, "\n");
    }
    fprintf(stderr, "%zu points, %zu failed; %.3f s compiling and %.3f s timing a point\n", m->points.n,
            n_failed, compile_s / (double)m->points.n, measure_s / (double)m->points.n);
    return true;
}

static bool make_table(int argc, char **argv, struct arena *a, struct err *err)
{
    struct agent_step steps[MOST_STEPS];
    size_t n_steps = 0;
    struct trial original;
    struct pool *p;
    struct task *t;
    char *text;
    FILE *out;

    for (int i = 4; i + 1 < argc && n_steps < MOST_STEPS; i += 2)
        steps[n_steps++] = (struct agent_step){.transform = argv[i], .setting = atoi(argv[i + 1])};
    if (!task_open(&t, a, argv[2], err) || !fs_read(a, t->source_path, &text, NULL, err) ||
        !pool_open(&p, t, &(struct trial_options){.device = "h200", .seed = 1, .measure_only = true}, 2, NULL,
                   err) ||
        !pool_original(p, a, &original, err))
        return false;
    struct made m = {.arena = a};
    m.template = agent_template_open(
        a, &(struct agent_template_of){t, t->source_path, text, &pool_device(p)->limits, steps, n_steps});
    if (!m.template)
        return err_input(err, "these steps do not apply one after the other, or leave nothing open");
    m.space = agent_template_space(m.template);
    enumerate(&m, arena_array(a, int, m.space->n), 0);
    out = fopen(argv[3], "w");
    if (!out)
        return err_world(err, "%s cannot be written", argv[3]);
    for (size_t k = 0; k < m.space->n; k++)
        fprintf(out, "%s,", m.space->parameters[k].name);
    fprintf(out, "loses");
    for (size_t w = 0; w < t->n_workloads; w++)
        fprintf(out, ",%s", task_dims_text(a, t, t->workloads + w * t->n_dims));
    fprintf(out, "\n");
    for (size_t k = 0; k < m.space->n; k++)
        fprintf(out, "%d,", m.space->parameters[k].values[agent_template_start(m.template)[k]]);
    fprintf(out, "start\n");
    bool ok =
        m.points.n > 700 ? err_input(err, "%zu points are too many", m.points.n) : time_all(&m, p, t, out, err);
    vec_free(&m.points);
    agent_template_close(m.template);
    pool_close(p);
    return fclose(out) == 0 && ok;
}

/* ---- read ---- */

static int index_in(struct tune_parameter *p, int value)
{
    int *values = (int *)p->values;
    size_t i = 0;

    while (i < p->n && values[i] != value)
        i++;
    if (i == p->n)
        values[p->n++] = value;
    return (int)i;
}

static int ascending(const void *x, const void *y)
{
    return *(const int *)x - *(const int *)y;
}

/* The cells of a line. */
static size_t split(struct arena *a, const char *line, const char **cells)
{
    size_t n = 0;

    for (char *at = arena_strdup(a, line); at && n < MOST_STEPS + MOST_WORKLOADS; n++) {
        char *comma = strchr(at, ',');
        cells[n] = at;
        at = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
    }
    return n;
}

static bool read_table(struct tab *t, struct arena *a, const char *path, struct err *err)
{
    const char *cells[MOST_STEPS + MOST_WORKLOADS];
    struct tune_parameter *parameters = arena_array(a, struct tune_parameter, MOST_STEPS);
    VEC(char *) lines = {0};
    char *text;
    size_t n, p = 0;

    if (!fs_read(a, path, &text, NULL, err))
        return false;
    for (char *at = text, *end; *at; at = end + 1) {
        end = at + strcspn(at, "\n");
        vec_add(a, &lines, arena_strndup(a, at, (size_t)(end - at)));
        if (!*end)
            break;
    }
    n = lines.n ? split(a, lines.v[0], cells) : 0;
    while (p < n && p < MOST_STEPS && !str_eq(cells[p], "loses")) {
        parameters[p] = (struct tune_parameter){.name = cells[p], .values = arena_array(a, int, MOST_ROWS)};
        p++;
    }
    if (p == 0 || p == n || p == MOST_STEPS || lines.n < 3 || lines.n > MOST_ROWS)
        return err_input(err, "%s is no table of `tune_compare table`", path);
    *t = (struct tab){.name = arena_strndup(a, fs_basename(path), strcspn(fs_basename(path), ".")),
                      .space = {parameters, p},
                      .n_workloads = n - p - 1};
    for (int again = 0; again < 2; again++) { /* once for the values, which are then put in order */
        t->rows = arena_array(a, struct row, lines.n);
        t->n_rows = 0;
        for (size_t i = 1; i < lines.n; i++) {
            struct row *r = &t->rows[t->n_rows];
            if (split(a, lines.v[i], cells) < p + 1)
                continue;
            for (size_t k = 0; k < p; k++)
                (i == 1 ? t->start : r->point)[k] = index_in(&parameters[k], atoi(cells[k]));
            if (i == 1)
                continue;
            r->loses = atoi(cells[p]) != 0;
            for (size_t w = 0; w < t->n_workloads; w++)
                r->speedups[w] = atof(cells[p + 1 + w]);
            t->n_rows++;
        }
        for (size_t k = 0; k < p && !again; k++)
            qsort((int *)parameters[k].values, parameters[k].n, sizeof(int), ascending);
    }
    return true;
}

/* ---- replayed ---- */

static const struct row *row_of(const struct tab *t, const int *point, size_t n)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (memcmp(t->rows[i].point, point, n * sizeof(*point)) == 0)
            return &t->rows[i];
    return NULL;
}

static bool legal(void *context, const int *point, size_t n)
{
    return row_of(context, point, n) != NULL;
}

static size_t n_rungs; /* of the strategy that is replayed */

static bool price(void *context, size_t rung, const int *points, size_t n, double *costs)
{
    const struct tab *t = context;

    for (size_t i = 0; i < n; i++)
        costs[i] = cost_of(t, row_of(t, points + i * t->space.n, t->space.n), rung + 1 == n_rungs);
    return true;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

struct way {
    const char *name;
    enum tune_strategy strategy;
    bool from_start;
    size_t n_rungs;
};

static void replay(const struct tab *t, const struct way *way, double best)
{
    static const double shares[] = {0.7, 1};
    double spent[SEEDS], reached[N_AFTER] = {0};

    n_rungs = way->n_rungs;
    for (size_t seed = 0; seed < SEEDS; seed++) {
        struct arena *a = arena_open();
        struct tune_result r;
        struct tune_oracle o = {(void *)t, shares + 2 - way->n_rungs, way->n_rungs, legal, price};
        double have[N_AFTER] = {0};
        tune_search(&t->space, &o,
                    &(struct tune_options){way->strategy, seed + 1, BUDGET, way->from_start ? t->start : NULL},
                    a, &r);
        spent[seed] = INFINITY;
        for (size_t i = 0; i < r.list.n; i++) {
            const struct tune_priced *x = &r.list.v[i];
            if (x->rung + 1 != way->n_rungs)
                continue;
            if (x->cost <= best / GOOD && !isfinite(spent[seed]))
                spent[seed] = x->spent;
            for (size_t k = 0; k < N_AFTER; k++)
                if (x->spent <= after[k] + 1e-9)
                    have[k] = fmax(have[k], best / x->cost);
        }
        for (size_t k = 0; k < N_AFTER; k++)
            reached[k] += have[k] / SEEDS;
        arena_close(a);
    }
    qsort(spent, SEEDS, sizeof(*spent), by_value);
    printf("| %s | %s |", t->name, way->name);
    for (int q = 50; q <= 90; q += 40)
        isfinite(spent[SEEDS * q / 100]) ? printf(" %.0f |", spent[SEEDS * q / 100]) : printf(" more |");
    for (size_t k = 0; k < N_AFTER; k++)
        printf(" %.1f %% |", 100 * reached[k]);
    printf("\n");
}

static void compare(const struct tab *t)
{
    static const struct way ways[] = {{"random", TUNE_RANDOM, false, 1},
                                      {"local", TUNE_LOCAL, false, 1},
                                      {"halving", TUNE_HALVING, false, 1},
                                      {"random, from the start", TUNE_RANDOM, true, 1},
                                      {"local, from the start", TUNE_LOCAL, true, 1},
                                      {"halving, from the start", TUNE_HALVING, true, 1},
                                      {"halving of two rungs, from the start", TUNE_HALVING, true, 2}};
    double best = INFINITY, start = INFINITY;

    for (size_t i = 0; i < t->n_rows; i++)
        best = fmin(best, cost_of(t, &t->rows[i], true));
    if (row_of(t, t->start, t->space.n))
        start = cost_of(t, row_of(t, t->start, t->space.n), true);
    size_t n_good = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        n_good += cost_of(t, &t->rows[i], true) <= best / GOOD;
    fprintf(stderr, "%s: %zu points of %.0f, best %.3fx, start %.3fx, %zu points are good\n", t->name,
            t->n_rows, tune_points(&t->space), 1 / best, 1 / start, n_good);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        replay(t, &ways[i], best);
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct err err = {0};
    bool ok = false;
    char words[1024];

    if (argc > 1 && str_eq(argv[1], "worker"))
        return pool_worker_main(argc, argv);
    if (argc > 5 && str_eq(argv[1], "table")) {
        ok = make_table(argc, argv, a, &err);
    } else if (argc > 2 && str_eq(argv[1], "replay")) {
        printf("| space | strategy | median | 90 %% |");
        for (size_t k = 0; k < N_AFTER; k++)
            printf(" after %.0f |", after[k]);
        printf("\n|---|---|---:|---:|");
        for (size_t k = 0; k < N_AFTER; k++)
            printf("---:|");
        printf("\n");
        ok = true;
        for (int i = 2; ok && i < argc; i++) {
            struct tab t;
            ok = read_table(&t, a, argv[i], &err);
            if (ok)
                compare(&t);
        }
    } else {
        err_input(&err,
                  "usage: tune_compare table TASK_DIR FILE.csv TRANSFORM SETTING ... | replay FILE.csv ...");
    }
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, words, sizeof(words)));
    arena_close(a);
    return ok ? 0 : 2;
}
