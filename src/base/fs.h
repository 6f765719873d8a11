/* fs: files and paths. Texts read here are NUL-terminated; sizes do not count the NUL. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"

bool fs_read(struct arena *a, const char *path, char **text, size_t *size,
             struct err *err); /* size may be NULL */
/* Whole or not at all: writes a temporary file beside it, syncs, renames. */
bool fs_write(const char *path, const void *data, size_t size, struct err *err);
bool fs_write_text(const char *path, const char *text, struct err *err);
bool fs_mkdirs(const char *path, struct err *err);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
const char *fs_network(
    const char *path);                 /* "NFS", "SMB" or the like, whose locks SQLite must not trust; NULL */
void fs_remove_tree(const char *path); /* silent when it is not there */
char *fs_join(struct arena *a, const char *dir, const char *name); /* an absolute name stays as it is */
char *fs_dirname(struct arena *a, const char *path);
const char *fs_basename(const char *path);
char *fs_absolute(struct arena *a, const char *path);
bool fs_below(const char *path, const char *dir); /* is it dir or in it? Both absolute, without links or .. */
char *fs_temp_dir(struct arena *a, struct err *err); /* new, private, below TMPDIR or /tmp; NULL on failure */
char *fs_self(struct arena *a);                      /* where the running binary was; PROC_SELF starts it */

#endif
