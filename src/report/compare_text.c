/* A comparison for a terminal, and for a pull request. */
#include "report/markdown.h"
#include "report/report.h"
#include "report/sheet.h"

static const char *cell_text(struct arena *a, const struct sheet_cell *x)
{
    return arena_printf(a, "%s%s%s%s%s", x->text ? x->text : "-", x->interval ? "  " : "",
                        x->interval ? x->interval : "", x->against ? "  " : "", x->against ? x->against : "");
}

static void add_table(const struct compare *c, struct arena *a, const struct sheet *s, struct str *out)
{
    int width[COMPARE_MOST + 1] = {(int)strlen(s->title)};

    for (size_t k = 0; k < s->n; k++) {
        width[0] = MAX(width[0], (int)strlen(s->rows[k].label));
        for (size_t i = 0; i < c->n; i++)
            width[i + 1] = MAX(width[i + 1], (int)strlen(cell_text(a, &s->rows[k].cells[i])));
    }
    str_addf(out, "\n%-*s", width[0], s->title);
    for (size_t i = 0; i < c->n; i++)
        str_addf(out, "  %-*c", i + 1 < c->n ? width[i + 1] : 1, compare_letter(i));
    str_addc(out, '\n');
    for (size_t k = 0; k < s->n; k++) {
        str_addf(out, "%-*s", width[0], s->rows[k].label);
        for (size_t i = 0; i < c->n; i++)
            str_addf(out, "  %-*s", i + 1 < c->n ? width[i + 1] : 1, cell_text(a, &s->rows[k].cells[i]));
        str_addc(out, '\n');
    }
    if (str_eq(s->id, "speed"))
        str_addf(out, "%s\n", s->about);
}

void compare_text(const struct compare *c, struct arena *a, struct str *out)
{
    struct sheet sheets[N_SHEETS];

    sheet_all(c, a, sheets);
    for (size_t i = 0; i < c->n_apart; i++)
        str_addf(out, "%s\n", c->apart[i]);
    for (size_t i = 0; i < c->n; i++)
        str_addf(out, "%c  %s: %s\n", compare_letter(i), c->runs[i]->folder, compare_what(c, a, i));
    for (size_t i = 0; i < c->n_notes; i++)
        str_addf(out, "%s\n", c->notes[i]);
    for (size_t k = 0; k < N_SHEETS; k++)
        if (sheets[k].n)
            add_table(c, a, &sheets[k], out);
}

static void add_markdown_table(const struct compare *c, struct arena *a, const struct sheet *s, struct str *out)
{
    str_addf(out, "\n### %s\n\n| |", s->title);
    for (size_t i = 0; i < c->n; i++)
        str_addf(out, " %c |", compare_letter(i));
    str_add(out, "\n|---|");
    for (size_t i = 0; i < c->n; i++)
        str_add(out, s->numbers ? "---:|" : "---|");
    str_addc(out, '\n');
    for (size_t k = 0; k < s->n; k++) {
        const char *mark = s->rows[k].total ? "**" : "";
        str_addf(out, "| %s", mark);
        markdown_text(out, s->rows[k].label);
        str_addf(out, "%s |", mark);
        for (size_t i = 0; i < c->n; i++) {
            str_addf(out, " %s", mark);
            markdown_text(out, cell_text(a, &s->rows[k].cells[i]));
            str_addf(out, "%s |", mark);
        }
        str_addc(out, '\n');
    }
    if (str_eq(s->id, "speed"))
        str_addf(out, "\n%s\n", s->about);
}

void compare_markdown(const struct compare *c, struct arena *a, struct str *out)
{
    struct sheet sheets[N_SHEETS];

    sheet_all(c, a, sheets);
    str_addf(out, "## %s\n\n", sheet_headline(c, a));
    for (size_t i = 0; i < c->n_apart; i++) {
        str_add(out, "> ");
        markdown_text(out, c->apart[i]);
        str_add(out, "\n>\n");
    }
    str_add(out, c->n_apart ? "\n" : "");
    for (size_t i = 0; i < c->n; i++) {
        str_addf(out, "- %c: ", compare_letter(i));
        markdown_text(out, c->runs[i]->folder);
        str_add(out, ": ");
        markdown_text(out, compare_what(c, a, i));
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < c->n_notes; i++) {
        str_add(out, "- ");
        markdown_text(out, c->notes[i]);
        str_addc(out, '\n');
    }
    for (size_t k = 0; k < N_SHEETS; k++)
        if (sheets[k].n)
            add_markdown_table(c, a, &sheets[k], out);
}
