#include "base/base.h"

enum { CONTEXT = 3 };

struct change { /* `gone` lines of the old text from `at_old` on became `come` lines of the new one */
    size_t at_old, gone, at_new, come;
};

struct side {
    const struct diff_line *lines; /* with their ends */
    size_t n;
};

/* The lines with their ends, so that a last line without one differs from the same line with one. */
static struct side split(struct arena *a, const char *text)
{
    struct side s;
    struct diff_line *lines;

    s.n = diff_lines(a, text, &s.lines);
    lines = (struct diff_line *)s.lines;
    for (size_t i = 0; i < s.n; i++) {
        const char *end = i + 1 < s.n ? lines[i + 1].text : text + strlen(text);
        lines[i].len = (size_t)(end - lines[i].text);
    }
    return s;
}

static size_t find_changes(struct arena *a, const struct side *old, const struct side *new,
                           struct change **changes)
{
    const int *match = diff_match(a, old->lines, old->n, new->lines, new->n);
    struct change *list = arena_array(a, struct change, old->n + new->n + 1);
    size_t n = 0, i = 0, j = 0;

    while (i < old->n || j < new->n) {
        struct change c = {i, 0, j, 0};
        while (i < old->n && match[i] < 0)
            i++;
        j = i < old->n ? (size_t)match[i] : new->n;
        c.gone = i - c.at_old;
        c.come = j - c.at_new;
        if (c.gone || c.come)
            list[n++] = c;
        i += i < old->n;
        j += j < new->n;
    }
    *changes = list;
    return n;
}

static void add_lines(struct str *out, char sign, const struct side *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct diff_line *line = &s->lines[i];
        str_addc(out, sign);
        str_addn(out, line->text, line->len);
        if (line->text[line->len - 1] != '\n')
            str_add(out, "\n\\ No newline at end of file\n");
    }
}

/* Lines count from 1; of no lines it names the one before. */
static void add_range(struct str *out, char sign, size_t from, size_t n)
{
    str_addf(out, "%c%zu", sign, n ? from + 1 : from);
    if (n != 1)
        str_addf(out, ",%zu", n);
}

static void add_hunk(struct str *out, const struct side *old, const struct side *new, const struct change *c,
                     size_t n)
{
    const struct change *last = &c[n - 1];
    size_t before = MIN(c->at_old, CONTEXT), from = c->at_old - before, end = last->at_old + last->gone,
           after = MIN(old->n - end, CONTEXT);

    str_add(out, "@@ ");
    add_range(out, '-', from, end + after - from);
    str_addc(out, ' ');
    add_range(out, '+', c->at_new - before, last->at_new + last->come + after - (c->at_new - before));
    str_add(out, " @@\n");
    for (size_t k = 0; k < n; k++) {
        add_lines(out, ' ', old, from, c[k].at_old);
        add_lines(out, '-', old, c[k].at_old, c[k].at_old + c[k].gone);
        add_lines(out, '+', new, c[k].at_new, c[k].at_new + c[k].come);
        from = c[k].at_old + c[k].gone;
    }
    add_lines(out, ' ', old, from, end + after);
}

char *diff_unified(struct arena *a, const char *name_a, const char *text_a, const char *name_b,
                   const char *text_b)
{
    struct side old = split(a, text_a), new = split(a, text_b);
    struct str out = {.arena = a};
    struct change *c;
    size_t n = find_changes(a, &old, &new, &c), end;

    if (n)
        str_addf(&out, "--- %s\n+++ %s\n", name_a, name_b);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n; end++) /* hunks whose context would touch are one */
            if (c[end].at_old - (c[end - 1].at_old + c[end - 1].gone) > 2 * CONTEXT)
                break;
        add_hunk(&out, &old, &new, &c[i], end - i);
    }
    return str_take(&out, a);
}

/* ---- a difference read ---- */

static bool skip(const char **p, const char *text)
{
    if (!str_starts(*p, text))
        return false;
    *p += strlen(text);
    return true;
}

static bool read_range(const char **p, const char *sign, size_t *from, size_t *n)
{
    char *end;

    if (!skip(p, sign))
        return false;
    *from = strtoul(*p, &end, 10);
    *p = end;
    *n = 1;
    if (skip(p, ",")) {
        *n = strtoul(*p, &end, 10);
        *p = end;
    }
    *from -= *n > 0; /* lines before the hunk */
    return true;
}

/* Lines that both texts have, up to one with this number (from 0) of the old one. */
static bool skip_same(const char **old, const char **new, size_t *at, size_t to)
{
    for (; *at < to; ++*at) {
        size_t len = strcspn(*old, "\n");
        if ((*old)[len] != '\n' || strncmp(*old, *new, len + 1) != 0)
            return false;
        *old += len + 1;
        *new += len + 1;
    }
    return true;
}

static bool skip_line(const char **text, const char *line, size_t len)
{
    if (strncmp(*text, line, len) != 0)
        return false;
    *text += len;
    return true;
}

static bool read_hunk(const char **p, const char **old, const char **new, size_t *at)
{
    size_t from, n, from_new, n_new;

    if (!skip(p, "@@ ") || !read_range(p, "-", &from, &n) || !read_range(p, " +", &from_new, &n_new) ||
        !skip(p, " @@\n") || !skip_same(old, new, at, from))
        return false;
    while (n || n_new) {
        char sign = **p;
        bool is_old = sign == ' ' || sign == '-', is_new = sign == ' ' || sign == '+';
        if (!sign) /* the hunk ends early */
            return false;
        const char *line = *p + 1;
        size_t len = strcspn(line, "\n") + 1;
        if ((!is_old && !is_new) || line[len - 1] != '\n' || (is_old && n == 0) || (is_new && n_new == 0))
            return false;
        *p = line + len;
        if (skip(p, "\\ No newline at end of file\n"))
            len--;
        if ((is_old && !skip_line(old, line, len)) || (is_new && !skip_line(new, line, len)))
            return false;
        n -= is_old;
        n_new -= is_new;
        *at += is_old;
    }
    return true;
}

bool diff_leads(const char *diff, const char *name_a, const char *text_a, const char *name_b,
                const char *text_b)
{
    size_t at = 0;

    if (*diff && (!skip(&diff, "--- ") || !skip(&diff, name_a) || !skip(&diff, "\n+++ ") ||
                  !skip(&diff, name_b) || !skip(&diff, "\n")))
        return false;
    while (*diff)
        if (!read_hunk(&diff, &text_a, &text_b, &at))
            return false;
    return str_eq(text_a, text_b);
}
