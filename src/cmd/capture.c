/* Which kernels a running program spends the GPU's time in. */
#include "cmd/cmd.h"
#include "capture/capture.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool default_out(struct arena *a, const char *program, const char **out, struct err *err)
{
    if (!fs_mkdirs("astra-captures", err))
        return false;
    for (int n = 1; n < 100000; n++) {
        *out = arena_printf(a, "astra-captures/%s-%d", fs_basename(program), n);
        if (mkdir(*out, 0700) == 0)
            return true;
        if (errno != EEXIST)
            return err_world(err, "%s: %s", *out, strerror(errno));
    }
    return err_world(err, "astra-captures is full of captures of %s", program);
}

static bool run(const struct cmd_args *args, struct arena *a, const char **folder, int *status, struct err *err)
{
    const char *out = args->out;
    struct capture_options o = {.argv = args->words,
                                .times = args->times,
                                .keep = args->keep,
                                .contents = args->contents,
                                .contents_mb = args->contents_mb,
                                .own_stdout = args->json};

    if (!str_in(args->times, "auto|cupti|events|none"))
        return err_input(err, "--times is auto, cupti, events or none, not '%s'", args->times);
    if (args->n_before > 0)
        return err_input(err, "a folder in front of --: name a new one by --out, or leave out the program");
    if (!args->n_words)
        return err_input(err, "no program follows the --");
    if (!capture_can(a, args->words[0], err))
        return false;
    if (out && fs_exists(out))
        return err_input(err, "%s is there already; give another --out", out);
    if (!out && !default_out(a, args->words[0], &out, err))
        return false;
    *folder = out;
    o.out = fs_absolute(a, out);
    return capture_run(&o, a, status, err);
}

/* When it fails, what was kept stays as it is. */
static void pack(struct arena *a, const char *folder)
{
    struct err err = {0};

    if (!capture_contents_pack(a, folder, &err))
        fprintf(stderr, "astra capture: what buffers held stays uncompressed: %s\n", err.text);
}

static bool show(const struct cmd_args *args, struct arena *a, const char *folder, bool fresh, struct err *err)
{
    struct str text = {.arena = a}, list = {.arena = a};
    json_t *ranking = NULL;
    bool ok = capture_read(a, folder, &ranking, err);

    if (fresh)
        pack(a, folder);
    if (ok && fresh) {
        umask(077);
        capture_list(ranking, &list);
        ok = fs_write_text(fs_join(a, folder, "kernels.txt"), str_text(&list), err) &&
             fs_write_text(fs_join(a, folder, "ranking.json"), arena_printf(a, "%s\n", json_pretty(a, ranking)),
                           err);
    }
    if (ok && args->json)
        str_addf(&text, "%s\n", json_pretty(a, ranking));
    else if (ok)
        capture_text(a, ranking, (size_t)args->top, &text);
    ok = ok && cmd_print_result(args, str_text(&text), err);
    json_decref(ranking);
    return ok;
}

/* How the program ended, in front of what else is wrong. */
static void ended(const char *program, int status, bool seen, struct err *err)
{
    char words[256];

    if (WIFSIGNALED(status))
        snprintf(words, sizeof(words), "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(words, sizeof(words), "ended with status %d", WEXITSTATUS(status));
    if (seen)
        err_world(err, "%s %s", program, words);
    else
        err_context(err, "%s %s", program, words);
}

int cmd_capture(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    const char *folder = args->n_words ? args->words[0] : NULL;
    bool fresh = args->n_before >= 0, ok = true;
    struct err err = {0};
    int status = 0;

    if (fresh)
        ok = run(args, a, &folder, &status, &err);
    else if (args->n_words != 1)
        ok = err_input(
            &err,
            "`astra capture` takes -- and a program, or the folder of a capture; see `astra capture --help`");
    bool ran = ok && fresh;
    ok = ok && show(args, a, folder, fresh, &err);
    if (ok && fresh)
        fprintf(stderr, "captured in %s\n", folder);
    else if (ran)
        rmdir(folder); /* when nothing is in it */
    if (ran && status)
        ended(args->words[0], status, ok, &err);
    arena_close(a);
    return ok && !status ? EXIT_OK : cmd_fail(&err);
}
