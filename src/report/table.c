#include "report/table.h"

#include "report/html.h"
#include "report/markdown.h"

enum { MOST_COLUMNS = 24, MOST_NOTES = 2 };

struct column {
    const char *heading, *unit, *over; /* over: where a heading over several begins; NULL */
    size_t n_over;
};

struct cell {
    const char *text, *href; /* href: NULL */
    const char *notes[MOST_NOTES], *classes[MOST_NOTES];
    size_t n_notes;
    bool code;
};

struct row {
    struct cell cells[MOST_COLUMNS];
    size_t n;
    const char *group, *under;
    bool total;
};

struct table {
    struct arena *arena;
    const char *caption;
    struct column columns[MOST_COLUMNS];
    size_t n_columns;
    struct row **rows;
    size_t n, room;
    bool has_over;
};

struct table *table_new(struct arena *a, const char *caption)
{
    struct table *t = arena_new(a, struct table);

    t->arena = a;
    t->caption = caption;
    return t;
}

void table_column(struct table *t, const char *heading, const char *unit)
{
    BUG_IF(t->n_columns == MOST_COLUMNS);
    t->columns[t->n_columns++] = (struct column){.heading = heading, .unit = unit};
}

void table_columns(struct table *t, const char *headings)
{
    char *rest = arena_strdup(t->arena, headings);

    for (char *heading; (heading = strsep(&rest, "|"));) {
        const char *name = strsep(&heading, "#");
        table_column(t, name, heading);
    }
}

void table_over(struct table *t, const char *heading, size_t n)
{
    BUG_IF(n > t->n_columns);
    t->columns[t->n_columns - n].over = heading;
    t->columns[t->n_columns - n].n_over = n;
    t->has_over = true;
}

static struct row *add_row(struct table *t)
{
    if (t->n == t->room) {
        struct row **more = arena_array(t->arena, struct row *, t->room = 2 * t->room + 8);
        if (t->n)
            memcpy(more, t->rows, t->n * sizeof(*more));
        t->rows = more;
    }
    return t->rows[t->n++] = arena_new(t->arena, struct row);
}

void table_group(struct table *t, const char *label)
{
    add_row(t)->group = label;
}

void table_under(struct table *t, const char *line)
{
    t->rows[t->n - 1]->under = line;
}

static struct cell *add_cell(struct table *t, const char *text)
{
    struct row *r = t->rows[t->n - 1];

    BUG_IF(r->n == t->n_columns);
    r->cells[r->n].text = text;
    return &r->cells[r->n++];
}

void table_row(struct table *t, const char *name)
{
    add_row(t);
    if (name)
        add_cell(t, name);
}

void table_total(struct table *t, const char *name)
{
    add_row(t)->total = true;
    add_cell(t, name);
}

void table_text(struct table *t, const char *text)
{
    add_cell(t, text ? text : "-");
}

void table_num(struct table *t, double v, int decimals, const char *unit)
{
    add_cell(t, isfinite(v) ? arena_printf(t->arena, "%.*f%s", decimals, v, unit) : "-");
}

void table_int(struct table *t, int64_t v)
{
    add_cell(t, v >= 0 ? arena_printf(t->arena, "%lld", (long long)v) : "-");
}

void table_interval(struct table *t, double low, double high)
{
    add_cell(t, isfinite(low) && isfinite(high) ? arena_printf(t->arena, "%.3f to %.3f", low, high) : "-");
}

void table_note(struct table *t, const char *note, const char *class)
{
    struct row *r = t->rows[t->n - 1];
    struct cell *c = &r->cells[r->n - 1];

    if (!note)
        return;
    BUG_IF(c->n_notes == MOST_NOTES);
    c->notes[c->n_notes] = note;
    c->classes[c->n_notes++] = class;
}

void table_code(struct table *t, const char *text)
{
    add_cell(t, text)->code = true;
}

void table_link(struct table *t, const char *text, const char *href)
{
    add_cell(t, text)->href = href;
}

