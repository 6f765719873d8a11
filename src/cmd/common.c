#include "cmd/cmd.h"
#include "gpu/gpu.h"
#include "worker/worker.h"

int cmd_fail_under(const struct cmd_args *args, const json_t *result)
{
    const json_t *speedup = json_object_get(result, "speedup");
    const char *basis = json_text(json_object_get(result, "device"), "basis", "modelled"),
               *named = json_text(result, "verdict", "passed"); /* of bench */
    bool measured = str_eq(basis, "measured"), stays = str_eq(json_text(result, "outcome", ""), "unchanged");
    double reached = json_num(speedup, measured && !stays ? "low" : "geomean");
    enum verdict verdict;

    if (!args->fail_under)
        return EXIT_OK;
    if (str_eq(named, verdict_name(VERDICT_TOO_SLOW))) {
        fprintf(stderr, "astra: this machine was too slow to judge the version: its speed-up is not known\n");
        return EXIT_WORLD;
    }
    if (!verdict_parse(named, &verdict) || !verdict_correct(verdict))
        fprintf(stderr, "astra: under %gx: the version is %s\n", args->fail_under, named);
    else if (!isfinite(reached))
        fprintf(stderr, "astra: under %gx: no speed-up is known\n", args->fail_under);
    else if (reached >= args->fail_under)
        return EXIT_OK;
    else if (stays)
        fprintf(stderr, "astra: under %gx: the original stays\n", args->fail_under);
    else
        fprintf(stderr, "astra: under %gx: %s is %.4fx\n", args->fail_under,
                measured ? "the lower end of the measured interval" : "the modelled geometric mean", reached);
    return EXIT_UNDER;
}

static bool simulated(const char *name, const char **out, struct err *err)
{
    const struct ptx_device *list;
    struct str known = {0};
    size_t n;

    *out = name;
    if (ptx_device_find(name))
        return true;
    n = ptx_device_list(&list);
    if (n == 0)
        return err_world(err, "%s", CMD_NO_DEVICES);
    for (size_t i = 0; i < n; i++)
        str_addf(&known, "%s sim:%s", i ? "," : "", list[i].name);
    err_input(err, "no simulated device is called '%s'; there are%s", name, str_text(&known));
    str_free(&known);
    return false;
}

/* "cuda", "cuda:all", "cuda:1", "cuda:0,2" to a list of GPUs that are there. */
static bool gpus(struct arena *a, const char *device, const char **out, struct err *err)
{
    const char *words = NULL, *list = device[4] ? device + 5 : "0", *at = list;
    int n = cuda_count(a, &words);
    struct str s = {.arena = a};

    if (device[4] && device[4] != ':')
        return err_input(err, "'%s' is no device; use auto, cuda, cuda:N, sim or sim:NAME", device);
    if (n == 0)
        return err_world(err, "no GPU can be used: %s", words ? words : "the driver shows none");
    for (int i = 0; str_eq(list, "all") && i < n; i++)
        str_addf(&s, "%s%d", i ? "," : "cuda:", i);
    while (!str_eq(list, "all") && *at) {
        char *end;
        long i = strtol(at, &end, 10);
        if (end == at || i < 0 || (*end && *end != ',') || (*end == ',' && !end[1]))
            return err_input(err, "'%s' names no GPU; write cuda, cuda:0, cuda:0,1 or cuda:all", device);

        if (i >= n)
            return err_input(
                err, "there is no GPU %ld; the driver shows %d, numbered from 0: see `astra doctor`", i, n);

        str_addf(&s, "%s%ld", s.len ? "," : "cuda:", i);
        at = *end ? end + 1 : end;
    }
    *out = str_take(&s, a);
    return str_starts(*out, "cuda:") ||
           err_input(err, "'%s' names no GPU; write cuda, cuda:0 or cuda:all", device);
}

bool cmd_fleet(const struct cmd_args *args, struct arena *a, const struct fleet **fleet, const char **device,
               struct err *err)
{
    struct fleet *f;
    bool gpu;

    if (!args->workers)
        return true;
    if (args->jobs)
        return err_input(
            err, "--jobs counts workers of this machine, and with --workers there are those of its file "
                 "alone; there, `count:` says how many, and `command: [astra, node]` is this machine");
    if (!fleet_read(&f, a, args->workers, err))
        return false;
    *fleet = f;
    gpu = *device ? str_starts(*device, "cuda")
                  : str_eq(args->device, "auto") || str_starts(args->device, "cuda");
    if (gpu && fleet_measures(f)) {
        *device = "cuda:0"; /* each measures on its own */
    } else if (gpu && (*device || !str_eq(args->device, "auto"))) {
        return err_input(err, "%s: no worker has the role measure, which a GPU wants", args->workers);
    } else if (!*device) {
        return cmd_device(str_starts(args->device, "sim") ? args->device : "sim", a, args->quiet, device, err);
    }
    return true;
}

bool cmd_beside(const struct cmd_args *args, const char *device, bool here, const char **names, struct err *err)
{
    *names = args->beside;
    if (!args->beside)
        return true;
    if (!judge_beside_known(args->beside, err))
        return false;
    if (!str_starts(device, "cuda"))
        return err_input(
            err,
            "--beside %s: a library runs on a GPU alone, and its time cannot be modelled; --device cuda "
            "takes a GPU",
            args->beside);
    return !here || cublas_look(NULL, NULL, err) || err_context(err, "--beside %s", args->beside);
}

bool cmd_device(const char *device, struct arena *a, bool quiet, const char **name, struct err *err)
{
    const char *words = NULL;

    if (str_eq(device, "auto")) {
        bool gpu = cuda_count(a, &words) > 0;
        *name = "cuda:0";
        if (!gpu && !simulated("h200", name, err))
            return false;
        if (!quiet && gpu)
            fprintf(stderr, "device: cuda:0, times are measured (--device sim models them)\n");
        else if (!quiet)
            fprintf(stderr, "device: sim:%s, times are modelled: %.*s (`astra doctor` says more)\n", *name,
                    words ? (int)strcspn(words, ":.;") : 6, words ? words : "no GPU");
        return true;
    }
    if (str_eq(device, "sim"))
        return simulated("h200", name, err);
    if (str_starts(device, "sim:"))
        return simulated(device + 4, name, err);
    if (str_starts(device, "cuda"))
        return gpus(a, device, name, err);
    return err_input(err, "'%s' is no device; use auto, cuda, cuda:N, sim or sim:NAME", device);
}
