/* The loop. A round asks the search for a parent, lets the profiler say what bounds it, the planner what to try
 * and the coder write it, has every candidate judged in a worker, and tells the search. Everything a round
 * decides follows from the trials before it, and every trial is stored under the hash of its text: so a resumed
 * run simply runs again, finds the trials it had, and goes on with the first one missing. */
#include "run.h"

#include <signal.h>
#include <time.h>

#include "agent/agent.h"
#include "diagnose.h"
#include "report/report.h"
#include "search/search.h"
#include "store/store.h"
#include "trial/trial.h"

enum { MAX_REPAIRS = 2, STALE_ROUNDS = 2, MAX_PRUNE = 24 };
#define DETOUR  1.01
#define AS_GOOD 0.995 /* of the best's score: less is more than a reader gains by fewer changes */

struct candidate {
    int id, parent, round, repairs;
    struct agent_strategy strategy;
    const struct agent_step *steps; /* what took effect */
    size_t n_steps;
    const char *text;
    char hash[24];
    struct trial trial;
    bool judged;
    struct agent_diagnosis diagnosis;
};

struct run {
    const struct run_options *o;
    struct arena *arena; /* of the run */
    struct task *task;
    struct store *store;
    struct pool *pool;
    struct search search;
    VEC(struct candidate *) candidates; /* by id */
    struct map seen;                    /* hash of normalised text to candidate */
    struct kernel_limits limits;
    double start_s, spent_before_s;
    struct store_run row;
};

static volatile sig_atomic_t stop_asked;

void run_stop(void)
{
    stop_asked++;
}

json_t *run_options_to_json(const struct run_options *o)
{
    json_t *j = json_object();

    json_put_text(j, "task_dir", o->task_dir);
    json_put_text(j, "out", o->out);
    json_put_text(j, "device", o->device);
    json_put_text(j, "agents", o->agents);
    json_put_int(j, "rounds", o->rounds);
    json_put_int(j, "candidates", o->candidates);
    json_put_int(j, "jobs", o->jobs);
    json_put_num(j, "budget_s", o->budget_s);
    json_put_int(j, "seed", (int64_t)o->seed);
    return j;
}

bool run_options_from_json(const json_t *j, struct arena *a, struct run_options *o, struct err *err)
{
    *o = (struct run_options){
        .task_dir = arena_strdup(a, json_text(j, "task_dir", NULL)),
        .out = arena_strdup(a, json_text(j, "out", NULL)),
        .device = arena_strdup(a, json_text(j, "device", NULL)),
        .agents = arena_strdup(a, json_text(j, "agents", NULL)),
        .rounds = (int)json_int(j, "rounds", 0),
        .candidates = (int)json_int(j, "candidates", 0),
        .jobs = (int)json_int(j, "jobs", 0),
        .budget_s = json_num(j, "budget_s"),
        .seed = (uint64_t)json_int(j, "seed", 0),
    };
    if (!o->task_dir || !o->out || !o->device || !o->agents || o->rounds <= 0 || o->candidates <= 0 ||
        o->jobs <= 0)
        return err_world(err, "the run's options are not readable; it was written by another version");
    return true;
}

static const char *now_utc(struct arena *a)
{
    char buf[32];
    time_t t = time(NULL);
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return arena_strdup(a, buf);
}

static double spent_s(const struct run *r)
{
    return r->spent_before_s + time_s() - r->start_s;
}

static bool over_budget(const struct run *r)
{
    return r->o->budget_s > 0 && spent_s(r) > r->o->budget_s;
}

static json_t *steps_to_json(const struct agent_step *steps, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_put_text(o, "move", steps[i].move);
        json_put_int(o, "setting", steps[i].setting);
        json_array_append_new(list, o);
    }
    return list;
}

