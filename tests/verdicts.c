/* Kernel files written by hand, in many styles, and the verdict that each must get: tests/CORPUS/TASK/NAME.cu
 * is judged as a candidate of tests/tasks/TASK or examples/TASK. The corpora are
 *
 *     cheats   kernels that want to look fast: each must be rejected
 *     bugs     honest mistakes that a test of one shape lets through: each must be rejected
 *     legit    aggressive and right: none may be rejected
 *     refused  what is no candidate: each must be told why
 *
 * The first line says what is expected, the second (not in refused) what it does, and for a cheat or a bug
 * which row of docs/integrity.md it belongs to:
 *
 *     // expect: VERDICT [line N] [words TEXT]
 *     // row N: What it does.
 *
 * `correct` stands for passed|slower. TEXT, to the end of the line, must occur in the verdict's words. A file
 * whose name ends in _whole.cu is judged as the last confirmation does it: the workloads are verified whole,
 * too. One whose name ends in _timed.cu is judged so and timed: `slower` is then what a cheat on the clock
 * gets, no gain. One whose name ends in _shipped.cu needs nvcc, whose output alone shows what it is: it is
 * judged as a confirmation does it, the compiled file included; without nvcc it is left out.
 *
 *     verdicts [-v] [-t] [-n] [-c] [-w] [-p] [-e N] [-s SEED] [-d DEVICE] [-m FILE] [-k FILE] [-b MINUTES]
 *              [FOLDER or FILE]...   (default: all)
 *     verdicts -x NAME|all [FOLDER or FILE]...
 *
 * -v prints every verdict, -t times the kernels on the workloads too, -n has nvcc compile the whole file too,
 * -c judges all as the last confirmation does; -e only every N-th file, for tests under a sanitizer; -p a
 * part: of every task one that is right and one that is not, and of every row and kind of name; -d judges
 * elsewhere: "cuda:0"; -m writes what became of the compiled files there; -k keeps a line of each verdict in
 * that file, and does not judge again what has one there of this very program, file and task, nor count it
 * again where it was good (-p begins the file anew); -b begins no task after so many minutes, and tells only
 * of what has been judged. -x judges with an exception of the error rule switched off (src/judge/rule.c) and
 * names the files whose verdict changes: by default the one that the rule's table names, which must. A run of
 * all ends with the table of docs/results/corpora.md, which must be the one that stands there; -w writes it.
 * What a kernel does to a GPU ends with its process, so workers judge, several at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/rule.h"
#include "verdicts.h"

const char *const corpora[N_CORPORA] = {"cheats", "bugs", "legit", "refused"};

static bool verbose, confirm_all;
static struct trial_options options = {.device = "h200", .seed = 1, .verify_only = true};
corpus_files files;
static const char *kept_path; /* NULL: nothing is kept */
static double until_s = INFINITY;

/* "// expect: ..." and the line below. */
static bool parse_head(struct arena *a, struct corpus_file *f)
{
    static const char head[] = "// expect: ";
    const char *text = f->text, *second = text + strcspn(text, "\n");

    if (!str_starts(text, head))
        return false;
    char *rest = arena_strndup(a, text + strlen(head), (size_t)(second - text) - strlen(head));
    char *words = strstr(rest, " words "), *line = strstr(rest, " line ");
    f->expected = rest;
    if (words) {
        *words = 0;
        f->words = words + strlen(" words ");
    }
    if (line && (!words || line < words)) {
        *line = 0;
        f->line = atoi(line + strlen(" line "));
    }
    bool correct = str_eq(rest, "correct"), row = sscanf(second, "\n// row %d: ", &f->row) == 1;
    if (f->corpus == REFUSED)
        return true;
    if (f->corpus == LEGIT)
        return correct && !row && str_starts(second, "\n// ");
    return !correct && !strchr(rest, '|') && row && f->row > 0 && f->row < N_ROWS;
}

bool verdict_expected(const char *list, enum verdict v)
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

