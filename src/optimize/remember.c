/* Memory across runs. A run reads it once, when it begins, and keeps what it read in run.db: a resumed run
 * plans by the same. At its end it writes what became of its own trials, each under a key that follows from the
 * kernel, the device and the code, so that a run that ends twice writes nothing twice. A memory that cannot be
 * used is told of, and the run goes on without. */
#include "internal.h"

typedef VEC(struct memory_row) memory_rows_list;

enum { MOST_ROWS = 4000, MAX_STEPS = 64 };

static const char SNAPSHOT[] = "memory"; /* the note of run.db */

static void tell_memory(const struct err *err)
{
    trace_text("memory", "not used: %s", err->text);
}

/* What this kernel is called in the memory: its text and its workloads, as a hash. */
const char *remember_kernel(struct arena *a, const struct task *t, const char *source_hash)
{
    struct str s = {.arena = a};
    char hex[65];

    str_add(&s, source_hash);
    for (size_t i = 0; i < t->n_workloads * t->n_dims; i++)
        str_addf(&s, " %lld", (long long)t->workloads[i]);
    hash_sha256_hex(str_text(&s), s.len, hex);
    return arena_strndup(a, hex, 16);
}

/* ---- at the beginning ---- */

static bool read_rows(struct run *r, const struct memory_row **list, size_t *n, struct err *err)
{
    struct store *s;
    bool ok = memory_open(&s, r->o->memory, false, err);

    *n = 0;
    ok = ok && (!s || memory_rows(s, r->arena, MOST_ROWS, list, n, err));
    store_close(s);
    return ok;
}

/* Steps that this astra knows, or none. */
static const struct agent_step *steps_read(struct arena *a, const char *text, size_t *n)
{
    json_t *list = json_parse(text, strlen(text), "steps", NULL);
    struct agent_step *steps;

    *n = MIN(json_array_size(list), (size_t)MAX_STEPS);
    steps = arena_array(a, struct agent_step, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        const json_t *step = json_array_get(list, i), *setting = json_array_get(step, 1);
        const char *name = json_string_value(json_array_get(step, 0));
        const struct transform *t = name ? transform_find(name) : NULL;
        if (!t || !json_is_integer(setting) || json_integer_value(setting) < INT32_MIN ||
            json_integer_value(setting) > INT32_MAX) {
            *n = 0;
            break;
        }
        steps[i] = (struct agent_step){t->name, (int)json_integer_value(setting)};
    }
    json_decref(list);
    return steps;
}

/* The same device says most; a model of it less, and another one still something. */
static double trust(const struct run *r, const struct memory_row *row)
{
    const struct trial_device *d = pool_device(r->pool);
    const char *basis = trial_device_measures(d) ? "measured" : "modelled";

    if (!str_eq(row->device, d->name))
        return 0.5;
    return str_eq(row->basis, basis) ? 1 : 0.8;
}

static void take_rows(struct run *r, const struct memory_row *list, size_t n)
{
    struct agent_remembered *out = arena_array(r->arena, struct agent_remembered, n + 1);
    struct agent_memory *m = arena_new(r->arena, struct agent_memory);
    struct agent_features *features = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct memory_row *row = &list[i];
        struct agent_remembered *x = &out[m->n];
        enum verdict verdict;
        *x = (struct agent_remembered){.trust = trust(r, row), .gain = row->gain};
        x->steps = steps_read(r->arena, row->steps, &x->n_steps);
        if (x->n_steps == 0 || !verdict_parse(row->verdict, &verdict))
            continue;
        x->passed = verdict_correct(verdict);
        if (!features || !str_eq(row->features, list[i - 1].features)) {
            json_t *o = json_parse(row->features, strlen(row->features), "features", NULL);
            features = arena_new(r->arena, struct agent_features);
            agent_features_from_json(o, r->arena, features);
            json_decref(o);
        }
        x->features = features;
        m->n++;
    }
    m->trials = out;
    r->memory = m;
}

/* As the note of run.db has it, so that a resumed run reads the very same. */
static json_t *snapshot(struct run *r, const struct memory_row **list, size_t *n)
{
    struct err why = {0};
    json_t *o = NULL;

    if (read_rows(r, list, n, &why)) {
        o = memory_to_json(*list, *n);
        if (memory_from_json(o, r->arena, list, n, &why))
            return o;
        json_decref(o);
    }
    tell_memory(&why);
    r->memory_broken = true;
    *n = 0;
    return memory_to_json(NULL, 0);
}

