/* highlight: CUDA C++ as HTML, line by line. Any bytes, lines of any length. */
#ifndef REPORT_HIGHLIGHT_H
#define REPORT_HIGHLIGHT_H

#include "base/base.h"

/* What each byte of the text is part of; '\0' where it is nothing particular. */
char *highlight_kinds(struct arena *a, const char *text);
/* A line, or what of it a page can show, with <span class="k">: k a keyword, t a type, c a comment, s a string
 * or a character, n a number, p of the preprocessor. kinds: of its bytes. */
void highlight_line(struct str *out, const char *line, const char *kinds, size_t len);

#endif
