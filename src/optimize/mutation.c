#include "mutation.h"

#include <sys/stat.h>

static const char *const fate_names[] = {"killed", "survived", "equivalent", "stillborn"};

const char *mutant_fate_name(enum mutant_fate f)
{
    return fate_names[f];
}

/* ---- what is kept ---- */

#define SCORE(member)     MEMBER(struct mutation_score, member)
#define ROW(name, member) MEMBER_NAMED(name, struct mutation_score_row, member, MEMBER_TEXT)

static const struct member score_members[] = {
    SCORE(score),
    MEMBER_NAMED("faults", struct mutation_score, n_faults, MEMBER_INT64),
    MEMBER_NAMED("judged", struct mutation_score, n_rows, MEMBER_INT64),
    SCORE(killed),
    SCORE(survived),
    SCORE(equivalent),
    SCORE(stillborn),
    {0}};

static const struct member row_members[] = {
    ROW("id", mutant.id),
    ROW("op", mutant.op),
    MEMBER_NAMED("line", struct mutation_score_row, mutant.line, MEMBER_INT),
    ROW("what", mutant.what),
    ROW("verdict", verdict),
    ROW("words", words),
    {0}};

json_t *mutation_score_to_json(const struct mutation_score *r, bool rows)
{
    json_t *o = json_object(), *list = json_array();

    json_put_members(o, score_members, r);
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct mutation_score_row *x = &r->rows[i];
        json_t *m;
        if (!rows && x->fate != MUTANT_SURVIVED)
            continue;
        m = json_of_members(row_members, x);
        json_put_text(m, "fate", mutant_fate_name(x->fate));
        json_array_append_new(list, m);
    }
    json_put(o, rows ? "mutants" : "survivors", list);
    return o;
}

static void count(struct mutation_score *r)
{
    size_t *counts[] = {&r->killed, &r->survived, &r->equivalent, &r->stillborn};

    for (size_t i = 0; i < r->n_rows; i++)
        ++*counts[r->rows[i].fate];
    r->score = r->killed + r->survived ? (double)r->killed / (double)(r->killed + r->survived) : NAN;
}

static bool from_json(const json_t *o, struct arena *a, struct mutation_score *r)
{
    const json_t *list = json_object_get(o, "mutants");
    struct mutation_score_row *rows = arena_array(a, struct mutation_score_row, json_array_size(list) + 1);

    *r = (struct mutation_score){.rows = rows,
                                 .n_rows = json_array_size(list),
                                 .n_faults = (size_t)json_int(o, "faults", 0),
                                 .cached = true};
    for (size_t i = 0; i < r->n_rows; i++) {
        const json_t *m = json_array_get(list, i);
        size_t f = 0;
        while (f < ARRAY_LEN(fate_names) && !str_eq(fate_names[f], json_text(m, "fate", "")))
            f++;
        if (f == ARRAY_LEN(fate_names))
            return false;
        rows[i].fate = (enum mutant_fate)f;
        json_get_members(m, row_members, a, &rows[i]);
    }
    count(r);
    return r->n_rows > 0;
}

static void add_cases(struct str *s, const struct task *t, const struct task_case *cases, size_t n,
                      struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        str_add(s, json_take_line(a, task_case_to_json(t, &cases[i])));
}

