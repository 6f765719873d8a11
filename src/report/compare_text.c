/* A comparison for a terminal, and for a pull request. */
#include "report/compare_table.h"
#include "report/markdown.h"
#include "report/report.h"

static void add_tables(const struct compare *c, struct arena *a, bool markdown, struct str *out)
{
    struct compare_table tables[N_TABLES];

    compare_tables(c, a, tables);
    for (size_t k = 0; k < N_TABLES; k++) {
        if (!tables[k].table)
            continue;
        str_addf(out, markdown ? "\n### %s\n\n" : "\n%s\n", tables[k].title);
        (markdown ? table_as_markdown : table_as_text)(tables[k].table, out);
        if (k == TABLE_SPEED)
            str_addf(out, markdown ? "\n%s\n" : "%s\n", tables[k].about);
    }
}

void compare_text(const struct compare *c, struct arena *a, struct str *out)
{
    for (size_t i = 0; i < c->n_apart; i++)
        str_addf(out, "%s\n", c->apart[i]);
    for (size_t i = 0; i < c->n; i++)
        str_addf(out, "%c  %s: %s\n", compare_letter(i), c->runs[i]->folder, compare_what(c, a, i));
    for (size_t i = 0; i < c->n_notes; i++)
        str_addf(out, "%s\n", c->notes[i]);
    add_tables(c, a, false, out);
}

void compare_markdown(const struct compare *c, struct arena *a, struct str *out)
{
    str_addf(out, "## %s\n\n", compare_headline(c, a));
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
    add_tables(c, a, true, out);
}
