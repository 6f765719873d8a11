/* Calls of models. A request is looked up in the store by the hash of its label and its whole text; what is not
 * there is asked, at most `width` at a time, and its reply is stored before anybody sees it. So a run that was
 * killed asks again only what it had no reply to. */
#include "internal.h"

enum { PROGRESS_S = 5, FAILURES_IN_A_ROW = 3 };
/* Tokens of a reply: with less left for it a call is not made; with less than that for each of several at once
 * fewer are under way. */
enum { LEAST_REPLY = 1024, AMPLE_REPLY = 4096 };

struct calls {
    struct llm *models[N_MODEL_ROLES]; /* NULL: the rules; roles of one configuration share one */
    VEC(struct call *) list;           /* all of this process, by id */
    size_t n_sent;                     /* of list: submitted, in order */
    size_t under_way;
    int64_t tokens; /* of all calls ever made in this run, and their cost */
    double usd;
    int64_t tokens_under_way; /* estimated, with what replies may have */
    double usd_under_way;
    double told_in, estimated_in; /* tokens of prompts, where providers told them */
    int64_t n_made;
    bool unpriced; /* a call's cost is not known */
    int failures;  /* in a row */
    double told_s;
    bool exhausted;
};

/* ---- what a call is ---- */

static json_t *messages_to_json(const struct agent_prompt *p)
{
    json_t *list = json_array();

    for (size_t i = 0; i < p->n_messages; i++) {
        json_t *o = json_object();
        json_put_text(o, "from", p->messages[i].assistant ? "model" : "astra");
        json_put_text(o, "text", p->messages[i].text);
        json_array_append_new(list, o);
    }
    return list;
}

static const char *request_of(struct run *r, const struct call *c)
{
    json_t *o = json_object();

    json_put_text(o, "system", c->prompt.system);
    json_put(o, "messages", messages_to_json(&c->prompt));
    return json_take_line(r->arena, o);
}

/* The address and the key are not part of it: a server may move. */
static void hash_of(struct run *r, struct call *c)
{
    const struct llm_config *m = &r->o->models.config[c->role];
    const char *text = arena_printf(
        r->arena, "%s\n%s\n%s\n%s\n%s\n%d\n%g\n%s", c->label, models_role_name(c->role), m->provider,
        m->model ? m->model : "", m->effort ? m->effort : "", m->max_output_tokens, m->temperature, c->request);

    hash_sha256_hex(text, strlen(text), c->hash);
}

static int64_t tokens_of_prompt(const struct agent_prompt *p)
{
    int64_t n = llm_tokens(p->system);

    for (size_t i = 0; i < p->n_messages; i++)
        n += llm_tokens(p->messages[i].text);
    return n;
}

static struct llm_price price_of(const struct run *r, const struct call *c)
{
    const char *model = r->o->models.config[c->role].model;
    struct llm_price p = {0};

    if (model)
        (void)llm_price_find(model, &p);
    return p;
}

/* Of a prompt, as providers have counted others: an estimate may be a third too low. */
static double tokens_expected(const struct run *r, const struct call *c)
{
    const struct calls *k = r->calls;

    return (double)c->tokens_in * (k->told_in > k->estimated_in ? k->told_in / k->estimated_in : 1);
}

static double usd_at_most(const struct run *r, const struct call *c)
{
    struct llm_price p = price_of(r, c);

    return 1e-6 * (p.input * (double)c->tokens_in + p.output * (double)c->output_most);
}

/* ---- opened and closed ---- */

