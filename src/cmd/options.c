/* Verbs and their options, from one table each: parsing, --help and the check for strangers all read it. */
#include "cmd/options.h"
#include "worker/worker.h"
#include "tui/tui.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

static const struct option options[] = {
#define OPTION(name, argument, field, kind, verbs, fallback, help) \
    {name, argument, offsetof(struct cmd_args, field), kind, verbs, fallback, help},
#include "options.def"
#undef OPTION
};

static const struct verb verbs[] = {
    {"optimize", 'o', "DIR...", "make the kernel of a task faster, with the evidence",
     "DIR holds task.yaml and the kernel file. The run keeps everything in --out; result.json, best.cu and best.diff\n"
     "there are what it found. Ctrl-C stops it so that `astra resume` can go on.\n\n"
     "  astra optimize examples/silu_and_mul\n"
     "  astra optimize my_task --device sim:a100-80gb --rounds 3 --budget-time 10m --json\n\n"
     "With a model (docs/models.md): the rules first, at no cost, then the model works on from the best. No model\n"
     "is called unless you pass --agents.\n\n"
     "  astra optimize mine --agents llm --provider openai --base-url http://127.0.0.1:8000/v1 --model NAME\n"
     "  astra optimize mine --agents llm --provider anthropic --model NAME --budget-usd 1 --width 3\n\n"
     "Several tasks, as words or in a list with their shares of the application's time, are a campaign (docs/campaign.md): a\n"
     "run for each, within one budget, with one report. The same command again does what is missing, new or changed.\n\n"
     "  astra optimize tasks/norm tasks/rope tasks/silu --budget-time 1h\n"
     "  astra optimize --list kernels.txt --out overnight --budget-time 8h --fail-under 1.05\n",
     0, INT_MAX, cmd_optimize},
    {"check", 'c', "DIR", "is the task sound: does it parse, launch, and give the right answer everywhere?",
     "  astra check my_task\n", 1, 1, cmd_check},
    {"init", 'i', "PATH[:KERNEL]",
     "a task from a framework's file: the kernel, what it uses, its wrapper as the launcher",
     "Without KERNEL the file's kernels are listed. A name may be qualified, and may name an instance. Headers are looked for\n"
     "beside the file, in the folders of -I and in the file's repository. What cannot be known is a TODO in task.yaml, and\n"
     "a question here (docs/task.md).\n\n"
     "  astra init vllm/csrc/layernorm_kernels.cu\n"
     "  astra init vllm/csrc/layernorm_kernels.cu:rms_norm_kernel --out rms_norm\n"
     "  astra init norm.cuh:RMSNormKernel<8,half> -I include\n",
     1, 1, cmd_init},
    {"bench", 'b', "DIR [FILE...]", "verify and time versions against the original",
     "FILE is another version of the task's kernel file; without it the original is timed. Exit status 0 whatever\n"
     "the verdict (but see --fail-under): with --json it is the field `verdict`.\n\n"
     "  astra bench examples/silu_and_mul examples/silu_and_mul/production.cu\n"
     "  astra bench my_task mine.cu --json\n"
     "  astra bench my_task mine.cu --confirm\n"
     "  astra bench my_task mine.cu yours.cu --markdown\n",
     1, INT_MAX, cmd_bench},
    {"profile", 'p', "DIR [FILE]", "where the time goes: the diagnosis, per workload and per source line",
     "  astra profile examples/merge_attn_states\n"
     "  astra profile --capture seen rms_norm\n",
     1, 2, cmd_profile},
    {"sanitize", 'z', "DIR|FILE [FILE]",
     "the simulator's checks alone: races, bounds, undefined values, barriers",
     "Every case of the task's suite is launched once on the simulator, whatever the others found; nothing is compared or\n"
     "timed, so a kernel that is not sound can be looked at. FILE is another version, or lies in its task's folder. Exit\n"
     "status 4 with findings (docs/integrity.md).\n\n"
     "  astra sanitize my_task\n"
     "  astra sanitize my_task mine.cu --sarif findings.sarif --junit findings.xml\n"
     "  astra sanitize --capture seen rms_norm\n",
     1, 2, cmd_sanitize},
    {"runs", 'u', "[FOLDER]", "the runs below a folder (default astra-runs): chosen, sorted",
     "Also those in folders in FOLDER. What is no run is named on stderr. A run that goes on, or was stopped, is listed with the\n"
     "best it has so far.\n\n  astra runs\n  astra runs --task 'softmax*' --outcome improved --sort speedup\n"
     "  astra runs --since 3d --json\n",
     0, 1, cmd_runs},
    {"show", 's', "[RUN] [CANDIDATE]", "what a run tried and found, or one candidate in full",
     "RUN is a run's folder, its name below astra-runs, or as much of the name's beginning as only one has. Without RUN\n"
     "it is the newest run.\n\n  astra show\n  astra show 7\n  astra show softmax-1 7\n  astra show softmax-1 --calls\n",
     0, 2, cmd_show},
    {"diff", 'd', "[RUN] [NUMBER|RUN]",
     "the patch from the original to the best or to a candidate; or two runs compared",
     "Of two runs: speed-ups by workload and whether they differ, backends, verdicts, cost, options, and the patch between\n"
     "their best files. Runs of different tasks or devices, or modelled and measured ones, are not set against each other.\n\n"
     "  astra diff | patch my_kernel.cu\n  astra diff softmax-1 7\n  astra diff softmax-1 softmax-2\n",
     0, 2, cmd_diff},
    {"report", 't', "[RUN...]", "a run as one page for its reviewer, or several side by side",
     "Writes report.html into the run's folder and prints where it is: one file that needs no network and can be mailed,\n"
     "read on a phone and printed. Unfinished runs have one, too. Several runs are put beside each other, in comparison.html.\n"
     "docs/report.md says what each part means.\n\n"
     "  astra report softmax-1\n"
     "  astra report softmax-rules softmax-llm --out rules-or-llm.html\n"
     "  astra report softmax-1 --markdown >pull-request.md\n",
     0, 8, cmd_report},
    {"export", 'e', "[RUN]", "the best version as other projects take it in: a file, a patch, an extension",
     "Only of a finished run whose files are those that were judged. --to list says what there is; a single text goes to\n"
     "stdout or --out FILE, several files to --out DIR. docs/export.md says what each target makes.\n\n"
     "  astra export softmax-1 --to cuda --out softmax.cu\n"
     "  astra export softmax-1 --to patch | git apply\n"
     "  astra export --to list\n",
     0, 1, cmd_export},
    {"resume", 'r', "[RUN]", "go on with a run that was stopped",
     "It goes on with the first trial that is missing, and ends with the result that an undisturbed run has. Without RUN: the\n"
     "newest.\n\n  astra resume\n  astra resume softmax-1 --budget-time 10m\n",
     0, 1, cmd_resume},
    {"verify", 'v', "[RESULT]", "does a result still hold? judged again from its folder's files alone",
     "RESULT is a run's folder or its result.json, wherever they lie now; run.db is not needed. The hashes first, then the\n"
     "suite, the hidden cases and the figures. Without the GPU it was measured on, only the answers are judged. Exit\n"
     "status 0 when it holds, 1 when it does not, with what and why.\n\n"
     "  astra verify\n  astra verify softmax-1\n",
     0, 1, cmd_verify},
    {"capture", 'g', "[FOLDER] [-- PROGRAM ...]",
     "which kernels a running program spends the GPU's time in, with their shapes",
     "Runs PROGRAM, whatever it is (a server, a Python script, a C program), counts and times its kernels where they reach the\n"
     "driver, and ranks them when it ends. PROGRAM computes what it always does; if it crashes, what was counted stays. With FOLDER\n"
     "alone an earlier capture is shown again. docs/capture.md says how the times are taken, and what cannot be seen.\n\n"
     "  astra capture -- python3 serve.py --steps 20\n"
     "  astra capture --out decode -- ./a.out 1024\n"
     "  astra capture decode --top 5\n"
     "  astra capture decode --json\n\n"
     "FOLDER holds ranking.json and kernels.txt, a list for `astra optimize --list` with each kernel's share.\n",
     0, INT_MAX, cmd_capture},
    {"replace", 'w', "RESULT... -- PROGRAM ...", "a program run with kernels of its own replaced by results'",
     "RESULT is a run's folder. PROGRAM runs as ever, but launches that --capture has, of the kernel that the task was made of, run\n"
     "the result's best version. All other launches take the original, and are counted. With --pairs N the program runs N times\n"
     "as it is and N times so, in turns: what does the result do for the whole program? `astra capture --keep NAME` makes the\n"
     "capture; docs/capture.md says which launches can be replaced.\n\n"
     "  astra replace silu_and_mul-1 --capture seen -- ./serve --steps 20\n"
     "  astra replace silu_and_mul-1 --capture seen --pairs 8 --metric 'tokens/s: ([0-9.]+)' -- ./serve --steps 20\n",
     1, INT_MAX, cmd_replace},
    {"memory", 'y', "[WHAT] [FILE...]", "what earlier runs learned: shown, exported, imported, forgotten",
     "Runs keep what transforms did to versions of what kind, and on which device; later runs try first what helped versions alike.\n"
     "It orders what is tried, nothing else (docs/rewrites.md). WHAT is nothing (tables), export, import FILE..., or forget with\n"
     "what is to be forgotten. The file is astra/memory.db in $XDG_DATA_HOME or ~/.local/share, or what ASTRA_MEMORY names; empty:\n"
     "there is none.\n\n"
     "  astra memory\n"
     "  astra memory export --out learned.json\n"
     "  astra memory import learned.json\n"
     "  astra memory forget --before 90d\n"
     "  astra memory forget --all\n",
     0, 8, cmd_memory},
    {"mcp", 'a', "", "the judge as tools of a coding agent: a server of the Model Context Protocol",
     "Speaks over stdin and stdout; an agent's set-up names this command (docs/models.md has the lines). The tools check, bench,\n"
     "profile, sanitize and optimize read files below --root, ask no model, and take no command, key or address.\n\n"
     "  astra mcp --root kernels\n",
     0, 0, cmd_mcp},
    {"skill", 'l', "", "a skill file for coding agents: how to work with this judge",
     "  astra skill --install ~/.claude/skills\n", 0, 0, cmd_skill},
    {"doctor", 'x', "", "what is here, what is missing, and how to get it",
     "The compiler, GPUs and their clocks, the sandbox, simulated devices, models. Exit status 1 when no kernel can be\n"
     "compiled or simulated.\n\n  astra doctor\n  astra doctor --json\n",
     0, 0, cmd_doctor},
    {"completion", 'k', "SHELL", "completions for bash or zsh, on stdout",
     "  source <(astra completion bash)\n  astra completion zsh >~/.zsh/completions/_astra\n", 1, 1,
     cmd_completion},
    {"man", 'm', "", "the manual page, as man takes it",
     "  astra man | man -l -\n  astra man >~/.local/share/man/man1/astra.1\n", 0, 0, cmd_man},
};