enum depth { PLAIN, WHOLE, TIMED, SHIPPED, N_DEPTHS };

static enum depth depth_of(const struct corpus_file *f)
{
    if (str_ends(f->name, "_timed.cu"))
        return TIMED;
    if (str_ends(f->name, "_shipped.cu"))
        return SHIPPED;
    return confirm_all || str_ends(f->name, "_whole.cu") ? WHOLE : PLAIN;
}

static void look(struct corpus_file *f, const struct trial *t)
{
    /* What the simulator lacks a GPU may have. */
    bool gpu_has_it = str_starts(options.device, "cuda") && str_eq(f->expected, "unsupported");

    bool measured = str_starts(options.device, "cuda") && depth_of(f) == TIMED; /* other words */

    f->got = t->verdict;
    f->judged = true;
    f->shipped = t->shipped;
    f->shipped.device_code = str_eq(t->shipped.device_code, "same") ? "same" : NULL;
    if (str_eq(t->shipped.device_code, "run"))
        f->shipped.device_code = "run";
    f->shipped.not_run_because = t->shipped.not_run_because ? "not run" : NULL;
    f->good = (gpu_has_it && verdict_correct(t->verdict)) ||
              (verdict_expected(f->expected, t->verdict) && (!f->line || f->line == t->line) &&
               (!f->words || measured || strstr(t->words, f->words)));
    if (!f->good) {
        printf("%s: FAILED, expected %s", f->path, f->expected);
        if (f->line)
            printf(" in line %d", f->line);
        printf("%s%s\n", f->words ? " with words " : "", f->words ? f->words : "");
    }
    if (!f->good || verbose)
        printf("%s:%d: %s: %s [%.2f s, score %.2f]\n", f->path, t->line, verdict_name(t->verdict), t->words,
               t->wall_s, t->score);
    if (verbose && t->missing_checks)
        printf("%s: not checked: %s\n", f->path, t->missing_checks);
    if (verbose && t->shipped.asked)
        printf("%s: device code %s; compiled launcher: %u of %u plans%s%s\n", f->path,
               t->shipped.device_code ? t->shipped.device_code : "not compared", t->shipped.compared,
               t->shipped.shapes, t->shipped.not_run_because ? ", not run: " : "",
               t->shipped.not_run_because ? t->shipped.not_run_because : "");
    fflush(stdout);
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

/* ---- what was judged before ---- */

static const char *folder_of(struct arena *a, const char *task)
{
    const char *own = arena_printf(a, "tests/tasks/%s", task);

    return fs_is_dir(own) ? own : arena_printf(a, "examples/%s", task);
}

/* Of all that a verdict follows from: file, task, program. */
static const char *hash_of(struct arena *a, const struct corpus_file *f)
{
    const char *folder = folder_of(a, f->task), **names;
    struct str all = {0};
    struct stat program;
    char hex[65], *text;

    if (stat(PROC_SELF, &program) == 0)
        str_addf(&all, "%lld.%09ld|", (long long)program.st_mtim.tv_sec, program.st_mtim.tv_nsec);
    str_addf(&all, "%s|%llu|%d%d%d|", options.device, (unsigned long long)options.seed, confirm_all,
             options.with_nvcc, options.verify_only);
    str_add(&all, f->text);
    for (size_t i = 0, n = list(a, folder, &names); i < n; i++)
        if (!fs_is_dir(fs_join(a, folder, names[i])) &&
            fs_read(a, fs_join(a, folder, names[i]), &text, NULL, NULL))
            str_add(&all, names[i]), str_add(&all, text);
    hash_sha256_hex(str_text(&all), all.len, hex);
    str_free(&all);
    return arena_strdup(a, hex);
}

static bool keep(const struct corpus_file *f, struct err *err)
{
    struct arena *a = arena_open();
    json_t *o = json_object();
    FILE *to = fopen(kept_path, "a");

    json_put_text(o, "path", f->path);
    json_put_text(o, "text", hash_of(a, f));
    json_put_text(o, "verdict", verdict_name(f->got));
    json_put(o, "good", json_boolean(f->good));
    json_put(o, "asked", json_boolean(f->shipped.asked));
    json_put(o, "run", json_boolean(f->shipped.asked && !f->shipped.not_run_because));
    json_put_int(o, "shapes", f->shipped.shapes);
    json_put_int(o, "compared", f->shipped.compared);
    json_put_text(o, "device_code", f->shipped.device_code ? f->shipped.device_code : "");
    char *line = json_dumps(o, JSON_COMPACT);
    bool ok = to && line && fprintf(to, "%s\n", line) > 0;
    ok = (!to || fclose(to) == 0) && ok;
    free(line);
    json_decref(o);
    arena_close(a);
    return ok || err_world(err, "cannot write %s: %s", kept_path, strerror(errno));
}

static void recall(struct corpus_file *f, const json_t *o)
{
    const char *code = json_text(o, "device_code", "");

    f->judged = verdict_parse(json_text(o, "verdict", ""), &f->got);
    f->good = json_is_true(json_object_get(o, "good"));
    f->shipped.asked = json_is_true(json_object_get(o, "asked"));
    f->shipped.not_run_because = json_is_true(json_object_get(o, "run")) ? NULL : "not run";
    f->shipped.shapes = (unsigned)json_int(o, "shapes", 0);
    f->shipped.compared = (unsigned)json_int(o, "compared", 0);
    f->shipped.device_code = str_eq(code, "same") ? "same" : NULL;
    if (str_eq(code, "run"))
        f->shipped.device_code = "run";
}

/* A line that was cut off is judged again. */
static bool recall_all(struct arena *a, struct err *err)
{
    char *text, *next;

    if (!fs_exists(kept_path))
        return true;
    if (!fs_read(a, kept_path, &text, NULL, err))
        return false;
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        json_t *o = json_loads(line, 0, NULL);
        for (size_t i = 0; o && i < files.n; i++)
            if (str_eq(files.v[i].path, json_text(o, "path", "")) &&
                str_eq(hash_of(a, &files.v[i]), json_text(o, "text", "")))
                recall(&files.v[i], o);
        json_decref(o);
    }
    return true;
}

