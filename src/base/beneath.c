#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_beneath(int folder, const char *path)
{
    /* A pipe or a device must not make us wait before fstat has told what it is. */
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd;

    do
        fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return (int)fd;
}

static bool read_all(int fd, size_t most, struct str *to)
{
    char buf[65536];
    ssize_t n = 1;

    while (to->len <= most && ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
        str_addn(to, buf, n > 0 ? (size_t)n : 0);
    return to->len > most || n == 0;
}

static bool refuse(struct err *err, const char *path)
{
    if (errno == EXDEV)
        return err_input(err, "%s leads out of the folder that may be read, by a link or by `..`", path);
    if (errno == ENOSYS || errno == EPERM)
        return err_world(
            err, "this system has no openat2 (Linux 5.6), without which %s cannot be opened safely", path);
    return err_input(err, "cannot read %s: %s", path, strerror(errno));
}

enum beneath_end beneath_read(int folder, const char *path, size_t most, struct arena *a, char **text,
                              size_t *len, struct err *err)
{
    int fd = open_beneath(folder, path);
    struct str b = {0};
    struct stat st;
    bool ok;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return BENEATH_ABSENT;
    if (fd < 0) {
        refuse(err, path);
        return BENEATH_REFUSED;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        ok = err_input(err, "%s is no regular file", path);
    else if (!read_all(fd, most, &b))
        ok = err_input(err, "cannot read %s: %s", path, strerror(errno));
    else
        ok = b.len <= most || err_input(err, "%s is larger than %zu bytes", path, most);
    close(fd);
    if (ok) {
        *text = arena_strndup(a, str_text(&b), b.len);
        *len = b.len;
    }
    str_free(&b);
    return ok ? BENEATH_READ : BENEATH_REFUSED;
}

char *beneath_plain(struct arena *a, const char *path)
{
    struct str out = {.arena = a};

    if (path[0] == '/')
        return NULL;
    for (size_t n; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (n == 0 || (n == 1 && path[0] == '.'))
            continue;
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            if (!out.len)
                return NULL;
            while (out.len && out.s[--out.len] != '/')
                ;
            out.s[out.len] = 0;
            continue;
        }
        if (out.len)
            str_addc(&out, '/');
        str_addn(&out, path, n);
    }
    return out.len ? str_take(&out, a) : arena_strdup(a, ".");
}
