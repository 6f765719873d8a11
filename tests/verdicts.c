/* Kernel files written by hand, in many styles, right and wrong, and the verdict that each must get:
 * tests/verdicts/TASK/NAME.cu is judged as a candidate of examples/TASK. Its first line says what is expected:
 *
 *     // expect: VERDICT[|VERDICT]... [line N] [words TEXT]
 *
 * `correct` stands for passed|slower. TEXT, to the end of the line, must occur in the verdict's words. A file
 * whose name ends in _whole.cu is judged as the last confirmation does it: the workloads are verified whole,
 * too.
 *
 *     verdicts [-v] [-t] [-n] [-s SEED] [-d DEVICE] [FOLDER or FILE]...   (default: every folder of
 * tests/verdicts)
 *
 * -v prints every verdict, -t times the kernels on the workloads too, -n has nvcc compile the whole file too;
 * -d judges elsewhere: "cuda:0". What a kernel does to a GPU ends with its process, so workers judge, several
 * at a time.
 */
#include <dirent.h>
#include <unistd.h>

#include "trial/trial.h"

static bool verbose;
static struct trial_options options = {.device = "h200", .seed = 1, .verify_only = true};
static int passed, failed, workers = 1;

struct expected {
    const char *verdicts, *words;
    int line;
};

static bool parse_expected(struct arena *a, const char *text, struct expected *e)
{
    static const char head[] = "// expect: ";
    const char *end = text + strcspn(text, "\n");

    if (!str_starts(text, head))
        return false;
    char *rest = arena_strndup(a, text + strlen(head), (size_t)(end - text) - strlen(head));
    char *words = strstr(rest, " words "), *line = strstr(rest, " line ");
    *e = (struct expected){.verdicts = rest};
    if (words) {
        *words = 0;
        e->words = words + strlen(" words ");
    }
    if (line && (!words || line < words)) {
        *line = 0;
        e->line = atoi(line + strlen(" line "));
    }
    return true;
}

static bool verdict_expected(const char *list, enum verdict v)
{
    for (const char *p = list; *p; p += strcspn(p, "|"), p += *p == '|') {
        size_t n = strcspn(p, "|");
        if (n == strlen(verdict_name(v)) && !strncmp(p, verdict_name(v), n))
            return true;
        if (n == strlen("correct") && !strncmp(p, "correct", n) && verdict_correct(v))
            return true;
    }
    return false;
}

static void look(struct arena *a, const char *path, const char *text, const struct trial *t)
{
    struct expected e = {0};
    bool good = false;

    if (!parse_expected(a, text, &e)) {
        printf("%s: the first line does not say // expect: VERDICT\n", path);
    } else {
        good = verdict_expected(e.verdicts, t->verdict) && (!e.line || e.line == t->line) &&
               (!e.words || strstr(t->words, e.words));
        if (!good)
            printf("%s: FAILED, expected %s%s%s%s\n", path, e.verdicts,
                   e.line ? arena_printf(a, " in line %d", e.line) : "", e.words ? " with words " : "",
                   e.words ? e.words : "");
        if (!good || verbose)
            printf("%s:%d: %s: %s [%.2f s, score %.2f]\n", path, t->line, verdict_name(t->verdict), t->words,
                   t->wall_s, t->score);
        if (verbose && t->missing_checks)
            printf("%s: not checked: %s\n", path, t->missing_checks);
    }
    fflush(stdout);
    passed += good;
    failed += !good;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static size_t list(struct arena *a, const char *folder, const char ***names)
{
    VEC(const char *) found = {0};
    DIR *d = opendir(folder);

    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            vec_push(&found, arena_strdup(a, e->d_name));
    if (d)
        closedir(d);
    *names = arena_array(a, const char *, found.n + 1);
    for (size_t i = 0; i < found.n; i++)
        (*names)[i] = found.v[i];
    qsort(*names, found.n, sizeof(**names), by_name);
    size_t n = found.n;
    vec_free(&found);
    return n;
}

/* Those that are judged with the workloads whole, or those that are not. */
static bool run_files(struct arena *a, const char *folder, const struct task *task, const char *only,
                      bool whole, struct err *err)
{
    struct trial_options o = options;
    struct pool *p = NULL;
    const char **names, **texts;
    size_t n = list(a, folder, &names), left = 0;
    bool ok = true;

    o.confirm = whole;
    texts = arena_array(a, const char *, n + 1);
    for (size_t i = 0; ok && i < n; i++) {
        char *text;
        if (str_ends(names[i], "_whole.cu") != whole || (only && strcmp(names[i], only) != 0))
            continue;
        const char *path = arena_printf(a, "%s/%s", folder, names[i]);
        ok = fs_read(a, path, &text, NULL, err) && (p || pool_open(&p, task, &o, workers, NULL, err)) &&
             pool_submit(p, (int)i, path, text, err);
        texts[i] = text;
        left++;
    }
    while (ok && left > 0) {
        struct arena *scratch = arena_open();
        struct trial t;
        int id;
        ok = pool_collect(p, 1, scratch, &id, &t, err);
        if (ok && id >= 0) {
            look(a, arena_printf(a, "%s/%s", folder, names[id]), texts[id], &t);
            left--;
        }
        arena_close(scratch);
    }
    pool_close(p);
    return ok;
}

static void run_folder(const char *folder, const char *only)
{
    struct arena *a = arena_open();
    struct task *task;
    struct err err = {0};
    char place[2600];
    double start_s = time_s();

    if (!task_open(&task, a, arena_printf(a, "examples/%s", fs_basename(folder)), &err)) {
        printf("%s: %s\n", folder, err_format(&err, place, sizeof(place)));
        failed++;
        arena_close(a);
        return;
    }
    if (!run_files(a, folder, task, only, false, &err) || !run_files(a, folder, task, only, true, &err)) {
        printf("%s: %s\n", folder, err_format(&err, place, sizeof(place)));
        failed++;
    }
    if (verbose)
        printf("%s: %.2f s\n", folder, time_s() - start_s);
    arena_close(a);
}

int main(int argc, char **argv)
{
    static const char root[] = "tests/verdicts";
    struct arena *a = arena_open();
    struct nvrtc *n;
    struct err err = {0};
    const char **folders;
    int option;

    if (argc > 1 && str_eq(argv[1], "worker"))
        return pool_worker_main(argc - 1, argv + 1);
    while ((option = getopt(argc, argv, "vtns:d:")) != -1) {
        if (option == '?')
            return 2;
        verbose |= option == 'v';
        options.with_nvcc |= option == 'n';
        if (option == 't')
            options.verify_only = false;
        if (option == 'd') {
            options.device = optarg;
            workers = 8;
        }
        if (option == 's')
            options.seed = strtoull(optarg, NULL, 10);
    }
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "no verdicts: %s\n", err.text);
        return 77;
    }
    nvrtc_close(n);
    for (int i = optind; i < argc; i++)
        if (fs_is_dir(argv[i]))
            run_folder(argv[i], NULL);
        else
            run_folder(fs_dirname(a, argv[i]), fs_basename(argv[i]));
    if (optind == argc)
        for (size_t i = 0, k = list(a, root, &folders); i < k; i++)
            run_folder(fs_join(a, root, folders[i]), NULL);
    printf("%d cases passed, %d failed\n", passed, failed);
    arena_close(a);
    return failed || !passed;
}
