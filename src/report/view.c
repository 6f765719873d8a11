#include "report/report.h"

enum { MOST_ROUNDS = 100000, MOST_MISSING = 1000 }; /* a store that says more is damaged */

struct opened {
    struct view view;
    struct view_candidate *candidates;                    /* as the view's */
    json_t *options, *result, *mutation, *tuning, *suite; /* what the view shows of them is borrowed */
};

/* NULL for NULL, and for what is no JSON: a face shows what there is. */
static json_t *parsed(const char *text)
{
    return text ? json_parse(text, strlen(text), "stored note", NULL) : NULL;
}

/* NULL where there is none that can be read. */
static const struct trial *read_trial(struct arena *a, const char *text)
{
    struct trial *t = arena_new(a, struct trial);

    return text && trial_from_text(text, a, t, NULL) ? t : NULL;
}

static bool read_notes(struct view *v, struct opened *o, struct store *s, struct arena *a, struct err *err)
{
    const char *device, *regime, *mutation, *tuning, *hidden, *unjudged;
    struct trial_device *d;

    if (!store_get_note(s, a, "device", &device, err) || !store_get_note(s, a, "regime", &regime, err) ||
        !store_get_note(s, a, "suite", &v->suite_text, err) ||
        !store_get_note(s, a, "mutation", &mutation, err) || !store_get_note(s, a, "tuning", &tuning, err) ||
        !store_get_note(s, a, "hidden_seed", &v->hidden_seed, err) ||
        !store_get_note(s, a, "sanitizer", &v->sanitizer, err) ||
        !store_get_note(s, a, "remembered", &v->remembered, err) ||
        !store_get_note(s, a, "confirmation", &hidden, err) ||
        !store_get_note(s, a, "unjudged", &unjudged, err) || !store_get_note(s, a, "failure", &v->failure, err))
        return false;
    v->unjudged = str_eq(unjudged, "1");
    d = arena_new(a, struct trial_device);
    v->device = device && trial_device_from_text(device, a, d, NULL) ? d : NULL;
    v->measured = v->device && trial_device_measures(v->device);
    if (!regime_parse(regime, &v->regime))
        v->regime = REGIME_COLD;
    v->mutation = o->mutation = parsed(mutation);
    v->tuning = o->tuning = parsed(tuning);
    v->hidden = read_trial(a, hidden);
    return true;
}

/* ---- candidates ---- */

static void read_steps(struct arena *a, struct view_candidate *c)
{
    json_t *list = parsed(c->row.steps), *x;
    struct view_step *steps = arena_array(a, struct view_step, json_array_size(list) + 1);
    size_t i;

    json_array_foreach(list, i, x)
    {
        const char *move = json_text(x, "move", "?");
        steps[i] = (struct view_step){.transform = arena_strdup(a, json_text(x, "transform", move)),
                                      .move = arena_strdup(a, move),
                                      .setting = (int)json_int(x, "setting", 0)};
    }
    c->steps = steps;
    c->n_steps = json_array_size(list);
    json_decref(list);
}

/* The steps of the lineage in their order, each with what it left. */
static void give_texts(struct arena *a, const char *lineage, struct view_candidate *list, size_t n)
{
    json_t *kept = parsed(lineage), *x;
    int64_t last = 0;
    size_t i, k = 0;

    json_array_foreach(kept, i, x)
    {
        int64_t id = json_int(x, "candidate", 0);
        k = id == last ? k + 1 : 0;
        last = id;
        if (id <= 0 || id >= (int64_t)n || k >= list[id].n_steps)
            continue;
        struct view_step *step = (struct view_step *)&list[id].steps[k];
        step->why = arena_strdup(a, json_text(x, "why", NULL));
        step->text = arena_strdup(a, json_text(x, "text", NULL));
    }
    json_decref(kept);
}

/* A strategy names the last candidate that was made for it; those it repairs were made for it, too. */
static void give_strategies(struct view *v, struct view_candidate *list)
{
    for (size_t i = 0; i < v->n_strategies; i++)
        for (int c = v->strategies[i].candidate; c > 0 && c < (int)v->n_candidates; c = list[c].row.repairs)
            if (str_eq(list[c].row.backend, "llm"))
                list[c].strategy = &v->strategies[i];
}

/* Workers end in any order: a run that is stopped, or under way, has judged a later candidate and not this
 * one. */
static struct view_candidate not_judged(int id, const struct store_candidate *next)
{
    return (struct view_candidate){.row = {.id = id,
                                           .parent = MIN(next->parent, id - 1),
                                           .repairs = -1,
                                           .round = next->round,
                                           .backend = "",
                                           .name = "not judged",
                                           .reason = "",
                                           .plan = "",
                                           .steps = "[]",
                                           .text = "",
                                           .hash = "",
                                           .verdict = "unfinished",
                                           .words = "it was not judged before the run was stopped or looked at",
                                           .gain = NAN,
                                           .score = NAN,
                                           .wall_s = NAN}};
}