static bool store_candidate_row(struct run *r, const struct candidate *c, struct err *err)
{
    const struct trial *t = &c->trial;
    struct store_workload *w = arena_array(r->arena, struct store_workload, 2 * t->n_workloads);
    json_t *trial = trial_to_json(t), *steps = steps_to_json(c->steps, c->n_steps);
    double parent_score = c->parent >= 0 ? r->search.nodes.v[c->parent].score : NAN;
    struct store_candidate row = {.id = c->id,
                                  .parent = c->parent,
                                  .round = c->round,
                                  .repairs = c->repairs,
                                  .mind = c->id ? "rules" : "original",
                                  .name = c->strategy.name,
                                  .reason = c->strategy.reason,
                                  .plan = c->strategy.plan,
                                  .steps = json_line(r->arena, steps),
                                  .text = c->text,
                                  .hash = c->hash,
                                  .verdict = verdict_name(t->verdict),
                                  .words = t->words ? t->words : "",
                                  .line = t->line,
                                  .gain = t->score / parent_score,
                                  .score = t->score,
                                  .wall_s = t->wall_s,
                                  .trial = json_line(r->arena, trial),
                                  .workloads = w,
                                  .n_workloads = 2 * t->n_workloads,
                                  .bound_by = c->diagnosis.bound_by,
                                  .diagnosis = c->diagnosis.text};

    for (size_t i = 0; i < t->n_workloads; i++) {
        const char *dims = diagnose_dims_text(r->task, r->arena, t->workloads[i].dims);
        const struct trial_time *cold = &t->workloads[i].cold, *hot = &t->workloads[i].hot;
        w[2 * i] = (struct store_workload){dims, "cold", cold->bound, cold->us, cold->light_us};
        w[2 * i + 1] = (struct store_workload){dims, "hot", hot->bound, hot->us, hot->light_us};
    }
    json_decref(trial);
    json_decref(steps);
    return store_put_candidate(r->store, &row, err);
}

static void tell(struct run *r, struct candidate *c)
{
    json_t *e = json_object();
    double parent_score = r->search.nodes.v[MAX(c->parent, 0)].score;

    c->judged = true;
    if (c->id > 0)
        search_tell(&r->search, c->id, verdict_correct(c->trial.verdict), c->trial.verdict == VERDICT_PASSED,
                    c->trial.score);
    if (verdict_correct(c->trial.verdict))
        diagnose_trial(r->task, &c->trial, r->limits.device_name, r->arena, &c->diagnosis);
    json_put_int(e, "id", c->id);
    json_put_int(e, "parent", c->parent);
    json_put_int(e, "round", c->round);
    json_put_text(e, "name", c->strategy.name);
    json_put_text(e, "verdict", verdict_name(c->trial.verdict));
    json_put_text(e, "words", c->trial.words);
    json_put_num(e, "score", c->trial.score);
    json_put_num(e, "gain", c->trial.score / parent_score);
    json_put_num(e, "wall_s", c->trial.wall_s);
    if (c->trial.printed)
        json_put_text(e, "printed", c->trial.printed);
    json_put_int(e, "best", r->search.best);
    json_put_num(e, "best_score", r->search.nodes.v[r->search.best].score);
    trace_event("trial", e);
}

static void hash_of(struct run *r, const char *text, char hash[24])
{
    const char *normal = kernel_normalise(r->arena, text, strlen(text));

    snprintf(hash, 24, "%016llx", (unsigned long long)hash_text(normal));
}

static struct candidate *add_candidate(struct run *r, int parent, int round, const char *text)
{
    struct candidate *c = arena_new(r->arena, struct candidate);

    c->id = parent < 0 ? 0 : search_add(&r->search, parent, round);
    c->parent = parent;
    c->round = round;
    c->repairs = -1;
    c->text = text;
    hash_of(r, text, c->hash);
    c->strategy.name = c->strategy.reason = c->strategy.plan = "";
    vec_push(&r->candidates, c);
    map_put(&r->seen, c->hash, c);
    return c;
}

/* The coder, then the queue: a candidate whose trial is already stored is told at once. *made (which may be
 * NULL) is the candidate of that text, new or known from before; NULL when the strategy gave none. */
