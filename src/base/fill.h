/* fill: texts with named slots: prompts, the page, skeletons of generated code.
 *
 *     {{name}}                    the slot's value
 *     {{#name}}text{{/name}}      the text once for each row of the section, with the row's own slots before
 * those around it
 *     {{^name}}text{{/name}}      the text where the section has no row
 *
 * A section's tag alone on a line takes no line. A line that holds only a slot whose value is empty goes. A
 * name that nobody gave is a BUG. A value is not looked into. A brace before {{ and one behind }} are text. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

struct fill_slot {
    const char *name, *value; /* value NULL: "" */
};

/* The text with its slots filled, without line feeds at its end; `where` is for the BUG. */
char *fill_text(struct arena *a, const char *where, const char *text, const struct fill_slot *slots, size_t n);
/* The same with a file of share/. */
char *fill_share(struct arena *a, const char *file, const struct fill_slot *slots, size_t n);

/* Slots and sections, in an arena. The last value given to a name counts; names are not copied, values are not
 * either. */
struct fill;
struct fill *fill_open(struct arena *a);
struct arena *fill_arena(const struct fill *f);
void fill_put(struct fill *f, const char *name, const char *value);
void fill_putf(struct fill *f, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fill_section(struct fill *f, const char *name); /* without a row */
/* One more row of a section, which begins with it. It has the slots i, its number from 0, and comma, ", " but
 * in the first. */
struct fill *fill_row(struct fill *f, const char *section);
void fill_if(struct fill *f, const char *section, bool holds); /* a section of one row or of none */
/* A file of share/ filled, without line feeds at its end. */
char *fill_file(const struct fill *f, const char *file);

#endif
