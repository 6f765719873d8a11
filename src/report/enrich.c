/* A result with what the page shows beside it, for programs. */
#include "report/report.h"
#include "report/words.h"

static json_t *texts(const char *const *list, size_t n)
{
    json_t *o = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(o, json_string(list[i]));
    return o;
}

static json_t *candidate_to_json(const struct view *v, const struct view_candidate *c)
{
    const struct store_candidate *r = &c->row;
    json_t *o = json_object(), *steps = json_array();

    for (size_t i = 0; i < c->n_steps; i++) {
        json_t *x = json_object();
        json_put_text(x, "transform", c->steps[i].transform);
        json_put_text(x, "move", c->steps[i].move);
        json_put_int(x, "setting", c->steps[i].setting);
        json_array_append_new(steps, x);
    }
    json_put_int(o, "candidate", r->id);
    json_put(o, "parent", r->parent >= 0 ? json_integer(r->parent) : json_null());
    json_put(o, "repairs", r->repairs >= 0 ? json_integer(r->repairs) : json_null());
    json_put_int(o, "round", r->round);
    json_put_text(o, "mind", r->mind);
    json_put_text(o, "name", r->name);
    json_put_text(o, "reason", r->reason);
    json_put_text(o, "plan", r->plan);
    json_put(o, "steps", steps);
    json_put_text(o, "verdict", r->verdict);
    json_put_text(o, "words", r->words);
    json_put(o, "line", r->line ? json_integer(r->line) : json_null());
    json_put_num(o, "score", r->score);
    json_put_num(o, "gain", r->gain);
    json_put_text(o, "bound_by", r->bound_by);
    json_put_text(o, "diagnosis", r->diagnosis);
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
    json_put(more, "caveats", texts(sentences, n));
    sentences = words_limits(v, a, &n);
    json_put(more, "limits", texts(sentences, n));
    json_put_text(more, "verify", v->result ? words_verify(v, a) : NULL);
    json_put_text(more, "repeat", words_repeat(v, a));
    json_put_text(more, "started", v->run.started);
    json_put_text(more, "ended", v->run.ended);
    json_put(more, "candidates", list = json_array());
    for (size_t i = 0; i < v->n_candidates; i++)
        json_array_append_new(list, candidate_to_json(v, &v->candidates[i]));
    json_put(more, "calls", list = json_array());
    for (size_t i = 0; i < v->n_calls; i++)
        json_array_append_new(list, report_call_row(&v->calls[i].row, v->calls[i].end, v->calls[i].strategy));
    json_put(o, "report", more);
    return o;
}
