#include "report/sheet.h"

#include "report/report.h"
#include "report/words.h"

struct rows {
    VEC(struct sheet_row) list;
};

static struct sheet_row *add_row(struct rows *r, const char *label)
{
    vec_push(&r->list, ((struct sheet_row){.label = label}));
    return &vec_last(&r->list);
}

static struct sheet sheet_of(struct rows *r, struct arena *a, const char *id, const char *title,
                             const char *about, bool numbers)
{
    struct sheet s = {.id = id, .title = title, .about = about, .numbers = numbers, .n = r->list.n};
    struct sheet_row *rows = arena_array(a, struct sheet_row, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        rows[i] = r->list.v[i];
    s.rows = rows;
    vec_free(&r->list);
    return s;
}

/* ---- speed ---- */

static struct sheet_cell speed_cell(const struct compare *c, struct arena *a, size_t run,
                                    const struct compare_cell *x)
{
    struct sheet_cell cell = {.word = x->word};

    if (!isfinite(x->speedup))
        return cell;
    cell.text = arena_printf(a, "%.2f", x->speedup);
    if (c->runs[run]->measured && isfinite(x->low) && x->high > x->low)
        cell.interval = arena_printf(a, "%.3f to %.3f", x->low, x->high);
    if (isfinite(x->ratio))
        cell.against = arena_printf(a, "%.2fx%s%s", x->ratio, x->word == COMPARE_UNKNOWN ? "" : " ",
                                    compare_word_text(x->word));
    return cell;
}

static struct sheet speed_sheet(const struct compare *c, struct arena *a)
{
    struct rows r = {0};
    struct sheet_row *row;

    for (size_t i = 0; i < c->n_rows; i++) {
        const char *task = c->runs[c->rows[i].first]->run.task_name;
        row = add_row(&r, c->n_apart ? arena_printf(a, "%s %s", task, c->rows[i].dims) : c->rows[i].dims);
        for (size_t k = 0; k < c->n; k++)
            row->cells[k] = speed_cell(c, a, k, &c->rows[i].cells[k]);
    }
    row = add_row(&r, "geometric mean");
    row->total = true;
    for (size_t k = 0; k < c->n; k++)
        row->cells[k] = speed_cell(c, a, k, &c->geomean[k]);
    return sheet_of(&r, a, "speed", "Speed-up by workload", compare_rule(c, a), true);
}

/* ---- who thought, and what came of it: the paper's Table 3 ---- */

static const char *number_text(struct arena *a, const char *fmt, double v)
{
    return isfinite(v) ? arena_printf(a, fmt, v) : NULL; // NOLINT(clang-diagnostic-format-nonliteral)
}

static struct sheet minds_sheet(const struct compare *c, struct arena *a)
{
    static const char *const labels[] = {"tester",    "profiler",   "planner", "coder",  "outcome",
                                         "speed-up",  "candidates", "passed",  "rounds", "calls",
                                         "tokens in", "tokens out", "USD",     "time"};
    struct rows r = {0};

    for (size_t k = 0; k < ARRAY_LEN(labels); k++)
        add_row(&r, labels[k]);
    for (size_t i = 0; i < c->n; i++) {
        const struct view *v = c->runs[i];
        const json_t *candidates = json_object_get(v->result, "candidates"),
                     *cost = json_object_get(v->result, "cost");
        const char *texts[ARRAY_LEN(labels)] = {
            c->roles[i][0],
            c->roles[i][1],
            c->roles[i][2],
            c->roles[i][3],
            str_eq(v->run.status, "done") ? json_text(v->result, "outcome", NULL) : v->run.status,
            NULL,
            number_text(a, "%.0f", json_num(candidates, "total")),
            number_text(a, "%.0f", json_num(candidates, "passed")),
            number_text(a, "%.0f", json_num(v->result, "rounds")),
            number_text(a, "%.0f", json_num(cost, "calls")),
            number_text(a, "%.0f", json_num(cost, "tokens_in")),
            number_text(a, "%.0f", json_num(cost, "tokens_out")),
            number_text(a, "%.2f", json_num(cost, "usd")),
            str_eq(v->run.status, "running") ? NULL : words_seconds(a, v->run.wall_s),
        };
        for (size_t k = 0; k < ARRAY_LEN(labels); k++)
            r.list.v[k].cells[i] = str_eq(labels[k], "speed-up") ? speed_cell(c, a, i, &c->geomean[i])
                                                                 : (struct sheet_cell){.text = texts[k]};
    }
    return sheet_of(&r, a, "minds", "Who thought, and what came of it",
                    "Speed-ups are geometric means over the workloads; rules and recordings cost nothing.",
                    false);
}

/* ---- the rest ---- */

static struct sheet verdict_sheet(const struct compare *c, struct arena *a)
{
    const char *const *names;
    size_t n = compare_verdicts(c, a, &names);
    struct rows r = {0};

    for (size_t k = 0; k < n; k++) {
        struct sheet_row *row = add_row(&r, names[k]);
        for (size_t i = 0; i < c->n; i++) {
            int64_t count = compare_verdict(c, i, names[k]);
            row->cells[i].text = count < 0 ? NULL : arena_printf(a, "%lld", (long long)count);
        }
    }
    return sheet_of(&r, a, "verdicts", "Candidates by verdict",
                    "How many candidates of each run were judged so.", true);
}

static struct sheet option_sheet(const struct compare *c, struct arena *a)
{
    struct rows r = {0};

    for (size_t k = 0; k < c->n_options; k++) {
        struct sheet_row *row = add_row(&r, c->options[k].name);
        for (size_t i = 0; i < c->n; i++)
            row->cells[i].text = c->options[k].values[i];
    }
    return sheet_of(&r, a, "options", "Options that differ",
                    "As they were given, or by default; a dash where a run has none.", false);
}

void sheet_all(const struct compare *c, struct arena *a, struct sheet sheets[N_SHEETS])
{
    sheets[SHEET_SPEED] = speed_sheet(c, a);
    sheets[SHEET_MINDS] = minds_sheet(c, a);
    sheets[SHEET_VERDICTS] = verdict_sheet(c, a);
    sheets[SHEET_OPTIONS] = option_sheet(c, a);
}

const char *sheet_headline(const struct compare *c, struct arena *a)
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
