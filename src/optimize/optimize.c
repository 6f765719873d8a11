/* The loop. A round asks the search for a parent, lets the profiler say what bounds it, the planner what to try
 * and the coder write it, has every candidate judged in a worker, and tells the search. Everything a round
 * decides follows from the trials before it, and every trial is stored under the hash of its text: so a resumed
 * run simply runs again, finds the trials it had, and goes on with the first one missing. */
#include "round.h"

#include <signal.h>
#include <time.h>

enum { STALE_ROUNDS = 2 };

static volatile sig_atomic_t stop_asked;

void run_stop(void)
{
    stop_asked++;
}

#define OPTION(member) MEMBER(struct run_options, member)

static const struct member option_members[] = {
    OPTION(task_dir), OPTION(out),        OPTION(device),       OPTION(agents),
    OPTION(rounds),   OPTION(candidates), OPTION(min_mutation), OPTION(tune_budget),
    OPTION(jobs),     OPTION(budget_s),   OPTION(seed),         OPTION(hidden_seed),
    OPTION(exact),    OPTION(memory),     OPTION(beside),       {0}};

json_t *run_options_to_json(const struct run_options *o)
{
    json_t *j = json_of_members(option_members, o), *also = json_array();

    for (size_t i = 0; i < o->n_also; i++)
        json_array_append_new(also, json_string(o->also[i].path));
    if (o->n_also)
        json_put(j, "also", also);
    else
        json_decref(also);
    if (models_any(&o->models))
        json_put(j, "models", models_to_json(&o->models));
    return j;
}

bool run_options_from_json(const json_t *j, struct arena *a, struct run_options *o, struct err *err)
{
    *o = (struct run_options){0};
    json_get_members(j, option_members, a, o);
    if (!o->task_dir || !o->out || !o->device || !o->agents || o->rounds <= 0 || o->candidates <= 0 ||
        o->jobs <= 0)
        return err_world(err, "the run's options are not readable; it was written by another version");
    const json_t *list = json_object_get(j, "also");
    struct run_also *also = arena_array(a, struct run_also, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path = json_string_value(json_array_get(list, i));
        if (path)
            also[o->n_also++].path = arena_strdup(a, path);
    }
    o->also = also;
    j = json_object_get(j, "models");
    return !j || models_from_json(j, a, &o->models, err);
}

const char *run_now_utc(struct arena *a)
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

bool run_interrupted(void)
{
    static bool told;

    if (stop_asked && !told)
        trace_event("stopping", NULL);
    told = stop_asked > 0;
    return stop_asked > 0;
}

bool run_stopping(const struct run *r)
{
    return run_interrupted() || over_budget(r);
}

bool run_pool(const struct run *r, struct pool **out, const struct trial_options *o, struct err *err)
{
    return r->o->fleet ? pool_open_fleet(out, r->task, o, r->o->fleet, false, err)
                       : pool_open(out, r->task, o, r->o->jobs, NULL, err);
}

/* Times of two GPUs do not compare: a run stays on the one it began on. */
static bool same_device(struct run *r, bool resume, struct err *err)
{
    const struct trial_device *d = pool_device(r->pool);
    struct trial_device before;
    const char *text = json_take_line(r->arena, trial_device_to_json(d)), *noted = NULL;
    bool ok = !resume || store_get_note(r->store, r->arena, "device", &noted, err);

    if (!ok || !noted)
        return ok && store_note(r->store, "device", text, err);
    ok = trial_device_from_text(noted, r->arena, &before, err);
    if (ok && (!str_eq(before.name, d->name) || !str_eq(before.uuid, d->uuid)))
        ok = err_input(err, "the run began on %s (%s), this is %s (%s): times of two GPUs do not compare",
                       before.name, before.uuid ? before.uuid : "simulated", d->name,
                       d->uuid ? d->uuid : "simulated");
    return ok;
}

/* Models are told the original's times: measured again, a resumed run would ask other questions. */
static bool first_original(struct run *r, struct candidate *original, struct err *err)
{
    const char *stored;
    int id;

    if (!store_find_trial(r->store, r->arena, original->hash, &id, &stored, err))
        return false;
    return stored ? trial_from_text(stored, r->arena, &original->trial, err)
                  : store_put_trial(r->store, original->hash, trial_to_text(r->arena, &original->trial), err);
}

/* A resumed run judges the files as they were. */
static bool keep_also(struct run *r, struct err *err)
{
    for (size_t i = 0; i < r->o->n_also; i++)
        if (!store_note(r->store, arena_printf(r->arena, "also %zu", i), r->o->also[i].text, err))
            return false;
    return true;
}

/* What the end would refuse is refused before the first round. */
static bool library_fits(struct run *r, const char *text, struct err *err)
{
    struct agent_version v;
    bool ok = true;

    if (!r->o->beside)
        return true;
    if (!agent_version_open(&v, r->arena, r->task, r->task->source_path, text, &r->limits, err))
        return false;
    for (size_t i = 0; ok && i < v.input.n_plans; i++)
        ok = judge_beside_fits(r->o->beside, v.kernel, &r->limits, &v.input.plans[i], err);
    agent_version_close(&v);
    return ok;
}

