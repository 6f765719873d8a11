#include "base/base.h"

#include <ctype.h>

/* Of both texts' lines between the common beginning and end; what is larger is taken for all new. */
enum { MAX_CELLS = 4 << 20 };

size_t diff_lines(struct arena *a, const char *text, const struct diff_line **lines)
{
    struct diff_line *list;
    size_t n = 0;

    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        n++;
    *lines = list = arena_array(a, struct diff_line, n + 1);
    n = 0;
    for (const char *p = text; *p; p += *p == '\n') {
        size_t len = strcspn(p, "\n");
        list[n++] = (struct diff_line){p, len - (len > 0 && p[len - 1] == '\r')};
        p += len;
    }
    return n;
}

static bool same(const struct diff_line *x, const struct diff_line *y)
{
    return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
}

/* What it is worth to keep a line: one that says something more than braces and blanks. */
static uint32_t worth(const struct diff_line *x)
{
    uint32_t words = 0;

    for (size_t i = 0; i < x->len && words < 3; i++)
        words += isalnum((unsigned char)x->text[i]) != 0;
    return 1 + words;
}

/* The most worth that can be kept of the rest of both, from each pair of places on. */
static void match_middle(const struct diff_line *x, size_t n, const struct diff_line *y, size_t m, int *match,
                         int first)
{
    size_t width = m + 1;
    uint32_t *best = mem_zalloc((n + 1) * width * sizeof(*best));

    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            uint32_t skip = MAX(best[(i + 1) * width + j], best[i * width + j + 1]);
            best[i * width + j] =
                same(&x[i], &y[j]) ? MAX(skip, best[(i + 1) * width + j + 1] + worth(&x[i])) : skip;
        }
    for (size_t i = 0, j = 0; i < n && j < m;)
        if (same(&x[i], &y[j]) && best[i * width + j] == best[(i + 1) * width + j + 1] + worth(&x[i]))
            match[i++] = first + (int)j++;
        else if (best[i * width + j] == best[(i + 1) * width + j])
            i++;
        else
            j++;
    free(best);
}

int *diff_match(struct arena *a, const struct diff_line *x, size_t n, const struct diff_line *y, size_t m)
{
    int *match = arena_array(a, int, n + 1);
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < n; i++)
        match[i] = -1;
    while (head < n && head < m && same(&x[head], &y[head])) {
        match[head] = (int)head;
        head++;
    }
    while (tail < n - head && tail < m - head && same(&x[n - 1 - tail], &y[m - 1 - tail])) {
        tail++;
        match[n - tail] = (int)(m - tail);
    }
    n -= head + tail;
    m -= head + tail;
    if ((n + 1) * (m + 1) <= MAX_CELLS)
        match_middle(x + head, n, y + head, m, match + head, (int)head);
    return match;
}
