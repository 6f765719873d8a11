#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

bool fs_read(struct arena *a, const char *path, char **text, size_t *size, struct err *err)
{
    FILE *f = fopen(path, "rb");
    struct str b = {0};
    char buf[65536];
    size_t n;
    bool ok;

    if (!f)
        return err_world(err, "cannot read %s: %s", path, strerror(errno));
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
        str_addn(&b, buf, n);
    ok = !ferror(f);
    if (!ok)
        err_world(err, "cannot read %s: %s", path, strerror(errno));
    fclose(f);
    if (ok) {
        *text = arena_strndup(a, str_text(&b), b.len);
        if (size)
            *size = b.len;
    }
    str_free(&b);
    return ok;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

bool fs_write(const char *path, const void *data, size_t size, struct err *err)
{
    struct str tmp = {0};
    int fd, saved;
    bool ok;

    str_addf(&tmp, "%s.%ld.tmp", path, (long)getpid());
    fd = open(tmp.s, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ok = fd >= 0 && write_all(fd, data, size) && fsync(fd) == 0;
    saved = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(tmp.s, path) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        if (fd >= 0)
            unlink(tmp.s);
        err_world(err, "cannot write %s: %s", path, strerror(saved));
    }
    str_free(&tmp);
    return ok;
}

bool fs_write_text(const char *path, const char *text, struct err *err)
{
    return fs_write(path, text, strlen(text), err);
}

bool fs_mkdirs(const char *path, struct err *err)
{
    char *p = mem_strdup(path);
    bool ok = true;

    for (char *s = p + 1; ok; s++) {
        char c = *s;
        if (c != '/' && c != 0)
            continue;
        *s = 0;
        if (mkdir(p, 0777) != 0 && (errno != EEXIST || !fs_is_dir(p)))
            ok = err_world(err, "cannot make the folder %s: %s", p, strerror(errno));
        *s = c;
        if (c == 0)
            break;
    }
    free(p);
    return ok;
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *fs_network(const char *path)
{
    static const struct {
        long type; /* as statfs(2) lists them */
        const char *name;
    } list[] = {{0x6969, "NFS"},     {0x517b, "SMB"},    {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"},
                {0x5346414f, "AFS"}, {0x01021997, "9P"}, {0x73757245, "Coda"}};
    struct statfs s;

    if (statfs(path, &s) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (((unsigned long)s.f_type & 0xffffffff) == (unsigned long)list[i].type)
            return list[i].name;
    return NULL;
}

bool fs_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void fs_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *fs_join(struct arena *a, const char *dir, const char *name)
{
    if (name[0] == '/' || !dir[0])
        return arena_strdup(a, name);
    return arena_printf(a, "%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
}

char *fs_dirname(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return arena_strdup(a, ".");
    return arena_strndup(a, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *fs_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *fs_absolute(struct arena *a, const char *path)
{
    char *real = realpath(path, NULL), *r;

    if (!real) {
        char *cwd = getcwd(NULL, 0);
        r = fs_join(a, cwd ? cwd : "", path);
        free(cwd);
        return r;
    }
    r = arena_strdup(a, real);
    free(real);
    return r;
}

bool fs_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 &&
           (path[len] == '/' || path[len] == '\0' || (len && dir[len - 1] == '/'));
}

char *fs_temp_dir(struct arena *a, struct err *err)
{
    const char *base = getenv("TMPDIR");
    char *path = arena_printf(a, "%s/astra-XXXXXX", base && *base ? base : "/tmp");

    if (!mkdtemp(path)) {
        err_world(err, "cannot make a temporary folder %s: %s; set TMPDIR to a writable folder", path,
                  strerror(errno));
        return NULL;
    }
    return path;
}

char *fs_self(struct arena *a)
{
    char buf[4096];
    ssize_t n = readlink("/proc/self/exe", buf, sizeof(buf) - 1);

    return n > 0 ? arena_strndup(a, buf, (size_t)n) : arena_strdup(a, "astra");
}