/* What the time was too short for is not told of. */
static size_t leave_out_unjudged(void)
{
    size_t left = 0, n = files.n;

    for (size_t i = 0; i < n; i++)
        if (files.v[i].judged)
            files.v[left++] = files.v[i];
    files.n = left;
    return n - left;
}

/* ---- finding them ---- */

/* Files, or folders with files somewhere below. */
static bool add(struct arena *a, const char *path, struct err *err)
{
    const char **names;
    char *text;

    if (fs_is_dir(path)) {
        for (size_t i = 0, n = list(a, path, &names); i < n; i++)
            if (!add(a, fs_join(a, path, names[i]), err))
                return false;
        return true;
    }
    if (!fs_read(a, path, &text, NULL, err))
        return false;
    const char *task = fs_dirname(a, path), *corpus = fs_basename(fs_dirname(a, task));
    struct corpus_file f = {.task = fs_basename(task), .name = fs_basename(path), .path = path, .text = text};
    while (f.corpus < N_CORPORA && !str_eq(corpora[f.corpus], corpus))
        f.corpus++;
    if (f.corpus == N_CORPORA)
        return err_input(err, "%s lies in no corpus: tests/CORPUS/TASK/NAME.cu", path);
    if (!parse_head(a, &f))
        return err_at(err, path, 1, 1, "the first two lines do not say what tests/%s must say", corpus);
    vec_push(&files, f);
    return true;
}

/* ---- judging them ---- */

enum { MOST_SHARES = 8, WHOLE_COST = 8 }; /* of a kernel that is confirmed, beside one that is not */

static bool is_wanted(const struct corpus_file *f, const char *task, enum depth depth)
{
    return !f->judged && str_eq(f->task, task) && depth_of(f) == depth;
}

