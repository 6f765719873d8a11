/* optimize with several tasks, and resume of such a campaign. */
#include "cmd/cmd.h"
#include "campaign/campaign.h"
#include "report/report.h"
#include "tui/tui.h"

static bool tasks_of(const struct cmd_args *args, struct arena *a, struct campaign_options *o, struct err *err)
{
    struct campaign_task *list;

    if (args->flags.n)
        return err_input(err, "--also is of one task; its file cannot be a version of several");
    if (args->list && args->n_words)
        return err_input(err, "the tasks stand in --list %s or as words, not in both: add %s to the list",
                         args->list, args->words[0]);
    if (args->list)
        return campaign_read_list(a, args->list, &o->list, &o->n, err);
    o->list = list = arena_array(a, struct campaign_task, (size_t)args->n_words);
    for (; o->n < (size_t)args->n_words; o->n++) {
        const char *dir = args->words[o->n];
        list[o->n] = (struct campaign_task){fs_absolute(a, dir), NAN};
        if (!fs_is_dir(dir))
            return err_input(err, "there is no folder %s", dir);
        for (size_t i = 0; i < o->n; i++)
            if (str_eq(list[i].dir, list[o->n].dir))
                return err_input(err, "%s is named twice", dir);
    }
    return true;
}

/* The device of a campaign's runs, as it was begun. */
static const char *device_of(struct arena *a, const char *folder)
{
    const char *device = "auto";
    json_t *o;
    size_t i;
    const json_t *word;

    if (!campaign_read(a, folder, &o, NULL))
        return device;
    const json_t *options = json_object_get(o, "options");
    json_array_foreach(options, i, word)
    {
        if (str_eq(json_string_value(word), "--device") && json_is_string(json_array_get(options, i + 1)))
            device = arena_strdup(a, json_string_value(json_array_get(options, i + 1)));
    }
    json_decref(o);
    return device;
}

/* How many runs there are at a time: what is said; where several GPUs are named two a GPU, for while one run is
 * confirmed, which takes processors, another measures. */
static bool together_of(const struct cmd_args *args, const char *device, struct arena *a,
                        struct campaign_options *o, struct err *err)
{
    const char *gpus = "";

    if (args->together > CAMPAIGN_MOST)
        return err_input(err, "--together takes at most %d, not %lld", CAMPAIGN_MOST,
                         (long long)args->together);
    o->together = MAX((int)args->together, 1);
    if (!args->together && !args->workers && str_starts(device, "cuda:")) {
        if (!cmd_device(device, a, true, &gpus, err))
            return false;
        for (; (gpus = strchr(gpus, ',')); gpus++)
            o->together++;
        o->together = o->together > 1 ? MIN(2 * o->together, CAMPAIGN_MOST) : 1;
    }
    o->jobs = o->together > 1 ? cmd_cores(o->together) : 0;
    return true;
}

/* A new one or one that is there; resume names it. */
static bool options_of(const struct cmd_args *args, bool resume, struct arena *a, struct campaign_options *o,
                       struct err *err)
{
    const struct fleet *fleet;
    const char *device = NULL;
    char *folder;

    *o = (struct campaign_options){.budget_s = args->budget_s, .quiet = args->quiet};
    if (!cmd_fleet(args, a, &fleet, &device, err)) /* told once, not by every run */
        return false;
    o->workers = args->workers ? fs_absolute(a, args->workers) : NULL;
    if (resume) {
        if (args->models.n)
            return err_input(err, "%s: a campaign goes on with the options it was begun with",
                             args->models.list[0].option);
        if (!cmd_run_named(a, args, "resume", &folder, err))
            return false;
        o->out = fs_absolute(a, folder);
        return together_of(args, device_of(a, folder), a, o, err);
    }
    o->passed = args->given;
    o->n_passed = args->n_given;
    const char *out = args->out;
    if (!tasks_of(args, a, o, err) || (!out && !cmd_default_out(a, "campaign", &out, err)))
        return false;
    if (fs_exists(fs_join(a, out, "run.db")))
        return err_input(err, "%s holds a run of one kernel; give another --out", out);
    o->out = fs_absolute(a, out);
    return together_of(args, args->device, a, o, err);
}

/* The application's speed-up against --fail-under; a kernel that failed is no success either. */
static int status_of(const struct cmd_args *args, const json_t *result, enum campaign_end end)
{
    const json_t *row;
    static const int ended_as[] = {
        [CAMPAIGN_DONE] = EXIT_OK, [CAMPAIGN_BUDGET] = EXIT_BUDGET, [CAMPAIGN_INTERRUPTED] = EXIT_INTERRUPTED};
    size_t i, failed = 0;
    int status = ended_as[end];
    double speedup = json_num(json_object_get(result, "speedup"), "low");

    if (end != CAMPAIGN_INTERRUPTED && args->fail_under > 0 && !(speedup >= args->fail_under)) {
        fprintf(stderr, "astra: the kernels' speed-up of %.3fx is below --fail-under %g\n", speedup,
                args->fail_under);
        status = EXIT_UNDER;
    }
    json_array_foreach(json_object_get(result, "kernels"), i, row)
    {
        failed += str_eq(json_text(row, "status", ""), "failed");
    }
    if (failed && status == EXIT_OK) {
        fprintf(stderr, "astra: %zu of %zu kernels failed; each one's reason stands in its row\n", failed, i);
        status = EXIT_USAGE;
    }
    return status;
}

static bool print_end(const struct cmd_args *args, struct arena *a, const json_t *result, struct err *err)
{
    struct str text = {.arena = a};

    tui_close();
    if (args->json || args->events)
        str_addf(&text, "%s\n", args->events ? json_line(a, result) : json_pretty(a, result));
    else
        campaign_text(a, result, &text);
    return cmd_print_result(args, str_text(&text), err);
}

int cmd_campaign_report(const struct cmd_args *args, const char *folder)
{
    struct arena *a = arena_open();
    struct str text = {.arena = a};
    struct err err = {0};
    json_t *result = NULL;
    const char *file = args->out;
    bool ok = campaign_read(a, folder, &result, &err);

    if (ok && args->json) {
        str_addf(&text, "%s\n", json_pretty(a, result));
    } else if (ok && args->markdown) {
        str_addf(&text, "%s\n\n", campaign_words(a, result));
        table_as_markdown(campaign_table(a, result), &text);
    } else if (ok) {
        campaign_page(a, result, &text);
        file = file ? file : fs_join(a, folder, "report.html");
    }
    if (ok && file)
        ok = fs_write_text(file, str_text(&text), &err) && cmd_print(arena_printf(a, "%s\n", file), &err);
    else
        ok = ok && cmd_print_as(CMD_EXACT, str_text(&text), &err);
    int status = ok ? status_of(args, result, CAMPAIGN_DONE) : cmd_fail(&err);
    json_decref(result);
    arena_close(a);
    return status;
}

int cmd_campaign(const struct cmd_args *args, bool resume)
{
    struct arena *a = arena_open();
    struct campaign_options o;
    enum campaign_end end = CAMPAIGN_DONE;
    json_t *result = NULL;
    struct err err = {0};
    int status;
    bool ok = options_of(args, resume, a, &o, &err);

    if (ok) {
        cmd_show_run(args);
        ok = campaign_run(&o, a, &result, &end, &err) && print_end(args, a, result, &err);
    }
    status = ok ? status_of(args, result, end) : cmd_fail(&err);
    if (end == CAMPAIGN_INTERRUPTED)
        fprintf(stderr, "astra: interrupted; go on with: astra resume %s\n", arena_shell(a, o.out));
    json_decref(result);
    arena_close(a);
    return status;
}
