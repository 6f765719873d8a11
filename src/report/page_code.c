/* The code: the original beside the best, each change with the step that made it, each hot line with its share
 * of the time. */
#include "report/page.h"

#include "report/highlight.h"
#include "report/svg.h"
#include "report/lineage.h"
#include "report/words.h"

enum { CONTEXT = 3, FOLD = 6 }; /* lines kept beside a change; the least that are folded */

struct side {
    const struct diff_line *lines;
    size_t n;
    const char *text, *kinds;
    double *share; /* by line; NAN: not among the hot ones */
    int *step;     /* by line: that took it away, or made it; -1: none */
};

struct row { /* places of lines; -1: none */
    int left, right;
};

struct code {
    const struct lineage_step *steps;
    size_t n_steps;
    struct side left, right;
    struct row *rows;
    size_t n_rows;
    bool *seen; /* by step: a row links to it already */
};

/* ---- which step changed which line ---- */

static void open_side(struct arena *a, const struct view_candidate *c, struct side *s)
{
    s->text = c->row.text;
    s->kinds = highlight_kinds(a, s->text);
    s->n = diff_lines(a, s->text, &s->lines);
    s->share = arena_array(a, double, s->n + 1);
    s->step = arena_array(a, int, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        s->share[i] = NAN;
        s->step[i] = -1;
    }
    for (size_t i = 0; i < c->trial.n_lines; i++) {
        int line = c->trial.lines[i].line;
        if (line > 0 && (size_t)line <= s->n)
            s->share[line - 1] = c->trial.lines[i].share;
    }
}

/* Follows every line of the original through what the steps left. kept: where it is in the best, or -1. */
static void blame(struct code *c, struct arena *a, int *kept)
{
    const struct diff_line *before = c->left.lines, *after;
    size_t n = c->left.n, m;
    int *made = arena_array(a, int, n + 1);  /* by line of the text so far: the step it is from, or -1 */
    int *place = arena_array(a, int, n + 1); /* the line of the original that it is, or -1 */

    for (size_t i = 0; i < n; i++) {
        kept[i] = place[i] = (int)i;
        made[i] = -1;
    }
    for (size_t k = 0; k < c->n_steps; k++) {
        m = diff_lines(a, c->steps[k].text, &after);
        int *match = diff_match(a, before, n, after, m);
        int *next_made = arena_array(a, int, m + 1), *next_place = arena_array(a, int, m + 1);
        for (size_t j = 0; j < m; j++) {
            next_made[j] = (int)k;
            next_place[j] = -1;
        }
        for (size_t i = 0; i < n; i++) {
            if (match[i] >= 0) {
                next_made[match[i]] = made[i];
                next_place[match[i]] = place[i];
            } else if (place[i] >= 0) {
                c->left.step[place[i]] = (int)k;
            }
            if (place[i] >= 0)
                kept[place[i]] = match[i];
        }
        before = after;
        n = m;
        made = next_made;
        place = next_place;
    }
    for (size_t j = 0; j < c->right.n && j < n; j++)
        c->right.step[j] = made[j];
}

/* Kept lines beside each other; between them what went beside what came. */
static void pair_lines(struct code *c, struct arena *a, const int *kept)
{
    size_t i = 0, j = 0, n = c->left.n, m = c->right.n;

    c->rows = arena_array(a, struct row, n + m + 1);
    while (i < n || j < m) {
        size_t gone = i, come = j;
        while (gone < n && kept[gone] < 0)
            gone++;
        come = gone < n ? (size_t)kept[gone] : m;
        while (i < gone || j < come) {
            c->rows[c->n_rows++] = (struct row){i < gone ? (int)i : -1, j < come ? (int)j : -1};
            i += i < gone;
            j += j < come;
        }
        if (i < n)
            c->rows[c->n_rows++] = (struct row){(int)i++, (int)j++};
    }
}

static int step_of(const struct side *s, int line)
{
    return line < 0 ? -1 : s->step[line];
}

static bool is_of(const struct code *c, const struct row *r, int step)
{
    return step_of(&c->left, r->left) == step || step_of(&c->right, r->right) == step;
}

static bool is_changed(const struct code *c, const struct row *r)
{
    return step_of(&c->left, r->left) >= 0 || step_of(&c->right, r->right) >= 0;
}

/* ---- rows ---- */