/* A task's files of one depth. */
static bool run_files(const struct task *task, const char *name, enum depth depth, struct err *err)
{
    const struct pool_limits limits = {.candidate_s = 600}; /* a busy machine is no candidate's fault */
    struct trial_options o = options;
    struct pool *p = NULL;
    size_t left = 0;
    bool ok = true;

    for (size_t i = 0; i < files.n; i++)
        left += is_wanted(&files.v[i], name, depth);
    if (!left || time_s() > until_s)
        return true;
    o.confirm = depth != PLAIN;
    o.verify_only &= depth != TIMED;
    o.with_nvcc |= depth == SHIPPED;
    ok = pool_open(&p, task, &o,
                   (int)MIN((size_t)sysconf(_SC_NPROCESSORS_ONLN),
                            MIN(8u, 1 + left / 16)) /* each judges the original first */,
                   &limits, err);
    for (size_t i = 0; ok && i < files.n; i++)
        if (is_wanted(&files.v[i], name, depth))
            ok = pool_submit(p, (int)i, files.v[i].path, files.v[i].text, err);
    while (ok && left > 0) {
        struct arena *scratch = arena_open();
        struct trial t;
        int id;
        ok = pool_collect(p, 1, scratch, &id, &t, err);
        if (ok && id >= 0) {
            look(&files.v[id], &t);
            ok = !kept_path || keep(&files.v[id], err);
            left--;
        }
        arena_close(scratch);
    }
    pool_close(p);
    return ok;
}

static bool run_task(const char *name, struct err *err)
{
    struct arena *a = arena_open();
    struct task *task;
    double start_s = time_s();
    bool ok = task_open(&task, a, folder_of(a, name), err);

    for (enum depth depth = PLAIN; ok && depth < N_DEPTHS; depth++)
        ok = run_files(task, name, depth, err);
    if (ok && verbose)
        printf("%s: %.2f s\n", name, time_s() - start_s);
    arena_close(a);
    return ok;
}

/* Leaves every n-th file, beginning with the first. */
static void thin_out(size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < files.n; i += n)
        files.v[left++] = files.v[i];
    files.n = left;
}

enum answer { REJECTED, RIGHT, TOLD };

static enum answer must_be(const struct corpus_file *f)
{
    if (f->corpus == LEGIT)
        return RIGHT;
    return f->corpus == REFUSED ? TOLD : REJECTED;
}

/* A kernel that has to be judged whole takes minutes: a task that has no other is left to the rest. */
static bool same_task(const struct corpus_file *a, const struct corpus_file *b)
{
    return must_be(a) == must_be(b) && str_eq(a->task, b->task) && depth_of(a) == PLAIN && depth_of(b) == PLAIN;
}

static bool same_row(const struct corpus_file *a, const struct corpus_file *b)
{
    return a->corpus == b->corpus && a->row == b->row;
}

static bool same_depth(const struct corpus_file *a, const struct corpus_file *b)
{
    return depth_of(a) == depth_of(b);
}

/* What is judged briefly comes first, else the order is drawn: a hash says nothing of the kernel. */
static bool before(const struct corpus_file *a, const struct corpus_file *b)
{
    if (depth_of(a) != depth_of(b))
        return depth_of(a) < depth_of(b);
    return hash_text(a->path) < hash_text(b->path);
}

/* One of each kind that none is taken of. */
static void take_of_each(bool *taken, bool (*alike)(const struct corpus_file *, const struct corpus_file *))
{
    for (size_t i = 0; i < files.n; i++) {
        size_t first = i;
        bool has_one = !alike(&files.v[i], &files.v[i]);
        for (size_t k = 0; k < files.n && !has_one; k++) {
            if (!alike(&files.v[k], &files.v[i]))
                continue;
            has_one = taken[k];
            if (before(&files.v[k], &files.v[first]))
                first = k;
        }
        if (!has_one)
            taken[first] = true;
    }
}

