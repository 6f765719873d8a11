/* What a run says of itself while it runs: the events of docs/result.md that have more than a line of text. */
#include "internal.h"

#define NO_GAIN 0.005 /* what rounds to 0 % */

static json_t *backends_to_json(const struct models *m)
{
    json_t *o = json_object();

    for (int i = 0; i < N_MODEL_ROLES; i++) {
        const char *model = m->config[i].model ? m->config[i].model : m->config[i].provider;
        if (m->asked[i] || i != FOR_SINGLE)
            json_put_text(o, models_role_name((enum models_role)i), m->asked[i] ? model : "rules");
    }
    return o;
}

void tell_run(const struct run *r, bool resumed)
{
    const struct run_options *o = r->o;
    json_t *e = json_object(), *limits = json_object(), *workloads = json_array();

    json_put_int(e, "schema", 1);
    json_put_text(e, "astra", ASTRA_VERSION);
    json_put_text(e, "task", r->task->name);
    json_put_text(e, "dir", r->task->dir);
    json_put_text(e, "out", o->out);
    json_put_text(e, "started", r->row.started);
    json_put_flag(e, "resumed", resumed);
    json_put_text(e, "device", o->device);
    json_put_text(e, "basis", str_starts(o->device, "cuda") ? "measured" : "modelled");
    json_put_text(e, "agents", o->agents);
    json_put(e, "minds", backends_to_json(&o->models));
    json_put_int(e, "jobs", o->jobs);
    json_put_int(limits, "rounds", o->rounds);
    json_put_int(limits, "candidates", o->candidates);
    json_put_num(limits, "s", o->budget_s > 0 ? o->budget_s : NAN);
    json_put(limits, "tokens",
             o->models.budget_tokens > 0 ? json_integer(o->models.budget_tokens) : json_null());
    json_put_num(limits, "usd", o->models.budget_usd > 0 ? o->models.budget_usd : NAN);
    json_put(e, "limits", limits);
    json_put(e, "spent", calls_spent(r));
    json_put_num(e, "spent_s", r->spent_before_s);
    json_put_text(e, "regime", regime_name(r->task->regime));
    for (size_t i = 0; i < r->task->n_workloads; i++)
        json_array_append_new(workloads, json_string(task_dims_text(r->arena, r->task,
                                                                    r->task->workloads + i * r->task->n_dims)));
    json_put(e, "workloads", workloads);
    trace_event("run", e);
}

/* Rows as result.json has them, and the share of the plain copy's speed. */
static json_t *workloads_of(const struct run *r, const struct trial *t)
{
    const struct trial *original = &r->candidates.v[0]->trial;
    json_t *list = json_array();

    for (size_t i = 0; i < t->n_workloads && i < original->n_workloads; i++) {
        const struct trial_time *x = &t->workloads[i].times[r->task->regime];
        json_t *o = trial_row_to_json(original, i, x, r->task->regime);
        json_put_num(o, "share_of_copy", x->copy_us / x->us);
        json_array_append_new(list, o);
    }
    return list;
}

static void put_times(const struct run *r, const struct candidate *c, json_t *e)
{
    json_put_num(e, "score", c->trial.score);
    json_put_num(e, "low", c->trial.low);
    json_put_num(e, "high", c->trial.high);
    json_put_text(e, "basis", trial_device_measures(pool_device(r->pool)) ? "measured" : "modelled");
    json_put_num(e, "share_of_copy", verdict_correct(c->trial.verdict) ? c->diagnosis.share_of_copy : NAN);
    json_put(e, "workloads", workloads_of(r, &c->trial));
}

void tell_original(const struct run *r)
{
    const struct candidate *c = r->candidates.v[0];
    json_t *e;

    if (!trace_heard())
        return;
    e = json_object();
    json_put(e, "device", report_device(pool_device(r->pool)));
    json_put_int(e, "cases", (int64_t)c->trial.cases);
    json_put_text(e, "bound_by", c->diagnosis.bound_by);
    json_put_text(e, "diagnosis", c->diagnosis.text);
    put_times(r, c, e);
    trace_event("original", e);
}

void tell_round(const struct run *r, int round, int parent, const char *backend)
{
    json_t *e = json_object();

    json_put_int(e, "round", round);
    json_put_int(e, "of", MAX(round, r->last_round));
    json_put_int(e, "parent", parent);
    json_put_num(e, "parent_score", r->search.nodes.v[parent].score);
    json_put_text(e, "parent_name", r->candidates.v[parent]->name);
    json_put_text(e, "mind", backend);
    trace_event("round", e);
}

void tell_plan(int round, int parent, const struct agent_diagnosis *d, const struct agent_strategy *s, size_t n)
{
    json_t *e = json_object(), *list = json_array();

    json_put_int(e, "round", round);
    json_put_int(e, "parent", parent);
    json_put_text(e, "bound_by", d->bound_by);
    json_put_num(e, "share_of_copy", d->share_of_copy);
    json_put_text(e, "diagnosis", d->text);
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_put_text(o, "name", s[i].name);
        json_put_text(o, "reason", s[i].reason);
        json_put_num(o, "expected_gain", s[i].expected_gain);
        json_put_num(o, "confidence", s[i].confidence);
        json_array_append_new(list, o);
    }
    json_put(e, "strategies", list);
    trace_event("plan", e);
}

void tell_submitted(const char *label, const char *name, int round, int parent)
{
    json_t *e = json_object();

    json_put_text(e, "label", label);
    json_put_text(e, "name", name);
    json_put_int(e, "round", round);
    json_put_int(e, "parent", parent);
    trace_event("submitted", e);
}

