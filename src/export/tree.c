/* Device code back at its place. A declaration of the version is the original's of the same scope and name; its
 * lines replace those that changed, in the file that #line names. Lines that init left out of the original
 * (dead branches) stay in the file. */
#include "tree.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { MAX_FILE = 8 << 20 };

struct item { /* a declaration, directive or the like outside of functions */
    const char *key, *scope, *cond;
    size_t start, end;
    struct node node;
    bool include;
    struct tree_file *file; /* of the original's: where it stands; NULL: nowhere */
    size_t at, until;       /* bytes in it */
};

struct items {
    struct arena *arena;
    const struct source *source;
    VEC(struct item) list;
};

void tree_say(struct tree *t, const char *fmt, ...)
{
    struct str s = {.arena = t->arena};
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    vec_add(t->arena, &t->words, (const char *)str_take(&s, t->arena));
}

const char *tree_last(const char *qualified)
{
    const char *colon = strrchr(qualified, ':');

    return colon ? colon + 1 : qualified;
}

bool tree_same(struct arena *a, const char *x, const char *y)
{
    return str_eq(kernel_normalise(a, x, strlen(x)), kernel_normalise(a, y, strlen(y)));
}

/* ---- the framework's files ---- */

static bool read_file(struct tree *t, const json_t *o, struct err *err)
{
    const char *path = arena_strdup(t->arena, json_text(o, "path", ""));
    char real[PATH_MAX], hex[65];
    struct tree_file f = {.path = path, .edits = {.arena = t->arena}};
    size_t n;

    if (!*path || path[0] == '/')
        return err_input(err, "origin.json names the file '%s', which is not below the tree's root", path);
    if (!realpath(fs_join(t->arena, t->root, path), real))
        return err_input(err, "%s/%s: %s; --tree DIR names the framework's tree", t->root, path,
                         strerror(errno));
    if (!fs_below(real, t->root) || str_eq(real, t->root))
        return err_input(err, "%s/%s leads out of the tree; nothing outside of it is patched", t->root, path);
    if (!fs_read(t->arena, real, &f.text, &n, err))
        return false;
    hash_sha256_hex(f.text, n, hex);
    if (n > MAX_FILE || strlen(f.text) != n || !str_eq(hex, json_text(o, "sha256", "")))
        return err_input(err,
                         "%s/%s is not what `astra init` read (another SHA-256): check out the commit that the "
                         "task was made from, or make the task anew",
                         t->root, path);
    vec_add(t->arena, &t->files, f);
    return true;
}

bool tree_open(struct tree *t, struct arena *a, const char *origin, const char *root, struct err *err)
{
    json_t *o = json_parse(origin, strlen(origin), "origin.json", err);
    const json_t *file;
    const char *named;
    char real[PATH_MAX];
    bool ok = true;
    size_t i;

    *t = (struct tree){.arena = a};
    if (!o)
        return false;
    named = root ? root : json_text(o, "root", "");
    if (!realpath(named, real) || !fs_is_dir(real)) {
        json_decref(o);
        return err_input(err, "%s: no such folder; --tree DIR names the framework's tree", named);
    }
    t->root = arena_strdup(a, real);
    t->kernel = arena_strdup(a, json_text(o, "kernel", ""));
    t->entry = arena_strdup(a, json_text(o, "entry", ""));
    json_array_foreach(json_object_get(o, "files"), i, file) ok = ok && read_file(t, file, err);
    json_decref(o);
    return ok && (t->files.n || err_input(err, "origin.json names no file"));
}

/* ---- what a text declares ---- */

static const char *name_of(struct items *l, struct node n)
{
    for (int depth = 0; node_ok(n) && depth < 20; depth++) {
        struct node next = node_field(n, FIELD_DECLARATOR);

        if (node_is(n, NODE_TEMPLATE_DECLARATION))
            next = node_child(n, node_count(n) - 1);
        else if (!node_ok(next))
            next = node_field(n, FIELD_NAME);
        if (!node_ok(next) && node_is(n, NODE_DECLARATION))
            next = node_field(n, FIELD_TYPE);
        if (!node_ok(next))
            return depth ? node_text(l->arena, l->source, n) : NULL;
        n = next;
    }
    return NULL;
}