size_t table_rows(const struct table *t)
{
    return t->n;
}

/* ---- in one line: a terminal and Markdown ---- */

static const char *heading_of(struct arena *a, const struct column *c)
{
    return c->unit && *c->unit ? arena_printf(a, "%s %s", c->heading, c->unit) : c->heading;
}

static const char *whole_text(struct arena *a, const struct cell *c)
{
    const char *text = c->text ? c->text : "";

    for (size_t i = 0; i < c->n_notes; i++)
        text = arena_printf(a, "%s  %s", text, c->notes[i]);
    return text;
}

static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void add_padded(struct str *line, const char *text, size_t width, bool right)
{
    int blanks = (int)(width - MIN(width, width_of(text)));

    str_addf(line, "%*s%s%*s", right ? blanks : 0, "", text, right ? 0 : blanks, "");
}

/* What is added ends without blanks. */
static void end_line(struct str *line, struct str *out)
{
    size_t len = line->len;

    while (len && line->s[len - 1] == ' ')
        len--;
    str_addn(out, str_text(line), len);
    str_addc(out, '\n');
    str_clear(line);
}

static void measure(const struct table *t, struct arena *a, size_t widths[MOST_COLUMNS])
{
    for (size_t k = 0; k < t->n_columns; k++)
        widths[k] = width_of(heading_of(a, &t->columns[k]));
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->rows[i]->n; k++)
            widths[k] = MAX(widths[k], width_of(whole_text(a, &t->rows[i]->cells[k])));
    for (size_t k = 0; k < t->n_columns; k++) { /* a heading over several has room */
        const struct column *c = &t->columns[k];
        size_t room = 0;
        for (size_t i = 0; i < c->n_over; i++)
            room += widths[k + i] + (i ? 2 : 0);
        if (c->over && width_of(c->over) > room)
            widths[k] += width_of(c->over) - room;
    }
}

static void add_overs(const struct table *t, const size_t widths[], struct str *line, struct str *out)
{
    for (size_t k = 0; k < t->n_columns; k++) {
        const struct column *c = &t->columns[k];
        size_t n = MAX(c->n_over, (size_t)1), width = 2 * (n - 1);
        for (size_t i = 0; i < n; i++)
            width += widths[k + i];
        str_add(line, k ? "  " : "");
        add_padded(line, c->over ? c->over : "", width, true);
        k += n - 1;
    }
    end_line(line, out);
}

void table_as_text(const struct table *t, struct str *out)
{
    struct arena *a = arena_open();
    size_t widths[MOST_COLUMNS] = {0};
    struct str line = {.arena = a};

    measure(t, a, widths);
    if (t->has_over)
        add_overs(t, widths, &line, out);
    for (size_t k = 0; k < t->n_columns; k++) {
        str_add(&line, k ? "  " : "");
        add_padded(&line, heading_of(a, &t->columns[k]), widths[k], t->columns[k].unit);
    }
    end_line(&line, out);
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = t->rows[i];
        str_add(&line, r->group ? r->group : "");
        for (size_t k = 0; k < r->n; k++) {
            str_add(&line, k ? "  " : "");
            add_padded(&line, whole_text(a, &r->cells[k]), widths[k], t->columns[k].unit);
        }
        end_line(&line, out);
        if (r->under)
            str_addf(out, "%s\n", r->under);
    }
    arena_close(a);
}

static void add_markdown_cell(struct str *out, const char *text, bool bold)
{
    const char *mark = bold ? "**" : "";

    if (*text) {
        str_addf(out, " %s", mark);
        markdown_text(out, text);
        str_add(out, mark);
    }
    str_add(out, " |");
}

