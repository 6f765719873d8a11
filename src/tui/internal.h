/* Between these files. */
#ifndef TUI_INTERNAL_H
#define TUI_INTERNAL_H

#include "tui/tui.h"

/* ---- glyph.c ---- */

uint32_t glyph_next(const char **text); /* of a text that is not at its end; U+FFFD for a byte that is none */
int glyph_width(uint32_t c);            /* in columns: 0 combines with what is before it; -1: never shown */
void glyph_add(struct str *to, uint32_t c);

/* ---- lines.c ---- */

/* What there is to say of an event, clean, in lines without a last newline; nothing for most. */
void lines_add(struct str *to, const char *event, const json_t *fields);

#endif
