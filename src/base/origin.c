/* #line directives of one form, `#line 12 "file"`. */
#include "base.h"

#include <ctype.h>

/* The file's name begins at *name and ends at the returned place; NULL: another form. */
static const char *read_line(const char *s, const char *end, int *line, const char **name)
{
    long n;
    char *after;

    if (end - s < 6 || memcmp(s, "#line ", 6) != 0 || !isdigit((unsigned char)s[6]))
        return NULL;
    n = strtol(s + 6, &after, 10);
    if (n < 1 || n > 1 << 24 || after + 3 > end || after[0] != ' ' || after[1] != '"')
        return NULL;
    *line = (int)n;
    *name = after + 2;
    for (s = *name; s < end && *s != '"'; s++) {
        if (*s == '\\')
            return NULL;
    }
    after = (char *)s + (s < end);
    while (after < end && (*after == '\r' || *after == ' '))
        after++;
    return s < end && after == end ? s : NULL;
}

bool origin_is_line(const char *s, const char *end)
{
    const char *name;
    int line;

    return read_line(s, end, &line, &name) != NULL;
}

bool origin_find(struct line_origin *o, struct arena *a, const char *text, int line, const char *self)
{
    const char *file = NULL, *file_end = NULL;
    int at = 1, base = 0, base_at = 0;

    for (const char *p = text; at < line && *p; at++) {
        const char *end = strchrnul(p, '\n'), *name, *name_end;
        int n;

        if (*p == '#' && (name_end = read_line(p, end, &n, &name))) {
            file = name;
            file_end = name_end;
            base = n;
            base_at = at + 1;
        }
        p = *end ? end + 1 : end;
    }
    if (!file || ((size_t)(file_end - file) == strlen(self) && memcmp(file, self, strlen(self)) == 0))
        return false;
    o->file = arena_strndup(a, file, (size_t)(file_end - file));
    o->line = base + line - base_at;
    return true;
}

void origin_blank(char *text)
{
    for (char *p = text; *p;) {
        char *end = strchrnul(p, '\n');

        if (*p == '#' && origin_is_line(p, end))
            memset(p, ' ', (size_t)(end - p));
        p = *end ? end + 1 : end;
    }
}
