/* Names of runs: a folder, a name below astra-runs, the beginning of one, or none: the newest. */
#include "cmd/cmd.h"
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS "astra-runs"

static int by_version(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* What is below astra-runs and begins so. */
static size_t beginning(struct arena *a, const char *prefix, const char ***names)
{
    struct dirent **entries = NULL;
    int n = scandir(RUNS, &entries, visible, by_version);
    size_t found = 0;

    *names = arena_array(a, const char *, (size_t)MAX(n, 0) + 1);
    for (int i = 0; i < n; i++) {
        if (str_starts(entries[i]->d_name, prefix))
            (*names)[found++] = arena_strdup(a, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static bool by_beginning(struct arena *a, const char *run, char **folder, struct err *err)
{
    const char **names;
    struct str list = {.arena = a};
    size_t n = *run && !strchr(run, '/') ? beginning(a, run, &names) : 0;

    if (n == 1) {
        *folder = fs_join(a, RUNS, names[0]);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        str_addf(&list, "%s%s", i ? ", " : "", names[i]);
    if (n)
        err_input(err, "'%s' is the beginning of %zu runs: %s", run, n, str_text(&list));
    else
        err_input(err,
                  "there is no run '%s', neither as a folder nor below astra-runs; `astra runs` lists them",
                  run);
    return false;
}

bool cmd_run_folder(struct arena *a, const char *run, char **folder, struct err *err)
{
    char *named = fs_join(a, RUNS, run);

    if (fs_is_dir(run))
        *folder = arena_strdup(a, run);
    else if (fs_is_dir(named))
        *folder = named;
    else
        return by_beginning(a, run, folder, err);
    return true;
}

bool cmd_run_newest(struct arena *a, const char *verb, char **folder, struct err *err)
{
    const struct runs_choice by_date = {0};
    const struct runs_row *list;
    size_t n = 0, n_all = 0, newest = 0;

    if (fs_is_dir(RUNS) && !runs_read(a, RUNS, &by_date, &list, &n, &n_all, err))
        return false;
    if (n_all == 0)
        return err_input(err, "`astra %s` needs RUN, and there is none below astra-runs; see `astra %s --help`",
                         verb, verb);
    for (size_t i = 1; i < n && !list[i].error && str_eq(list[i].started, list[0].started); i++)
        if (strverscmp(list[i].run, list[newest].run) > 0)
            newest = i; /* begun within the same second */
    *folder = arena_strdup(a, list[newest].folder);
    fprintf(stderr, "run: %s, the newest\n", *folder);
    return true;
}

bool cmd_run_named(struct arena *a, const struct cmd_args *args, const char *verb, char **folder,
                   struct err *err)
{
    return args->n_words ? cmd_run_folder(a, args->words[0], folder, err)
                         : cmd_run_newest(a, verb, folder, err);
}

bool cmd_default_out(struct arena *a, const char *task_dir, const char **out, struct err *err)
{
    const char *task = fs_basename(fs_absolute(a, task_dir)), **names;
    size_t n = beginning(a, arena_printf(a, "%s-", task), &names);
    long long last = 0;

    for (size_t i = 0; i < n; i++) {
        char *end;
        long long number = strtoll(names[i] + strlen(task) + 1, &end, 10);
        if (!*end && number < 1000000) /* older names end in a day and a time */
            last = MAX(last, number);
    }
    if (!fs_mkdirs(RUNS, err))
        return false;
    do
        *out = arena_printf(a, RUNS "/%s-%lld", task, ++last);
    while (mkdir(*out, 0777) != 0 && errno == EEXIST); /* of another process that began just now */
    return fs_is_dir(*out) || err_world(err, "cannot make %s: %s", *out, strerror(errno));
}
