/* What buffers held, in a capture's folder: written raw by the library, compressed when the program has ended,
 * read again by whoever replays a launch. */
#include "capture/internal.h"
#include "inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

static bool is_name(const char *text, size_t n)
{
    return n == 32 && strspn(text, "0123456789abcdef") >= 32;
}

static bool pack_one(const char *folder, const char *name, struct err *err)
{
    struct arena *a = arena_open();
    const char *path = fs_join(a, folder, name);
    char *data;
    size_t n;
    bool ok = fs_read(a, path, &data, &n, err) && pack_write(arena_printf(a, "%s.z", path), data, n, err);

    if (ok)
        unlink(path);
    arena_close(a);
    return ok;
}

/* A process that was killed while it wrote leaves HASH.PID. */
static bool is_left(const char *name)
{
    const char *dot = strchr(name, '.');
    char *end = NULL;
    long pid = dot && is_name(name, (size_t)(dot - name)) ? strtol(dot + 1, &end, 10) : 0;

    return end && !*end && pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

bool capture_contents_pack(struct arena *a, const char *folder, struct err *err)
{
    const char *contents = fs_join(a, folder, CAPTURE_CONTENTS);
    VEC(const char *) names = {0};
    DIR *dir = opendir(contents);
    struct dirent *e;
    bool ok = true;

    while (dir && (e = readdir(dir)))
        if (is_name(e->d_name, strlen(e->d_name)))
            vec_add(a, &names, arena_strdup(a, e->d_name));
        else if (is_left(e->d_name))
            unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    for (size_t i = 0; ok && i < names.n; i++)
        ok = pack_one(contents, names.v[i], err);
    return ok;
}

bool capture_contents_read(struct arena *a, const char *folder, const char *name, char **data, size_t *n,
                           struct err *err)
{
    const char *path = arena_printf(a, "%s/" CAPTURE_CONTENTS "/%s", folder, name),
               *packed = arena_printf(a, "%s.z", path);
    char hash[CAPTURE_CONTENT_NAME];

    if (!is_name(name, strlen(name)))
        return err_input(err, "%s: '%.40s' is not the name of what a buffer held", folder, name);
    if (fs_exists(packed) ? !pack_read(a, packed, CAPTURE_CONTENT_MOST, data, n, err)
                          : !fs_read(a, path, data, n, err))
        return false;
    capture_content_name(hash, *data, *n);
    return str_eq(hash, name) || err_input(err, "%s is damaged: it does not hold what its name says", path);
}

/* Bytes that a launch's parameters name, and how many buffers. */
static void add_param(const json_t *p, int64_t *bytes, int64_t *buffers)
{
    const json_t *inner;
    size_t i;

    if (json_text(p, "contents", NULL)) {
        *bytes += json_count(p, "contents_bytes");
        ++*buffers;
    }
    json_array_foreach(json_object_get(p, "inner"), i, inner) add_param(inner, bytes, buffers);
}

int64_t capture_contents_of(const json_t *launch, int64_t *buffers)
{
    const json_t *p;
    int64_t bytes = 0;
    size_t i;

    *buffers = 0;
    json_array_foreach(json_object_get(launch, "parameters"), i, p) add_param(p, &bytes, buffers);
    return bytes;
}