static void add_item(struct items *l, struct node n, const char *scope, const char *cond)
{
    const char *text = source_text(l->source), *name = name_of(l, n);
    struct item x = {.scope = scope,
                     .cond = cond,
                     .node = n,
                     .start = node_start(n),
                     .end = node_end(n),
                     .include = node_is(n, NODE_PREPROC_INCLUDE)};
    const char *own = node_text(l->arena, l->source, n);
    size_t same = 0;

    if (str_starts(own, "#line"))
        return;
    while (x.end > x.start && text[x.end - 1] == '\n') /* of a directive */
        x.end--;
    if (text[x.end] == ';')
        x.end++;
    if (!name)
        name = kernel_normalise(l->arena, own, strlen(own));
    x.key = arena_printf(l->arena, "%s%s", scope, name);
    for (size_t i = 0; i < l->list.n; i++) { /* overloads, in their order */
        const char *other = l->list.v[i].key;
        size_t len = strlen(x.key);

        same += strncmp(other, x.key, len) == 0 && (other[len] == '\0' || other[len] == '#');
    }
    if (same)
        x.key = arena_printf(l->arena, "%s#%zu", x.key, same);
    vec_add(l->arena, &l->list, x);
}

static void add_items(struct items *l, struct node n, const char *scope, const char *cond)
{
    for (uint32_t i = 0, all = node_count(n); i < all; i++) {
        struct node c = node_child(n, i), body = node_field(c, FIELD_BODY);

        if (node_is(c, NODE_NAMESPACE_DEFINITION)) {
            struct node name = node_field(c, FIELD_NAME);

            add_items(l, body,
                      arena_printf(l->arena, "%s%s::", scope,
                                   node_ok(name) ? node_text(l->arena, l->source, name) : "{}"),
                      cond);
        } else if (node_is(c, NODE_LINKAGE_SPECIFICATION) && str_eq(node_word(body), "declaration_list")) {
            add_items(l, body, scope, cond);
        } else if (node_is(c, NODE_LINKAGE_SPECIFICATION) && node_ok(body)) {
            add_item(l, body, scope, cond);
            l->list.v[l->list.n - 1].start = node_start(c);
        } else if (node_is(c, NODE_PREPROC_IF) || node_is(c, NODE_PREPROC_IFDEF)) {
            const char *text = node_text(l->arena, l->source, c);

            add_items(l, c, scope, arena_strndup(l->arena, text, strcspn(text, "\n")));
        } else if (!node_is(c, NODE_COMMENT) && node_end(c) > node_start(c) &&
                   !node_same(c, node_field(n, FIELD_CONDITION)) && !node_same(c, node_field(n, FIELD_NAME)) &&
                   !str_eq(node_text(l->arena, l->source, c), ";")) {
            add_item(l, c, scope, cond);
        }
    }
}

static struct item *find(const struct items *l, const char *key)
{
    for (size_t i = 0; i < l->list.n; i++)
        if (str_eq(l->list.v[i].key, key))
            return &l->list.v[i];
    return NULL;
}

/* ---- where the original's stand ---- */

/* Does the file's line say what the original's says, or something where that is left blank? */
static bool line_fits(const struct diff_line *own, const struct diff_line *file)
{
    if (own->len == file->len && memcmp(own->text, file->text, own->len) == 0)
        return true;
    if (own->len != file->len)
        return false;
    for (size_t i = 0; i < own->len; i++)
        if (own->text[i] != file->text[i] && own->text[i] != ' ')
            return false;
    return true;
}

/* The item's bytes in the file that #line names; it stays nowhere when the words are not the file's. */
static void locate(struct tree *t, const struct items *l, struct item *x, const char *self)
{
    const char *text = source_text(l->source);
    const struct diff_line *own, *there;
    struct line_origin o;
    size_t at = 0, col = x->start - str_line_start(text, x->start), n = x->end - x->start;
    struct tree_file *f = NULL;

    if (!origin_find(&o, t->arena, text, node_line(l->source, x->node), self))
        return;
    for (size_t i = 0; i < t->files.n; i++)
        if (str_eq(t->files.v[i].path, o.file))
            f = &t->files.v[i];
    for (int line = 1; f && line < o.line; line++) {
        const char *end = strchr(f->text + at, '\n');

        if (!end)
            return;
        at = (size_t)(end + 1 - f->text);
    }
    if (!f || at + col + n > strlen(f->text))
        return;
    at += col;
    size_t n_own = diff_lines(t->arena, arena_strndup(t->arena, text + x->start, n), &own),
           n_there = diff_lines(t->arena, arena_strndup(t->arena, f->text + at, n), &there);
    for (size_t i = 0; i < n_own; i++)
        if (n_own != n_there || !line_fits(&own[i], &there[i]))
            return;
    x->file = f;
    x->at = at;
    x->until = at + n;
}

/* ---- what the version changes ---- */

static void add_line(struct str *s, const struct diff_line *line)
{
    str_addn(s, line->text, line->len);
    str_addc(s, '\n');
}

