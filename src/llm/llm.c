/* The providers, and the way of a call: tries with pauses between them until a reply stands or cannot be had.
 */
#include "llm/internal.h"

#include <time.h>
#include <unistd.h>

static const struct provider *const providers[] = {
    &provider_openai,
    &provider_anthropic,
    &provider_exec,
    &provider_replay,
};

const char *const *llm_providers(size_t *n)
{
    static const char *names[ARRAY_LEN(providers) + 1];

    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        names[i] = providers[i]->name;
    *n = ARRAY_LEN(providers);
    return names;
}

static const struct provider *provider_find(const char *name, struct err *err)
{
    struct str list = {0};
    const char *const *names, *near;
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        if (str_eq(name, providers[i]->name))
            return providers[i];
    names = llm_providers(&n);
    text_add_list(&list, names, n, n);
    near = name ? str_nearest(name, names) : NULL;
    if (!name || !*name)
        err_input(err, "no provider is named; there are %s", list.s);
    else if (near)
        err_input(err, "there is no provider '%s'; did you mean %s? There are %s", name, near, list.s);
    else
        err_input(err, "there is no provider '%s'; there are %s", name, list.s);
    str_free(&list);
    return NULL;
}

static bool in_range(const char *what, double v, double low, double high, struct err *err)
{
    if (!isfinite(v) || v == 0 || (v >= low && v <= high))
        return true;
    return err_input(err, "%s is %g; it may be %g to %g", what, v, low, high);
}

bool llm_config_check(const struct llm_config *c, struct err *err)
{
    static const char *const efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max", NULL};
    const struct provider *p = provider_find(c->provider, err);
    bool known = !c->effort;

    if (!p)
        return false;
    for (const char *const *e = efforts; *e; e++)
        known |= str_eq(c->effort, *e);
    if (!known)
        return err_input(err, "there is no effort '%s'; there are low, medium, high", c->effort);
    return in_range("the temperature", c->temperature, 0, 2, err) &&
           in_range("the time to connect", c->connect_s, 0.001, 3600, err) &&
           in_range("the time to the first byte", c->first_byte_s, 0.001, 86400, err) &&
           in_range("the time of silence", c->silence_s, 0.001, 86400, err) &&
           in_range("the number of attempts", c->max_attempts, 1, 100, err) &&
           in_range("the limit of output", c->max_output_tokens, 1, 10000000, err) && p->check(c, p, err);
}

static double or_default(double v, double fallback)
{
    return isfinite(v) && v > 0 ? v : fallback;
}

bool llm_open(struct llm **out, const struct llm_config *c, struct err *err)
{
    struct arena *a;
    struct llm *l;

    if (!llm_config_check(c, err))
        return false;
    a = arena_open();
    l = arena_new(a, struct llm);
    l->arena = a;
    l->provider = provider_find(c->provider, err);
    l->c = *c;
#define KEEP(field) l->c.field = arena_strdup(a, c->field)
    KEEP(provider);
    KEEP(model);
    KEEP(base_url);
    KEEP(key_env);
    KEEP(key_file);
    KEEP(command);
    KEEP(effort);
    KEEP(ca_file);
    KEEP(proxy);
    KEEP(record_dir);
    KEEP(replay_dir);
#undef KEEP
    l->c.connect_s = or_default(c->connect_s, 30);
    l->c.first_byte_s = or_default(c->first_byte_s, 900);
    l->c.silence_s = or_default(c->silence_s, 120);
    l->c.max_attempts = c->max_attempts > 0 ? c->max_attempts : 6;
    l->c.retry_s = or_default(c->retry_s, 1);
    l->rng.state = (uint64_t)(time_s() * 1e9) ^ (uint64_t)getpid() << 40;
    if ((c->record_dir && !fs_mkdirs(c->record_dir, err)) ||
        (l->provider->open && !l->provider->open(l, err))) {
        llm_close(l);
        return false;
    }
    *out = l;
    return true;
}

static void call_free(struct call *c)
{
    c->llm->provider->stop(c);
    answer_free(&c->answer);
    arena_close(c->arena);
}

void llm_close(struct llm *l)
{
    if (!l)
        return;
    for (struct call *c = l->calls, *next; c; c = next) {
        next = c->next;
        call_free(c);
    }
    http_close(l->http);
    key_free(l->key);
    arena_close(l->arena);
}

size_t llm_busy(const struct llm *l)
{
    return l->n_calls;
}

