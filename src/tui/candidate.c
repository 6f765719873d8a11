/* One candidate in full: what was meant, what was done, what the judge said, and the difference to its parent.
 */
#include "tui/internal.h"

const struct row *view_row(const struct ui_state *m, const struct view *v)
{
    const struct row *newest = NULL;

    for (size_t i = 0; i < m->rows.n; i++) {
        const struct row *r = &m->rows.v[i];
        if (v->chosen && r->label == v->chosen)
            return r;
        if (!newest || r->state == ROW_COUNTED)
            newest = r;
    }
    return v->chosen ? NULL : newest;
}

struct line {
    enum style style;
    const char *text;
};
typedef VEC(struct line) line_list;

/* How many bytes of a line go into `width` columns: up to a space, where there is one to break at. */
static size_t fitting(const char *text, int width)
{
    const char *at = text, *space = NULL, *next;
    int columns = 0;

    for (; *at; at = next) {
        next = at;
        int wide = glyph_width(glyph_next(&next));
        columns += MAX(wide, 0);
        if (columns > width)
            return (size_t)((space && space > text + (at - text) / 2 ? space : MAX(at, text + 1)) - text);
        if (*at == ' ')
            space = next;
    }
    return (size_t)(at - text);
}

static void add_lines(struct arena *a, line_list *to, enum style style, const char *text, int width)
{
    for (size_t n; *text; text += n) {
        n = fitting(text, MAX(width, 1));
        vec_add(a, to, ((struct line){style, arena_strndup(a, text, n)}));
    }
}

static enum style diff_style(const char *line)
{
    if (str_starts(line, "+++") || str_starts(line, "---") || str_starts(line, "@@"))
        return STYLE_DIM;
    if (*line == '+')
        return STYLE_GOOD;
    return *line == '-' ? STYLE_BAD : STYLE_PLAIN;
}

/* A text that anybody may have written, under a title; its lines as they are. */
static void add_text(struct arena *a, line_list *to, const char *title, const char *text, int width, bool diff)
{
    struct str clean = {.arena = a};
    char *line, *rest, *copy;

    if (!*text)
        return;
    for (const char *at = text; *at; at++)
        str_add(&clean, *at == '\t' ? "    " : (char[]){*at, 0});
    copy = str_take(&clean, a);
    str_clear(&clean);
    tui_clean(&clean, copy);
    copy = str_take(&clean, a);
    vec_add(a, to, ((struct line){STYLE_PLAIN, ""}));
    add_lines(a, to, STYLE_BOLD, title, width);
    for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        add_lines(a, to, diff ? diff_style(line) : STYLE_PLAIN, line, width);
}

static const char *judged(struct arena *a, const struct row *r)
{
    if (!*r->verdict)
        return r->state == ROW_RUNNING ? "it is being judged" : "it waits for a worker";
    return *r->words ? arena_printf(a, "%s: %s", r->verdict, r->words) : r->verdict;
}

void draw_candidate(const struct ui_state *m, struct view *v, const struct row *r, struct frame *f)
{
    struct arena *a = arena_open();
    const char *parent = r->parent > 0 ? arena_printf(a, "candidate %d", r->parent) : "the original", *who = "",
               *title;
    line_list lines = {0};
    struct scroll *s = &v->inside;
    int width = f->cols - 2, at;

    if (isfinite(r->score))
        who = arena_printf(a, "%.2fx over the original", r->score);
    if (isfinite(r->gain) && r->parent > 0)
        who = arena_printf(a, "%s, %+.0f %% over %s", who, 100 * (r->gain - 1), parent);
    add_text(a, &lines, "What was done", r->name, width, false);
    add_text(a, &lines, "Verdict", judged(a, r), width, false);
    add_text(a, &lines, "Speed-up", who, width, false);
    add_text(a, &lines, "Made from",
             arena_printf(a, "%s, in round %d%s%s", parent, r->round, *r->backend ? ", by " : "", r->backend),
             width, false);
    if (!str_eq(r->steps, r->name))
        add_text(a, &lines, "Steps", r->steps, width, false);
    if (!str_eq(r->plan, r->steps))
        add_text(a, &lines, "Plan", r->plan, width, false);
    add_text(a, &lines, "Reason", r->reason, width, false);
    add_text(a, &lines, arena_printf(a, "Difference to %s", parent), r->diff, width, true);

    s->page = MAX(0, f->rows - 2);
    s->all = (int)lines.n;
    s->top = MIN(MAX(s->top, 0), MAX(0, s->all - s->page));
    title = r->label;
    if (r->id)
        title = arena_printf(a, "Candidate %d%s", r->id, r->id == m->best ? ", the best so far" : "");
    frame_put(f, 0, 1, f->cols, STYLE_BOLD, title);
    for (int i = 0; i < s->page && s->top + i < s->all; i++)
        frame_put(f, i + 1, 1, f->cols, lines.v[s->top + i].style, lines.v[s->top + i].text);
    at = frame_putf(f, f->rows - 1, 0, f->cols, STYLE_DIM, " %s scroll  esc back",
                    f->ascii ? "j k" : "\xe2\x86\x91\xe2\x86\x93");
    if (s->all > s->page)
        frame_putf(f, f->rows - 1, at, f->cols, STYLE_DIM, "  %d-%d of %d", s->top + 1,
                   MIN(s->top + s->page, s->all), s->all);
    arena_close(a);
}
