#include "cmd/cmd.h"
#include "campaign/campaign.h"
#include "report/report.h"
#include "optimize/optimize.h"
#include "store/store.h"
#include "tui/tui.h"

#include <limits.h>
#include <unistd.h>

/* The result on stdout; *under as cmd_fail_under says. */
static bool print_result(const char *out, const struct cmd_args *args, int *under, struct err *err)
{
    struct arena *a = arena_open();
    struct store *s = NULL;
    struct str text = {.arena = a};
    json_t *result = NULL;
    bool ok = store_open(&s, out, false, err) && report_result(s, a, &result, err);
    bool told = tui_told_stdout(); /* each candidate, in a line of its own */

    if (ok && (args->json || args->events))
        str_addf(&text, "%s\n", args->events ? json_line(a, result) : json_pretty(a, result));
    else
        ok = ok && report_summary(s, a, out, told ? REPORT_TOLD : 0, &text, err);
    ok = ok && cmd_print_result(args, str_text(&text), err);
    if (ok)
        *under = cmd_fail_under(args, result);
    json_decref(result);
    store_close(s);
    arena_close(a);
    return ok;
}

/* After an I/O or system error: whether there is anything to go on from. */
static void say_resumable(const char *out)
{
    struct arena *a = arena_open();
    const struct store_candidate *list;
    struct store *s = NULL;
    size_t n = 0;

    if (store_open(&s, out, false, NULL) && store_candidates(s, a, &list, &n, NULL) && n > 0)
        fprintf(stderr, "What was judged is stored; `astra resume %s` goes on from there.\n",
                arena_shell(a, out));
    store_close(s);
    arena_close(a);
}

static int run_and_print(const struct run_options *o, bool resume, const struct cmd_args *args)
{
    enum run_end end = RUN_DONE;
    struct err err = {0};
    int under;

    cmd_show_run(args);
    if (!run_optimize(o, resume, &end, &err)) {
        int status = cmd_fail(&err);
        if (err.kind == ERR_WORLD)
            say_resumable(o->out);
        return status;
    }
    if (args->e2e_cmd && end != RUN_INTERRUPTED && !cmd_e2e(args, o->out, &err))
        return cmd_fail(&err);
    if (!print_result(o->out, args, &under, &err))
        return cmd_fail(&err);
    if (end == RUN_INTERRUPTED) {
        struct str folder = {0};
        str_add_shell(&folder, o->out);
        fprintf(stderr, "astra: interrupted; go on with: astra resume %s\n", str_text(&folder));
        str_free(&folder);
        return EXIT_INTERRUPTED;
    }
    if (under != EXIT_OK)
        return under;
    return end == RUN_BUDGET ? EXIT_BUDGET : EXIT_OK;
}

int cmd_cores(int together)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return (int)MAX(1, MIN(n / together, 8));
}

/* Flags over what is there: each is the key of astra.yaml with dashes. */
static bool apply_flags(const struct cmd_args *args, struct arena *a, struct models *m, struct err *err)
{
    for (int i = 0; i < args->models.n; i++) {
        const struct cmd_setting *s = &args->models.list[i];
        char *key = arena_strdup(a, s->option + 2);
        for (char *at = key; *at; at++)
            if (*at == '-')
                *at = '_';
        if (!models_set(m, N_MODEL_ROLES, key, models_is_path(key) ? fs_absolute(a, s->value) : s->value, err))
            return err_context(err, "%s", s->option);
    }
    return true;
}

static bool models_of(const struct cmd_args *args, struct arena *a, struct models *m, struct err *err)
{
    const char *config = args->config ? args->config : "astra.yaml";

    *m = models_default();
    if (!models_backends(args->agents, m, err))
        return false;
    if (!models_any(m)) {
        if (args->models.n == 0)
            return true;
        return err_input(err, "%s: no model is asked with --agents %s; say --agents llm or single",
                         args->models.list[0].option, args->agents);
    }
    if ((args->config || fs_exists(config)) && !models_read(m, a, config, err))
        return false;
    if (!apply_flags(args, a, m, err))
        return false;
    m->strategies = m->strategies ? m->strategies : m->width;
    return models_check(m, err);
}

static bool read_also(const struct cmd_args *args, struct arena *a, struct run_options *o, struct err *err)
{
    struct run_also *list = arena_array(a, struct run_also, args->flags.n + 1);
    char *text;

    for (size_t i = 0; i < args->flags.n; i++) {
        if (!fs_read(a, args->flags.list[i].value, &text, NULL, err))
            return err_context(err, "--also");
        list[i] = (struct run_also){fs_absolute(a, args->flags.list[i].value), text};
    }
    o->also = list;
    o->n_also = args->flags.n;
    return true;
}