int64_t llm_tokens_so_far(const struct llm *l, int id)
{
    for (const struct call *c = l->calls; c; c = c->next)
        if (c->id == id)
            return (int64_t)(c->reader.answer.text.len + c->reader.answer.thought_bytes + 3) / 4;
    return 0;
}

bool llm_submit(struct llm *l, int id, const struct llm_request *q, struct err *err)
{
    struct arena *a = arena_open();
    struct call *c = arena_new(a, struct call), **end = &l->calls;
    struct llm_message *m = arena_array(a, struct llm_message, q->n_messages + 1);

    (void)err;
    BUG_IF(!q->role || !q->label || q->n_messages == 0 || id < 0);
    for (; *end; end = &(*end)->next)
        BUG_IF((*end)->id == id);
    c->arena = a;
    c->llm = l;
    c->id = id;
    c->q = *q;
    c->q.role = arena_strdup(a, q->role);
    c->q.label = arena_strdup(a, q->label);
    c->q.system = arena_strdup(a, q->system ? q->system : "");
    c->q.messages = m;
    for (size_t i = 0; i < q->n_messages; i++)
        m[i] = (struct llm_message){q->messages[i].assistant, arena_strdup(a, q->messages[i].text)};
    c->used = LLM_USAGE_UNKNOWN;
    c->start_s = c->due_s = time_s();
    *end = c;
    l->n_calls++;
    return true;
}

/* ---- tries ---- */

enum { HOURS_OF_FIRST_BYTE = 4, LONGEST_PAUSE_S = 60, LONGEST_RETRY_AFTER_S = 300, MOST_CHANGES = 10 };

const char *call_over_time(struct call *c, bool said, double bytes_s)
{
    const struct llm_config *cfg = &c->llm->c;
    double now_s = time_s();

    if (!said && now_s - c->try_s > cfg->first_byte_s)
        return arena_printf(c->arena, "said nothing within %g s", cfg->first_byte_s);
    if (said && now_s - bytes_s > cfg->silence_s)
        return arena_printf(c->arena, "fell silent for %g s in the middle of its reply", cfg->silence_s);
    if (now_s - c->try_s > HOURS_OF_FIRST_BYTE * cfg->first_byte_s)
        return arena_printf(c->arena, "did not end within %g s", HOURS_OF_FIRST_BYTE * cfg->first_byte_s);
    return NULL;
}

static void trace_try(const struct call *c, enum verdict v, double pause_s)
{
    static const char *const names[] = {"done",    "changed", "again",   "once more",
                                        "no more", "fatal",   "no model"};
    json_t *o = json_object();

    json_put_text(o, "role", c->q.role);
    json_put_text(o, "label", c->q.label);
    json_put_int(o, "attempt", c->attempts);
    json_put_text(o, "verdict", names[v]);
    json_put_text(o, "words", c->answer.words.len ? c->answer.words.s : NULL);
    json_put_num(o, "pause_s", pause_s);
    trace_event("llm_try", o);
}

/* The pause before the next try: doubled each time, somewhere in its upper half, so that callers who failed
 * together do not come back together. */
static double pause_of(struct call *c, double retry_after_s)
{
    struct llm *l = c->llm;
    double s =
        MIN(ldexp(l->c.retry_s, MIN(c->pauses, 20)), (double)LONGEST_PAUSE_S) * (0.5 + 0.5 * rng_unit(&l->rng));

    c->pauses++;
    return isfinite(retry_after_s) ? retry_after_s + 0.1 * s : s;
}

static void count_add(int64_t *to, int64_t n)
{
    if (n >= 0)
        *to = MAX(*to, 0) + n;
}

/* A try that failed may have been paid for. */
static void usage_add(struct llm_usage *to, const struct llm_usage *u)
{
    count_add(&to->input, u->input);
    count_add(&to->cached, u->cached);
    count_add(&to->reasoning, u->reasoning);
    count_add(&to->output, u->output);
    count_add(&to->cache_written, u->cache_written);
}