static void draw(struct arena *a)
{
    bool *taken = arena_array(a, bool, files.n + 1);
    size_t left = 0;

    take_of_each(taken, same_task);
    take_of_each(taken, same_row);
    take_of_each(taken, same_depth);
    for (size_t i = 0; i < files.n; i++)
        if (taken[i])
            files.v[left++] = files.v[i];
    files.n = left;
}

static void leave_out_shipped(void)
{
    size_t left = 0, n = files.n;

    for (size_t i = 0; i < n; i++)
        if (depth_of(&files.v[i]) != SHIPPED)
            files.v[left++] = files.v[i];
    files.n = left;
    if (left < n)
        printf("%zu kernels left out: they need nvcc\n", n - left);
}

/* What the kernels of a task that are not judged yet may cost. */
static double cost_of(const char *task)
{
    double cost = 0;

    for (size_t i = 0; i < files.n; i++)
        if (str_eq(files.v[i].task, task) && !files.v[i].judged)
            cost += depth_of(&files.v[i]) == PLAIN ? 1 : WHOLE_COST;
    return cost;
}

/* Tasks in one of several shares, about as dear as each other. */
static bool run_share(size_t share, size_t shares, struct err *err)
{
    double costs[MOST_SHARES] = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < files.n; i++) {
        size_t to = 0;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = str_eq(files.v[k].task, files.v[i].task);
        for (size_t k = 1; k < shares; k++)
            to = costs[k] < costs[to] ? k : to;
        if (seen)
            continue;
        costs[to] += cost_of(files.v[i].task);
        if (to == share)
            ok = run_task(files.v[i].task, err);
    }
    return ok;
}

/* Each share in a process of its own, which keeps what it finds. */
static bool run_shares(struct arena *a, size_t shares, struct err *err)
{
    pid_t children[MOST_SHARES] = {0};
    bool ok = true;

    fflush(stdout);
    for (size_t i = 0; i < shares && ok; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char place[512];
            if (!run_share(i, shares, err))
                printf("%s\n", err_format(err, place, sizeof(place))), ok = false;
            fflush(stdout);
            _exit(!ok);
        }
        ok = children[i] > 0 || err_world(err, "cannot fork: %s", strerror(errno));
    }
    for (size_t i = 0; i < shares; i++) {
        int status = 1;
        if (children[i] > 0 && (waitpid(children[i], &status, 0) < 0 || status != 0) && ok)
            ok = err_world(err, "a share of the kernels did not end well: see above");
    }
    return ok && recall_all(a, err);
}

static bool run_all(struct arena *a, bool nvcc, struct err *err)
{
    size_t cores = MIN((size_t)sysconf(_SC_NPROCESSORS_ONLN), (size_t)MOST_SHARES);

    if (!nvcc)
        leave_out_shipped();
    return kept_path && cores > 1 ? run_shares(a, cores, err) : run_share(0, 1, err);
}

/* ---- exceptions of the error rule ---- */

/* One file without them, in this process. */
static bool judge_without(struct corpus_file *f, unsigned without, struct err *err)
{
    struct arena *a = arena_open();
    struct trial_options o = options;
    struct judge *j = NULL;
    struct task *task;
    struct trial t;

    o.without = without;
    o.confirm = depth_of(f) != PLAIN;
    o.verify_only &= depth_of(f) != TIMED;
    bool ok = task_open(&task, a, folder_of(a, f->task), err) && judge_open(&j, task, &o, err) &&
              judge_file(j, a, f->path, f->text, &t, err);
    f->good = ok && verdict_expected(f->expected, t.verdict);
    if (ok && verbose)
        printf("%s: %s: %s\n", f->path, verdict_name(t.verdict), t.words);
    judge_close(j);
    arena_close(a);
    return ok;
}

static bool is_named(const char *name, int exception)
{
    return str_eq(name, "all") || str_eq(name, rule_rows[exception].name);
}