static bool count_stored(struct run *r, struct err *err)
{
    const struct store_call *list;
    size_t n;

    if (!store_forget_failures(r->store, err) || !store_calls(r->store, r->arena, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        r->calls->tokens += list[i].tokens_in + list[i].tokens_out;
        r->calls->usd += isfinite(list[i].usd) ? list[i].usd : 0;
        r->calls->unpriced = r->calls->unpriced || !isfinite(list[i].usd);
    }
    r->calls->n_made = (int64_t)n;
    return true;
}

bool calls_open(struct run *r, struct err *err)
{
    const struct models *m = &r->o->models;

    r->calls = arena_new(r->arena, struct calls);
    if (!models_any(m))
        return true;
    if (!llm_prices_load(m->prices, err) || !count_stored(r, err))
        return false;
    for (int i = 0; i < N_MODEL_ROLES; i++) {
        for (int k = 0; m->asked[i] && k < i && !r->calls->models[i]; k++)
            if (m->asked[k] && models_same(&m->config[i], &m->config[k]))
                r->calls->models[i] = r->calls->models[k];
        if (m->asked[i] && !r->calls->models[i] && !llm_open(&r->calls->models[i], &m->config[i], err))
            return false;
    }
    return true;
}

void calls_close(struct run *r)
{
    if (!r->calls)
        return;
    for (int i = 0; i < N_MODEL_ROLES; i++) {
        bool shared = false;
        for (int k = 0; k < i; k++)
            shared = shared || r->calls->models[k] == r->calls->models[i];
        if (!shared)
            llm_close(r->calls->models[i]);
    }
    vec_free(&r->calls->list);
}

bool calls_exhausted(const struct run *r)
{
    return r->calls->exhausted;
}

size_t calls_under_way(const struct run *r)
{
    return r->calls->list.n - r->calls->n_sent + r->calls->under_way;
}

json_t *calls_spent(const struct run *r)
{
    const struct calls *k = r->calls;
    json_t *o = json_object();

    json_put_int(o, "calls", k->n_made);
    json_put_int(o, "tokens", k->tokens);
    json_put_num(o, "usd", k->unpriced ? NAN : k->usd);
    return o;
}

/* ---- asked ---- */

/* Ours when the provider does not tell. */
static int64_t tokens_out(const struct llm_reply *p)
{
    if (p->usage.output >= 0)
        return p->usage.output;
    return llm_tokens(p->text ? p->text : "");
}

static void tell(const char *event, const struct run *r, const struct call *c)
{
    const struct llm_usage *u = &c->reply.usage;
    json_t *e = json_object();

    json_put_text(e, "label", c->label);
    json_put_text(e, "role", models_role_name(c->role));
    json_put_text(e, "model", r->o->models.config[c->role].model);
    json_put_int(e, "tokens_in", c->state == CALL_ANSWERED && u->input >= 0 ? u->input : c->tokens_in);
    if (c->state == CALL_ANSWERED) {
        json_put_int(e, "tokens_out", tokens_out(&c->reply));
        json_put_num(e, "usd", c->reply.usd);
        json_put_num(e, "wall_s", c->reply.wall_s);
        json_put_text(e, "end", call_end_name(c->reply.end));
        json_put_text(e, "words", c->reply.words);
        json_put_flag(e, "stored", c->stored);
        json_put(e, "spent", calls_spent(r));
    } else if (str_eq(event, "waiting")) {
        json_put_num(e, "wall_s", time_s() - c->since_s);
        json_put_int(e, "tokens_out", llm_tokens_so_far(r->calls->models[c->role], c->id));
    }
    trace_event(event, e);
}

const char *call_end_name(enum llm_end end)
{
    static const char *const names[] = {
        [LLM_DONE] = "done", [LLM_CUT] = "cut", [LLM_REFUSED] = "refused", [LLM_FAILED] = "failed"};

    return names[end];
}

static bool found_in_store(struct run *r, struct call *c, struct err *err)
{
    const char *reply;
    json_t *j;
    bool ok;

    if (!store_find_call(r->store, r->arena, c->hash, &reply, err))
        return false;
    if (!reply)
        return true;
    j = json_parse(reply, strlen(reply), "stored reply", err);
    ok = j && llm_reply_from_json(j, r->arena, &c->reply, err);
    json_decref(j);
    c->stored = true;
    c->state = CALL_ANSWERED;
    return ok;
}

/* Tokens that each reply of n calls like this one may have, so that the limits hold. */
static double tokens_left(const struct run *r, const struct call *c, size_t n)
{
    const struct calls *k = r->calls;
    int64_t limit = r->o->models.budget_tokens;

    return limit > 0 ? (double)(limit - k->tokens - k->tokens_under_way) / (double)n - tokens_expected(r, c)
                     : INFINITY;
}

static double tokens_paid(const struct run *r, const struct call *c, size_t n)
{
    const struct calls *k = r->calls;
    double limit = r->o->models.budget_usd;
    struct llm_price p = price_of(r, c);
    double left = (limit - k->usd - k->usd_under_way) / (double)n - p.input * 1e-6 * tokens_expected(r, c);

    if (!(limit > 0))
        return INFINITY;
    if (p.output > 0)
        return left / p.output * 1e6;
    return left > 0 ? INFINITY : 0;
}

/* Those that may come beside it count: they are not known yet. */
static double reply_most(const struct run *r, const struct call *c)
{
    double most = 0;

    for (size_t n = (size_t)r->o->models.width - r->calls->under_way; n > 0 && most < AMPLE_REPLY; n--)
        most = fmin(tokens_left(r, c, n), tokens_paid(r, c, n));
    return most;
}

static void give_up(struct run *r, struct call *c)
{
    struct calls *k = r->calls;

    if (!k->exhausted && tokens_left(r, c, 1) >= LEAST_REPLY)
        tell_budget("usd", k->usd, r->o->models.budget_usd);
    else if (!k->exhausted)
        tell_budget("tokens", (double)k->tokens, (double)r->o->models.budget_tokens);
    k->exhausted = true;
    c->state = CALL_NOT_MADE;
}

static bool send_waiting(struct run *r, struct err *err)
{
    struct calls *k = r->calls;

    while (k->n_sent < k->list.n && k->under_way < (size_t)r->o->models.width) {
        struct call *c = k->list.v[k->n_sent];
        double most = reply_most(r, c);
        if (most < LEAST_REPLY && k->under_way)
            return true; /* what is under way may need less than it may have */
        k->n_sent++;
        if (most < LEAST_REPLY) {
            give_up(r, c);
            continue;
        }
        c->output_most = isfinite(most) ? (int64_t)fmin(most, 1e9) : 0;
        struct llm_request q = {.role = models_role_name(c->role),
                                .label = c->label,
                                .system = c->prompt.system,
                                .messages = c->prompt.messages,
                                .n_messages = c->prompt.n_messages,
                                .output_most = c->output_most};
        c->since_s = time_s();
        c->started = run_now_utc(r->arena);
        c->state = CALL_UNDER_WAY;
        k->under_way++;
        k->tokens_under_way += c->tokens_in + c->output_most;
        k->usd_under_way += usd_at_most(r, c);
        tell("call", r, c);
        if (!llm_submit(k->models[c->role], c->id, &q, err))
            return false;
    }
    return true;
}

bool calls_ask(struct run *r, enum models_role role, const char *label, const struct agent_prompt *p,
               struct call **out, struct err *err)
{
    struct call *c = *out = arena_new(r->arena, struct call);

    *c = (struct call){.role = role, .label = label, .prompt = *p, .tokens_in = tokens_of_prompt(p)};
    c->request = request_of(r, c);
    hash_of(r, c);
    if (!found_in_store(r, c, err))
        return false;
    if (c->state == CALL_ANSWERED) {
        tell("reply", r, c);
        return true;
    }
    c->id = (int)r->calls->list.n;
    vec_push(&r->calls->list, c);
    return send_waiting(r, err);
}

/* ---- answered ---- */

static bool keep(struct run *r, struct call *c, struct err *err)
{
    const struct llm_config *m = &r->o->models.config[c->role];
    const struct llm_usage *u = &c->reply.usage;
    bool failed = c->reply.end == LLM_FAILED;
    int64_t sent = failed ? 0 : c->tokens_in;
    const char *model = c->reply.model ? c->reply.model : m->model;
    struct store_call row = {
        .label = c->label,
        .role = models_role_name(c->role),
        .provider = m->provider,
        .model = model ? model : "",
        .hash = c->hash,
        .request = c->request,
        .reply = json_take_line(r->arena, llm_reply_to_json(&c->reply)),
        .failed = failed,
        .started = c->started,
        .tokens_in = u->input >= 0 ? u->input : sent,
        .tokens_cached = u->cached,
        .tokens_reasoning = u->reasoning,
        .tokens_out = tokens_out(&c->reply),
        .estimated = !failed && (u->input < 0 || u->output < 0),
        .usd = failed && !isfinite(c->reply.usd) ? 0 : c->reply.usd,
        .wall_s = c->reply.wall_s,
    };

    r->calls->tokens += row.tokens_in + row.tokens_out;
    r->calls->usd += isfinite(row.usd) ? row.usd : 0;
    r->calls->unpriced = r->calls->unpriced || !isfinite(row.usd);
    r->calls->n_made++;
    return store_put_call(r->store, &row, err);
}

static bool answered(struct run *r, int id, const struct llm_reply *reply, struct err *err)
{
    struct calls *k = r->calls;
    struct call *c = k->list.v[id];

    BUG_IF(c->state != CALL_UNDER_WAY);
    c->reply = *reply;
    k->under_way--;
    k->tokens_under_way -= c->tokens_in + c->output_most;
    k->usd_under_way -= usd_at_most(r, c);
    if (reply->usage.input > 0) {
        k->told_in += (double)reply->usage.input;
        k->estimated_in += (double)c->tokens_in;
    }
    if (!keep(r, c, err))
        return false;
    c->state = CALL_ANSWERED;
    tell("reply", r, c);
    k->failures = reply->end == LLM_FAILED ? k->failures + 1 : 0;
    if (reply->end != LLM_FAILED || (!reply->fatal && k->failures < FAILURES_IN_A_ROW))
        return true;
    return err_world(err, "%s: the model gave no reply: %s; `astra resume %s` goes on when that is mended",
                     c->label, reply->words ? reply->words : "no reason was given", r->o->out);
}

static void tell_waiting(struct run *r)
{
    struct calls *k = r->calls;

    if (time_s() - k->told_s < PROGRESS_S)
        return;
    k->told_s = time_s();
    for (size_t i = 0; i < k->n_sent; i++)
        if (k->list.v[i]->state == CALL_UNDER_WAY && k->told_s - k->list.v[i]->since_s >= PROGRESS_S)
            tell("waiting", r, k->list.v[i]);
}

bool calls_turn(struct run *r, double wait_s, struct err *err)
{
    struct calls *k = r->calls;

    if (!send_waiting(r, err))
        return false;
    for (int i = 0; i < N_MODEL_ROLES; i++) {
        bool more = true;
        for (int j = 0; j < i; j++)
            more = more && k->models[j] != k->models[i];
        while (more && k->models[i] && llm_busy(k->models[i]) > 0 && !run_stopping(r)) {
            struct llm_reply reply;
            int id;
            if (!llm_collect(k->models[i], wait_s, r->arena, &id, &reply, err))
                return false;
            more = id >= 0;
            wait_s = 0; /* the others have waited meanwhile */
            if (more && !answered(r, id, &reply, err))
                return false;
        }
    }
    tell_waiting(r);
    return send_waiting(r, err);
}

bool calls_wait(struct run *r, struct call *c, struct err *err)
{
    while ((c->state == CALL_WAITING || c->state == CALL_UNDER_WAY) && !run_stopping(r))
        if (!calls_turn(r, 0.25, err))
            return false;
    return true;
}