static bool code_and_submit(struct run *r, int parent, int round, const struct agent_strategy *s, int repairs,
                            struct candidate **made, struct err *err)
{
    struct candidate *p = r->candidates.v[parent], *c, *ignored;
    struct err why = {0};
    const struct agent_step *done;
    const char *known;
    size_t n_done;
    char *text, hash[24];
    int known_id;

    made = made ? made : &ignored;
    *made = NULL;
    if (!agent_code_rules(r->task, r->task->source_path, p->text, s, &r->limits, r->arena, &text, &done,
                          &n_done, &why)) {
        trace_text("not_coded", "%s: %s", s->name, why.text);
        return true;
    }
    hash_of(r, text, hash);
    *made = map_get(&r->seen, hash);
    if (*made) {
        trace_text("duplicate", "%s: the same code as candidate %d", s->name, (*made)->id);
        return true;
    }
    c = *made = add_candidate(r, parent, round, text);
    c->strategy = *s;
    c->repairs = repairs;
    c->steps = done;
    c->n_steps = n_done;
    if (!store_find_trial(r->store, r->arena, c->hash, &known_id, &known, err))
        return false;
    if (known) {
        json_t *j = json_parse(known, strlen(known), "stored trial", err);
        bool ok = j && trial_from_json(j, r->arena, &c->trial, err);
        json_decref(j);
        if (ok)
            tell(r, c);
        return ok;
    }
    return pool_submit(r->pool, c->id, r->task->source_path, c->text, err);
}

/* Waits for everything submitted. On a stop or an empty budget what runs is left behind: it is not stored, so a
 * resumed run does it again. */
static bool collect(struct run *r, struct err *err)
{
    while (pool_busy(r->pool) > 0) {
        struct trial t;
        int id;
        if (stop_asked || over_budget(r))
            return true;
        if (!pool_collect(r->pool, 0.2, r->arena, &id, &t, err))
            return false;
        if (id < 0)
            continue;
        r->candidates.v[id]->trial = t;
        tell(r, r->candidates.v[id]);
        if (!store_candidate_row(r, r->candidates.v[id], err))
            return false;
    }
    return true;
}

static struct agent_attempt *history_of(struct run *r)
{
    struct agent_attempt *h = arena_array(r->arena, struct agent_attempt, r->candidates.n);

    for (size_t i = 1; i < r->candidates.n; i++) {
        const struct candidate *c = r->candidates.v[i];
        h[i - 1] = (struct agent_attempt){.id = c->id,
                                          .parent = c->parent,
                                          .steps = c->strategy.steps,
                                          .n_steps = c->strategy.n_steps,
                                          .verdict = c->judged ? verdict_name(c->trial.verdict) : "not judged",
                                          .passed = c->judged && verdict_correct(c->trial.verdict),
                                          .gain = c->trial.score / r->search.nodes.v[c->parent].score,
                                          .score = c->trial.score};
    }
    return h;
}

static void lineage_of(struct run *r, int id, struct agent_plan_input *in)
{
    int ids[256];
    size_t n = search_lineage(&r->search, id, ids, ARRAY_LEN(ids));
    VEC(struct agent_step) steps = {0};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r->candidates.v[ids[i]]->n_steps; k++)
            vec_push(&steps, r->candidates.v[ids[i]]->steps[k]);
    in->lineage = arena_copy(r->arena, steps.v, steps.n * sizeof(*steps.v));
    in->n_lineage = steps.n;
    vec_free(&steps);
}

static void fill_plan_input(struct run *r, struct agent_plan_input *in)
{
    in->history = history_of(r);
    in->n_history = r->candidates.n - 1;
}

static bool repair_failures(struct run *r, size_t first, struct agent_plan_input *in, struct err *err)
{
    size_t last = r->candidates.n;

    fill_plan_input(r, in);
    for (size_t i = first; i < last; i++) {
        const struct candidate *c = r->candidates.v[i];
        struct agent_strategy repaired;
        if (!c->judged || verdict_correct(c->trial.verdict))
            continue;
        if (agent_repair_rules(&c->strategy, in, r->arena, &repaired) &&
            !code_and_submit(r, in->parent, c->round, &repaired, c->id, NULL, err))
            return false;
    }
    return collect(r, err);
}

