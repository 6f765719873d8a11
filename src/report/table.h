/* table: rows of cells under headings, drawn for a terminal, as GitHub's Markdown and as HTML. Its texts are
 * plain, each face escapes them. All of it is in the arena. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "base/base.h"

struct table;

struct table *table_new(struct arena *a, const char *caption);
/* unit: NULL for words, which stand left; "us", or "" for what has none, for numbers, which stand right. */
void table_column(struct table *t, const char *heading, const char *unit);
/* Several, "name|calls#|cost#USD": what stands behind a # is the unit of numbers. */
void table_columns(struct table *t, const char *headings);
void table_over(struct table *t, const char *heading, size_t n); /* one heading over the last n columns */

/* The rows that follow belong together, below this label. */
void table_group(struct table *t, const char *label);
/* A row is what its cells are, up to the next one. What has no cell stays empty. name: its first cell, which
 * names it; NULL: the next one called for is the first. */
void table_row(struct table *t, const char *name);
void table_total(struct table *t, const char *name); /* a row that sums up those above */
void table_under(struct table *t, const char *line); /* of the row begun last, on a terminal alone */

void table_text(struct table *t, const char *text); /* NULL: not known, a dash */
void table_num(struct table *t, double v, int decimals,
               const char *unit);           /* "12.05" and the unit; NAN: a dash */
void table_int(struct table *t, int64_t v); /* below 0: a dash */
void table_interval(struct table *t, double low, double high);
/* A second text for the cell made last: smaller on a page, where its class may colour it. NULL: nothing. */
void table_note(struct table *t, const char *note, const char *class);
void table_code(struct table *t, const char *text);
void table_link(struct table *t, const char *text, const char *href); /* a link in HTML, else the text */

size_t table_rows(const struct table *t);
/* The caption stands only in HTML. */
void table_as_text(const struct table *t, struct str *out);
void table_as_markdown(const struct table *t, struct str *out);
void table_as_html(const struct table *t, struct str *out);

#endif
