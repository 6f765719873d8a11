/* One candidate, from attempt to record: coded, looked up or judged, told, stored. */
#include "internal.h"

static json_t *steps_to_json(const struct agent_step *steps, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_put_text(o, "transform", steps[i].transform);
        json_put_text(o, "move", transform_old_name(steps[i].transform));
        json_put_int(o, "setting", steps[i].setting);
        json_array_append_new(list, o);
    }
    return list;
}

bool candidate_store(struct run *r, const struct candidate *c, struct err *err)
{
    const struct trial *t = &c->trial;
    double parent_score = c->parent >= 0 ? r->search.nodes.v[c->parent].score : NAN;
    struct store_candidate row = {.id = c->id,
                                  .parent = c->parent,
                                  .round = c->round,
                                  .repairs = c->repairs,
                                  .backend = c->backend,
                                  .name = c->name,
                                  .reason = c->strategy.reason,
                                  .plan = c->strategy.plan,
                                  .steps = json_take_line(r->arena, steps_to_json(c->steps, c->n_steps)),
                                  .text = c->text,
                                  .hash = c->hash,
                                  .verdict = verdict_name(t->verdict),
                                  .words = t->words ? t->words : "",
                                  .line = t->line,
                                  .gain = t->score / parent_score,
                                  .score = t->score,
                                  .wall_s = t->wall_s,
                                  .trial = trial_to_text(r->arena, t),
                                  .bound_by = c->diagnosis.bound_by,
                                  .diagnosis = c->diagnosis.text};

    return store_put_candidate(r->store, &row, err);
}

void candidate_tell(struct run *r, struct candidate *c)
{
    c->judged = true;
    r->unjudged = r->unjudged || !verdict_stands(c->trial.verdict);
    if (c->id > 0)
        search_tell(&r->search, c->id, verdict_correct(c->trial.verdict), c->trial.verdict == VERDICT_PASSED,
                    c->trial.score);
    if (verdict_correct(c->trial.verdict))
        diagnose_trial(r->task, &c->trial, r->limits.device_name, false, r->arena, &c->diagnosis);
    tell_trial(r, c);
    tell_best(r);
}

void candidate_hash(struct run *r, const char *text, char hash[24])
{
    const char *normal = kernel_normalise(r->arena, text, strlen(text));

    snprintf(hash, 24, "%016llx", (unsigned long long)hash_text(normal));
}

struct candidate *candidate_add(struct run *r, int parent, int round, const char *text)
{
    struct candidate *c = arena_new(r->arena, struct candidate);

    c->id = parent < 0 ? 0 : search_add(&r->search, parent, round);
    c->parent = parent;
    c->round = round;
    c->repairs = -1;
    c->backend = c->id ? "rules" : "original";
    c->text = text;
    candidate_hash(r, text, c->hash);
    c->label = c->id ? arena_printf(r->arena, "candidate-%d", c->id) : "original";
    c->name = c->strategy.name = c->strategy.reason = c->strategy.plan = "";
    vec_push(&r->candidates, c);
    map_put(&r->seen, c->hash, c);
    return c;
}

/* Kept, with where each move applies: the best is the parent of many rounds. */
bool candidate_version(struct run *r, struct candidate *c, const struct agent_version **v, struct err *err)
{
    struct agent_version opened;

    if (!c->version) {
        if (!agent_version_open(&opened, r->arena, r->task, r->task->source_path, c->text, &r->limits, err))
            return false;
        c->version = arena_copy(r->arena, &opened, sizeof(opened));
    }
    *v = c->version;
    return true;
}

void candidates_close(struct run *r)
{
    for (size_t i = 0; i < r->candidates.n; i++)
        if (r->candidates.v[i]->version)
            agent_version_close(r->candidates.v[i]->version);
    vec_free(&r->candidates);
}

void candidate_learn(struct run *r)
{
    r->n_known = MAX(r->n_known, (size_t)1); /* the original's verdict is not that of what does the same */
    for (; r->n_known < r->candidates.n && r->candidates.v[r->n_known]->judged; r->n_known++)
        if (verdict_stands(r->candidates.v[r->n_known]->trial.verdict))
            pool_learn(r->pool, &r->candidates.v[r->n_known]->trial);
}

void candidate_lineage(struct run *r, int id, struct agent_plan_input *in)
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

static bool is_made_by_rules(const struct candidate *c)
{
    return c->n_steps > 0 && !str_eq(c->steps[0].transform, AGENT_EDIT);
}

struct candidate *candidate_base(struct run *r, int id, size_t *n_steps)
{
    struct candidate *c = r->candidates.v[id];

    for (*n_steps = 0; c->id > 0 && is_made_by_rules(c); c = r->candidates.v[c->parent])
        *n_steps += c->n_steps;
    return c;
}

bool candidate_note_lineage(struct run *r, int id, struct err *err)
{
    int ids[256];
    size_t n = search_lineage(&r->search, id, ids, ARRAY_LEN(ids));
    json_t *lineage = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct candidate *c = r->candidates.v[ids[i]];
        for (size_t k = 0; k < c->n_steps; k++) {
            const struct transform *t = transform_find(c->steps[k].transform);
            json_t *o = json_object();
            json_put_int(o, "candidate", c->id);
            json_put_text(o, "transform", c->steps[k].transform);
            json_put_text(o, "move", transform_old_name(c->steps[k].transform));
            json_put_int(o, "setting", c->steps[k].setting);
            json_put_text(o, "why", t ? t->summary : c->strategy.reason);
            json_put_text(o, "text", c->steps[k].text);
            json_array_append_new(lineage, o);
        }
    }
    return store_note(r->store, "way", json_take_line(r->arena, lineage), err);
}

void candidate_history(struct run *r, struct agent_plan_input *in)
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
                                          .untold = c->judged && !verdict_stands(c->trial.verdict),
                                          .gain = c->trial.score / r->search.nodes.v[c->parent].score,
                                          .score = c->trial.score};
    }
    in->history = h;
    in->n_history = r->candidates.n - 1;
}
