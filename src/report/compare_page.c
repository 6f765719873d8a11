/* A comparison as a page of its own, in the frame of a run's. */
#include "report/chart.h"
#include "report/compare_table.h"
#include "report/page.h"

static struct chart_value value_of(const struct compare *c, const struct compare_row *row, size_t run)
{
    const struct compare_cell *x = &row->cells[run];
    bool interval = c->runs[run]->measured;

    return (struct chart_value){x->speedup, interval ? x->low : NAN, interval ? x->high : NAN};
}

/* A chart for each run beside the one that it is compared with. */
static void add_speed_charts(const struct compare *c, struct arena *a, struct str *out)
{
    struct chart_row *rows = arena_array(a, struct chart_row, c->n_rows + 1);

    str_add(out, "<div class=\"figures\">\n");
    for (size_t i = 0; i < c->n; i++) {
        size_t first = (size_t)c->first[i], n = 0;
        const char *names[2] = {arena_printf(a, "%c", compare_letter(first)),
                                arena_printf(a, "%c", compare_letter(i))};
        if (first == i)
            continue;
        for (size_t k = 0; k < c->n_rows; k++)
            if (c->rows[k].first == c->first[i])
                rows[n++] = (struct chart_row){c->rows[k].dims, value_of(c, &c->rows[k], first),
                                               value_of(c, &c->rows[k], i)};
        str_add(out, "<figure>\n");
        chart_speedups(out, arena_printf(a, "speed-%c", (char)('a' + i)), names, rows, n);
        html_addf(out, "<figcaption>%s: %s beside %s.</figcaption>\n</figure>\n", c->runs[i]->run.task_name,
                  names[1], names[0]);
    }
    str_add(out, "</div>\n");
}

static void add_table(const struct compare *c, struct arena *a, const struct compare_table *x, struct str *out)
{
    if (!x->table)
        return;
    page_section(out, x->id, x->title);
    if (str_eq(x->id, "speed"))
        add_speed_charts(c, a, out);
    table_as_html(x->table, out);
    str_add(out, "</section>\n");
}

/* The lineage of the best, a chart for each group. */
static void add_progress(const struct compare *c, struct arena *a, struct str *out)
{
    page_section(out, "progress", "The best so far, by candidate");
    str_add(out, "<div class=\"figures\">\n");
    for (size_t first = 0; first < c->n; first++) {
        struct chart_curve curves[COMPARE_MOST];
        size_t n = 0;
        for (size_t i = first; i < c->n; i++)
            if (c->first[i] == (int)first)
                curves[n++] = (struct chart_curve){arena_printf(a, "%c", compare_letter(i)), c->progress[i],
                                                   c->runs[i]->n_candidates};
        if (n == 0)
            continue;
        str_add(out, "<figure>\n");
        chart_curves(out, arena_printf(a, "progress-%c", (char)('a' + first)), curves, n);
        html_addf(out, "<figcaption>%s, %s %s.</figcaption>\n</figure>\n", c->runs[first]->run.task_name,
                  c->runs[first]->measured ? "measured on" : "modelled for",
                  c->runs[first]->device ? c->runs[first]->device->name : "an unknown device");
    }
    str_add(out, "</div>\n</section>\n");
}

static void add_verdict(const struct compare *c, struct arena *a, struct str *out)
{
    page_section(out, "verdict", "Verdict");
    html_addf(out, "<p class=\"headline\">%s</p>\n", compare_headline(c, a));
    for (size_t i = 0; i < c->n_apart; i++)
        html_addf(out, "<p class=\"caveat\">%s</p>\n", c->apart[i]);
    str_add(out, "<dl class=\"terms\">\n");
    for (size_t i = 0; i < c->n; i++)
        html_addf(out, "<div><dt>%c</dt><dd><code>%s</code>\n%s</dd></div>\n", compare_letter(i),
                  c->runs[i]->folder, compare_what(c, a, i));
    str_add(out, "</dl>\n");
    for (size_t i = 0; i < c->n_notes; i++)
        html_addf(out, "<p class=\"note\">%s</p>\n", c->notes[i]);
    str_add(out, "</section>\n");
}

static const char *title_of(const struct compare *c, struct arena *a)
{
    for (size_t i = 1; i < c->n; i++)
        if (!str_eq(c->runs[i]->run.task_name, c->runs[0]->run.task_name))
            return arena_printf(a, "%zu runs", c->n);
    return arena_printf(a, "%s, %zu runs", c->runs[0]->run.task_name, c->n);
}

void compare_page(const struct compare *c, struct arena *a, struct str *out)
{
    struct compare_table tables[N_TABLES];
    struct str body = {.arena = a};

    compare_tables(c, a, tables);
    add_verdict(c, a, &body);
    add_table(c, a, &tables[TABLE_SPEED], &body);
    add_table(c, a, &tables[TABLE_ROLES], &body);
    add_progress(c, a, &body);
    add_table(c, a, &tables[TABLE_VERDICTS], &body);
    add_table(c, a, &tables[TABLE_OPTIONS], &body);
    page_frame(title_of(c, a), ASTRA_VERSION, str_text(&body), a, out);
}
