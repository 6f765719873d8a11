/* The files of a reading: found by -I, beside the file that includes them, and in the folders from there up to
 * the repository's root; read once, within the repository and the folders of -I alone. */
#include "init/internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

const struct init_file *init_place(const struct init_source *s, size_t at, int *line, int *col)
{
    const struct init_file *f = NULL;

    *line = *col = 1;
    for (size_t i = 0; i < s->files.n && !f; i++) {
        if (at >= s->files.v[i]->base && at <= s->files.v[i]->base + s->files.v[i]->len)
            f = s->files.v[i];
    }
    if (!f)
        return NULL;
    for (const char *p = f->text; p < f->text + (at - f->base); p++) {
        *line += *p == '\n';
        *col = *p == '\n' ? 1 : *col + 1;
    }
    return f;
}

void init_fail(struct init_source *s, size_t at, const char *fmt, ...)
{
    char text[1600];
    int line, col;
    va_list ap;
    const struct init_file *f = init_place(s, at, &line, &col);

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (f)
        err_at(&s->trap.err, f->path, line, col, "%s", text);
    else
        err_input(&s->trap.err, "%s", text);
    longjmp(s->trap.jump, 1);
}

static bool is_root(struct arena *a, const char *dir, bool *git)
{
    static const char *const marks[] = {"setup.py",  "pyproject.toml", "CMakeLists.txt", "Makefile",
                                        "README.md", "LICENSE",        "LICENSE.txt",    "README.rst"};

    *git = fs_exists(fs_join(a, dir, ".git"));
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (fs_exists(fs_join(a, dir, marks[i])))
            return true;
    }
    return *git;
}

/* The nearest folder above that git keeps; else the farthest that looks like a project's; else the file's own.
 */
static const char *find_root(struct arena *a, const char *real)
{
    const char *dir = fs_dirname(a, real), *root = dir, *home = getenv("HOME");

    for (int i = 0; i < 12 && strcmp(dir, "/") != 0 && !str_eq(dir, home); i++) {
        bool git;

        if (is_root(a, dir, &git))
            root = dir;
        if (git)
            break;
        dir = fs_dirname(a, dir);
    }
    return root;
}

static bool allowed(const struct init_source *s, const char *real)
{
    bool yes = fs_below(real, s->root);

    for (size_t i = 0; i < s->dirs.n; i++)
        yes |= fs_below(real, s->dirs.v[i]);
    return yes;
}

struct init_file *init_open(struct init_source *s, const char *path, const char *shown, size_t from)
{
    struct init_file *f = arena_new(s->arena, struct init_file);
    char real[PATH_MAX];
    struct stat st;
    char *text;
    struct err err;

    if (!realpath(path, real) || stat(real, &st) != 0)
        init_fail(s, from, "%s: %s", shown, strerror(errno));
    if (!S_ISREG(st.st_mode))
        init_fail(s, from, "%s is no file; name a .cu or .cuh file%s", shown,
                  S_ISDIR(st.st_mode) ? " in this folder" : "");
    if (!s->root)
        s->root = find_root(s->arena, fs_absolute(s->arena, path));
    if (!allowed(s, real))
        init_fail(s, from, "%s leads to %s, out of the repository %s; allow its folder with -I", shown, real,
                  s->root);
    for (size_t i = 0; i < s->files.n; i++) {
        if (strcmp(s->files.v[i]->real, real) == 0)
            return s->files.v[i];
    }
    if (st.st_size > INIT_MAX_FILE_BYTES)
        init_fail(s, from, "%s has %lld bytes; files of up to %d are read", shown, (long long)st.st_size,
                  INIT_MAX_FILE_BYTES);
    if (s->files.n >= INIT_MAX_FILES)
        init_fail(s, from, "%s and its headers are more than %d files", s->files.v[0]->path, INIT_MAX_FILES);
    if (!fs_read(s->arena, real, &text, &f->len, &err))
        init_fail(s, from, "%s", err.text);
    if (memchr(text, '\0', f->len))
        init_fail(s, from, "%s has bytes that are no text", shown);
    f->real = arena_strdup(s->arena, real);
    f->path = fs_below(real, s->root) && strcmp(real, s->root) != 0
                  ? arena_strdup(s->arena, real + strlen(s->root) + (s->root[strlen(s->root) - 1] != '/'))
                  : f->real;
    if (str_starts(text, "\xef\xbb\xbf")) /* a byte order mark */
        memset(text, ' ', 3);
    f->text = text;
    f->base = s->next_base;
    s->next_base += f->len + 2;
    vec_add(s->arena, &s->files, f);
    return f;
}