const char options_exit_status[] =
    "0 done (also when the original stays), 1 an I/O or system error, 2 usage or a broken task,\n"
    "3 a budget ended it, 4 below --fail-under or with findings, 130 interrupted (and resumable)";

const struct verb *options_verbs(size_t *n)
{
    *n = ARRAY_LEN(verbs);
    return verbs;
}

const struct option *options_next(const struct verb *v, size_t *at)
{
    while (*at < ARRAY_LEN(options)) {
        const struct option *o = &options[(*at)++];
        if (strchr(o->verbs, v->letter))
            return o;
    }
    return NULL;
}

/* Is the last line of it indented? */
static bool to_indented(const struct str *to)
{
    const char *line = memrchr(to->s, '\n', to->len);

    return line && line[1] == ' ';
}

/* Lines of a paragraph as one; examples, which are indented, and blank lines stay. */
static void add_flowing(const char *text, struct str *to)
{
    for (; *text; text++) {
        bool ends = *text == '\n' && to->len && to->s[to->len - 1] != '\n';
        str_addc(to, ends && text[1] && text[1] != '\n' && text[1] != ' ' && !to_indented(to) ? ' ' : *text);
    }
}

static void add_help(const struct verb *v, struct str *to)
{
    size_t at = 0;

    if (!v) {
        str_add(to, "astra - a faster CUDA kernel from the one you have, shown correct, with the evidence\n\n"
                    "usage: astra VERB ...\n\n");
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
            str_addf(to, "  %-10s %-21s  %s\n", verbs[i].name, verbs[i].words, verbs[i].summary);
        str_add(
            to,
            "\n`astra VERB --help` says more of each. Without a GPU everything runs on a simulator, and "
            "figures are called modelled. Start with: astra optimize examples/silu_and_mul\n\nexit status: ");
        add_flowing(options_exit_status, to);
        str_addc(to, '\n');
        return;
    }
    str_addf(to, "usage: astra %s%s%s [options]\n\n%s\n\n", v->name, v->words[0] ? " " : "", v->words,
             v->summary);
    add_flowing(v->text, to);
    str_add(to, "\noptions:\n");
    for (const struct option *o; (o = options_next(v, &at));) {
        char left[64];
        snprintf(left, sizeof(left), "%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        str_addf(to, "  %-23s  %s", left, o->help);
        if (o->fallback[0])
            str_addf(to, " (%s)", o->fallback);
        str_addc(to, '\n');
    }
}

static int print_help(const struct verb *v)
{
    struct str text = {0};
    struct err err;
    int status;

    add_help(v, &text);
    status = cmd_print_as(CMD_HELP, str_text(&text), &err) ? EXIT_OK : cmd_fail(&err);
    str_free(&text);
    return status;
}

static int print_usage(void)
{
    struct str text = {0};

    add_help(NULL, &text);
    fputs(str_text(&text), stderr);
    str_free(&text);
    return EXIT_USAGE;
}

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    double v = strtod(text, &end);
    static const struct {
        const char *name;
        double s;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    double unit = 0;

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(end, units[i].name))
            unit = units[i].s;
    *seconds = v * unit;
    return end != text && unit > 0 && v > 0 && isfinite(v);
}