void table_as_markdown(const struct table *t, struct str *out)
{
    struct arena *a = arena_open();

    str_addc(out, '|');
    for (size_t k = 0; k < t->n_columns; k++)
        add_markdown_cell(out, heading_of(a, &t->columns[k]), false);
    str_add(out, "\n|");
    for (size_t k = 0; k < t->n_columns; k++)
        str_add(out, t->columns[k].unit ? "---:|" : "---|");
    str_addc(out, '\n');
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = t->rows[i];
        str_addc(out, '|');
        for (size_t k = 0; k < t->n_columns; k++)
            add_markdown_cell(out, r->group && k == 0 ? r->group : whole_text(a, &r->cells[k]),
                              r->total || r->group);
        str_addc(out, '\n');
    }
    arena_close(a);
}

/* ---- HTML ---- */

static void add_html_heading(struct str *out, const struct column *c)
{
    if (c->unit && *c->unit)
        html_addf(out, "<th scope=\"col\" class=\"n\">%s, %s</th>", c->heading,
                  str_eq(c->unit, "us") ? "\u00b5s" : c->unit);
    else if (*c->heading)
        html_addf(out, "<th scope=\"col\"%s>%s</th>", c->unit ? " class=\"n\"" : "", c->heading);
    else
        str_add(out, "<td></td>");
}

static void add_html_cell(struct str *out, const struct column *column, const struct cell *c, const char *open,
                          const char *close)
{
    str_addf(out, "<%s%s>", open, column->unit ? " class=\"n\"" : "");
    if (c->code)
        html_addf(out, "<code>%s</code>", c->text);
    else if (c->href)
        html_addf(out, "<a href=\"%s\">%s</a>", c->href, c->text);
    else if (str_eq(c->text, "-"))
        str_add(out, "<span class=\"none\">-</span>");
    else if (c->text)
        html_text(out, c->text);
    for (size_t i = 0; i < c->n_notes; i++)
        html_addf(out, "<br><small class=\"%s\">%s</small>", c->classes[i], c->notes[i]);
    str_addf(out, "</%s>", close);
}

static void add_html_row(const struct table *t, const struct row *r, struct str *out)
{
    if (r->group) {
        str_addf(out, "<tr><th scope=\"rowgroup\" colspan=\"%zu\">", t->n_columns);
        html_addf(out, "%s</th></tr>\n", r->group);
        return;
    }
    str_add(out, "<tr>");
    for (size_t k = 0; k < t->n_columns; k++)
        add_html_cell(out, &t->columns[k], &r->cells[k], k ? "td" : "th scope=\"row\"", k ? "td" : "th");
    str_add(out, "</tr>\n");
}

static void add_html_head(const struct table *t, struct str *out)
{
    str_add(out, "<thead>\n");
    if (t->has_over) {
        str_add(out, "<tr>");
        for (size_t k = 0; k < t->n_columns; k += MAX(t->columns[k].n_over, (size_t)1))
            if (t->columns[k].over)
                html_addf(out, "<th scope=\"colgroup\" colspan=\"%zu\" class=\"n\">%s</th>",
                          t->columns[k].n_over, t->columns[k].over);
            else
                str_add(out, "<td></td>");
        str_add(out, "</tr>\n");
    }
    str_add(out, "<tr>");
    for (size_t k = 0; k < t->n_columns; k++)
        add_html_heading(out, &t->columns[k]);
    str_add(out, "</tr>\n</thead>\n");
}

/* A group is a body of its own, what sums up a foot. */
void table_as_html(const struct table *t, struct str *out)
{
    const char *part = NULL;

    html_addf(out,
              "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
              "<caption>%s</caption>\n",
              t->caption, t->caption);
    add_html_head(t, out);
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = t->rows[i];
        const char *next = r->total ? "tfoot" : "tbody";
        if (!str_eq(part, next) || r->group) {
            if (part)
                str_addf(out, "</%s>\n", part);
            str_addf(out, "<%s>\n", part = next);
        }
        add_html_row(t, r, out);
    }
    if (part)
        str_addf(out, "</%s>\n", part);
    str_add(out, "</table>\n</div>\n");
}