/* Libraries whose headers are not read: what of them a kernel needs is known by name (share/init). */
bool init_is_foreign(const char *name)
{
    static const char *const folders[] = {"torch/",   "ATen/", "c10/",     "caffe2/", "pybind11/",
                                          "cutlass/", "cute/", "cub/",     "thrust/", "cuda/",
                                          "nv/",      "hip/",  "rocprim/", "hipcub/"};

    if (str_starts(name, "cuda/") && strchr(name, '.')) /* none of the toolkit's has an ending */
        return false;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        if (str_starts(name, folders[i]))
            return true;
    }
    return system_header(name, strlen(name));
}

static struct init_file *try(struct init_source *s, const char *dir, const char *name, size_t from)
{
    const char *path = fs_join(s->arena, dir, name);
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? init_open(s, path, name, from) : NULL;
}

static bool is_source(const char *name)
{
    static const char *const ends[] = {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".cu.h"};
    bool is = false;

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        is |= str_ends(name, ends[i]);
    return is;
}

/* The source files below a folder of the repository; links are not followed. */
static void index_folder(struct init_source *s, const char *dir, int depth)
{
    DIR *d = depth < 12 ? opendir(dir) : NULL;
    const struct dirent *e;

    while (d && (e = readdir(d)) && s->index.n < INIT_MAX_INDEX) {
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR)
            index_folder(s, fs_join(s->arena, dir, e->d_name), depth + 1);
        else if (e->d_type == DT_REG && is_source(e->d_name))
            vec_add(s->arena, &s->index, fs_join(s->arena, dir, e->d_name));
    }
    if (d)
        closedir(d);
}

static void make_index(struct init_source *s)
{
    if (!s->indexed)
        index_folder(s, s->root, 0);
    s->indexed = true;
}

static size_t common(const char *a, const char *b)
{
    size_t n = 0, last = 0;

    for (; a[n] && a[n] == b[n]; n++)
        last = a[n] == '/' ? n : last;
    return last;
}

/* The repository's file whose path ends in the name: of several the nearest to the file that includes it. */
static struct init_file *nearest(struct init_source *s, const struct init_file *by, const char *name,
                                 size_t from)
{
    const char *best = NULL, *end;

    while (str_starts(name, "../") || str_starts(name, "./"))
        name = strchr(name, '/') + 1;
    end = arena_printf(s->arena, "/%s", name);
    make_index(s);
    for (size_t i = 0; i < s->index.n; i++) {
        if (str_ends(s->index.v[i], end) && (!best || common(s->index.v[i], by->real) > common(best, by->real)))
            best = s->index.v[i];
    }
    return best ? init_open(s, best, name, from) : NULL;
}

size_t init_saying(struct init_source *s, const char *kernel, const char *also, const char * or,
                   const char **paths, size_t most)
{
    size_t n = 0;

    make_index(s);
    for (size_t i = 0; i < s->index.n && n < most; i++) {
        struct arena *a = arena_open();
        bool known = false;
        char *text;

        for (size_t k = 0; k < s->files.n; k++)
            known |= strcmp(s->files.v[k]->real, s->index.v[i]) == 0;
        if (!known && fs_read(a, s->index.v[i], &text, NULL, NULL) && strstr(text, kernel) &&
            (strstr(text, also) || strstr(text, or)))
            paths[n++] = s->index.v[i];
        arena_close(a);
    }
    return n;
}