static bool is_blank(const struct diff_line *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (line->text[i] != ' ' && line->text[i] != '\r')
            return false;
    return true;
}

/* The file's lines with what `now` changed of `was`; NULL: a line that the original has in part only changed.
 */
static char *merged(struct arena *a, const char *was, const char *file, const char *now)
{
    const struct diff_line *w, *f, *y;
    size_t n = diff_lines(a, was, &w), m = diff_lines(a, now, &y), j = 0;
    const int *match = diff_match(a, w, n, y, m);
    struct str s = {.arena = a};
    char *out;

    diff_lines(a, file, &f);
    for (size_t i = 0; i < n; i++) {
        bool whole = w[i].len == f[i].len && memcmp(w[i].text, f[i].text, w[i].len) == 0;

        if (match[i] >= 0) {
            for (; j < (size_t)match[i]; j++)
                add_line(&s, &y[j]);
            j++;
            add_line(&s, &f[i]);
        } else if (!whole) {
            if (!is_blank(&w[i]))
                return NULL;
            add_line(&s, &f[i]);
        }
    }
    for (; j < m; j++)
        add_line(&s, &y[j]);
    out = str_take(&s, a);
    if (*out)
        out[strlen(out) - 1] = '\0'; /* it ends within a line */
    return out;
}

static char *cut(struct arena *a, const struct items *l, size_t start, size_t end)
{
    return arena_strndup(a, source_text(l->source) + start, end - start);
}

static int file_line(const struct tree_file *f, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += f->text[i] == '\n';
    return line;
}

static bool replace(struct tree *t, const struct items *was, const struct item *x, const struct items *now,
                    const struct item *y, struct err *err)
{
    struct arena *a = t->arena;
    char *old = cut(a, was, x->start, x->end), *new = cut(a, now, y->start, y->end), *text;

    if (str_eq(old, new))
        return true;
    if (!x->file)
        return err_input(err,
                         "%s cannot be placed: the task's source does not have the words of the file that init "
                         "read it from",
                         x->key);
    if (!str_eq(x->cond, y->cond) && x->cond && y->cond)
        return err_input(err,
                         "%s/%s:%d: %s stands under `%s` there and under `%s` in the version: place it by hand",
                         t->root, x->file->path, file_line(x->file, x->at), x->key, x->cond, y->cond);
    text = merged(a, old, arena_strndup(a, x->file->text + x->at, x->until - x->at), new);
    if (!text || !edits_try(&x->file->edits, x->at, x->until, text))
        return err_input(err,
                         "%s/%s:%d: %s cannot be placed: the version changes lines of which init read a part "
                         "only",
                         t->root, x->file->path, file_line(x->file, x->at), x->key);
    if (!str_eq(x->key, t->kernel))
        tree_say(t, "%s in %s:%d changes too; other code that uses it was not judged.", x->key, x->file->path,
                 file_line(x->file, x->at));
    return true;
}

/* The line above which something new may stand: above the comment of what stands at `at`. */
static size_t above(const char *text, size_t at)
{
    at = str_line_start(text, at);
    while (at > 0) {
        size_t before = str_line_start(text, at - 1), p = before;

        while (text[p] == ' ' || text[p] == '\t')
            p++;
        if (strncmp(text + p, "//", 2) != 0 && strncmp(text + p, "/*", 2) != 0 && text[p] != '*')
            break;
        at = before;
    }
    return at;
}

/* Behind the last #include above `at` that stands under no condition but a header's guard. */
static size_t behind_includes(const char *text, size_t at)
{
    size_t place = 0, directives = 0;
    int depth = 0, guard = 0;

    for (size_t p = 0; p < at;) {
        size_t end = p + strcspn(text + p, "\n"), q = p + strspn(text + p, " \t");

        end += text[end] == '\n';
        if (text[q] == '#') {
            const char *word = text + q + 1 + strspn(text + q + 1, " \t");

            depth += str_starts(word, "if") - str_starts(word, "endif");
            if (directives == 0)
                guard = str_starts(word, "ifndef");
            if ((str_starts(word, "include") && depth <= guard) ||
                (str_starts(word, "pragma once") && place == 0) ||
                (directives == 1 && guard && str_starts(word, "define")))
                place = end;
            directives++;
        }
        p = end;
    }
    return place;
}

static void include(struct tree *t, const struct item *kernel, const char *line)
{
    struct tree_file *f = kernel->file;

    if (!strstr(f->text, strpbrk(line, "<\"") ? strpbrk(line, "<\"") : line))
        edits_insert(&f->edits, behind_includes(f->text, kernel->at), arena_printf(t->arena, "%s\n", line));
}

