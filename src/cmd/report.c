/* The verb report: a run as a page for whoever reviews it. */
#include "report/report.h"
#include "cmd/cmd.h"

static bool make(const struct cmd_args *args, struct arena *a, const struct view *v, struct str *out,
                 struct err *err)
{
    json_t *o;

    if (args->json && args->markdown)
        return err_input(err, "--json and --markdown are two forms of a report; ask for one");
    if (args->markdown)
        return report_markdown(v, a, out, err);
    if (args->json) {
        o = report_enriched(v, a);
        str_addf(out, "%s\n", json_pretty(a, o));
        json_decref(o);
        return true;
    }
    report_page(v, a, out);
    return true;
}

int cmd_report(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct view *v = NULL;
    struct str out = {0};
    struct err err = {0};
    const char *file = args->out;
    char *folder;
    int status;
    bool ok = cmd_run_folder(a, args->words[0], &folder, &err) && view_open(&v, a, folder, &err) &&
              make(args, a, v, &out, &err);

    if (ok && !file && !args->json && !args->markdown)
        file = fs_join(a, folder, "report.html");
    if (ok && file)
        ok = fs_write_text(file, str_text(&out), &err) && cmd_print(arena_printf(a, "%s\n", file), &err);
    else
        ok = ok && cmd_print(str_text(&out), &err);
    status = ok ? cmd_fail_under(args, v->result) : cmd_fail(&err);
    view_close(v);
    str_free(&out);
    arena_close(a);
    return status;
}
