/* Any bytes as what a parent writes, at the worker's end: every line that came is answered by a line of JSON,
 * half a line by one more at most. The judge is replaced (meson.build): what it makes of files is for other
 * targets. */
#include "worker/worker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const json_t *known;
static int judge; /* its address is a judge */

bool __wrap_judge_open(struct judge **out, const struct task *t, const struct trial_options *o,
                       struct err *err);
void __wrap_judge_close(struct judge *j);
const struct trial *__wrap_judge_original(const struct judge *j);
void __wrap_judge_faults(const struct judge *j, const struct mutant **list, size_t *n);
const struct trial_device *__wrap_judge_device(const struct judge *j);
double __wrap_judge_noise(const struct judge *j);
void __wrap_judge_set_noise(struct judge *j, double half_width);
void __wrap_judge_set_known(struct judge *j, const json_t *codes);
void __wrap_judge_set_mutant(struct judge *j, bool mutant, int fault);
void __wrap_judge_set_timed(struct judge *j, bool timed);
void __wrap_judge_set_precompiling(struct judge *j, bool wanted);
bool __wrap_judge_spoilt(const struct judge *j);
bool __wrap_judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                       struct err *err);

static const struct trial passed = {.verdict = VERDICT_PASSED, .words = "", .score = 1};

bool __wrap_judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_cases; i++)
        BUG_IF(!task_in_domain(t, o->cases[i].dims));
    if (!ptx_device_find(o->device))
        return err_input(err, "no device %s", o->device);
    *out = (struct judge *)&judge;
    return true;
}

void __wrap_judge_close(struct judge *j)
{
    (void)j;
}

const struct trial *__wrap_judge_original(const struct judge *j)
{
    (void)j;
    return &passed;
}

void __wrap_judge_faults(const struct judge *j, const struct mutant **list, size_t *n)
{
    (void)j;
    *list = NULL;
    *n = 0;
}

const struct trial_device *__wrap_judge_device(const struct judge *j)
{
    static const struct trial_device d = {.name = "h200"};

    (void)j;
    return &d;
}

double __wrap_judge_noise(const struct judge *j)
{
    (void)j;
    return NAN;
}

void __wrap_judge_set_noise(struct judge *j, double half_width)
{
    (void)j;
    (void)half_width;
}

void __wrap_judge_set_known(struct judge *j, const json_t *codes)
{
    (void)j;
    known = codes;
}

void __wrap_judge_set_mutant(struct judge *j, bool mutant, int fault)
{
    (void)j;
    (void)mutant;
    (void)fault;
}

void __wrap_judge_set_timed(struct judge *j, bool timed)
{
    (void)j;
    (void)timed;
}

void __wrap_judge_set_precompiling(struct judge *j, bool wanted)
{
    (void)j;
    (void)wanted;
}

bool __wrap_judge_spoilt(const struct judge *j)
{
    (void)j;
    return false;
}

bool __wrap_judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                       struct err *err)
{
    (void)j;
    if (!*text)
        return err_world(err, "no file");
    *t = passed;
    t->words = arena_printf(a, "%s %zu", path, strlen(text));
    t->code = "code";
    t->known = json_array_size(known) > 0;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[] = {"worker", NULL}, *text, *line;
    struct arena *a = arena_open();
    int out = memfd_create("answers", 0), stdout_fd = dup(STDOUT_FILENO), here = open(".", O_RDONLY);
    struct rlimit before, after;
    size_t asked = 0, answered = 0;
    off_t n;

    known = NULL;
    getrlimit(RLIMIT_CPU, &before);
    stdin = fmemopen((void *)data, size, "r");
    BUG_IF((size && !stdin) || dup2(out, STDOUT_FILENO) < 0);
    if (size)
        pool_worker_main(1, argv);
    getrlimit(RLIMIT_CPU, &after);
    setrlimit(RLIMIT_CPU, &before);
    BUG_IF(after.rlim_cur != before.rlim_cur && after.rlim_cur > 2000000000);
    BUG_IF(fchdir(here) != 0);
    dup2(stdout_fd, STDOUT_FILENO);
    close(stdout_fd);
    close(here);
    n = lseek(out, 0, SEEK_END);
    text = arena_array(a, char, n + 1);
    BUG_IF(pread(out, text, (size_t)n, 0) != n);
    for (; (line = strsep(&text, "\n")) && *line; answered++) {
        struct err err;
        json_t *o = json_parse(line, strlen(line), "answer", &err);
        BUG_IF(!o);
        json_decref(o);
    }
    for (size_t i = 0; i < size; i++)
        asked += data[i] == '\n';
    BUG_IF(answered < asked || answered > asked + 1);
    if (stdin)
        fclose(stdin);
    close(out);
    arena_close(a);
    return 0;
}
