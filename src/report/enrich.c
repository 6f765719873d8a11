/* A result with what the page shows beside it, for programs. */
#include "report/report.h"
#include "report/words.h"

#define ROW(member)    MEMBER(struct store_candidate, member)
#define ROW_ID(member) MEMBER_AS(struct store_candidate, member, MEMBER_INT_OR_NULL)

static const struct member candidate_members[] = {
    MEMBER_NAMED("candidate", struct store_candidate, id, MEMBER_INT),
    ROW_ID(parent),
    ROW_ID(repairs),
    ROW(round),
    MEMBER_NAMED("mind", struct store_candidate, backend, MEMBER_TEXT_OR_NULL),
    ROW(name),
    ROW(reason),
    ROW(plan),
    ROW(verdict),
    ROW(words),
    ROW(score),
    ROW(gain),
    ROW(bound_by),
    ROW(diagnosis),
    {0}};

static const struct member step_members[] = {MEMBER(struct view_step, transform),
                                             MEMBER(struct view_step, move),
                                             MEMBER(struct view_step, setting),
                                             {0}};

static json_t *candidate_to_json(const struct view *v, const struct view_candidate *c)
{
    const struct store_candidate *r = &c->row;
    json_t *o = json_object(), *steps = json_array();

    for (size_t i = 0; i < c->n_steps; i++)
        json_array_append_new(steps, json_of_members(step_members, &c->steps[i]));
    json_put_members(o, candidate_members, r);
    json_put(o, "steps", steps);
    json_put(o, "line", r->line ? json_integer(r->line) : json_null());
    json_put_flag(o, "best", c == v->best);
    return o;
}

json_t *report_enriched(const struct view *v, struct arena *a)
{
    json_t *o = v->result ? json_deep_copy(v->result) : json_object(), *more = json_object(), *list;
    const char *const *sentences;
    size_t n;

    json_put_text(o, "task", v->run.task_name); /* which the result has, where there is one */
    json_put_text(o, "status", v->run.status);
    json_put_text(more, "headline", words_headline(v, a));
    json_put_text(more, "verdict", words_verdict(v, a));
    sentences = words_caveats(v, a, &n);
    json_put(more, "caveats", json_texts(sentences, n));
    sentences = words_limits(v, a, &n);
    json_put(more, "limits", json_texts(sentences, n));
    json_put_text(more, "verify", v->result ? words_verify(v, a) : NULL);
    json_put_text(more, "repeat", words_repeat(v, a));
    json_put_text(more, "started", v->run.started);
    json_put_text(more, "ended", v->run.ended);
    json_put(more, "candidates", list = json_array());
    for (size_t i = 0; i < v->n_candidates; i++)
        json_array_append_new(list, candidate_to_json(v, &v->candidates[i]));
    json_put(more, "calls", list = json_array());
    for (size_t i = 0; i < v->n_calls; i++)
        json_array_append_new(list, report_call_row(&v->calls[i].row, v->calls[i].end, &v->calls[i].fate));
    json_put(o, "report", more);
    return o;
}
