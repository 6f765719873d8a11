/* Files of the folders that were given, copied before anything looks at them. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

bool roots_open(struct roots *r, const struct mcp_options *o, struct arena *a, struct err *err)
{
    static const char *const here[] = {"."};
    const char *const *given = o->n_roots ? o->roots : here;
    size_t n = MAX(o->n_roots, (size_t)1);
    char real[PATH_MAX];

    *r = (struct roots){0};
    if (n > MAX_ROOTS)
        return err_input(err, "--root: at most %d folders", MAX_ROOTS);
    for (size_t i = 0; i < n; i++) {
        struct root *x = &r->list[i];
        x->fd = open(given[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (x->fd < 0 || !realpath(given[i], real))
            return err_input(err, "--root %s: %s", given[i], strerror(errno));
        r->n++;
        x->given = fs_absolute(a, given[i]);
        x->real = arena_strdup(a, real);
    }
    return true;
}

void roots_close(struct roots *r)
{
    for (size_t i = 0; i < r->n; i++)
        close(r->list[i].fd);
    r->n = 0;
}

/* What of an absolute path is below a folder; NULL: it is not. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (strncmp(path, folder, n) != 0)
        return NULL;
    path += n;
    if (n > 0 && folder[n - 1] == '/')
        return path;
    return *path == '/' || !*path ? path + strspn(path, "/") : NULL;
}

struct place {
    const struct root *root;
    const char *path; /* from there, plain */
    const char *at;   /* in the folder of the copies: roots but the first have a folder of their own there */
    size_t n_named, bytes; /* of a task: files that were copied because it names them */
};

static bool find_place(const struct roots *r, struct arena *a, const char *path, struct place *p,
                       struct err *err)
{
    const char *rest = path[0] == '/' ? NULL : path;

    *p = (struct place){.root = &r->list[0]};
    for (size_t i = 0; !rest && i < r->n; i++) {
        p->root = &r->list[i];
        rest = below(path, p->root->given);
        if (!rest)
            rest = below(path, p->root->real);
    }
    p->path = rest ? beneath_plain(a, rest) : NULL;
    if (!p->path)
        return err_input(err, "%s is not below %s, which astra mcp may read (--root)", path,
                         r->n == 1 ? r->list[0].real : "one of the folders");
    p->at = p->root == r->list ? p->path : arena_printf(a, "root-%zu/%s", (size_t)(p->root - r->list), p->path);
    return true;
}

static bool write_copy(struct arena *a, const char *to, const char *at, const char *text, size_t len,
                       struct err *err)
{
    const char *path = fs_join(a, to, at);

    return fs_mkdirs(fs_dirname(a, path), err) && fs_write(path, text, len, err);
}

/* A file that a task names, from the task's folder. One that is not there is left to whoever reads the task: it
 * says so with line and column. */
static bool copy_named(struct place *task, struct arena *a, const char *key, const char *name, const char *to,
                       struct err *err)
{
    enum beneath_end got;
    struct err why;
    char *text, *path = NULL;
    size_t len;

    if (name[0] != '/')
        path = beneath_plain(a, fs_join(a, task->path, name));
    if (!path)
        return err_input(
            err,
            "task.yaml: %s: %s: a file that a task names must lie below the folder that astra mcp may "
            "read, and be named from the task's folder",
            key, name);
    got = beneath_read(task->root->fd, path, MAX_FILE, a, &text, &len, &why);
    if (got == BENEATH_ABSENT)
        return true;
    if (got == BENEATH_REFUSED) {
        *err = why;
        return err_context(err, "task.yaml: %s", key);
    }
    task->bytes += len;
    if (++task->n_named > MAX_NAMED || task->bytes > MAX_TASK)
        return err_input(err, "task.yaml: %s: a task may name at most %d files of together %d MB", key,
                         MAX_NAMED, MAX_TASK >> 20);
    path = arena_printf(a, "%s/%s", task->at, name);
    return write_copy(a, to, beneath_plain(a, path), text, len, err);
}

static bool copy_all_named(struct place *task, struct arena *a, const struct yaml_node *root, const char *to,
                           struct err *err)
{
    static const char *const keys[] = {"source", "reference", "headers"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct yaml_node *at = yaml_get(root, keys[i]);
        size_t n = at && at->kind == YAML_LIST ? at->n : 0;
        if (at && at->kind == YAML_TEXT && !copy_named(task, a, keys[i], at->text, to, err))
            return false;
        for (size_t k = 0; k < n; k++)
            if (at->items[k]->kind == YAML_TEXT && !copy_named(task, a, keys[i], at->items[k]->text, to, err))
                return false;
    }
    return true;
}

bool copy_task(const struct roots *r, struct arena *a, const char *path, const char *to, const char **at,
               struct err *err)
{
    const struct yaml_node *root;
    enum beneath_end got;
    struct place p;
    char *text, *file;
    size_t len;

    if (!find_place(r, a, path, &p, err))
        return false;
    *at = p.at;
    file = beneath_plain(a, fs_join(a, p.path, "task.yaml"));
    got = beneath_read(p.root->fd, file, MAX_FILE, a, &text, &len, err);
    if (got == BENEATH_ABSENT)
        return err_input(err, "%s has no task.yaml: a task is a folder with a kernel file and a task.yaml",
                         path);
    if (got == BENEATH_REFUSED || !write_copy(a, to, arena_printf(a, "%s/task.yaml", p.at), text, len, err))
        return false;
    /* What is wrong with the text is said by whoever reads the task. */
    return !yaml_parse(a, file, text, len, &root, NULL) || root->kind != YAML_MAP ||
           copy_all_named(&p, a, root, to, err);
}

bool copy_file(const struct roots *r, struct arena *a, const char *path, const char *to, const char **at,
               struct err *err)
{
    enum beneath_end got;
    struct place p;
    char *text;
    size_t len;

    if (!find_place(r, a, path, &p, err))
        return false;
    *at = p.at;
    got = beneath_read(p.root->fd, p.path, MAX_FILE, a, &text, &len, err);
    if (got == BENEATH_ABSENT)
        return err_input(err, "there is no file %s", path);
    return got == BENEATH_READ && write_copy(a, to, p.at, text, len, err);
}
