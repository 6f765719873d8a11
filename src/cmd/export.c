/* The verb export: a run's best version in the form in which another project takes it in. */
#include "export/export.h"
#include "cmd/cmd.h"

static bool list_targets(struct err *err)
{
    const struct export_target *t;
    struct str out = {0};
    size_t n;
    bool ok;

    t = export_targets(&n);
    for (size_t i = 0; i < n; i++)
        str_addf(&out, "%-16s %s\n", t[i].name, t[i].summary);
    ok = cmd_print(str_text(&out), err);
    str_free(&out);
    return ok;
}

static bool deliver(const struct cmd_args *args, const struct export_target *t, const struct export_run *r,
                    const struct export_files *files, struct err *err)
{
    struct arena *a = files->arena;
    const char *to = args->out;

    if (!to && t->folder)
        to = fs_join(a, r->bundle.folder, arena_printf(a, "export/%s", t->name));
    if (!to)
        return cmd_print_as(CMD_EXACT, files->list.v[0].text, err);
    return export_write(t, files, to, args->force, err) && cmd_print(arena_printf(a, "%s\n", to), err);
}

int cmd_export(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct export_run r = {0};
    struct export_files files = {.arena = a};
    struct err err = {0};
    const struct export_target *t;
    char *folder;
    bool ok;

    if (str_eq(args->to, "list")) {
        ok = list_targets(&err);
        arena_close(a);
        return ok ? EXIT_OK : cmd_fail(&err);
    }
    if (!args->to) {
        err_input(&err, "to what? --to takes one of these: see `astra export --to list`");
        arena_close(a);
        return cmd_fail(&err);
    }
    t = export_target_find(args->to, &err);
    ok = t &&
         (!args->tree || str_eq(t->name, "patch") ||
          err_input(&err, "--tree is where --to patch finds the framework's files; %s needs none", t->name)) &&
         (!args->name || str_eq(t->name, "torch") ||
          err_input(&err, "--name is of the package that --to torch makes; %s makes none", t->name)) &&
         cmd_run_named(a, args, "export", &folder, &err) && export_open(&r, a, folder, &err);
    r.name = args->name;
    r.tree = args->tree;
    if (ok && !r.improved)
        fprintf(stderr, "nothing was provably faster: the original stays, and there is nothing to export\n");
    else if (ok) {
        ok = t->make(&r, &files, &err) && deliver(args, t, &r, &files, &err);
        if (ok && files.note)
            fprintf(stderr, "%s\n", files.note);
    }
    export_close(&r);
    arena_close(a);
    return ok ? EXIT_OK : cmd_fail(&err);
}