static bool parse_whole(const char *text, int64_t low, int64_t *out)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    *out = v;
    return end != text && *end == 0 && errno == 0 && v >= low;
}

static bool set_option(const struct option *o, const char *value, struct cmd_args *args, struct err *err)
{
    void *field = (char *)args + o->field;

    switch (o->kind) {
    case TEXT:
        *(const char **)field = value;
        return true;
    case FLAG:
        *(bool *)field = true;
        return true;
    case COUNT:
        if (parse_whole(value, 1, field) && *(int64_t *)field <= INT_MAX)
            return true;
        return err_input(err, "%s takes a whole number from 1 up, not '%s'", o->name, value);
    case NUMBER0:
        if (parse_whole(value, 0, field))
            return true;
        return err_input(err, "%s takes a whole number from 0 up, not '%s'", o->name, value);
    case NUMBER: {
        char *end;
        *(double *)field = strtod(value, &end);
        if (end != value && *end == 0 && *(double *)field > 0)
            return true;
        return err_input(err, "%s takes a number above 0, not '%s'", o->name, value);
    }
    case MODEL:
    case MODEL_FLAG: {
        struct cmd_models *m = field;
        if (m->n == (int)ARRAY_LEN(m->list))
            return err_input(err, "%s: too many options about models; write them in astra.yaml", o->name);
        m->list[m->n++] = (struct cmd_setting){o->name, o->kind == MODEL ? value : "true"};
        return true;
    }
    case COMPILER: {
        struct cmd_flags *f = field;
        if (f->n == ARRAY_LEN(f->list))
            return err_input(err, "%s: more than %zu of such options%s", o->name, f->n,
                             o->name[1] == '-' ? "" : "; --compile-commands takes them from a file");
        f->list[f->n++] = (struct cmd_setting){o->name, value};
        return true;
    }
    case SECONDS:
        if (parse_seconds(value, field))
            return true;
        return err_input(err, "%s takes a time such as 90s, 10m or 1h, not '%s'", o->name, value);
    }
    BUG("option kind %d", o->kind);
}

