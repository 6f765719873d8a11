#include "source/source.h"

static bool diff_run(struct arena *a, const char *dir, const char *name_a, const char *text_a,
                     const char *name_b, const char *text_b, char **diff, struct err *err)
{
    const char *file_a = fs_join(a, dir, "a"), *file_b = fs_join(a, dir, "b");
    const char *argv[] = {"diff", "-u", "--label", name_a, "--label", name_b, "--", file_a, file_b, NULL};
    struct proc_limits limits = {.wall_s = 30};
    struct proc_result r = {0};
    bool ok;

    if (!fs_write_text(file_a, text_a, err) || !fs_write_text(file_b, text_b, err))
        return false;
    if (!proc_run(argv, NULL, &limits, &r, err))
        return err_context(err, "diff (package diffutils)");
    ok = r.end == PROC_EXITED && r.status <= 1;
    if (ok)
        *diff = arena_strndup(a, str_text(&r.out), r.out.len);
    else
        err_world(err, "diff of %s and %s failed: %s", name_a, name_b, r.err.len ? str_text(&r.err) : "killed");
    str_free(&r.out);
    str_free(&r.err);
    return ok;
}

bool source_diff(struct arena *a, const char *name_a, const char *text_a, const char *name_b,
                 const char *text_b, char **diff, struct err *err)
{
    char *dir;
    bool ok;

    if (strcmp(text_a, text_b) == 0) {
        *diff = arena_strdup(a, "");
        return true;
    }
    dir = fs_temp_dir(a, err);
    if (!dir)
        return false;
    ok = diff_run(a, dir, name_a, text_a, name_b, text_b, diff, err);
    fs_remove_tree(dir);
    return ok;
}
