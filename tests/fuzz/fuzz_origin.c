/* Any bytes as the origin.json that `astra init` writes and `astra export --to patch` reads: an error, or files
 * below the tree's root. */
#include "export/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct tree t;

    if (tree_open(&t, a, arena_strndup(a, (const char *)data, size), "tests/init", &err)) {
        BUG_IF(!t.files.n);
        for (size_t i = 0; i < t.files.n; i++)
            BUG_IF(*t.files.v[i].path == '/');
    } else {
        BUG_IF(err.kind == ERR_NONE);
    }
    arena_close(a);
    return 0;
}