static bool open_world(struct run *r, bool resume, struct err *err)
{
    struct trial_options o = {.device = r->o->device,
                              .seed = r->o->seed,
                              .exact = r->o->exact,
                              .started = tell_started,
                              .started_context = r};
    struct candidate *original;
    struct agent_suite suite;
    json_t *suite_json;
    char *text, hex[65];
    size_t len;
    bool kept;

    if (!task_open(&r->task, r->arena, r->o->task_dir, err) || !fs_mkdirs(r->o->out, err) ||
        !fs_read(r->arena, r->task->source_path, &text, &len, err) ||
        !store_open(&r->store, r->o->out, !resume, err) || !store_lock(r->store, r->o->out, err))
        return false;
    hash_sha256_hex(text, len, hex);
    if (resume) {
        if (!store_get_run(r->store, r->arena, &r->row, err))
            return false;
        if (!str_eq(r->row.source_hash, hex))
            return err_input(err, "%s changed since the run began; start a new run", r->task->source_path);
        r->spent_before_s = r->row.wall_s;
    } else {
        r->row = (struct store_run){.astra = ASTRA_VERSION,
                                    .task_name = r->task->name,
                                    .task_dir = r->task->dir,
                                    .source_hash = arena_strdup(r->arena, hex),
                                    .options = json_take_line(r->arena, run_options_to_json(r->o)),
                                    .started = run_now_utc(r->arena)};
    }
    r->row.status = "running";
    agent_test_rules(r->task, r->arena, r->o->seed, &suite);
    r->suite_text = suite.text;
    if ((!resume && !keep_also(r, err)) || !store_put_run(r->store, &r->row, err) || !calls_open(r, err))
        return false;
    tell_run(r, resume);
    trace_text("suite", "%s", suite.text);
    trace_doing("judge", "judges the original");
    if (!run_pool(r, &r->pool, &o, err))
        return false;
    search_open(&r->search, 1.01);
    original = candidate_add(r, -1, 0, text);
    original->name = original->strategy.name = "original";
    if (!pool_original(r->pool, r->arena, &original->trial, err))
        return false;
    r->limits = pool_device(r->pool)->limits;
    if (!library_fits(r, text, err) || !same_device(r, resume, err) || !first_original(r, original, err) ||
        !remember_begin(r, err))
        return false;
    if (r->o->models.asked[FOR_TESTER] && !suite_extend(r, &o, original, err))
        return false;
    r->cases = o.cases;
    r->n_cases = o.n_cases;
    suite_json = report_suite(r->task, r->arena, r->o->seed, r->cases, r->n_cases);
    kept = report_keep(r->store, r->arena, r->o->out, r->task, suite_json, err);
    json_decref(suite_json);
    if (!kept || !suite_adequate(r, &o, err))
        return false;
    candidate_tell(r, original);
    tell_original(r);
    return store_note(r->store, "suite", r->suite_text, err) &&
           store_note(r->store, "regime", regime_name(r->task->regime), err) &&
           candidate_store(r, original, err);
}

static bool close_books(struct run *r, const char *status, struct err *err)
{
    json_t *result;
    char best[16];
    bool ok;

    snprintf(best, sizeof(best), "%d", r->search.best);
    if (!store_note(r->store, "best", best, err) ||
        !store_note(r->store, "unjudged", r->unjudged ? "1" : "", err) ||
        !candidate_note_lineage(r, r->search.best, err))
        return false;
    r->row.status = status;
    r->row.ended = run_now_utc(r->arena);
    r->row.wall_s = spent_s(r);
    if (!store_put_run(r->store, &r->row, err))
        return false;
    if (!report_result(r->store, r->arena, &result, err))
        return false;
    r->row.result = json_pretty(r->arena, result);
    ok = report_write(r->store, r->arena, r->o->out, result, err) && store_put_run(r->store, &r->row, err);
    if (ok)
        remember_end(r, str_eq(status, "done") || str_eq(status, "budget"));
    if (ok)
        tell_end(r, status, result, NULL);
    json_decref(result);
    return ok;
}

static bool round_of_rules(struct run *r, int number, size_t *made, struct err *err)
{
    return round_play(r, &backend_rules, &backend_rules, number, number, made, err);
}

/* Rounds behind *round to the last one, or until nothing comes of them. */
static bool play_rules(struct run *r, int *round, int last, struct err *err)
{
    while (*round < last && !run_stopping(r)) {
        size_t made;
        if (!round_of_rules(r, ++*round, &made, err))
            return false;
        if (made == 0 || search_stale_rounds(&r->search, *round) >= STALE_ROUNDS)
            break;
    }
    return true;
}

static bool rounds_of_rules(struct run *r, int *round, struct err *err)
{
    r->last_round = r->o->rounds;
    if (!play_rules(r, round, r->o->rounds, err))
        return false;
    return run_stopping(r) ||
           ((models_any(&r->o->models) || tune_best(r, *round, err)) && prune_best(r, *round, err));
}

