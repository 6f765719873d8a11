/* share: text that is data (SQL, device files, shims, prompts), written in share/ and compiled into the binary.
 * A new file is added to share/meson.build. */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <stddef.h>

struct share_file {
    const char *name; /* relative to share/, "sql/schema.sql" */
    const char *text; /* NUL-terminated */
    size_t len;
};

extern const struct share_file share_files[];
extern const size_t share_n_files;

const struct share_file *share_find(const char *name); /* NULL when there is none */
const char *share_text(const char *name);              /* a missing file is a BUG */

#endif
