#include "cmd/cmd.h"
#include "ptx/ptx.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

int cmd_fail(const struct err *err)
{
    char text[4096];

    fprintf(stderr, "astra: %s\n", err_format(err, text, sizeof(text)));
    switch (err->kind) {
    case ERR_INPUT:
        return EXIT_USAGE;
    case ERR_STOP:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_WORLD;
    }
}

bool cmd_print(const char *text, struct err *err)
{
    if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
        return err_world(err, "cannot write to standard output: %s", strerror(errno));
    return true;
}

bool cmd_run_folder(struct arena *a, const char *run, char **folder, struct err *err)
{
    char *named = fs_join(a, "astra-runs", run);

    if (fs_is_dir(run))
        *folder = arena_strdup(a, run);
    else if (!strchr(run, '/') && fs_is_dir(named))
        *folder = named;
    else
        return err_input(
            err, "there is no run '%s', neither as a folder nor below astra-runs; `astra runs` lists them",
            run);
    return true;
}

bool cmd_device(const char *device, const char **name, struct err *err)
{
    const struct ptx_device *list;
    struct str known = {0};
    size_t n;

    if (str_eq(device, "auto") || str_eq(device, "sim")) {
        *name = "h200";
        return true;
    }
    if (str_starts(device, "sim:")) {
        *name = device + 4;
        if (ptx_device_find(*name))
            return true;
        n = ptx_device_list(&list);
        for (size_t i = 0; i < n; i++)
            str_addf(&known, "%s sim:%s", i ? "," : "", list[i].name);
        err_input(err, "no simulated device is called '%s'; there are%s", *name, str_text(&known));
        str_free(&known);
        return false;
    }
    if (str_starts(device, "cuda"))
        return err_input(err, "this version simulates only; use --device sim, or sim:NAME");
    return err_input(err, "'%s' is no device; use auto, sim or sim:NAME", device);
}

char *cmd_default_out(struct arena *a, const char *task_dir)
{
    char *dir = fs_absolute(a, task_dir), stamp[32];
    time_t t = time(NULL);
    struct tm tm;

    localtime_r(&t, &tm);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
    return arena_printf(a, "astra-runs/%s-%s-%ld", fs_basename(dir), stamp, (long)getpid());
}

static void on_event(void *context, const char *event, const json_t *f)
{
    double gain = json_num(f, "gain"), score = json_num(f, "score");

    (void)context;
    if (str_eq(event, "suite")) {
        fprintf(stderr, "suite: %s\njudging the original ...\n", json_text(f, "text", ""));
    } else if (str_eq(event, "round")) {
        fprintf(stderr, "round %lld from candidate %lld (%.2fx): %lld strategies\n  %s\n",
                (long long)json_int(f, "round", 0), (long long)json_int(f, "parent", 0),
                json_num(f, "parent_score"), (long long)json_int(f, "strategies", 0),
                json_text(f, "diagnosis", ""));
    } else if (str_eq(event, "trial") && json_int(f, "id", 0) > 0) {
        fprintf(stderr, "  %3lld %-14s", (long long)json_int(f, "id", 0), json_text(f, "verdict", "?"));
        if (isfinite(score))
            fprintf(stderr, " %6.2fx (%+.0f %%)", score, 100 * (gain - 1));
        fprintf(stderr, "  %s\n", json_text(f, "name", ""));
    } else if (str_eq(event, "pruned")) {
        fprintf(stderr, "as good with fewer changes: %s\n", json_text(f, "text", ""));
    } else if (str_eq(event, "confirm")) {
        fprintf(stderr, "confirmed on hidden cases: %s\n", json_text(f, "text", ""));
    }
}

void cmd_progress_start(bool quiet)
{
    if (!quiet)
        trace_listen(on_event, NULL);
}
