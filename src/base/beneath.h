/* beneath: files read below a folder wherever links and ".." point. The kernel itself (openat2, Linux 5.6)
 * refuses a path that leaves the folder, so that nothing can be exchanged between a look and the opening. Where
 * it has no openat2, everything is refused. */
#ifndef BASE_BENEATH_H
#define BASE_BENEATH_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"

enum beneath_end {
    BENEATH_READ,
    BENEATH_ABSENT,  /* nothing of this name */
    BENEATH_REFUSED, /* err says why: it leads out, is no regular file, is too large, may not be read */
};

/* A regular file of at most `most` bytes below an open folder (O_PATH will do), named from there. The text is
 * NUL-terminated, in the arena. err is an input's, or the world's where the kernel lacks openat2. */
enum beneath_end beneath_read(int folder, const char *path, size_t most, struct arena *a, char **text,
                              size_t *len, struct err *err);

/* A path from such a folder without ".", ".." and doubled slashes, in the arena; "." for the folder itself.
 * NULL: it is absolute, or leads out by its words alone. */
char *beneath_plain(struct arena *a, const char *path);

#endif
