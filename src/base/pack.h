/* pack: bytes in a file, compressed, for their owner alone (mode 0600). */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"

/* Whole or not at all, as fs_write. */
bool pack_write(const char *path, const void *data, size_t n, struct err *err);
/* What a file that pack_write made holds, at most `most` bytes; a file that is cut short, holds more or is no
 * such file is an error (ERR_INPUT) with its name. */
bool pack_read(struct arena *a, const char *path, size_t most, char **data, size_t *n, struct err *err);

#endif