/* The files that somebody gave; where one is the best then, the rules go on from it. */
static bool rounds_from_given(struct run *r, int *round, struct err *err)
{
    int before = r->search.best, first = MAX(*round, 1);

    if (r->o->n_also == 0 || run_stopping(r))
        return true;
    *round = first;
    if (!derive_also(r, first, err))
        return false;
    return r->search.best == before || play_rules(r, round, first + r->o->rounds, err);
}

/* Rounds in which LLMs have a part, numbered first to last in their labels. */
static bool rounds_of_llms(struct run *r, int *round, int first, int last, struct err *err)
{
    const bool *asked = r->o->models.asked;
    const struct backend *planner = asked[FOR_PLANNER] ? &backend_llm : &backend_rules,
                         *coder = asked[FOR_CODER] ? &backend_llm : &backend_rules;

    if (asked[FOR_SINGLE])
        planner = coder = &backend_single;
    r->last_round = *round + last - first + 1;
    r->enough = false;
    for (int n = first; n <= last && !run_stopping(r) && !calls_exhausted(r) && !r->enough; n++) {
        size_t made;
        if (!round_play(r, planner, coder, ++*round, n, &made, err))
            return false;
    }
    return true;
}

/* What fails on hidden cases has taught something: one more round is told of it, and what is best then must
 * hold. */
static bool confirm(struct run *r, int *round, struct err *err)
{
    const struct models *m = &r->o->models;
    bool refused, worked_out = m->asked[FOR_PLANNER] || m->asked[FOR_CODER];
    size_t made;

    if (!confirm_best(r, &refused, err))
        return false;
    if (!refused)
        return true;
    if (!run_stopping(r) && !calls_exhausted(r) && !m->asked[FOR_SINGLE] &&
        !(worked_out ? rounds_of_llms(r, round, r->o->rounds + 1, r->o->rounds + 1, err)
                     : round_of_rules(r, ++*round, &made, err)))
        return false;
    return stop_asked || confirm_best(r, NULL, err);
}

static bool loop(struct run *r, enum run_end *end, struct err *err)
{
    const struct models *m = &r->o->models;
    bool worked_out = m->asked[FOR_PLANNER] || m->asked[FOR_CODER];
    int round = 0;

    *end = RUN_DONE;
    if (!m->asked[FOR_SINGLE] && (m->rules_first || !worked_out) && !rounds_of_rules(r, &round, err))
        return false;
    if (!rounds_from_given(r, &round, err))
        return false;
    if ((worked_out || m->asked[FOR_SINGLE]) && !rounds_of_llms(r, &round, 1, r->o->rounds, err))
        return false;
    if (models_any(m) && !tune_best(r, round, err)) /* their best; the rules' is tuned before it is pruned */
        return false;
    if (over_budget(r) || calls_exhausted(r))
        *end = RUN_BUDGET;
    if (over_budget(r))
        tell_budget("s", spent_s(r), r->o->budget_s);
    if ((!m->asked[FOR_SINGLE] || r->o->n_also) && !derive_per_shape(r, MAX(round, 1), err))
        return false;
    if (!m->asked[FOR_SINGLE] && !derive_last(r, round, err))
        return false;
    if (!stop_asked && (!confirm(r, &round, err) || !confirm_original(r, err)))
        return false;
    /* For the report: where the time went before and after. */
    if (!stop_asked && r->search.best != 0 &&
        (!look_counters(r, r->candidates.v[0], err) || !look_counters(r, r->candidates.v[r->search.best], err)))
        return false;
    if (stop_asked)
        *end = RUN_INTERRUPTED;
    return true;
}

bool run_optimize(const struct run_options *o, bool resume, enum run_end *end, struct err *err)
{
    static const char *const status[] = {
        [RUN_DONE] = "done", [RUN_BUDGET] = "budget", [RUN_INTERRUPTED] = "interrupted"};
    struct run r = {.o = o, .arena = arena_open(), .start_s = time_s()};
    bool ok = open_world(&r, resume, err);

    if (ok && loop(&r, end, err))
        ok = close_books(&r, status[*end], err);
    else if (ok) {
        store_note(r.store, "failure", err ? err->text : "", NULL);
        close_books(&r, "failed", NULL); /* the best so far stands; what failed is told */
        ok = false;
    } else if (r.store && str_eq(r.row.status, "running")) {
        r.row.status = "failed"; /* before there was anything to keep */
        r.row.wall_s = spent_s(&r);
        store_put_run(r.store, &r.row, NULL);
    }
    if (!ok && r.task)
        tell_end(&r, "failed", NULL, err->text);
    vec_free(&r.labels);
    calls_close(&r);
    pool_close(r.pool);
    store_close(r.store);
    search_close(&r.search);
    candidates_close(&r);
    vec_free(&r.lessons);
    map_free(&r.seen);
    arena_close(r.arena);
    return ok;
}