/* A correct candidate that is clearly faster on the whole but loses on some workloads: the same with the
 * original kept for these. */
static bool dispatch_losers(struct run *r, size_t first, int round, struct err *err)
{
    const struct candidate *c = NULL, *original = r->candidates.v[0];
    double *speedups = arena_array(r->arena, double, r->task->n_workloads);
    struct agent_strategy s;

    for (size_t i = first; i < r->candidates.n; i++) {
        const struct candidate *x = r->candidates.v[i];
        if (x->judged && x->trial.verdict == VERDICT_SLOWER && x->trial.n_workloads == r->task->n_workloads &&
            x->trial.score > DETOUR * r->search.nodes.v[r->search.best].score &&
            (!c || x->trial.score > c->trial.score))
            c = x;
    }
    if (!c)
        return true;
    for (size_t w = 0; w < r->task->n_workloads; w++)
        speedups[w] = diagnose_scoring(r->task, &original->trial.workloads[w])->us /
                      diagnose_scoring(r->task, &c->trial.workloads[w])->us;
    return !agent_dispatch_rules(r->task, speedups, r->arena, &s) ||
           (code_and_submit(r, c->id, round, &s, -1, NULL, err) && collect(r, err));
}

/* One round; *tried tells how many new candidates it made. */
static bool round_run(struct run *r, int round, size_t *tried, struct err *err)
{
    struct agent_plan_input in = {.parent = search_ask(&r->search), .max_strategies = (size_t)r->o->candidates};
    struct candidate *parent = r->candidates.v[in.parent];
    const struct agent_strategy *strategies;
    struct agent_version version;
    size_t n, first = r->candidates.n, from = first;
    json_t *e = json_object();
    bool ok = true;

    if (!agent_version_open(&version, r->arena, r->task, r->task->source_path, parent->text, &r->limits, err))
        return false;
    in.version = &version;
    in.diagnosis = &parent->diagnosis;
    lineage_of(r, in.parent, &in);
    fill_plan_input(r, &in);
    agent_plan_rules(&in, r->arena, &strategies, &n);
    json_put_int(e, "round", round);
    json_put_int(e, "parent", in.parent);
    json_put_num(e, "parent_score", r->search.nodes.v[in.parent].score);
    json_put_text(e, "diagnosis", parent->diagnosis.text);
    json_put_int(e, "strategies", (int64_t)n);
    trace_event("round", e);
    for (size_t i = 0; ok && i < n && !stop_asked; i++)
        ok = code_and_submit(r, in.parent, round, &strategies[i], -1, NULL, err);
    ok = ok && collect(r, err);
    for (int wave = 0; ok && wave < MAX_REPAIRS && !stop_asked && !over_budget(r); wave++) {
        size_t next = r->candidates.n;
        ok = repair_failures(r, from, &in, err);
        from = next;
    }
    ok = ok && (stop_asked || over_budget(r) || dispatch_losers(r, first, round, err));
    *tried = r->candidates.n - first;
    agent_version_close(&version);
    return ok;
}

/* Judges the steps from the original less the dropped ones; *c is NULL when that made no code. */
static bool try_without(struct run *r, int round, const struct agent_step *steps, size_t n, const bool *drop,
                        struct candidate **c, struct err *err)
{
    struct agent_step *left = arena_array(r->arena, struct agent_step, n),
                      *out = arena_array(r->arena, struct agent_step, n);
    size_t n_left = 0, n_out = 0;
    struct agent_strategy s;

    for (size_t i = 0; i < n; i++)
        if (drop[i])
            out[n_out++] = steps[i];
        else
            left[n_left++] = steps[i];
    *c = NULL;
    if (n_left == 0)
        return true;
    s = (struct agent_strategy){
        .name = arena_printf(r->arena, "the best without %s", agent_steps_text(r->arena, out, n_out)),
        .reason = "a step that does not pay is left out: fewer changes to review",
        .plan = agent_steps_text(r->arena, left, n_left),
        .steps = left,
        .n_steps = n_left,
        .expected_gain = 1,
        .confidence = 1};
    return code_and_submit(r, 0, round, &s, -1, c, err);
}

