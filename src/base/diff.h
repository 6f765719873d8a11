/* diff: which lines of a text another one kept, and the unified difference that follows from it. */
#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

struct diff_line { /* without its end */
    const char *text;
    size_t len;
};
size_t diff_lines(struct arena *a, const char *text, const struct diff_line **lines);
/* What y kept of x: for each line of x its place in y, rising, or -1. */
int *diff_match(struct arena *a, const struct diff_line *x, size_t n, const struct diff_line *y, size_t m);

/* As `diff -u` writes it, with three lines of context, for patch(1) and git apply; "" when the texts are equal.
 */
char *diff_unified(struct arena *a, const char *name_a, const char *text_a, const char *name_b,
                   const char *text_b);
/* Does a unified difference of these names, whoever made it, lead from text_a to text_b? */
bool diff_leads(const char *diff, const char *name_a, const char *text_a, const char *name_b,
                const char *text_b);

#endif
