/* Between the files of source/. */
#ifndef SOURCE_INTERNAL_H
#define SOURCE_INTERNAL_H

#include "source/source.h"

enum { SOURCE_MAX_BYTES = 4 << 20, SOURCE_MAX_BRACKETS = 256, SOURCE_MAX_DEPTH = 1000 };

/* Blank, in place, what the grammar cannot take. False with the place of the bracket that nests too deeply. */
bool source_mask(char *text, size_t len, size_t *too_deep_at);

#endif