static bool as_good(const struct run *r, const struct candidate *c)
{
    return c && c->judged && c->trial.verdict == VERDICT_PASSED &&
           c->trial.score >= AS_GOOD * r->search.nodes.v[r->search.best].score;
}

/* A reviewer reads every changed line, so a step must pay for itself: leave each out alone, then all that were
 * not missed together, and take the leanest that is as good. */
static bool prune(struct run *r, int round, struct err *err)
{
    struct agent_plan_input in = {0};
    struct candidate *lean[MAX_PRUNE], *all = NULL, *chosen = NULL;
    bool drop[MAX_PRUNE] = {false}, none_dropped = true;

    lineage_of(r, r->search.best, &in);
    if (r->search.best == 0 || in.n_lineage < 2 || in.n_lineage > MAX_PRUNE)
        return true;
    for (size_t i = 0; i < in.n_lineage; i++) {
        bool one[MAX_PRUNE] = {false};
        one[i] = true;
        if (!try_without(r, round, in.lineage, in.n_lineage, one, &lean[i], err))
            return false;
    }
    if (!collect(r, err))
        return false;
    for (size_t i = 0; i < in.n_lineage; i++) {
        drop[i] = as_good(r, lean[i]);
        none_dropped = none_dropped && !drop[i];
        if (drop[i] && (!chosen || lean[i]->trial.score > chosen->trial.score))
            chosen = lean[i];
    }
    if (none_dropped || stop_asked || over_budget(r))
        return true;
    if (!try_without(r, round, in.lineage, in.n_lineage, drop, &all, err) || !collect(r, err))
        return false;
    if (as_good(r, all))
        chosen = all;
    if (chosen) {
        r->search.best = chosen->id;
        trace_text("pruned", "candidate %d: %s", chosen->id,
                   agent_steps_text(r->arena, chosen->steps, chosen->n_steps));
    }
    return true;
}

/* The best, judged once more by a fresh process on seeds and data that no candidate has seen, and as nvcc
 * compiles it where there is one. One that fails there gets that verdict and the next best takes its place; the
 * original needs no confirmation. */
static bool confirm(struct run *r, struct err *err)
{
    struct trial_options o = {
        .device = r->o->device, .seed = rng_hash(r->o->seed, 0x68696464656eull), .with_nvcc = true};
    struct pool *fresh = NULL;
    bool ok = true;

    while (ok && r->search.best != 0 && !stop_asked) {
        struct candidate *c = r->candidates.v[r->search.best];
        struct trial t;
        int id = -1, best = 0;
        if (!fresh)
            ok = pool_open(&fresh, r->task, &o, 1, NULL, err);
        ok = ok && pool_submit(fresh, c->id, r->task->source_path, c->text, err);
        while (ok && id < 0 && !stop_asked)
            ok = pool_collect(fresh, 0.2, r->arena, &id, &t, err);
        if (!ok || id < 0)
            break;
        trace_text("confirm", "candidate %d: %s", c->id, verdict_name(t.verdict));
        if (t.verdict == VERDICT_PASSED) {
            json_t *j = trial_to_json(&t);
            ok = store_note(r->store, "confirmation", json_line(r->arena, j), err);
            json_decref(j);
            break;
        }
        t.words = arena_printf(r->arena, "hidden cases: %s", t.words);
        c->trial = t;
        search_tell(&r->search, c->id, verdict_correct(t.verdict), false, t.score);
        ok = store_candidate_row(r, c, err);
        for (size_t i = 0; i < r->search.nodes.n; i++)
            if (r->search.nodes.v[i].passed && r->search.nodes.v[i].score > r->search.nodes.v[best].score)
                best = (int)i;
        r->search.best = best;
    }
    pool_close(fresh);
    return ok;
}

