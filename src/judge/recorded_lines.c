/* The recorder's output read, line by line. */
#include "recorded.h"

#include <ctype.h>

struct line {
    const char *s;
    size_t len;
};

struct lines {
    const char *at, *end;
};

static bool take_line(struct lines *l, struct line *to)
{
    const char *newline = l->at < l->end ? memchr(l->at, '\n', (size_t)(l->end - l->at)) : NULL;

    *to = (struct line){"", 0};
    if (!newline)
        return false;
    *to = (struct line){l->at, (size_t)(newline - l->at)};
    l->at = newline + 1;
    return true;
}

static bool begins(const struct line *l, const char *with)
{
    return l->len >= strlen(with) && memcmp(l->s, with, strlen(with)) == 0;
}

static bool is(const struct line *l, const char *text)
{
    return l->len == strlen(text) && begins(l, text);
}

/* The same but for bytes that nothing says. */
static bool same(const struct line *l, const struct line *must)
{
    if (l->len != must->len)
        return false;
    for (size_t i = 0; i < l->len; i++)
        if (l->s[i] != must->s[i] && (must->s[i] != '.' || !isxdigit((unsigned char)l->s[i])))
            return false;
    return true;
}

static void show(const struct line *l, struct recorded_line *to)
{
    size_t n = MIN(l->len, sizeof(to->text) - 1);

    for (size_t i = 0; i < n; i++)
        to->text[i] = l->s[i] >= ' ' && l->s[i] < 127 ? l->s[i] : '?';
    to->text[n] = 0;
}

/* *l and *must: where they part. */
static bool plan_same(struct lines *out, size_t i, const struct recorded_plan *p, struct line *l,
                      struct line *must)
{
    struct lines plan = {p->lines, p->lines + strlen(p->lines)},
                 spaces = {p->workspaces, p->workspaces + strlen(p->workspaces)};
    char head[32];

    snprintf(head, sizeof(head), "case %zu", i);
    *must = (struct line){"", 0};
    if (!take_line(out, l) || !is(l, head)) {
        *l = (struct line){"its end", 7};
        return false;
    }
    for (;;) {
        if (!take_line(out, l)) {
            *l = (struct line){"its end", 7};
            return false;
        }
        if (begins(l, "end "))
            break;
        take_line(begins(l, "malloc ") ? &spaces : &plan, must);
        if (!same(l, must))
            return false;
    }
    if (take_line(&plan, must) || take_line(&spaces, must)) {
        *l = (struct line){"", 0};
        return false;
    }
    *must = (struct line){"end 0", 5};
    return same(l, must);
}

size_t recorded_same(const char *out, size_t len, const struct recorded_plan *plans, size_t n,
                     struct recorded_line *found, struct recorded_line *wanted)
{
    struct lines l = {out, out + len};
    struct line line, must;

    for (size_t i = 0; i < n; i++)
        if (!plan_same(&l, i, &plans[i], &line, &must)) {
            show(&line, found);
            show(&must, wanted);
            return i;
        }
    return n;
}