bool remember_begin(struct run *r, struct err *err)
{
    const struct memory_row *list = NULL;
    const char *noted;
    size_t n = 0;
    json_t *o;
    bool ok;

    if (!r->o->memory)
        return true;
    if (!store_get_note(r->store, r->arena, SNAPSHOT, &noted, err))
        return false;
    if (noted) {
        o = json_parse(noted, strlen(noted), "the run's memory", err);
        ok = o && memory_from_json(o, r->arena, &list, &n, err);
    } else {
        o = snapshot(r, &list, &n);
        ok = store_note(r->store, SNAPSHOT, json_line(r->arena, o), err);
    }
    json_decref(o);
    if (!ok)
        return false;
    take_rows(r, list, n);
    if (r->memory->n == 0)
        return true;
    trace_text("memory", "%zu trials of earlier runs order what is tried", r->memory->n);
    return store_note(r->store, "remembered", arena_printf(r->arena, "%zu", r->memory->n), err);
}

/* ---- at the end ---- */

/* Of a transform, with a setting that means the same for another kernel. */
static bool is_general(const struct agent_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct transform *t = transform_find(steps[i].transform);
        if (!t || str_eq(t->name, "tune")) /* numbers of the file's own tunables */
            return false;
    }
    return n > 0 && n <= MAX_STEPS;
}

static const char *steps_text(struct arena *a, const struct agent_step *steps, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[s,i]", steps[i].transform, steps[i].setting));
    return json_take_line(a, list);
}

struct done { /* steps that led from a version to a candidate */
    const struct candidate *to;
    const struct agent_step *steps;
    size_t n;
    double from_score;
};

static void add_row(struct run *r, struct done x, struct memory_row row, memory_rows_list *out)
{
    if (!is_general(x.steps, x.n))
        return;
    row.candidate = x.to->hash;
    row.steps = steps_text(r->arena, x.steps, x.n);
    row.verdict = verdict_name(x.to->trial.verdict);
    row.gain = round(1e6 * x.to->trial.score / x.from_score) / 1e6; /* the same of a trial that was read */
    vec_add(r->arena, out, row);
}

/* What all steps did to the original: that is what another kernel may begin with. */
static void add_best(struct run *r, struct memory_row row, memory_rows_list *out)
{
    struct agent_plan_input best = {0};
    size_t n_steps;

    if (candidate_base(r, r->search.best, &n_steps)->id > 0)
        return;
    candidate_lineage(r, r->search.best, &best);
    add_row(r, (struct done){r->candidates.v[r->search.best], best.lineage, best.n_lineage, 1}, row, out);
}

void remember_features(struct run *r, const struct candidate *c, struct agent_features *f)
{
    struct agent_profile p;

    diagnose_profile(r->task, &c->trial, NULL, r->limits.device_name, r->arena, &p);
    agent_features(c->version, &p, f);
}

/* Rows of what was tried on one version. */
static void add_tried_on(struct run *r, const struct candidate *parent, struct memory_row row,
                         memory_rows_list *out)
{
    for (size_t i = 1; i < r->candidates.n; i++) {
        const struct candidate *c = r->candidates.v[i];
        if (c->parent == parent->id && c->judged && verdict_stands(c->trial.verdict))
            add_row(r, (struct done){c, c->steps, c->n_steps, r->search.nodes.v[parent->id].score}, row, out);
    }
}

void remember_end(struct run *r, bool whole)
{
    const struct trial_device *d = pool_device(r->pool);
    struct memory_row row = {.kernel = remember_kernel(r->arena, r->task, r->row.source_hash),
                             .device = d->name,
                             .basis = trial_device_measures(d) ? "measured" : "modelled",
                             .noted = run_now_utc(r->arena)};
    memory_rows_list rows = {0};
    struct store *s = NULL;
    struct err why = {0};

    if (!r->o->memory || r->memory_broken)
        return;
    for (size_t i = 0; i < r->candidates.n; i++) {
        const struct candidate *parent = r->candidates.v[i];
        struct agent_features f;
        if (!parent->version || !verdict_correct(parent->trial.verdict))
            continue;
        remember_features(r, parent, &f);
        row.version = parent->hash;
        row.features = json_take_line(r->arena, agent_features_to_json(&f));
        add_tried_on(r, parent, row, &rows);
        if (i == 0 && whole)
            add_best(r, row, &rows);
    }
    if (rows.n && (!memory_open(&s, r->o->memory, true, &why) || !memory_put(s, rows.v, rows.n, &why)))
        tell_memory(&why);
    store_close(s);
}