static bool open_world(struct run *r, bool resume, struct err *err)
{
    struct trial_options o = {.device = r->o->device, .seed = r->o->seed};
    struct candidate *original;
    struct agent_suite suite;
    char *text, hex[65];
    size_t len;
    json_t *j;

    if (!task_open(&r->task, r->arena, r->o->task_dir, err) || !fs_mkdirs(r->o->out, err) ||
        !fs_read(r->arena, r->task->source_path, &text, &len, err) ||
        !store_open(&r->store, r->o->out, !resume, err))
        return false;
    hash_sha256_hex(text, len, hex);
    if (resume) {
        if (!store_get_run(r->store, r->arena, &r->row, err))
            return false;
        if (!str_eq(r->row.source_hash, hex))
            return err_input(err, "%s changed since the run began; start a new run", r->task->source_path);
        r->spent_before_s = r->row.wall_s;
    } else {
        j = run_options_to_json(r->o);
        r->row = (struct store_run){.astra = ASTRA_VERSION,
                                    .task_name = r->task->name,
                                    .task_dir = r->task->dir,
                                    .source_hash = arena_strdup(r->arena, hex),
                                    .options = json_line(r->arena, j),
                                    .started = now_utc(r->arena)};
        json_decref(j);
    }
    r->row.status = "running";
    agent_test_rules(r->task, r->arena, r->o->seed, &suite);
    trace_text("suite", "%s", suite.text);
    if (!store_put_run(r->store, &r->row, err) || !pool_open(&r->pool, r->task, &o, r->o->jobs, NULL, err))
        return false;
    search_open(&r->search, 1.01);
    original = add_candidate(r, -1, 0, text);
    original->strategy.name = "original";
    if (!pool_original(r->pool, r->arena, &original->trial, err))
        return false;
    pool_kernel_limits(r->pool, &r->limits);
    tell(r, original);
    return store_note(r->store, "suite", suite.text, err) &&
           store_note(r->store, "regime", r->task->hot ? "hot" : "cold", err) &&
           store_note(r->store, "device", r->limits.device_name, err) && store_candidate_row(r, original, err);
}

static bool close_books(struct run *r, enum run_end end, struct err *err)
{
    static const char *const status[] = {
        [RUN_DONE] = "done", [RUN_BUDGET] = "budget", [RUN_INTERRUPTED] = "interrupted"};
    json_t *result;
    char best[16];
    bool ok;

    snprintf(best, sizeof(best), "%d", r->search.best);
    if (!store_note(r->store, "best", best, err))
        return false;
    r->row.status = status[end];
    r->row.ended = now_utc(r->arena);
    r->row.wall_s = spent_s(r);
    if (!store_put_run(r->store, &r->row, err))
        return false;
    if (!report_result(r->store, r->arena, &result, err))
        return false;
    r->row.result = json_pretty(r->arena, result);
    ok = report_write(r->store, r->arena, r->o->out, result, err) && store_put_run(r->store, &r->row, err);
    json_decref(result);
    return ok;
}

static bool loop(struct run *r, enum run_end *end, struct err *err)
{
    int round;

    *end = RUN_DONE;
    for (round = 1; round <= r->o->rounds && !stop_asked && !over_budget(r); round++) {
        size_t tried;
        if (!round_run(r, round, &tried, err))
            return false;
        if (tried == 0 || search_stale_rounds(&r->search, round) >= STALE_ROUNDS)
            break;
    }
    if (!stop_asked && !over_budget(r) && !prune(r, MIN(round, r->o->rounds), err))
        return false;
    if (over_budget(r))
        *end = RUN_BUDGET;
    if (!stop_asked && !confirm(r, err))
        return false;
    if (stop_asked)
        *end = RUN_INTERRUPTED;
    return true;
}

bool run_optimize(const struct run_options *o, bool resume, enum run_end *end, struct err *err)
{
    struct run r = {.o = o, .arena = arena_open(), .start_s = time_s()};
    bool ok = open_world(&r, resume, err) && loop(&r, end, err) && close_books(&r, *end, err);

    pool_close(r.pool);
    store_close(r.store);
    search_close(&r.search);
    vec_free(&r.candidates);
    map_free(&r.seen);
    arena_close(r.arena);
    return ok;
}