/* With the comments right before it. */
static size_t with_comments(const struct items *l, const struct item *x)
{
    size_t start = x->start;

    for (struct node n = node_prev(x->node); node_is(n, NODE_COMMENT); n = node_prev(n)) {
        if (strspn(source_text(l->source) + node_end(n), " \t\r\n") != start - node_end(n))
            break;
        start = node_start(n);
    }
    return start;
}

/* Of no namespace, where all of the version that init read stands in one: behind the includes of the kernel's
 * file. */
static bool insert_on_top(struct tree *t, const struct items *was, const struct items *now,
                          const struct item *y, const char *text)
{
    const struct item *kernel = find(was, t->kernel), *read = NULL;

    for (size_t k = 0; k < now->list.n && !(read && read->file); k++)
        read = find(was, now->list.v[k].key);
    if (*y->scope || !read || !read->file)
        return false;
    edits_insert(&kernel->file->edits, behind_includes(kernel->file->text, kernel->at),
                 arena_printf(t->arena, "\n%s\n", text));
    return true;
}

static bool insert(struct tree *t, const struct items *was, const struct items *now, size_t i, struct err *err)
{
    const struct item *y = &now->list.v[i], *at = NULL;
    bool behind = false;
    size_t place;
    char *text;

    for (size_t k = i + 1; k < now->list.n && !at; k++) {
        const struct item *x = find(was, now->list.v[k].key);

        if (x && x->file && str_eq(x->scope, y->scope))
            at = x;
    }
    for (size_t k = i; k > 0 && !at; k--) {
        const struct item *x = find(was, now->list.v[k - 1].key);

        if (x && x->file && str_eq(x->scope, y->scope)) {
            at = x;
            behind = true;
        }
    }
    text = cut(t->arena, now, with_comments(now, y), y->end);
    if (y->cond)
        text = arena_printf(t->arena, "%s\n%s\n#endif", y->cond, text);
    if (!at)
        return insert_on_top(t, was, now, y, text) ||
               err_input(err, "%s is new, and nothing that init read stands in its namespace: place it by hand",
                         y->key);
    text = arena_printf(t->arena, behind ? "\n\n%s" : "%s\n\n", text);
    place = behind ? at->until : above(at->file->text, at->at);
    if (!edits_try(&at->file->edits, place, place, text))
        return err_input(err, "%s is new, and its place in %s changes too: place it by hand", y->key,
                         at->file->path);
    return true;
}

static bool place_all(struct tree *t, const struct items *was, const struct items *now, struct err *err)
{
    const struct item *kernel = find(was, t->kernel);
    const char *last = tree_last(t->kernel);

    for (size_t i = 0; !kernel && i < was->list.n; i++) /* in a namespace without a name */
        if (str_eq(tree_last(was->list.v[i].key), last) && was->list.v[i].file)
            kernel = &was->list.v[i];
    if (!kernel || !kernel->file)
        return err_input(
            err, "%s cannot be placed: the task's source is not what init wrote of it; make the task anew",
            t->kernel);
    t->kernel = kernel->key;
    for (size_t i = 0; i < now->list.n; i++) {
        const struct item *y = &now->list.v[i], *x = find(was, y->key);
        bool launcher = str_eq(y->key, t->entry) && x && !x->file;

        if (launcher)
            tree_place_launch(t, &(struct tree_launcher){was->source, now->source, x->node, y->node});
        else if (x ? !replace(t, was, x, now, y, err) : !y->include && !insert(t, was, now, i, err))
            return false;
        if (!x && y->include)
            include(t, kernel, cut(t->arena, now, y->start, y->end));
    }
    for (size_t i = 0; i < was->list.n; i++) {
        const struct item *x = &was->list.v[i];

        if (x->file && !find(now, x->key))
            tree_say(t, "%s stays in %s:%d; the version does not use it.", x->key, x->file->path,
                     file_line(x->file, x->at));
    }
    return true;
}

bool tree_place(struct tree *t, const struct tree_version *was, const struct tree_version *now, struct err *err)
{
    struct items w = {.arena = t->arena}, y = {.arena = t->arena};
    struct source *ws = NULL, *ys = NULL;
    bool ok = source_open(&ws, was->path, was->text, strlen(was->text), err) &&
              source_open(&ys, now->path, now->text, strlen(now->text), err);

    if (ok) {
        w.source = ws;
        y.source = ys;
        add_items(&w, source_root(ws), "", NULL);
        add_items(&y, source_root(ys), "", NULL);
        for (size_t i = 0; i < w.list.n; i++)
            locate(t, &w, &w.list.v[i], fs_basename(was->path));
        ok = place_all(t, &w, &y, err);
    }
    source_close(ws);
    source_close(ys);
    return ok;
}