void call_judged(struct call *c, enum verdict v, double retry_after_s)
{
    struct answer *a = &c->answer;
    bool again = v == TRY_AGAIN || (v == TRY_ONCE_MORE && c->once_more++ == 0);
    double pause_s = 0;

    text_redact(&a->text, c->llm->key);
    text_redact(&a->words, c->llm->key);
    text_redact(&a->model, c->llm->key);
    text_tidy(&a->words);
    text_tidy(&a->model);
    if (again && retry_after_s > LONGEST_RETRY_AFTER_S) {
        str_addf(&a->words, "; it wants %.0f s to pass first", retry_after_s);
        again = false;
    }
    if (again && c->attempts >= c->llm->c.max_attempts)
        again = false;
    if (again)
        pause_s = pause_of(c, retry_after_s);
    trace_try(c, v, again ? pause_s : NAN);
    usage_add(&c->used, &a->usage);
    if (v == TRY_CHANGED && c->attempts > c->llm->c.max_attempts + MOST_CHANGES)
        v = TRY_FATAL; /* it refuses in turns */
    if (v == TRY_CHANGED || again) {
        c->state = CALL_WAITING;
        c->due_s = time_s() + pause_s;
        return;
    }
    c->fatal = v == TRY_FATAL || v == TRY_NO_MODEL;
    if (v != TRY_DONE) {
        a->end = LLM_FAILED;
        if (c->attempts > 1)
            str_addf(&a->words, " (tried %d times)", c->attempts);
    }
    c->state = CALL_OVER;
}

static void try_start(struct call *c)
{
    answer_free(&c->answer);
    c->answer.usage = LLM_USAGE_UNKNOWN;
    c->state = CALL_RUNNING;
    c->attempts++;
    c->try_s = time_s();
    c->first_s = 0;
    c->llm->provider->start(c);
}

/* ---- the end of a call ---- */

static void reply_make(struct call *c, struct arena *a, struct llm_reply *r)
{
    const struct answer *w = &c->answer;
    const char *asked = c->llm->c.model ? c->llm->c.model : c->llm->provider->name;

    *r = (struct llm_reply){
        .end = w->end,
        .text = w->end == LLM_FAILED ? "" : arena_strdup(a, str_text(&w->text)),
        .words = w->end != LLM_DONE ? arena_strdup(a, str_text(&w->words)) : NULL,
        .model = arena_strdup(a, w->model.len ? w->model.s : asked),
        .usage = c->used,
        .first_byte_s = c->first_s ? c->first_s - c->try_s : NAN,
        .wall_s = time_s() - c->start_s,
        .attempts = c->attempts,
        .fatal = c->fatal,
    };
    r->usd = price_of(r->model, &r->usage);
    if (isnan(r->usd) && c->llm->c.model)
        r->usd = price_of(c->llm->c.model, &r->usage);
}

static bool deliver(struct call **at, struct arena *a, int *id, struct llm_reply *r, struct err *err)
{
    struct call *c = *at;
    struct llm *l = c->llm;
    const char *note = NULL;
    bool ok = true;

    *id = c->id;
    if (c->unfit) {
        *err = c->err;
        ok = false;
    } else if (c->replayed) {
        *r = c->recording.reply;
        r->text = arena_strdup(a, r->text);
        r->words = arena_strdup(a, r->words);
        r->model = arena_strdup(a, r->model);
        r->usd = 0; /* what it cost was paid when it was recorded */
        note = c->recording.note;
    } else {
        reply_make(c, a, r);
    }
    if (ok && l->c.record_dir)
        ok = record_write(&l->c, &c->q, r, note, err);
    *at = c->next;
    l->n_calls--;
    call_free(c);
    return ok;
}

bool llm_collect(struct llm *l, double wait_s, struct arena *a, int *id, struct llm_reply *r, struct err *err)
{
    double end_s = time_s() + wait_s, tick_s = MIN(1.0, MIN(l->c.first_byte_s, l->c.silence_s) / 8);

    *id = -1;
    for (bool first = true;; first = false) {
        double now_s = time_s(), next_s = end_s;
        for (struct call *c = l->calls; c; c = c->next) {
            if (c->state == CALL_WAITING && c->due_s <= now_s)
                try_start(c);
            if (c->state == CALL_WAITING)
                next_s = MIN(next_s, c->due_s);
        }
        /* Whatever has arrived is seen before anything is called late. */
        bool calm = l->provider->wait(l, first ? 0 : MAX(0.0, MIN(next_s - now_s, tick_s)));
        for (struct call *c = l->calls; c; c = c->next)
            if (c->state == CALL_RUNNING || c->state == CALL_LISTING)
                l->provider->look(c);
        for (struct call **at = &l->calls; *at; at = &(*at)->next)
            if ((*at)->state == CALL_OVER)
                return deliver(at, a, id, r, err);
        if (!calm || !l->n_calls || time_s() >= end_s)
            return true;
    }
}