static bool read_candidates(struct view *v, struct opened *o, struct store *s, struct arena *a, struct err *err)
{
    const struct store_candidate *rows;
    struct view_candidate *list;
    const char *lineage;
    size_t n_rows, n;

    if (!store_candidates(s, a, &rows, &n_rows, err) || !store_get_note(s, a, "way", &lineage, err) ||
        !store_strategies(s, a, &v->strategies, &v->n_strategies, err))
        return false;
    n = n_rows ? (size_t)MAX(rows[n_rows - 1].id, 0) + 1 : 0;
    if (n > n_rows + MOST_MISSING)
        return err_world(err, "candidate %d is not as this version stores them", rows[n_rows - 1].id);
    v->n_candidates = n;
    list = arena_array(a, struct view_candidate, n + 1);
    for (size_t i = 0, k = 0; i < n; i++) {
        if (rows[k].id > (int)i && i > 0) {
            list[i] = not_judged((int)i, &rows[k]);
            continue;
        }
        const struct trial *t = read_trial(a, rows[k].trial);
        if (rows[k].id != (int)i || rows[k].parent >= (int)i || rows[k].repairs >= (int)i ||
            rows[k].round < 0 || rows[k].round > MOST_ROUNDS || !t)
            return err_world(err, "candidate %d is not as this version stores them", rows[k].id);
        list[i].row = rows[k];
        list[i].trial = *t;
        read_steps(a, &list[i]);
        v->rounds = MAX(v->rounds, rows[k].round);
        k++;
    }
    give_texts(a, lineage, list, v->n_candidates);
    give_strategies(v, list);
    v->candidates = o->candidates = list;
    return true;
}

/* ---- the result ---- */

/* The result is what the run is worth: figures are taken from it, not made twice. */
static void read_workloads(struct view *v, struct arena *a)
{
    const json_t *own = json_object_get(v->result, "workloads");
    struct view_workload *list = arena_array(a, struct view_workload, json_array_size(own) + 1);

    v->n_workloads = json_array_size(own);
    for (size_t i = 0; i < v->n_workloads; i++)
        list[i].dims = report_dims(a, json_array_get(own, i));
    for (enum regime regime = 0; regime < N_REGIMES; regime++) {
        json_t *rows = report_rows(v->result, regime);
        for (size_t i = 0; i < v->n_workloads; i++)
            list[i].times[regime] = trial_row_from_json(json_array_get(rows, i));
        json_decref(rows);
    }
    v->workloads = list;
}

bool view_has(const struct view *v, enum regime regime)
{
    for (size_t i = 0; i < v->n_workloads; i++)
        if (isfinite(v->workloads[i].times[regime].us))
            return true;
    return false;
}

static bool read_result(struct view *v, struct opened *o, struct store *s, struct arena *a, struct err *err)
{
    if (v->n_candidates == 0)
        return true;
    if (!report_result(s, a, &o->result, err))
        return false;
    v->result = o->result;
    v->best = &v->candidates[json_int(v->result, "best_candidate", 0)];
    for (int c = v->best->row.id; c >= 0; c = v->candidates[c].row.parent)
        o->candidates[c].in_lineage = true;
    read_workloads(v, a);
    return true;
}

/* ---- calls ---- */

static void read_conversation(struct arena *a, struct view_call *c)
{
    json_t *request = parsed(c->row.request), *reply = parsed(c->row.reply), *m;
    const json_t *messages = json_object_get(request, "messages");
    struct view_message *list = arena_array(a, struct view_message, json_array_size(messages) + 2);
    const char *words = json_text(reply, "words", "");
    size_t i;

    list[c->n_messages++] = (struct view_message){"system", arena_strdup(a, json_text(request, "system", ""))};
    json_array_foreach(messages, i, m) list[c->n_messages++] = (struct view_message){
        arena_strdup(a, json_text(m, "from", "?")), arena_strdup(a, json_text(m, "text", ""))};
    list[c->n_messages++] = (struct view_message){"model", arena_strdup(a, json_text(reply, "text", ""))};
    c->messages = list;
    c->end = arena_printf(a, "%s%s%s", json_text(reply, "end", "?"), *words ? ": " : "", words);
    json_decref(request);
    json_decref(reply);
}

static bool read_calls(struct view *v, struct store *s, struct arena *a, struct err *err)
{
    struct told told = {.strategies = v->strategies, .n_strategies = v->n_strategies};
    struct view_call *list;

    if (!store_calls(s, a, &told.calls, &told.n_calls, err) ||
        !store_candidates(s, a, &told.candidates, &told.n_candidates, err))
        return false;
    v->n_calls = told.n_calls;
    list = arena_array(a, struct view_call, v->n_calls + 1);
    for (size_t i = 0; i < v->n_calls; i++) {
        list[i].row = told.calls[i];
        list[i].fate = report_call_fate(&told, a, &told.calls[i]);
        read_conversation(a, &list[i]);
    }
    v->calls = list;
    return true;
}

/* ---- opened and closed ---- */

static void read_folder(struct view *v, struct opened *o, struct arena *a)
{
    struct task *t;
    char *suite;

    if (task_open(&t, a, fs_join(a, v->folder, "task"), NULL))
        v->task = t;
    if (fs_read(a, fs_join(a, v->folder, "suite.json"), &suite, NULL, NULL))
        v->suite = o->suite = parsed(suite);
}

bool view_open(struct view **out, struct arena *a, const char *folder, struct err *err)
{
    struct opened *o = arena_new(a, struct opened);
    struct view *v = &o->view;
    struct store *s = NULL;
    bool ok = store_open(&s, folder, false, err);

    v->folder = arena_strdup(a, folder);
    ok = ok && store_get_run(s, a, &v->run, err) && read_notes(v, o, s, a, err) &&
         read_candidates(v, o, s, a, err) && read_result(v, o, s, a, err) && read_calls(v, s, a, err);
    store_close(s);
    if (!ok) {
        view_close(v);
        return false;
    }
    v->options = o->options = parsed(v->run.options);
    read_folder(v, o, a);
    *out = v;
    return true;
}

void view_close(struct view *v)
{
    struct opened *o = (struct opened *)v; /* the view is its first member */

    if (!o)
        return;
    json_decref(o->options);
    json_decref(o->result);
    json_decref(o->mutation);
    json_decref(o->tuning);
    json_decref(o->suite);
}
