/* The verbs for a reviewer: report, of a run or of several beside each other; diff of two runs. */
#include "report/report.h"
#include "cmd/cmd.h"
#include "campaign/campaign.h"

struct opened_runs {
    struct arena *arena;
    struct view *views[COMPARE_MOST];
    size_t n;
};

static bool open_runs(struct opened_runs *o, const struct cmd_args *args, struct err *err)
{
    *o = (struct opened_runs){.arena = arena_open()};
    for (int i = 0; i < MAX(args->n_words, 1); i++) {
        char *folder;
        bool found = i < args->n_words ? cmd_run_folder(o->arena, args->words[i], &folder, err)
                                       : cmd_run_newest(o->arena, "report", &folder, err);
        if (!found || !view_open(&o->views[o->n], o->arena, folder, err))
            return false;
        o->n++;
    }
    return true;
}

static void close_runs(struct opened_runs *o)
{
    for (size_t i = 0; i < o->n; i++)
        view_close(o->views[i]);
    arena_close(o->arena);
}

static struct compare *compared(const struct opened_runs *o)
{
    const struct view *views[COMPARE_MOST];

    for (size_t i = 0; i < o->n; i++)
        views[i] = o->views[i];
    return compare_runs(o->arena, views, o->n);
}

static bool make(const struct cmd_args *args, const struct opened_runs *o, struct str *out, struct err *err)
{
    const struct compare *c = o->n > 1 ? compared(o) : NULL;
    const struct view *v = o->views[0];

    if (args->json && args->markdown)
        return err_input(err, "--json and --markdown are two forms of a report; ask for one");
    if (args->json) {
        json_print(out, c ? compare_json(c, o->arena) : report_enriched(v, o->arena));
    } else if (args->markdown && c) {
        compare_markdown(c, o->arena, out);
    } else if (args->markdown) {
        report_markdown(v, o->arena, out);
    } else if (c) {
        compare_page(c, o->arena, out);
    } else {
        report_page(v, o->arena, out);
    }
    return true;
}

/* The first that does not reach --fail-under says so. */
static int all_reach(const struct opened_runs *o, const struct cmd_args *args)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < o->n && status == EXIT_OK; i++)
        status = cmd_fail_under(args, o->views[i]->result);
    return status;
}

int cmd_report(const struct cmd_args *args)
{
    struct opened_runs o;
    struct str out = {0};
    struct err err = {0};
    const char *file = args->out;
    if (args->n_words == 1 && campaign_is(args->words[0]))
        return cmd_campaign_report(args, args->words[0]);
    bool ok = open_runs(&o, args, &err) && make(args, &o, &out, &err);
    int status;

    if (ok && !file && !args->json && !args->markdown)
        file = o.n > 1 ? "comparison.html" : fs_join(o.arena, o.views[0]->folder, "report.html");
    if (ok && file)
        ok = fs_write_text(file, str_text(&out), &err) && cmd_print(arena_printf(o.arena, "%s\n", file), &err);
    else
        ok = ok && cmd_print_as(CMD_EXACT, str_text(&out), &err);
    status = ok ? all_reach(&o, args) : cmd_fail(&err);
    close_runs(&o);
    str_free(&out);
    return status;
}

int cmd_diff_runs(const struct cmd_args *args)
{
    struct opened_runs o;
    struct str out = {0};
    struct err err = {0};
    const struct compare *c;
    char *diff;
    bool ok = open_runs(&o, args, &err);
    int status;

    if (ok) {
        c = compared(&o);
        ok = compare_diff(c, o.arena, 0, 1, &diff, &err);
    }
    if (ok && args->json) {
        json_t *j = compare_json(c, o.arena);
        json_put_text(j, "diff", diff);
        json_print(&out, j);
    } else if (ok) {
        compare_text(c, o.arena, &out);
        str_addf(&out, "\n%s", *diff ? diff : "Their best files are the same.\n");
    }
    status =
        ok && cmd_print_as(args->json ? CMD_EXACT : CMD_PATCH, str_text(&out), &err) ? EXIT_OK : cmd_fail(&err);
    close_runs(&o);
    str_free(&out);
    return status;
}
