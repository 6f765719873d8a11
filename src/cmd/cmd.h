/* cmd: the command line. One table of options for all verbs, one file a verb; a verb gets its options filled in
 * and returns the exit status: 0 it did its job, 1 an I/O or system error, 2 usage or a broken task, 3 a budget
 * ended it, 4 its result is below --fail-under or has findings, 130 interrupted. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/base.h"

struct fleet;

enum { EXIT_OK = 0, EXIT_WORLD = 1, EXIT_USAGE = 2, EXIT_BUDGET = 3, EXIT_UNDER = 4, EXIT_INTERRUPTED = 130 };

struct cmd_args {
    const char **words; /* what is not an option */
    int n_words;
    int n_before;       /* words in front of a --; -1: there was none */
    const char **given; /* options as they were written, but those of a campaign itself: each with its value */
    size_t n_given;
    const char *device, *agents, *out, *trace, *config, *to, *name, *tree, *color, *sarif, *junit, *runs,
        *install, *workers;
    int64_t rounds, candidates, jobs, seed, hidden_seed, prompt, strategy, mutants, min_mutation, tune_budget,
        top, pairs, contents_mb, together;
    const char *only_kernel, *before; /* of what memory forgets */
    const char *only_task, *only_device, *only_agents, *only_outcome, *since, *sort, *list, *times, *keep,
        *contents, *e2e_cmd, *capture, *metric, *beside;
    double budget_s, fail_under; /* fail_under 0: not asked */
    bool confirm, exact, json, events, quiet, help, calls, markdown, reverse, force, no_memory, all, compare;
    struct cmd_models {
        struct cmd_setting {
            const char *option, *value;
        } list[32];
        int n;
    } models; /* options about models, in order */
    struct cmd_flags {
        struct cmd_setting list[256];
        size_t n;
    } flags; /* -I, -D and -U of init, --also of optimize, --root of mcp; in order */
    const char *compile_commands;
};

/* Runs the verb in argv; never returns on a usage error without saying what is right. */
int cmd_main(int argc, char **argv);

/* Prints the error once and gives the exit status that belongs to it. */
int cmd_fail(const struct err *err);

/* EXIT_OK, or EXIT_UNDER with a word on stderr: whether a result, or what bench prints, reaches --fail-under.
 * The lower end of the interval counts where times are measured, else the modelled geometric mean. */
int cmd_fail_under(const struct cmd_args *args, const json_t *result);

/* The folder of a RUN given as a folder, as a name below astra-runs, or as the beginning of one such name. */
bool cmd_run_folder(struct arena *a, const char *run, char **folder, struct err *err);
/* The newest run below astra-runs, said on stderr. */
bool cmd_run_newest(struct arena *a, const char *verb, char **folder, struct err *err);
/* The run that the first word names; without words the newest. */
bool cmd_run_named(struct arena *a, const struct cmd_args *args, const char *verb, char **folder,
                   struct err *err);
/* Default --out: astra-runs/TASK-N, made here, with the next N. */
bool cmd_default_out(struct arena *a, const char *task_dir, const char **out, struct err *err);

/* "auto", "cuda", "cuda:N", "cuda:all", "sim", "sim:NAME" to what trial_options.device takes; auto says which,
 * unless quiet. */
bool cmd_device(const char *device, struct arena *a, bool quiet, const char **name, struct err *err);
/* --beside for a run on this device (*names NULL: it was not said). here: the library must be on this machine.
 */
bool cmd_beside(const struct cmd_args *args, const char *device, bool here, const char **names,
                struct err *err);

/* --workers FILE: fleet, NULL where it is not given, and the device of the run: a GPU's where `auto` finds a
 * worker that measures. */
bool cmd_fleet(const struct cmd_args *args, struct arena *a, const struct fleet **fleet, const char **device,
               struct err *err);

/* The file that keeps what runs learn: ASTRA_MEMORY, or astra/memory.db in the user's data folder. NULL: none,
 * as an empty ASTRA_MEMORY says, or there is no such folder. */
const char *cmd_memory_path(struct arena *a);

/* --e2e-cmd: whether what goes with it is right, before a run; and, after it, the program measured with the
 * result of the run in `out`, which gets the key end_to_end. A program that cannot be measured is no error. */
bool cmd_e2e_check(const struct cmd_args *args, struct arena *a, struct err *err);
bool cmd_e2e(const struct cmd_args *args, const char *out, struct err *err);

int cmd_optimize(const struct cmd_args *args);
int cmd_campaign(const struct cmd_args *args, bool resume); /* optimize of several tasks, and its resume */
int cmd_campaign_report(const struct cmd_args *args, const char *folder);
int cmd_check(const struct cmd_args *args);
int cmd_bench(const struct cmd_args *args);
int cmd_profile(const struct cmd_args *args);
int cmd_sanitize(const struct cmd_args *args);
int cmd_runs(const struct cmd_args *args);
int cmd_show(const struct cmd_args *args);
int cmd_diff(const struct cmd_args *args);
int cmd_diff_runs(const struct cmd_args *args); /* diff of two runs */
int cmd_report(const struct cmd_args *args);
int cmd_init(const struct cmd_args *args);
int cmd_export(const struct cmd_args *args);
int cmd_resume(const struct cmd_args *args);
int cmd_verify(const struct cmd_args *args);
int cmd_memory(const struct cmd_args *args);
int cmd_mcp(const struct cmd_args *args);
int cmd_skill(const struct cmd_args *args);
int cmd_capture(const struct cmd_args *args);
int cmd_replay(const struct cmd_args *args, bool time); /* of --capture: profile, else sanitize */
int cmd_replace(const struct cmd_args *args);
int cmd_doctor(const struct cmd_args *args);
int cmd_completion(const struct cmd_args *args);
int cmd_man(const struct cmd_args *args);

/* ---- shared by verbs, for folders above cmd only ---- */

/* From here on a run of this process is shown as args say, and Ctrl-C or q asks it to stop. */
void cmd_show_run(const struct cmd_args *args);

/* What is written: text and tables are wrapped to a terminal's width, help to 100 columns everywhere; patches
 * get colours on a terminal; source and JSON stay as they are. */
enum cmd_form { CMD_TEXT, CMD_HELP, CMD_PATCH, CMD_EXACT };

/* Writes to stdout, on a terminal without what it would obey, and after the live screen. A full stdout is an
 * error (status 1); one that nobody reads any more ends the process quietly by SIGPIPE. */
bool cmd_print_as(enum cmd_form form, const char *text, struct err *err);
bool cmd_print(const char *text, struct err *err);                                     /* CMD_TEXT */
bool cmd_print_result(const struct cmd_args *args, const char *text, struct err *err); /* it may be JSON */
void cmd_wrap(struct str *out, const char *text, int width);
/* A line of a file, and a caret below a column of it; nothing when the file cannot be read. */
void cmd_add_place(struct str *out, const char *file, int line, int col, bool in_colour);
bool cmd_set_colours(const char *word, struct err *err); /* auto, always, never */

#define CMD_NO_DEVICES                                                                                   \
    "this program was built without its device files (share/devices): nothing can be simulated; set up " \
    "the build anew, `rm -rf build && make`"

int cmd_cores(int together); /* worker processes by default, of each of so many runs */

#endif
