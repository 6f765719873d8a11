/* A head, and what zlib makes of the bytes. */
#include "base/base.h"

#include <sys/stat.h>
#include <zlib.h>

struct head {
    char magic[8];
    uint64_t n; /* bytes, unpacked */
};
#define MAGIC "astrapak"

bool pack_write(const char *path, const void *data, size_t n, struct err *err)
{
    struct head head = {.n = n};
    uLongf size = compressBound((uLong)n);
    unsigned char *packed = malloc(sizeof(head) + size);
    bool ok = packed && compress2(packed + sizeof(head), &size, data, (uLong)n, 1) == Z_OK;

    mode_t others = umask(077);

    memcpy(head.magic, MAGIC, sizeof(head.magic));
    if (ok)
        memcpy(packed, &head, sizeof(head));
    ok = ok ? fs_write(path, packed, sizeof(head) + size, err)
            : err_world(err, "%s: no memory to compress it", path);
    umask(others);
    free(packed);
    return ok;
}

bool pack_read(struct arena *a, const char *path, size_t most, char **data, size_t *n, struct err *err)
{
    struct head head = {{0}};
    uLongf size;
    char *text;
    size_t len;

    if (!fs_read(a, path, &text, &len, err))
        return false;
    if (len >= sizeof(head))
        memcpy(&head, text, sizeof(head));
    if (memcmp(head.magic, MAGIC, sizeof(head.magic)) != 0)
        return err_input(err, "%s is no file of packed bytes", path);
    if (head.n > most)
        return err_input(err, "%s says that it holds %llu bytes; at most %zu are read", path,
                         (unsigned long long)head.n, most);
    size = head.n;
    *data = arena_alloc(a, head.n + 1);
    *n = head.n;
    if (uncompress((unsigned char *)*data, &size, (unsigned char *)text + sizeof(head),
                   (uLong)(len - sizeof(head))) != Z_OK ||
        size != head.n)
        return err_input(err, "%s is cut short or damaged", path);
    (*data)[head.n] = 0;
    return true;
}
