/* The task written as far as it is known, and opened: with workloads that its domain has, and with its original
 * ready to run. */
#include "init/probe.h"

enum { MOST_LEAST = 64 };

int64_t init_seen_size(const struct init_task *t, const char *dim)
{
    int64_t size = 1;

    for (size_t i = 0; i < t->seen.n; i++)
        size = str_eq(t->seen.v[i].dim, dim) ? t->seen.v[i].size : size;
    return size;
}

/* Once more with the sizes at which it ran, and as many times as large as the domain has. */
static bool open_seen(struct init_task *t, struct arena *a, const char *dir, const char *name, int64_t draft,
                      struct task **task, struct err *err)
{
    enum { LARGER = 1 << 20 };
    int64_t sizes[INIT_MOST_DIMS], product = 1;
    bool open = false;

    for (size_t i = 0; i < t->dims.n && i < INIT_MOST_DIMS; i++) {
        sizes[i] = init_seen_size(t, t->dims.v[i]);
        product *= sizes[i];
    }
    init_suffice(t, sizes);
    for (int round = 0; round < 2; round++) {
        struct str list = {0};

        for (size_t i = 0; i < t->dims.n; i++)
            str_addf(&list, "%s%lld", i ? ", " : "", (long long)sizes[i]);
        vec_clear(&t->workloads);
        vec_add(a, &t->workloads, str_take(&list, a));
        open = fs_write_text(fs_join(a, dir, "task.yaml"), init_taskfile(a, t, name, draft), err) &&
               task_open(task, a, dir, err);
        if (!open)
            return false;
        for (bool more = true; more && round == 0;) {
            more = false;
            for (size_t i = 0; i < t->dims.n && product <= LARGER / 2; i++) {
                sizes[i] *= 2;
                const bool inside = task_in_domain(*task, sizes);
                sizes[i] /= inside ? 1 : 2;
                product *= inside ? 2 : 1;
                more = more || inside;
            }
        }
    }
    return open;
}

/* Sizes to begin with that the domain has. */
bool init_open_task(struct init_task *t, struct arena *a, const char *dir, const char *name, int64_t draft,
                    struct task **task, struct err *err)
{
    static const int tried[] = {0, 1024, 256, 64, 4096, 16, 8, 4, 8192, 32768, 1 << 20, 1023, 255, 63, 7, 5, 1};

    for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
        struct str sizes = {0};

        vec_clear(&t->workloads);
        for (size_t k = 0; k < t->dims.n && tried[i]; k++)
            str_addf(&sizes, "%s%d", k ? ", " : "", tried[i]);
        if (tried[i])
            vec_add(a, &t->workloads, str_take(&sizes, a));
        const char *text = init_taskfile(a, t, name, draft);
        if (!fs_write_text(fs_join(a, dir, "task.yaml"), text, err))
            return false;
        if (task_open(task, a, dir, err))
            return true;
        if (!strstr(err->text, "outside the domain") && !strstr(err->text, "too few numbers"))
            return false;
    }
    return t->seen.n && t->dims.n <= INIT_MOST_DIMS && open_seen(t, a, dir, name, draft, task, err);
}

bool probe_open_prints(const struct init_task *t, struct arena *a, const struct task *task,
                       struct judge **judge, struct footprints **prints, struct err *err)
{
    const struct trial_options o = {
        .device = "h200", .seed = 1, .alone = true, .verify_only = true, .compiles = t->compiles};
    char *source;

    return judge_open(judge, task, &o, err) && fs_read(a, task->source_path, &source, NULL, err) &&
           footprints_open(prints, *judge, task->source_path, source, err);
}

bool probe_open_task(struct probing *p, const char *dir, const char *name, struct err *err)
{
    static const int64_t most[] = {1 << 20, 1 << 16, 1 << 13, 1 << 10, 1 << 8, 1 << 6, 1 << 4};
    bool ok = false;

    p->t->least = 1;
    for (size_t i = 0; i < ARRAY_LEN(most) && !ok; i++) {
        judge_close(p->judge);
        p->judge = NULL;
        ok = init_open_task(p->t, p->arena, dir, name, most[i], &p->task, err) &&
             probe_open_prints(p->t, p->arena, p->task, &p->judge, &p->prints, err);
        if (!ok && strstr(err->text, "division by zero") && p->t->least < MOST_LEAST) {
            p->t->least *= 2; /* where sizes are too small to be divided */
            i--;
            continue;
        }
        if (!ok && !strstr(err->text, "not-understood"))
            break;
    }
    return ok;
}