static const struct option *find_option(const struct verb *v, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (str_eq(options[i].name, name) && strchr(options[i].verbs, v->letter))
            return &options[i];
    return NULL;
}

static bool stranger(const struct verb *v, const char *name, struct err *err)
{
    const char *names[ARRAY_LEN(options) + 1];
    const char *near;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strchr(options[i].verbs, v->letter))
            names[n++] = options[i].name;
    names[n] = NULL;
    near = str_nearest(name, names);
    return err_input(err, "`astra %s` has no option %s%s%s%s; see `astra %s --help`", v->name, name,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "", v->name);
}

static bool parse(const struct verb *v, int argc, char **argv, struct cmd_args *args, struct err *err)
{
    bool only_words = false;

    args->tune_budget = -1; /* not said */
    args->n_before = -1;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].fallback[0] && !set_option(&options[i], options[i].fallback, args, err))
            return false;
    for (int i = 0; i < argc; i++) {
        const struct option *o;
        char *name = argv[i], *equals, *value = NULL;
        if (str_eq(name, "--") && !only_words) {
            only_words = true;
            args->n_before = args->n_words;
            continue;
        }
        if (only_words || name[0] != '-' || name[1] == 0) {
            if (args->n_words == v->max_words)
                return err_input(err, "`astra %s` takes %s, and '%s' is too much; see `astra %s --help`",
                                 v->name, v->words[0] ? v->words : "no words", name, v->name);
            args->words[args->n_words++] = name;
            continue;
        }
        equals = strchr(name, '=');
        o = find_option(v, str_eq(name, "-h") ? "--help" : name);
        if (!o && (o = find_option(v, (char[]){name[0], name[1], '\0'}))) {
            value = name + 2; /* -DNAME */
        } else if (!o && equals) {
            *equals = 0;
            value = equals + 1;
            o = find_option(v, name);
        }
        if (!o)
            return stranger(v, name, err);
        if (o->argument && !value) {
            if (i + 1 == argc)
                return err_input(err, "%s needs %s: %s", o->name, o->argument, o->help);
            value = argv[++i];
        }
        if (!o->argument && value)
            return err_input(err, "%s takes no value", o->name);
        if (!set_option(o, value, args, err))
            return false;
        if (!strchr(o->verbs, '-')) {
            args->given[args->n_given++] = o->name;
            if (value)
                args->given[args->n_given++] = value;
        }
    }
    const bool of_capture = args->capture && strchr("pz", v->letter); /* a name may follow, or nothing */
    if (!args->help && !of_capture && args->n_words < v->min_words)
        return err_input(err, "`astra %s` needs %s; see `astra %s --help`", v->name, v->words, v->name);
    return true;
}

