/* fill: texts with named slots, {{name}}: prompts, the page, skeletons of generated code. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include <stddef.h>

#include "arena.h"

struct fill_slot {
    const char *name, *value; /* value NULL: "" */
};

/* The text with its slots filled, without line feeds at its end. A line that holds only a slot whose value is
 * empty goes; a slot without a value is a BUG, which names `where`. A value is not looked into. */
char *fill_text(struct arena *a, const char *where, const char *text, const struct fill_slot *slots, size_t n);
/* The same with a file of share/. */
char *fill_share(struct arena *a, const char *file, const struct fill_slot *slots, size_t n);

#endif