static bool options_of(const struct cmd_args *args, struct arena *a, struct run_options *o, struct err *err)
{
    if (args->n_words == 0)
        return err_input(
            err, "`astra optimize` needs DIR, a task's folder, or --list FILE; see `astra optimize --help`");
    *o = (struct run_options){.task_dir = args->words[0],
                              .out = args->out,
                              .agents = args->agents,
                              .rounds = (int)args->rounds,
                              .candidates = (int)args->candidates,
                              .min_mutation = (int)args->min_mutation,
                              .tune_budget = args->tune_budget < 0 ? 2 * (int)args->candidates
                                                                   : (int)MIN(args->tune_budget, INT_MAX),
                              .jobs = args->jobs ? (int)args->jobs : cmd_cores(1),
                              .budget_s = args->budget_s,
                              .seed = (uint64_t)args->seed,
                              .hidden_seed = (uint64_t)args->hidden_seed,
                              .exact = args->exact,
                              .memory = args->no_memory ? NULL : cmd_memory_path(a)};
    if (!cmd_e2e_check(args, a, err) || !models_of(args, a, &o->models, err) || !read_also(args, a, o, err))
        return false;
    if (o->out && fs_exists(fs_join(a, o->out, "run.db")))
        return err_input(err,
                         "%s holds a run already; `astra resume %s` goes on with it, or give another --out",
                         o->out, arena_shell(a, o->out));
    return cmd_fleet(args, a, &o->fleet, &o->device, err) &&
           (o->device || cmd_device(args->device, a, args->quiet, &o->device, err)) &&
           cmd_beside(args, o->device, !o->fleet, &o->beside, err) &&
           (o->out || cmd_default_out(a, o->task_dir, &o->out, err));
}

int cmd_optimize(const struct cmd_args *args)
{
    if (args->n_words > 1 || args->list || (args->out && campaign_is(args->out))) {
        struct err several = {0};
        if (args->e2e_cmd) {
            err_input(&several,
                      "--e2e-cmd goes with one task; `astra replace RESULT... -- PROGRAM` puts several "
                      "results into a program");
            return cmd_fail(&several);
        }
        return cmd_campaign(args, false);
    }
    struct arena *a = arena_open();
    struct run_options o;
    struct err err = {0};
    int status = options_of(args, a, &o, &err) ? run_and_print(&o, false, args) : cmd_fail(&err);

    if (!args->out && o.out && rmdir(o.out) == 0) /* nothing was begun in it */
        rmdir(fs_dirname(a, o.out));
    arena_close(a);
    return status;
}

static bool resumed_models(const struct cmd_args *args, struct arena *a, struct models *m, struct err *err)
{
    if (!models_any(m))
        return args->models.n == 0 || err_input(err, "%s: this run asks no model", args->models.list[0].option);
    return apply_flags(args, a, m, err) && models_check(m, err);
}

int cmd_resume(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct store *s = NULL;
    struct store_run row;
    struct run_options o;
    struct err err = {0};
    json_t *options = NULL;
    const char *unjudged = NULL;
    char *folder;
    int status;
    bool ok = cmd_run_named(a, args, "resume", &folder, &err);
    if (ok && campaign_is(folder)) {
        status = cmd_campaign(args, true);
        arena_close(a);
        return status;
    }
    ok = ok && cmd_e2e_check(args, a, &err) && store_open(&s, folder, false, &err) &&
         store_get_run(s, a, &row, &err) && store_get_note(s, a, "unjudged", &unjudged, &err);

    if (ok) {
        options = json_parse(row.options, strlen(row.options), "the run's options", &err);
        ok = options && run_options_from_json(options, a, &o, &err);
    }
    store_close(s);
    json_decref(options);
    if (!ok) {
        status = cmd_fail(&err);
    } else if (str_eq(row.status, "done") && !str_eq(unjudged, "1")) {
        fprintf(stderr, "astra: this run is finished; here is its result\n");
        if ((args->e2e_cmd && !cmd_e2e(args, folder, &err)) || !print_result(folder, args, &status, &err))
            status = cmd_fail(&err);
    } else {
        o.out = folder; /* it may have moved */
        if (args->jobs)
            o.jobs = (int)args->jobs;
        if (args->budget_s > 0)
            o.budget_s = args->budget_s;
        ok = cmd_fleet(args, a, &o.fleet, &o.device, &err) && resumed_models(args, a, &o.models, &err);
        status = ok ? run_and_print(&o, true, args) : cmd_fail(&err);
    }
    arena_close(a);
    return status;
}