static int unknown_verb(const char *word)
{
    const char *names[ARRAY_LEN(verbs) + 1];
    const char *near;
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        names[i] = verbs[i].name;
    names[ARRAY_LEN(verbs)] = NULL;
    near = str_nearest(word, names);
    err_input(&err, "there is no verb '%s'%s%s%s; `astra --help` lists them", word,
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return cmd_fail(&err);
}

/* Descriptors 0 to 2 must not become pipes or the store. A standard output that was closed stays unwritable, so
 * that a result that goes nowhere is still an error. */
static void open_standard_files(void)
{
    static const int flags[] = {O_RDONLY, O_RDONLY, O_WRONLY};

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd]) != fd)
            _exit(EXIT_WORLD);
}

int cmd_main(int argc, char **argv)
{
    const struct verb *v = NULL;
    struct cmd_args args = {0};
    struct err err = {0};
    const char *word = argc > 1 ? argv[1] : NULL;
    int status;

    open_standard_files();
    if (!word)
        return print_usage();
    if (str_eq(word, "worker"))
        return pool_worker_main(argc - 1, argv + 1);
    if (str_eq(word, "node"))
        return pool_node_main();
    if (str_eq(word, "launch"))
        return isolated_run_main(argc - 1, argv + 1);
    /* Nobody reads stdout any more: see cmd_print_as; a pipe to a child is another thing. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow */
    if (str_eq(word, "--version")) {
        return cmd_print("astra " ASTRA_VERSION "\n", &err) ? EXIT_OK : cmd_fail(&err);
    }
    if (str_eq(word, "--help") || str_eq(word, "-h") || str_eq(word, "help")) {
        if (argc > 2)
            for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                if (str_eq(verbs[i].name, argv[2]))
                    v = &verbs[i];
        return argc > 2 && !v ? unknown_verb(argv[2]) : print_help(v);
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(verbs[i].name, word))
            v = &verbs[i];
    if (!v)
        return unknown_verb(word);
    struct arena *a = arena_open();
    args.words = arena_array(a, const char *, (size_t)argc + 1);
    args.given = arena_array(a, const char *, 2 * (size_t)argc + 1);
    if (!parse(v, argc - 2, argv + 2, &args, &err)) {
        status = cmd_fail(&err);
    } else if (args.help) {
        status = print_help(v);
    } else if ((args.color && !cmd_set_colours(args.color, &err)) ||
               (args.trace && !trace_open(args.trace, &err))) {
        status = cmd_fail(&err);
    } else {
        status = v->run(&args);
        tui_close();
        trace_close();
    }
    arena_close(a);
    return status;
}
