/* profile and sanitize of a capture: kernels without source, from the PTX that a program loaded. */
#include "cmd/cmd.h"
#include "capture/capture.h"

int cmd_replay(const struct cmd_args *args, bool time)
{
    struct arena *a = arena_open();
    struct str out = {.arena = a};
    struct err err = {0};
    json_t *list = NULL, *o;
    size_t i, n_findings = 0;
    bool ok =
        args->n_words <= 1 ||
        err_input(&err, "with --capture only a part of a kernel's name can follow, not '%s'", args->words[1]);

    ok = ok && capture_replay(a, args->capture, args->n_words ? args->words[0] : NULL, time, &list, &err);
    if (ok && args->json)
        str_addf(&out, "%s\n", json_pretty(a, list));
    else if (ok)
        capture_replay_text(a, list, time, &out);
    json_array_foreach(ok ? list : NULL, i, o) n_findings += json_array_size(json_object_get(o, "findings"));
    if (ok)
        json_decref(list);
    ok = ok && cmd_print_result(args, str_text(&out), &err);
    arena_close(a);
    if (!ok)
        return cmd_fail(&err);
    return n_findings ? EXIT_UNDER : EXIT_OK;
}