static char *cache_path(const struct task *t, const struct mutation_score_options *o, const char *source,
                        struct arena *a)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct str s = {.arena = a};
    struct stat program;
    const char *const *names;
    char *text, hex[65];

    if ((!cache || !*cache) && (!home || !*home))
        return NULL;
    if (stat(PROC_SELF, &program) == 0) /* another build may judge otherwise */
        str_addf(&s, "%lld.%09ld|", (long long)program.st_mtim.tv_sec, program.st_mtim.tv_nsec);
    str_addf(&s, "%s|%s|%llu|%zu|", ASTRA_VERSION, o->device, (unsigned long long)o->seed, o->most);
    str_add(&s, source);
    const char *const files[] = {t->path, t->reference_path};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i] && fs_read(a, files[i], &text, NULL, NULL))
            str_add(&s, text);
    for (size_t i = 0; i < t->n_headers; i++)
        if (fs_read(a, fs_join(a, t->dir, t->headers[i]), &text, NULL, NULL))
            str_add(&s, text);
    const struct task_case *suite;
    size_t n_suite;
    task_suite(t, a, o->seed, &suite, &n_suite);
    add_cases(&s, t, suite, n_suite, a);
    add_cases(&s, t, o->cases, o->n_cases, a);
    for (size_t i = 0, n = mutant_operators(&names); i < n; i++)
        str_add(&s, names[i]);
    hash_sha256_hex(s.s, s.len, hex);
    return cache && *cache ? arena_printf(a, "%s/astra/mutants/%s.json", cache, hex)
                           : arena_printf(a, "%s/.cache/astra/mutants/%s.json", home, hex);
}

static bool cache_read(const char *path, struct arena *a, struct mutation_score *r)
{
    struct err ignored = {0};
    char *text;
    size_t len;

    if (!path || !fs_read(a, path, &text, &len, &ignored))
        return false;
    json_t *o = json_parse(text, len, path, &ignored);
    bool ok = o && from_json(o, a, r);
    json_decref(o);
    return ok;
}

/* What cannot be kept is measured again: no reason to fail. */
static void cache_write(const char *path, const struct mutation_score *r, struct arena *a)
{
    if (!path || !fs_mkdirs(fs_dirname(a, path), NULL))
        return;
    fs_write_text(path, json_take_line(a, mutation_score_to_json(r, true)), NULL);
}

static bool untold(const struct mutation_score_row *x)
{
    return str_eq(x->verdict, verdict_name(VERDICT_TOO_SLOW));
}

static bool any_untold(const struct mutation_score *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n_rows; i++)
        any = any || untold(&r->rows[i]);
    return any;
}

/* ---- judging ---- */

static bool marked(const struct task *t, const char *id)
{
    for (size_t i = 0; i < t->n_equivalent; i++)
        if (str_eq(t->equivalent[i], id))
            return true;
    return false;
}

static enum mutant_fate fate_of(const struct task *t, const struct mutant *m, const struct trial *trial,
                                const struct trial *original)
{
    switch (trial->verdict) {
    case VERDICT_PASSED:
    case VERDICT_SLOWER:
        return str_eq(trial->code, original->code) || marked(t, m->id) ? MUTANT_EQUIVALENT : MUTANT_SURVIVED;
    case VERDICT_COMPILE_FAILED:
    case VERDICT_NOT_UNDERSTOOD:
    case VERDICT_UNSUPPORTED:
    case VERDICT_TOO_SLOW:
        return MUTANT_STILLBORN;
    default:
        return MUTANT_KILLED;
    }
}

struct judging {
    const struct task *task;
    const struct mutation_score_options *options;
    struct pool *pool;
    struct trial original;
    const char *source;
    const struct mutant *in_ptx;
    size_t n_ptx;
};

