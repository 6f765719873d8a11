/* The runs that events are of: one, or those of a campaign, several of which may be under way. */
#include "tui/internal.h"

struct run_seen {
    char *kernel; /* NULL: no campaign's, or not known yet */
    struct ui_state state;
};

static struct run_seen *add(struct several *s, const char *kernel)
{
    struct run_seen *r = mem_zalloc(sizeof(*r));

    r->kernel = kernel ? strdup(kernel) : NULL;
    ui_state_open(&r->state);
    vec_push(&s->runs, r);
    return r;
}

static void drop(struct several *s, size_t i)
{
    struct run_seen *r = s->runs.v[i];

    free(r->kernel);
    ui_state_close(&r->state);
    free(r);
    memmove(s->runs.v + i, s->runs.v + i + 1, (s->runs.n - i - 1) * sizeof(*s->runs.v));
    s->runs.n--;
    s->front -= i < s->front;
}

void several_open(struct several *s)
{
    *s = (struct several){.heard_s = time_s()};
    add(s, NULL);
}

void several_close(struct several *s)
{
    while (s->runs.n > 0)
        drop(s, s->runs.n - 1);
    vec_free(&s->runs);
}

double several_now_s(const struct several *s)
{
    return s->heard_t_s + time_s() - s->heard_s;
}

struct ui_state *several_front(const struct several *s)
{
    return &s->runs.v[s->front]->state;
}

struct ui_state *several_at(const struct several *s, size_t i)
{
    return &s->runs.v[i]->state;
}

static struct run_seen *run_of(struct several *s, const char *kernel)
{
    struct run_seen *front = s->runs.v[s->front];

    for (size_t i = 0; kernel && i < s->runs.n; i++)
        if (s->runs.v[i]->kernel && str_eq(s->runs.v[i]->kernel, kernel))
            return s->runs.v[i];
    if (!kernel)
        return front; /* of a run alone, or of the campaign itself */
    if (!front->kernel && !front->state.begun) {
        front->kernel = strdup(kernel);
        return front;
    }
    return add(s, kernel);
}

/* What has ended makes room for what has not. */
static bool step_on(struct several *s)
{
    bool another = false;

    for (size_t i = s->runs.n; i-- > 0;)
        if (s->runs.n > 1 && s->runs.v[i]->state.ended) {
            another = another || i == s->front;
            drop(s, i);
            s->front = MIN(s->front, s->runs.n - 1);
        }
    return another;
}

bool several_event(struct several *s, const char *event, const json_t *fields)
{
    struct run_seen *r = run_of(s, json_text(fields, "kernel", NULL));
    bool anew = str_eq(event, "run") && &r->state == several_front(s);

    s->heard_s = time_s();
    s->heard_t_s = json_num(fields, "t_s"); /* every event has one */
    ui_state_event(&r->state, event, fields);
    return step_on(s) || anew;
}

bool several_next(struct several *s)
{
    size_t before = s->front;

    s->front = (s->front + 1) % s->runs.n;
    return s->front != before;
}
