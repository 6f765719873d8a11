/* Recordings played: the reply of the file that carries the call's role and label, and no other. */
#include "llm/internal.h"

#include <dirent.h>

static bool check(const struct llm_config *c, const struct provider *p, struct err *err)
{
    (void)p;
    if (!c->replay_dir || !*c->replay_dir)
        return err_input(err, "replay needs the folder of the recordings (--replay)");
    if (!fs_is_dir(c->replay_dir))
        return err_input(err, "there is no folder %s with recordings", c->replay_dir);
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_recording(const struct dirent *d)
{
    return str_ends(d->d_name, ".json");
}

static bool missing(const struct call *c, struct err *err)
{
    struct dirent **found = NULL;
    int n = scandir(c->llm->c.replay_dir, &found, is_recording, by_name);
    VEC(const char *) names = {0};
    struct str list = {0};

    for (int i = 0; i < n; i++)
        vec_push(&names, found[i]->d_name);
    text_add_list(&list, names.v, names.n, 30);
    err_input(err, "no call '%s' of the %s is recorded in %s; it has %s", c->q.label, c->q.role,
              c->llm->c.replay_dir, names.n ? list.s : "no recordings at all");
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    vec_free(&names);
    str_free(&list);
    return false;
}

/* A prompt as one text, to be compared and shown. */
static char *prompt_text(struct arena *a, const char *system, const struct llm_message *m, size_t n)
{
    struct str s = {.arena = a};

    if (system)
        str_addf(&s, "[system]\n%s\n", system);
    for (size_t i = 0; i < n; i++)
        str_addf(&s, "[%s]\n%s\n", m[i].assistant ? "assistant" : "user", m[i].text);
    return str_take(&s, a);
}

/* What a recording leaves out (its system prompt, its messages) is not compared. */
static bool fits(const struct call *c, const struct recording *r, const char *path, struct err *err)
{
    enum { DIFF_LINES = 60 };
    struct arena *a = c->arena;
    const struct llm_request *q = &c->q;
    char *then = prompt_text(a, r->system, r->messages, r->n_messages);
    char *now = prompt_text(a, r->system ? q->system : NULL, r->has_messages ? q->messages : NULL,
                            r->has_messages ? q->n_messages : 0);
    struct str diff = {0};

    if (!str_eq(r->role, q->role) || !str_eq(r->label, q->label))
        return err_at(err, path, 0, 0, "this is %s of the %s, not %s of the %s", r->label, r->role, q->label,
                      q->role);
    if (c->llm->c.allow_drift || strcmp(then, now) == 0)
        return true;
    text_diff(&diff, "recorded", then, "now", now, DIFF_LINES);
    err_input(err, "%s: the prompt is not the recorded one (--allow-drift plays it all the same):\n%s", path,
              diff.s);
    str_free(&diff);
    return false;
}

static bool play(struct call *c)
{
    char *path = record_path(c->arena, c->llm->c.replay_dir, &c->q), *text;
    size_t n;

    if (!fs_exists(path))
        return missing(c, &c->err);
    return fs_read(c->arena, path, &text, &n, &c->err) &&
           record_parse(text, n, path, c->arena, &c->recording, &c->err) &&
           fits(c, &c->recording, path, &c->err);
}

static void start(struct call *c)
{
    c->replayed = play(c);
    c->unfit = !c->replayed;
    call_judged(c, TRY_DONE, NAN);
}

static void nothing(struct call *c)
{
    (void)c;
}

static bool no_wait(struct llm *l, double wait_s)
{
    (void)l;
    (void)wait_s;
    return true;
}

const struct provider provider_replay = {
    .name = "replay",
    .what = "recorded conversations, played without a network",
    .check = check,
    .start = start,
    .look = nothing,
    .stop = nothing,
    .wait = no_wait,
};