static bool judge_all(const struct judging *x, struct mutation_score_row *rows, size_t n, struct arena *a,
                      struct err *err)
{
    const struct mutation_score_options *o = x->options;
    struct arena *scratch = arena_open();
    size_t done = 0, len = strlen(x->source);
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        const struct mutant *m = &rows[i].mutant;
        size_t k = 0;
        if (rows[i].verdict) { /* known */
            done++;
            continue;
        }
        while (m->ptx && k < x->n_ptx && !str_eq(x->in_ptx[k].id, m->id))
            k++;
        ok = pool_submit_mutant(x->pool, (int)i, x->task->source_path,
                                m->ptx ? x->source : mutant_text(m, scratch, x->source, len),
                                m->ptx ? (int)k : -1, err);
        arena_reset(scratch);
    }
    while (ok && done < n) {
        struct trial trial;
        int id;
        if (o->stop && o->stop(o->context)) {
            if (err)
                *err = (struct err){.kind = ERR_STOP, .text = "stopped"};
            ok = false;
            break;
        }
        ok = pool_collect(x->pool, 0.5, scratch, &id, &trial, err);
        if (!ok || id < 0)
            continue;
        struct mutation_score_row *row = &rows[id];
        row->fate = fate_of(x->task, &row->mutant, &trial, &x->original);
        row->verdict = verdict_name(trial.verdict);
        row->words = arena_strdup(a, trial.words ? trial.words : "");
        done++;
        if (o->progress)
            o->progress(o->context, done, n);
        arena_reset(scratch);
    }
    if (!ok)
        pool_drop(x->pool);
    arena_close(scratch);
    return ok;
}

/* More cases do not undo what fewer have shown. */
static void take_over(const struct mutation_score *fewer, struct mutation_score_row *rows, size_t n)
{
    for (size_t i = 0; fewer && i < n; i++)
        for (size_t k = 0; k < fewer->n_rows; k++) {
            const struct mutation_score_row *x = &fewer->rows[k];
            if (x->fate == MUTANT_SURVIVED || untold(x) || !str_eq(x->mutant.id, rows[i].mutant.id))
                continue;
            rows[i].fate = x->fate;
            rows[i].verdict = x->verdict;
            rows[i].words = x->words;
        }
}

/* A fault in code that no case runs says nothing of the cases: such lines are named by the coverage. */
static size_t drop_idle(struct mutant *list, size_t n, const struct trial_coverage *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool idle = false;
        for (size_t k = 0; k < c->n_gaps && !idle; k++)
            idle = c->gaps[k].idle && c->gaps[k].line == list[i].line && list[i].line;
        if (!idle)
            list[kept++] = list[i];
    }
    return kept;
}

bool mutation_score_measure(const struct task *t, const struct mutation_score_options *o, struct pool *p,
                            struct arena *a, struct mutation_score *r, struct err *err)
{
    struct judging x = {.task = t, .options = o, .pool = p};
    const struct mutant *in_source, *chosen;
    struct kernel *k;
    char *source, *path;
    size_t n_source, n = 0;

    *r = (struct mutation_score){.score = NAN};
    if (!fs_read(a, t->source_path, &source, NULL, err))
        return false;
    path = cache_path(t, o, source, a);
    if (cache_read(path, a, r))
        return true;
    if (!task_kernel_open(&k, a, t, t->source_path, source, err))
        return false;
    x.source = source;
    bool ok = pool_original(p, a, &x.original, err);
    if (ok) {
        mutants_of_source(k, a, &in_source, &n_source);
        pool_faults(p, a, &x.in_ptx, &x.n_ptx);
        struct mutant *all = arena_array(a, struct mutant, n_source + x.n_ptx + 1);
        memcpy(all, in_source, n_source * sizeof(*all));
        memcpy(all + n_source, x.in_ptx, x.n_ptx * sizeof(*all));
        size_t n_all = drop_idle(all, n_source + x.n_ptx, &x.original.coverage);
        mutants_choose(all, n_all, o->most ? o->most : SIZE_MAX, o->seed, a, &chosen, &n);
        struct mutation_score_row *rows = arena_array(a, struct mutation_score_row, n + 1);
        for (size_t i = 0; i < n; i++)
            rows[i].mutant = chosen[i];
        take_over(o->fewer, rows, n);
        ok = judge_all(&x, rows, n, a, err);
        *r = (struct mutation_score){.rows = rows, .n_rows = n, .n_faults = n_all, .score = NAN};
        count(r);
        if (ok && !any_untold(r))
            cache_write(path, r, a);
    }
    kernel_close(k);
    return ok;
}
