/* origin: `#line N "file"` in a text that was put together from other files: where its lines stand there. The
 * program itself works with the text's own lines; messages say both the framework's file and its line. */
#ifndef BASE_ORIGIN_H
#define BASE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct line_origin {
    const char *file;
    int line; /* 1-based */
};

/* Where line `line` of the text came from; false: no #line stands before it, or one that names `self`, the
 * text's own file. file lives in the arena. */
bool origin_find(struct line_origin *o, struct arena *a, const char *text, int line, const char *self);
/* Is it a directive of the one form that is understood, with `#line` written together? */
bool origin_is_line(const char *s, const char *end);
/* The text with these lines blank: as long, with as many lines. In place. */
void origin_blank(char *text);

#endif