static void add_side(const struct side *s, int line, char sign, const char *class, struct str *out)
{
    bool changed = step_of(s, line) >= 0;

    if (line < 0) {
        str_addf(out, "<td class=\"heat none\"></td><td class=\"ln none\"></td><td class=\"%s none\"></td>",
                 class);
        return;
    }
    if (isfinite(s->share[line]))
        str_addf(out, "<td class=\"heat\" style=\"--share:%.3f\">%s%.0f&nbsp;%%</td>", s->share[line],
                 s->share[line] < 0.005 ? "&lt;" : "", fmax(100 * s->share[line], 1));
    else
        str_add(out, "<td class=\"heat\"></td>");
    str_addf(out, "<td class=\"ln\">%d%c</td><td class=\"%s%s\"><code>", line + 1, changed ? sign : ' ', class,
             changed ? " changed" : "");
    highlight_line(out, s->lines[line].text, s->kinds + (s->lines[line].text - s->text), s->lines[line].len);
    str_add(out, "</code></td>");
}

/* The first row of several that a step changed has its number, which its place in the list links to. */
static void add_number(struct code *c, int step, bool again, struct str *out)
{
    if (again) {
        str_add(out, "<span aria-hidden=\"true\">·</span>");
        return;
    }
    str_add(out, "<a ");
    if (!c->seen[step])
        str_addf(out, "id=\"change-%d\" ", step + 1);
    c->seen[step] = true;
    html_addf(out, "href=\"#step-%d\" title=\"%s\">%d<span class=\"sr\">: %s</span></a> ", step + 1,
              c->steps[step].name, step + 1, c->steps[step].name);
}

static void add_row(struct code *c, size_t k, struct str *out)
{
    const struct row *r = &c->rows[k], *before = k ? r - 1 : &(struct row){-1, -1};
    int gone = step_of(&c->left, r->left), come = step_of(&c->right, r->right);

    str_add(out, c->n_steps && !is_changed(c, r) ? "<tr class=\"same\">" : "<tr>");
    add_side(&c->left, r->left, '-', "old", out);
    if (c->n_steps) {
        add_side(&c->right, r->right, '+', "new", out);
        str_add(out, "<td class=\"by\">");
        if (come >= 0)
            add_number(c, come, is_of(c, before, come), out);
        if (gone >= 0 && gone != come)
            add_number(c, gone, is_of(c, before, gone), out);
        str_add(out, "</td>");
    }
    str_add(out, "</tr>\n");
}

static bool stands_out(const struct code *c, const struct row *r)
{
    return is_changed(c, r) || (r->left >= 0 && isfinite(c->left.share[r->left])) ||
           (r->right >= 0 && isfinite(c->right.share[r->right]));
}

/* Is a row this near to one that stands out? */
static bool is_context(const struct code *c, size_t k)
{
    for (size_t i = k < CONTEXT ? 0 : k - CONTEXT; i <= k + CONTEXT && i < c->n_rows; i++)
        if (stands_out(c, &c->rows[i]))
            return true;
    return false;
}

/* Rows that are alike in this are a body of the table: unified, a body's old lines stand above its new ones. */
enum rows { ROWS_NONE, ROWS_SAME, ROWS_CHANGED, ROWS_FOLDED };

static void begin_rows(const struct code *c, enum rows kind, enum rows *now, struct str *out)
{
    if (kind == *now)
        return;
    if (*now != ROWS_NONE)
        str_add(out, "</tbody>\n");
    if (kind != ROWS_NONE)
        str_addf(out, "<tbody class=\"code%s\">\n", c->n_steps ? "" : " one");
    *now = kind;
}

static void add_rows(struct code *c, struct str *out)
{
    enum rows now = ROWS_NONE;
    size_t end;

    for (size_t k = 0; k < c->n_rows; k = end) {
        for (end = k; end < c->n_rows && !is_context(c, end);)
            end++;
        if (end - k >= FOLD) {
            begin_rows(c, ROWS_FOLDED, &now, out);
            str_addf(out, "<tr class=\"fold\"><td colspan=\"%d\">lines %d to %d%s</td></tr>\n",
                     c->n_steps ? 7 : 3, c->rows[k].left + 1, c->rows[end - 1].left + 1,
                     c->n_steps ? ": the same in both" : "");
            continue;
        }
        for (end = MAX(end, k + 1); k < end; k++) {
            begin_rows(c, is_changed(c, &c->rows[k]) ? ROWS_CHANGED : ROWS_SAME, &now, out);
            add_row(c, k, out);
        }
    }
    begin_rows(c, ROWS_NONE, &now, out);
}