struct init_file *init_find(struct init_source *s, const struct init_file *by, const char *name, bool quoted,
                            size_t from)
{
    static const char *const beside[] = {"", "include", "csrc", "src", "csrc/include", "Common"};
    const char *dir = fs_dirname(s->arena, by->real);
    struct init_file *f = NULL;

    if (name[0] == '/')
        return NULL;
    if (quoted && (f = try(s, dir, name, from)))
        return f;
    if (init_is_foreign(name))
        return NULL;
    for (size_t i = 0; i < s->dirs.n && !f; i++)
        f = try(s, s->dirs.v[i], name, from);
    for (; !f && fs_below(dir, s->root); dir = fs_dirname(s->arena, dir)) {
        for (size_t i = 0; i < ARRAY_LEN(beside) && !f; i++)
            f = try(s, fs_join(s->arena, dir, beside[i]), name, from);
        if (strcmp(dir, s->root) == 0)
            break;
    }
    return f ? f : nearest(s, by, name, from);
}

static void add_dir(struct init_source *s, const char *dir)
{
    char real[PATH_MAX];

    if (realpath(dir, real) && fs_is_dir(real))
        vec_add(s->arena, &s->dirs, arena_strdup(s->arena, real));
}

/* The words of a command as a shell parts them; nothing is expanded. */
static json_t *words_of(const char *command)
{
    json_t *list = json_array();
    struct str word = {0};
    char quote = 0;

    for (const char *p = command;; p++) {
        if (*p == '\0' || (!quote && strchr(" \t\n", *p))) {
            if (word.len)
                json_array_append_new(list, json_string(str_text(&word)));
            str_clear(&word);
            if (*p == '\0')
                break;
        } else if (*p == quote) {
            quote = 0;
        } else if (!quote && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else {
            str_addc(&word, *p == '\\' && p[1] && quote != '\'' ? *++p : *p);
        }
    }
    str_free(&word);
    return list;
}

/* -I, -isystem, -D and -U of a command, its folders taken from `dir` on. */
static void add_command(struct init_source *s, const json_t *words, const char *dir)
{
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i)), *value = word ? word + 2 : NULL;
        const bool system = str_eq(word, "-isystem");

        if (!word || !(system || str_starts(word, "-I") || str_starts(word, "-D") || str_starts(word, "-U")))
            continue;
        if (system || !*value)
            value = json_string_value(json_array_get(words, ++i));
        if (!value)
            break;
        if (system || word[1] == 'I')
            add_dir(s, fs_join(s->arena, dir, value));
        else
            vec_add(s->arena, &s->flags, arena_printf(s->arena, "-%c%s", word[1], value));
    }
}

static void read_commands(struct init_source *s, const struct init_options *o)
{
    char *text, own[PATH_MAX], real[PATH_MAX];
    size_t len, i;
    json_t *list, *entry;
    struct err *err = &s->trap.err;
    bool found = false, known;

    if (!fs_read(s->arena, o->compile_commands, &text, &len, err) ||
        !(list = json_parse(text, len, o->compile_commands, err)))
        longjmp(s->trap.jump, 1);
    known = realpath(o->path, own) != NULL;
    json_array_foreach(list, i, entry)
    {
        const char *dir = json_text(entry, "directory", "."), *command = json_text(entry, "command", NULL);
        json_t *words;

        if (!known || !realpath(fs_join(s->arena, dir, json_text(entry, "file", "")), real) ||
            strcmp(real, own) != 0)
            continue;
        words = command ? words_of(command) : json_incref(json_object_get(entry, "arguments"));
        add_command(s, words, dir);
        json_decref(words);
        found = true;
        break;
    }
    json_decref(list);
    if (!found)
        init_fail(s, SIZE_MAX, "%s has no command for %s; give its -I and -D here", o->compile_commands,
                  o->path);
}

void init_flags(struct init_source *s, const struct init_options *o)
{
    if (o->compile_commands)
        read_commands(s, o);
    for (size_t i = 0; i < o->n_flags; i++) {
        if (!str_starts(o->flags[i], "-I")) {
            vec_add(s->arena, &s->flags, o->flags[i]);
            continue;
        }
        if (!fs_is_dir(o->flags[i] + 2))
            init_fail(s, SIZE_MAX, "-I %s: there is no such folder", o->flags[i] + 2);
        add_dir(s, o->flags[i] + 2);
    }
}
