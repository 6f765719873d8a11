/* The targets, and what all of them ask of a run first. */
#include "internal.h"

static const struct export_target targets[] = {
    {"cuda", "the .cu file with its launcher, formatted, with the evidence as its first comment", false,
     make_cuda},
    {"patch", "a git patch against the original file", false, make_patch},
    {"torch", "a PyTorch extension: operators, their build, their test against the original", true, make_torch},
    {"flashinfer-bench",
     "a dataset of flashinfer-bench: definition, workloads, solution, traces of what was measured", true,
     make_flashinfer},
};

const struct export_target *export_targets(size_t *n)
{
    *n = ARRAY_LEN(targets);
    return targets;
}

const struct export_target *export_target_find(const char *name, struct err *err)
{
    const char *names[ARRAY_LEN(targets) + 1] = {NULL}, *near;
    struct str known = {0};

    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        if (str_eq(targets[i].name, name))
            return &targets[i];
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        names[i] = targets[i].name;
        str_addf(&known, "%s%s", i ? ", " : "", targets[i].name);
    }
    near = str_nearest(name, names);
    err_input(err, "nothing is exported to '%s'%s%s%s; there are %s", name, near ? "; did you mean " : "",
              near ? near : "", near ? "?" : "", known.s);
    str_free(&known);
    return NULL;
}

/* A run that has a store and no result yet, or one that was stopped before its best was looked at on hidden
 * cases. */
static bool unfinished(const struct export_run *r, const char *how, struct err *err)
{
    return err_input(err, "the run %s %s: `astra resume %s` goes on with it", r->path, how, r->path);
}

bool export_open(struct export_run *r, struct arena *a, const char *path, struct err *err)
{
    const json_t *result, *broken;
    const char *status;

    *r = (struct export_run){.path = path};
    if (fs_exists(fs_join(a, path, "run.db")) && !fs_exists(fs_join(a, path, "result.json")))
        return unfinished(r, "has no result yet", err);
    if (!report_bundle_open(&r->bundle, a, path, err))
        return false;
    result = r->bundle.result;
    broken = json_array_get(r->bundle.broken, 0);
    if (broken)
        return err_world(err, "%s: %s; nothing is exported of it (`astra verify` says more)", path,
                         json_string_value(broken));
    r->improved = str_eq(json_text(result, "outcome", ""), "improved");
    status = json_text(result, "status", "");
    if (str_eq(status, "interrupted") || str_eq(status, "failed"))
        return unfinished(r, "was stopped before its end", err);
    if (r->improved && json_int(json_object_get(result, "verification"), "hidden", 0) == 0)
        return unfinished(r, "ended before its best was judged on hidden cases", err);
    return true;
}

void export_close(struct export_run *r)
{
    report_bundle_close(&r->bundle);
}

void export_add(struct export_files *out, const char *name, const char *text)
{
    vec_add(out->arena, &out->list, ((struct export_file){name, text}));
}

char *export_kernel(const struct export_run *r, struct arena *a)
{
    struct facts f;
    char *text;

    facts_read(&f, r, a);
    text = arena_printf(a, "%s%s", facts_comment(&f, a, NULL), r->bundle.judged);
    return text;
}

bool export_headers(const struct export_run *r, const char *folder, struct export_files *out, struct err *err)
{
    const struct task *t = r->bundle.task;

    for (size_t i = 0; i < t->n_headers; i++) {
        char *text;
        if (!fs_read(out->arena, fs_join(out->arena, t->dir, t->headers[i]), &text, NULL, err))
            return false;
        export_add(out, folder ? fs_join(out->arena, folder, t->headers[i]) : t->headers[i], text);
    }
    return true;
}

bool export_stored(const struct export_run *r, struct arena *a, struct store_run *run)
{
    struct store *s = NULL;
    bool ok = fs_exists(fs_join(a, r->bundle.folder, "run.db")) &&
              store_open(&s, r->bundle.folder, false, NULL) && store_get_run(s, a, run, NULL);

    store_close(s);
    return ok;
}

/* "out/x.md" of "out/x.patch" and "best.md". */
static const char *beside(struct arena *a, const char *to, const char *name)
{
    const char *dot = strrchr(fs_basename(to), '.'), *end = strrchr(name, '.');

    return arena_printf(a, "%.*s%s", (int)(dot ? dot - to : (ptrdiff_t)strlen(to)), to, end);
}

bool export_write(const struct export_target *t, const struct export_files *files, const char *to, bool force,
                  struct err *err)
{
    struct arena *a = arena_open();
    bool ok = true;

    if (fs_exists(to) && fs_is_dir(to) != t->folder)
        ok = err_input(err,
                       t->folder ? "%s is a file; %s is exported to a folder"
                                 : "%s is a folder; %s is exported to a file",
                       to, t->name);
    else if (fs_exists(to) && !force)
        ok = err_input(err, "%s is there already; --force replaces it", to);
    for (size_t i = 0; ok && i < files->list.n; i++) {
        const struct export_file *f = &files->list.v[i];
        const char *path = to;

        if (t->folder)
            path = fs_join(a, to, f->name);
        else if (i)
            path = beside(a, to, f->name);
        if (!t->folder && i && fs_exists(path) && !force)
            ok = err_input(err, "%s is there already; --force replaces it", path);
        ok = ok && fs_mkdirs(fs_dirname(a, path), err) && fs_write_text(path, f->text, err);
    }
    arena_close(a);
    return ok;
}