/* Without a script: the style asks which is checked. */
static const char layout[] =
    "<fieldset class=\"layout\"><legend>Layout</legend>\n"
    "<label><input type=\"radio\" name=\"layout\" id=\"side-by-side\" checked> side by side</label>\n"
    "<label><input type=\"radio\" name=\"layout\" id=\"unified\"> unified</label></fieldset>\n";

static void add_table(struct code *c, struct str *out)
{
    const char *caption = c->n_steps ? "The original beside the best" : "The original";

    if (c->n_steps)
        str_add(out, layout);
    html_addf(out,
              "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
              "<caption>%s</caption>\n",
              caption, caption);
    str_addf(out, "<thead><tr>%s%s</tr></thead>\n",
             "<th scope=\"col\">Time</th><th scope=\"col\">Line</th><th scope=\"col\">Original</th>",
             c->n_steps ? "<th scope=\"col\">Time</th><th scope=\"col\">Line</th><th scope=\"col\">Best</th>"
                          "<th scope=\"col\">Step</th>"
                        : "");
    add_rows(c, out);
    str_add(out, "</table>\n</div>\n");
}

/* ---- steps ---- */

static void add_gain(const struct lineage_step *s, struct str *out)
{
    if (!isfinite(s->gain)) {
        str_add(out, "What it gained alone is not known; ");
        return;
    }
    html_addf(out, "<strong>%s×</strong>, <a href=\"#candidate-%d\">candidate %d</a> over ",
              svg_number(s->gain).text, s->with, s->with);
    if (s->without > 0)
        html_addf(out, "<a href=\"#candidate-%d\">candidate %d</a>, which lacks it; ", s->without, s->without);
    else
        str_add(out, "the original; ");
}

static void add_steps(const struct code *c, struct str *out)
{
    str_add(out, "<ol class=\"steps\" aria-label=\"The steps from the original to the best\">\n");
    for (size_t k = 0; k < c->n_steps; k++) {
        const struct lineage_step *s = &c->steps[k];
        size_t gone = 0, come = 0;
        for (size_t i = 0; i < c->left.n; i++)
            gone += c->left.step[i] == (int)k;
        for (size_t j = 0; j < c->right.n; j++)
            come += c->right.step[j] == (int)k;
        html_addf(out, "<li id=\"step-%zu\">", k + 1);
        if (gone + come)
            html_addf(out, "<a href=\"#change-%zu\">%s</a>: ", k + 1, s->name);
        else
            html_addf(out, "%s: ", s->name);
        add_gain(s, out);
        if (gone + come)
            str_addf(out, "it removes %zu line%s and adds %zu.", gone, gone == 1 ? "" : "s", come);
        else
            str_add(out, "later steps replaced its lines.");
        if (s->why[0])
            html_addf(out, "<br><span class=\"why\">%s</span>", s->why);
        str_add(out, "</li>\n");
    }
    str_add(out, "</ol>\n");
}

void page_code(const struct view *v, struct arena *a, struct str *out)
{
    struct code c = {0};
    int *kept;

    page_section(out, "code", "The code");
    if (!v->best) {
        str_add(out, "<p>The run ended before its original was judged.</p>\n</section>\n");
        return;
    }
    c.n_steps = lineage_steps(v, a, &c.steps);
    c.seen = arena_zalloc(a, c.n_steps + 1);
    open_side(a, &v->candidates[0], &c.left);
    open_side(a, v->best, &c.right);
    kept = arena_array(a, int, c.left.n + 1);
    blame(&c, a, kept);
    pair_lines(&c, a, kept);
    if (c.n_steps) {
        add_steps(&c, out);
        str_add(out, "<p>A changed line has the number of the last step that touched it. ");
    } else {
        str_add(out, "<p>The original stays. ");
    }
    html_addf(out, "Time is a line's share of the %s time over all workloads, for the hottest lines%s.</p>\n",
              v->candidates[0].trial.counters ? "sampled" : "modelled",
              c.n_steps ? " of each version; the best's lines count from behind "
                          "the first comment of best.cu"
                        : "");
    add_table(&c, out);
    str_add(out, "</section>\n");
}
