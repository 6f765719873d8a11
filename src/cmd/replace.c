/* A program with kernels of its own replaced by results': once, or in turns with the program as it is. */
#include "cmd/cmd.h"
#include "capture/capture.h"

#include <sys/wait.h>

struct session {
    struct capture_pairs pairs;
    const struct cmd_args *args;
};

static bool prepare(struct session *s, struct err *err)
{
    size_t n = (size_t)s->args->n_before;
    const char **results = arena_array(s->pairs.a, const char *, n + 1);

    for (size_t i = 0; i < n; i++) {
        char *folder = NULL;
        if (!fs_exists(s->args->words[i]) && !cmd_run_folder(s->pairs.a, s->args->words[i], &folder, err))
            return false;
        results[i] = folder ? folder : s->args->words[i];
    }
    return capture_pairs_prepare(&s->pairs, results, n, s->args->capture, err);
}

static bool finish(struct session *s, struct err *err)
{
    struct str out = {.arena = s->pairs.a};

    if (!capture_pairs_count(&s->pairs, err))
        return false;
    capture_pairs_launches(&s->pairs, &out);
    fputs(s->args->json ? "" : str_text(&out), stderr);
    str_clear(&out);
    if (s->args->json)
        str_addf(&out, "%s\n", json_pretty(s->pairs.a, s->pairs.report));
    else if (s->args->pairs)
        capture_pairs_words(s->pairs.report, &out);
    return cmd_print_result(s->args, str_text(&out), err);
}

static bool check_usage(struct session *s, struct err *err)
{
    const struct cmd_args *args = s->args;
    char words[256];
    int code;

    if (args->n_before < 1 || args->n_words <= args->n_before)
        return err_input(err, "`astra replace` takes a result, --, and a program; see `astra replace --help`");
    if (!args->capture)
        return err_input(
            err,
            "--capture names the capture whose launches are replaced; `astra capture --keep NAME` makes one");
    if (!args->pairs && (args->metric || args->compare))
        return err_input(err, "--metric and --compare go with --pairs N");
    if (args->metric && (code = regcomp(&s->pairs.regex, args->metric, REG_EXTENDED | REG_NEWLINE)) != 0) {
        regerror(code, &s->pairs.regex, words, sizeof(words));
        return err_input(err, "--metric '%s': %s", args->metric, words);
    }
    if (args->metric && s->pairs.regex.re_nsub != 1) {
        regfree(&s->pairs.regex);
        return err_input(err, "--metric '%s' must have one group, around the number", args->metric);
    }
    s->pairs.program = args->words + args->n_before;
    return capture_can(s->pairs.a, s->pairs.program[0], err);
}

int cmd_replace(const struct cmd_args *args)
{
    struct session s = {.args = args,
                        .pairs = {.a = arena_open(),
                                  .metric = args->metric,
                                  .compare = args->compare,
                                  .quiet = args->quiet,
                                  .own_stdout = args->json,
                                  .report = json_object()}};
    struct capture_pairs *p = &s.pairs;
    struct err err = {0};
    bool usage = check_usage(&s, &err),
         ok = usage && (p->folder = fs_temp_dir(p->a, &err)) && prepare(&s, &err);
    int status = EXIT_OK;

    ok = ok &&
         (args->pairs ? capture_pairs_measure(p, (size_t)args->pairs, &err)
                      : capture_pairs_run(p, true, NULL, &err)) &&
         finish(&s, &err);
    if (ok && p->status)
        ok = err_world(&err, "%s ended with %s %d", p->program[0], WIFSIGNALED(p->status) ? "signal" : "status",
                       WIFSIGNALED(p->status) ? WTERMSIG(p->status) : WEXITSTATUS(p->status));
    if (!ok)
        status = cmd_fail(&err);
    else if (json_object_get(p->report, "first_difference"))
        status = EXIT_UNDER;
    if (usage && args->metric)
        regfree(&p->regex);
    if (p->folder)
        fs_remove_tree(p->folder);
    json_decref(p->report);
    arena_close(p->a);
    return status;
}