/* How many of the exceptions change a verdict, and how many change nothing. */
static bool switch_off(const char *name, struct arena *a, size_t *needed, size_t *needless, struct err *err)
{
    bool given = files.n > 0;

    for (int x = 0; x < N_RULE_EXCEPTIONS; x++) {
        size_t changed = 0;
        if (!is_named(name, x))
            continue;
        if (!given && !add(a, fs_join(a, "tests", rule_rows[x].file), err))
            return false;
        for (size_t i = given ? 0 : files.n - 1; i < files.n; i++) {
            if (!judge_without(&files.v[i], 1u << x, err))
                return false;
            changed += !files.v[i].good;
            if (!files.v[i].good)
                printf("without \"%s\": %s changes\n", rule_rows[x].name, files.v[i].path);
        }
        if (!changed)
            printf("without \"%s\": nothing changes\n", rule_rows[x].name);
        fflush(stdout);
        *needed += changed > 0;
        *needless += !changed;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct str table = {0};
    struct nvrtc *n;
    struct err err = {0};
    char place[2600];
    bool write = false, part = false, ok = true;
    size_t passed = 0, recalled = 0, every = 1, needless = 0, left_out;
    const char *without = NULL, *confirmation = NULL;
    double start_s = time_s();
    int option;

    if (argc > 1 && str_eq(argv[1], "worker"))
        return pool_worker_main(argc - 1, argv + 1);
    while ((option = getopt(argc, argv, "vtncwpe:s:d:x:m:k:b:")) != -1) {
        if (option == '?')
            return 2;
        verbose |= option == 'v';
        write |= option == 'w';
        part |= option == 'p';
        options.with_nvcc |= option == 'n';
        confirm_all |= option == 'c';
        if (option == 't')
            options.verify_only = false;
        if (option == 'e')
            every = MAX(strtoul(optarg, NULL, 10), 1);
        if (option == 'd')
            options.device = optarg;
        if (option == 'x')
            without = optarg;
        if (option == 'm')
            confirmation = optarg;
        if (option == 'k')
            kept_path = optarg;
        if (option == 'b')
            until_s = start_s + 60 * strtod(optarg, NULL);
        if (option == 's')
            options.seed = strtoull(optarg, NULL, 10);
    }
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "no verdicts: %s\n", err.text);
        return 77;
    }
    bool nvcc = gpu_nvcc_path(a, n) && gpu_nvcc_works(n, a);
    nvrtc_close(n);
    for (int i = optind; ok && i < argc; i++)
        ok = add(a, argv[i], &err);
    if (without) {
        ok = ok && switch_off(without, a, &passed, &needless, &err);
        if (!ok)
            printf("%s\n", err_format(&err, place, sizeof(place)));
        printf("%zu cases passed, %zu failed\n", passed, needless + !ok);
        return !ok || needless;
    }
    for (int i = 0; ok && optind == argc && i < N_CORPORA; i++)
        ok = add(a, arena_printf(a, "tests/%s", corpora[i]), &err);
    if (part)
        draw(a);
    if (every > 1)
        thin_out(every);
    if (part && kept_path)
        unlink(kept_path);
    ok = ok && (!kept_path || recall_all(a, &err));
    for (size_t i = 0; i < files.n; i++)
        recalled += files.v[i].good && files.v[i].judged;
    ok = ok && run_all(a, nvcc, &err);
    left_out = leave_out_unjudged();
    if (left_out)
        printf("%zu kernels left: the time was too short\n", left_out);
    for (size_t i = 0; i < files.n; i++)
        passed += files.v[i].good;
    if (ok && confirmation)
        ok = write_confirmation(confirmation, time_s() - start_s, left_out, &err);
    if (ok && optind == argc && every == 1 && !part && nvcc && !left_out) {
        make_table(&table);
        fputs(str_text(&table), stdout);
        ok = table_stands(a, &table, write, &err);
    }
    if (!ok)
        printf("%s\n", err_format(&err, place, sizeof(place)));
    size_t failed = files.n - passed + !ok;
    printf("%zu cases passed, %zu failed\n", passed - recalled, failed);
    str_free(&table);
    vec_free(&files);
    arena_close(a);
    return failed || !passed;
}
