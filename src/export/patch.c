/* The patch as git writes it: paths from the top of the repository that the original lies in, or from the
 * task's folder where there is none. */
#include "internal.h"
#include "tree.h"

/* Where the original lay when the run began; NULL when the folder came without its store. */
static char *original_path(const struct export_run *r, struct arena *a)
{
    const char *source = json_text(r->bundle.provenance, "source", "");
    struct store_run run;

    return export_stored(r, a, &run) ? fs_join(a, run.task_dir, source) : NULL;
}

/* The folder above path that holds .git; NULL: none. */
static char *repository(struct arena *a, const char *path)
{
    char *dir = fs_dirname(a, path);

    while (!fs_exists(fs_join(a, dir, ".git"))) {
        if (str_eq(dir, "/") || str_eq(dir, "."))
            return NULL;
        dir = fs_dirname(a, dir);
    }
    return dir;
}

/* A name as git writes it: what is not plain ASCII in quotes, by octal numbers. */
static char *quoted(struct arena *a, const char *side, const char *name)
{
    struct str s = {0};
    bool plain = true;

    for (const char *p = name; *p; p++)
        plain &= *p >= ' ' && *p < 0x7f && *p != '"' && *p != '\\';
    str_addf(&s, "%s%s/", plain ? "" : "\"", side);
    for (const char *p = name; *p; p++)
        if (*p == '"' || *p == '\\')
            str_addf(&s, "\\%c", *p);
        else if (*p >= ' ' && *p < 0x7f)
            str_addc(&s, *p);
        else
            str_addf(&s, "\\%03o", (unsigned char)*p);
    if (!plain)
        str_addc(&s, '"');
    return str_take(&s, a);
}

/* git ends a name that has a blank in it with a tab, so that no reader takes the rest for a date. */
static const char *label(struct arena *a, const char *name)
{
    return name[0] != '"' && strchr(name, ' ') ? arena_printf(a, "%s\t", name) : name;
}

/* What git takes for a message: no line of it looks like a patch's. */
static char *preamble(const struct export_run *r, struct arena *a)
{
    struct str s = {0};
    struct facts f;

    facts_read(&f, r, a);
    str_addf(&s, "%s\n\n", f.title);
    for (size_t i = 0; i < f.list.n; i++)
        str_addf(&s, "%-9s %s\n", f.list.v[i].name, f.list.v[i].text);
    str_addc(&s, '\n');
    return str_take(&s, a);
}

static const char *one_file(struct arena *a, const char *name, const char *was, const char *now)
{
    const char *old = quoted(a, "a", name), *new = quoted(a, "b", name);

    return arena_printf(a, "diff --git %s %s\n%s", old, new,
                        diff_unified(a, label(a, old), was, label(a, new), now));
}

/* Conditions that a caller may break: not that there is something at all. */
static const char *const *guards(const struct task *t, struct arena *a, size_t *n)
{
    VEC(const char *) list = {0};

    for (size_t i = 0; i < t->n_domain; i++) {
        const char *text = dim_text(t->domain[i]);

        if (!str_ends(text, ">= 1") && !str_ends(text, ">= 0") && !str_ends(text, "> 0"))
            vec_add(a, &list, text);
    }
    *n = list.n;
    return list.v;
}

/* Of a task that init made: against the framework's files, and the words for its pull request. */
static bool make_tree_patch(const struct export_run *r, const char *origin, struct export_files *out,
                            struct err *err)
{
    struct arena *a = out->arena;
    const char *source = fs_basename(r->bundle.task->source_path), *const * conditions;
    struct str patch = {.arena = a};
    struct tree t;
    size_t n;

    conditions = guards(r->bundle.task, a, &n);
    if (!tree_open(&t, a, origin, r->tree, err) ||
        !tree_place(&t, &(struct tree_version){source, r->bundle.original},
                    &(struct tree_version){source, r->bundle.judged}, err))
        return false;
    tree_guard(&t, conditions, n);
    str_add(&patch, preamble(r, a));
    for (size_t i = 0; i < t.files.n; i++) {
        const struct tree_file *f = &t.files.v[i];

        if (f->edits.list.n)
            str_add(&patch, one_file(a, f->path, f->text, edits_apply(&f->edits, a, f->text, strlen(f->text))));
    }
    export_add(out, "best.patch", str_take(&patch, a));
    export_add(out, "best.md", pull_text(r, a, t.kernel, t.words.v, t.words.n));
    str_addf(&patch, "git -C %s apply FILE takes it in", t.root);
    for (size_t i = 0; i < t.words.n; i++)
        str_addf(&patch, "\n%s", t.words.v[i]);
    out->note = str_take(&patch, a);
    return true;
}

bool make_patch(const struct export_run *r, struct export_files *out, struct err *err)
{
    struct arena *a = out->arena;
    const char *name = json_text(r->bundle.provenance, "source", ""), *top = NULL;
    char *path, *now;
    struct err why = {0};

    if (json_object_get(json_object_get(r->bundle.provenance, "files"), "origin.json"))
        return fs_read(a, fs_join(a, r->bundle.folder, "task/origin.json"), &now, NULL, err) &&
               make_tree_patch(r, now, out, err);
    if (r->tree)
        return err_input(err, "--tree: the task was not made by `astra init`, so it belongs to no tree");
    path = original_path(r, a);
    if (path)
        top = repository(a, path);
    if (top)
        name = path + strlen(top) + !str_eq(top, "/");
    if (!path || !fs_exists(path))
        out->note =
            arena_printf(a,
                         "the original is not where it was when the run began; the patch is for %s, seen "
                         "from the task's folder",
                         name);
    else if (!fs_read(a, path, &now, NULL, &why) || !str_eq(now, r->bundle.original))
        out->note = arena_printf(a, "%s changed since the run began; the patch may not apply", path);
    else
        out->note = arena_printf(a, "git -C %s apply FILE takes it in", top ? top : fs_dirname(a, path));
    export_add(out, "best.patch",
               arena_printf(a, "%s%s", preamble(r, a), one_file(a, name, r->bundle.original, r->bundle.best)));
    return true;
}
