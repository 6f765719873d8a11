#include "report/compare_table.h"

#include "report/report.h"
#include "report/words.h"

static struct table *table_of(const struct compare *c, struct arena *a, const char *about, bool numbers)
{
    struct table *t = table_new(a, about);

    table_column(t, "", NULL);
    for (size_t i = 0; i < c->n; i++)
        table_column(t, arena_printf(a, "%c", compare_letter(i)), numbers ? "" : NULL);
    return t;
}

/* ---- speed ---- */

static void add_speed(const struct compare *c, struct arena *a, size_t run, const struct compare_cell *x,
                      struct table *t)
{
    table_num(t, x->speedup, 2, "");
    if (!isfinite(x->speedup))
        return;
    if (c->runs[run]->measured && isfinite(x->low) && x->high > x->low)
        table_note(t, arena_printf(a, "%.3f to %.3f", x->low, x->high), "interval");
    if (isfinite(x->ratio))
        table_note(t,
                   arena_printf(a, "%.2fx%s%s", x->ratio, x->word == COMPARE_UNKNOWN ? "" : " ",
                                compare_word_text(x->word)),
                   compare_word_text(x->word));
}

static struct compare_table speed_table(const struct compare *c, struct arena *a)
{
    struct compare_table x = {"speed", "Speed-up by workload", compare_rule(c, a), NULL};
    struct table *t = table_of(c, a, x.about, true);

    for (size_t i = 0; i < c->n_rows; i++) {
        const char *task = c->runs[c->rows[i].first]->run.task_name;
        table_row(t, c->n_apart ? arena_printf(a, "%s %s", task, c->rows[i].dims) : c->rows[i].dims);
        for (size_t k = 0; k < c->n; k++)
            add_speed(c, a, k, &c->rows[i].cells[k], t);
    }
    table_total(t, "geometric mean");
    for (size_t k = 0; k < c->n; k++)
        add_speed(c, a, k, &c->geomean[k], t);
    x.table = t;
    return x;
}

/* ---- the roles and their results: the paper's Table 3 ---- */

enum { N_ROLES = 4 };

/* What a result's numbers are called, and where they stand. */
static const struct {
    const char *label, *object, *key;
    int decimals;
} numbers[] = {
    {"candidates", "candidates", "total", 0},
    {"passed", "candidates", "passed", 0},
    {"rounds", NULL, "rounds", 0},
    {"calls", "cost", "calls", 0},
    {"tokens in", "cost", "tokens_in", 0},
    {"tokens out", "cost", "tokens_out", 0},
    {"USD", "cost", "usd", 2},
};

static struct compare_table role_table(const struct compare *c, struct arena *a)
{
    static const char *const roles[N_ROLES] = {"tester", "profiler", "planner", "coder"};
    struct compare_table x = {
        "minds", "Roles and results",
        "Speed-ups are geometric means over the workloads; rules and recordings cost nothing.", NULL};
    struct table *t = table_of(c, a, x.about, false);

    for (size_t k = 0; k < N_ROLES; k++) {
        table_row(t, roles[k]);
        for (size_t i = 0; i < c->n; i++)
            table_text(t, c->roles[i][k]);
    }
    table_row(t, "outcome");
    for (size_t i = 0; i < c->n; i++) {
        const char *status = c->runs[i]->run.status;
        table_text(t, str_eq(status, "done") ? json_text(c->runs[i]->result, "outcome", NULL) : status);
    }
    table_row(t, "speed-up");
    for (size_t i = 0; i < c->n; i++)
        add_speed(c, a, i, &c->geomean[i], t);
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
        table_row(t, numbers[k].label);
        for (size_t i = 0; i < c->n; i++) {
            const json_t *result = c->runs[i]->result,
                         *from = numbers[k].object ? json_object_get(result, numbers[k].object) : result;
            table_num(t, json_num(from, numbers[k].key), numbers[k].decimals, "");
        }
    }
    table_row(t, "time");
    for (size_t i = 0; i < c->n; i++) {
        const struct store_run *run = &c->runs[i]->run;
        table_text(t, str_eq(run->status, "running") ? NULL : words_seconds(a, run->wall_s));
    }
    x.table = t;
    return x;
}

/* ---- the rest ---- */

static struct compare_table verdict_table(const struct compare *c, struct arena *a)
{
    struct compare_table x = {"verdicts", "Candidates by verdict",
                              "How many candidates of each run got each verdict.", NULL};
    struct table *t = table_of(c, a, x.about, true);
    const char *const *names;
    size_t n = compare_verdicts(c, a, &names);

    for (size_t k = 0; k < n; k++) {
        table_row(t, names[k]);
        for (size_t i = 0; i < c->n; i++)
            table_int(t, compare_verdict(c, i, names[k]));
    }
    x.table = n ? t : NULL;
    return x;
}

static struct compare_table option_table(const struct compare *c, struct arena *a)
{
    struct compare_table x = {"options", "Options that differ",
                              "As given, or by default; a dash where a run has none.", NULL};
    struct table *t = table_of(c, a, x.about, false);

    for (size_t k = 0; k < c->n_options; k++) {
        table_row(t, c->options[k].name);
        for (size_t i = 0; i < c->n; i++)
            table_text(t, c->options[k].values[i]);
    }
    x.table = c->n_options ? t : NULL;
    return x;
}

void compare_tables(const struct compare *c, struct arena *a, struct compare_table tables[N_TABLES])
{
    tables[TABLE_SPEED] = speed_table(c, a);
    tables[TABLE_ROLES] = role_table(c, a);
    tables[TABLE_VERDICTS] = verdict_table(c, a);
    tables[TABLE_OPTIONS] = option_table(c, a);
}

const char *compare_headline(const struct compare *c, struct arena *a)
{
    size_t best = 0;
    bool differ = false;

    if (c->n_apart)
        return "Not all of these runs can be compared";
    for (size_t i = 1; i < c->n; i++) {
        differ = differ || c->geomean[i].word == COMPARE_FASTER || c->geomean[i].word == COMPARE_SLOWER;
        if (c->geomean[i].speedup > c->geomean[best].speedup)
            best = i;
    }
    if (!differ)
        return "None of these runs differs from A";
    return arena_printf(a, "%c has the greatest speed-up: %.2f", compare_letter(best),
                        c->geomean[best].speedup);
}
