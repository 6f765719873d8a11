/* The verb report: a run as a page for whoever reviews it. */
#include "report/report.h"
#include "cmd/cmd.h"

static void make(const struct cmd_args *args, struct arena *a, const struct view *v, struct str *out)
{
    if (args->json)
        str_addf(out, "%s\n", v->result ? json_pretty(a, v->result) : "null");
    else
        report_page(v, a, out);
}

int cmd_report(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct view *v = NULL;
    struct str out = {0};
    struct err err = {0};
    const char *file = args->out;
    char *folder;
    bool ok = cmd_run_folder(a, args->words[0], &folder, &err) && view_open(&v, a, folder, &err);

    if (ok)
        make(args, a, v, &out);
    if (ok && !file && !args->json)
        file = fs_join(a, folder, "report.html");
    if (ok && file)
        ok = fs_write_text(file, str_text(&out), &err) && cmd_print(arena_printf(a, "%s\n", file), &err);
    else
        ok = ok && cmd_print(str_text(&out), &err);
    view_close(v);
    str_free(&out);
    arena_close(a);
    return ok ? EXIT_OK : cmd_fail(&err);
}