void tell_started(void *context, int ticket, int worker)
{
    const struct run *r = context;
    json_t *e = json_object();

    json_put_text(e, "label", r->labels.v[ticket]);
    json_put_int(e, "worker", worker);
    trace_event("started", e);
}

void tell_judged(const struct run *r, int ticket, const struct trial *t)
{
    json_t *e = json_object();

    json_put_text(e, "label", r->labels.v[ticket]);
    json_put_text(e, "verdict", verdict_name(t->verdict));
    json_put_text(e, "words", t->words);
    json_put_num(e, "score", t->score);
    json_put_num(e, "wall_s", t->wall_s);
    trace_event("judged", e);
}

void tell_learnt(int id, const char *name, const char *verdict, const char *words, double gain, int parent)
{
    struct str text = {0};
    json_t *e = json_object();

    str_addf(&text, "%s: %s", name, verdict);
    if (!isfinite(gain))
        str_addf(&text, "%s%.*s", *words ? ": " : "", (int)strcspn(words, "\r\n"), words);
    else if (fabs(gain - 1) < NO_GAIN)
        str_add(&text, ", no faster than ");
    else
        str_addf(&text, ", %+.0f %% against ", 100 * (gain - 1));
    if (isfinite(gain) && parent)
        str_addf(&text, "candidate %d", parent);
    else if (isfinite(gain))
        str_add(&text, "the original");
    json_put(e, "id", id >= 0 ? json_integer(id) : json_null());
    json_put_text(e, "name", name);
    json_put_text(e, "verdict", verdict);
    json_put_num(e, "gain", gain);
    json_put_text(e, "text", str_text(&text));
    str_free(&text);
    trace_event("learnt", e);
}

/* What was meant, what took effect, and what that changed in the file it was made from. */
static void put_making(const struct run *r, const struct candidate *c, json_t *e)
{
    struct arena *a = arena_open();
    const char *parent = c->parent > 0 ? arena_printf(a, "candidate-%d.cu", c->parent) : "original.cu";

    json_put_text(e, "steps", agent_steps_text(a, c->steps, c->n_steps));
    json_put_text(e, "plan", c->strategy.plan);
    json_put_text(e, "reason", c->strategy.reason);
    json_put_text(e, "diff",
                  diff_unified(a, parent, r->candidates.v[c->parent]->text,
                               arena_printf(a, "candidate-%d.cu", c->id), c->text));
    arena_close(a);
}

void tell_trial(const struct run *r, const struct candidate *c)
{
    const struct trial *t = &c->trial;
    double gain = t->score / r->search.nodes.v[MAX(c->parent, 0)].score;
    json_t *e;

    if (!trace_heard())
        return;
    e = json_object();
    json_put_int(e, "id", c->id);
    json_put_text(e, "label", c->label);
    json_put_int(e, "parent", c->parent);
    json_put_int(e, "round", c->round);
    json_put_text(e, "mind", c->backend);
    json_put_text(e, "name", c->name);
    json_put_text(e, "verdict", verdict_name(t->verdict));
    json_put_text(e, "words", t->words);
    json_put(e, "line", t->line ? json_integer(t->line) : json_null());
    json_put_num(e, "gain", gain);
    put_times(r, c, e);
    json_put_num(e, "wall_s", t->wall_s);
    if (t->printed)
        json_put_text(e, "printed", t->printed);
    if (c->id > 0)
        put_making(r, c, e);
    json_put_int(e, "best", r->search.best);
    json_put_num(e, "best_score", r->search.nodes.v[r->search.best].score);
    trace_event("trial", e);
    if (c->id > 0 && !c->pruned && verdict_stands(t->verdict))
        tell_learnt(c->id, c->name, verdict_name(t->verdict), confirm_words(t), gain, c->parent);
}

void tell_best(struct run *r)
{
    const struct candidate *c = r->candidates.v[r->search.best];
    json_t *e;

    if (c->id == r->told_best)
        return;
    r->told_best = c->id;
    e = json_object();
    json_put_int(e, "id", c->id);
    json_put_text(e, "name", c->name);
    json_put_text(e, "bound_by", c->diagnosis.bound_by);
    put_times(r, c, e);
    trace_event("best", e);
}

void tell_confirm(const struct candidate *c, const struct trial *t)
{
    json_t *e = json_object();

    json_put_int(e, "id", c->id);
    json_put_text(e, "name", c->name);
    json_put_text(e, "verdict", verdict_name(t->verdict));
    json_put_text(e, "words", t->words);
    json_put_int(e, "cases", (int64_t)t->cases);
    json_put_num(e, "score", t->score);
    json_put_num(e, "wall_s", t->wall_s);
    trace_event("confirm", e);
}

void tell_budget(const char *what, double used, double limit)
{
    json_t *e = json_object();

    json_put_text(e, "what", what);
    json_put_num(e, "used", used);
    json_put_num(e, "limit", limit);
    trace_event("budget", e);
}

void tell_end(const struct run *r, const char *status, const json_t *result, const char *words)
{
    json_t *e = json_object();

    json_put_text(e, "status", status);
    json_put_text(e, "outcome", json_text(result, "outcome", NULL));
    json_put(e, "best", result ? json_integer(json_int(result, "best_candidate", 0)) : json_null());
    json_put(e, "speedup", result ? json_incref(json_object_get(result, "speedup")) : json_null());
    json_put_num(e, "wall_s", json_num(result, "wall_s"));
    json_put_text(e, "out", r->o->out);
    json_put_text(e, "words", words);
    trace_event("end", e);
}
