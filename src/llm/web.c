/* A try over HTTP: the request a wire writes, its response judged. */
#include "llm/internal.h"

#include <ctype.h>
#include <strings.h>

static const char *base_url(const struct llm_config *c, const struct provider *p)
{
    return c->base_url ? c->base_url : p->wire->base_url;
}

static bool ends_in(const char *s, size_t n, const char *tail)
{
    size_t len = strlen(tail);

    return n >= len && memcmp(s + n - len, tail, len) == 0;
}

/* base + path, where base may already end in the path, or carry a query that goes behind it. */
static void url_make(const char *base, const struct wire *w, char *url, size_t size)
{
    size_t n = strcspn(base, "?#");
    const char *query = base + n;

    while (n && base[n - 1] == '/')
        n--;
    if (ends_in(base, n, w->path))
        n -= strlen(w->path);
    snprintf(url, size, "%.*s%s%s%s", (int)n, base, ends_in(base, n, w->version) ? "" : w->version, w->path,
             query);
}

bool web_check(const struct llm_config *c, const struct provider *p, struct err *err)
{
    char host[256], *key;
    bool ok;

    if (!c->model || !*c->model)
        return err_input(err, "%s needs a model: name it with --model", p->name);
    if (!url_host(base_url(c, p), host, sizeof(host)) || strlen(base_url(c, p)) > 900)
        return err_input(
            err, "the base URL is not one: it looks like http://HOST:PORT/v1, without a user or a password");
    if (c->ca_file && !fs_exists(c->ca_file))
        return err_input(err, "there is no file %s with certificates", c->ca_file);
    ok = key_find(c, p, &key, err);
    if (ok)
        key_free(key);
    return ok;
}

bool web_open(struct llm *l, struct err *err)
{
    const char *base = base_url(&l->c, l->provider);

    url_make(base, l->provider->wire, l->url, sizeof(l->url));
    snprintf(l->shown, sizeof(l->shown), "%.*s", (int)strcspn(l->url, "?#"),
             l->url); /* a query may hold a secret */
    url_host(base, l->host, sizeof(l->host));
    return key_find(&l->c, l->provider, &l->key, err) && http_open(&l->http, err);
}

static void on_data(void *context, const char *bytes, size_t n)
{
    struct call *c = context;
    bool good = http_status(c->x) / 100 == 2;

    if (!c->reader.wire)
        reader_start(&c->reader, c->llm->provider->wire,
                     good ? http_look(c->x)->content_type : "application/json");
    /* What is too much, or after the end, is not kept; the exchange is stopped at the next look. */
    c->full |= !c->full && !reader_feed(&c->reader, bytes, n);
    if (!c->first_s && (c->reader.answer.said || (good && c->reader.kind == READER_WHOLE)))
        c->first_s = time_s();
}

static void exchange_start(struct call *c, const char *url, const char *body)
{
    struct llm *l = c->llm;
    const struct wire *w = l->provider->wire;
    const char *headers[8];
    struct str key = {0};
    struct http_request q = {
        .url = url,
        .body = body,
        .body_len = body ? strlen(body) : 0,
        .headers = headers,
        .connect_s = l->c.connect_s,
        .ca_file = l->c.ca_file,
        .proxy = !l->c.proxy && url_is_loopback(url) ? "" : l->c.proxy,
        .context = c,
        .data = on_data,
    };

    headers[q.n_headers++] = "Content-Type: application/json";
    headers[q.n_headers++] = "Accept: application/json, text/event-stream";
    for (size_t i = 0; w->headers[i]; i++)
        headers[q.n_headers++] = w->headers[i];
    if (l->key) {
        str_addf(&key, "%s%s", w->key_header, l->key);
        headers[q.n_headers++] = key.s;
    }
    reader_free(&c->reader);
    c->full = false;
    c->x = http_start(l->http, &q);
    if (key.s)
        explicit_bzero(key.s, key.len);
    str_free(&key);
}

/* A limit that only the request sets is said where it is below that of any reply: servers refuse larger ones
 * than their model's. */
static int output_most(const struct call *c)
{
    int own = c->llm->max_output ? c->llm->max_output : c->llm->c.max_output_tokens;
    int64_t most = c->q.output_most;

    return most > 0 && most < (own > 0 ? own : REPLY_TOKENS) ? (int)most : own;
}

void web_start(struct call *c)
{
    struct llm *l = c->llm;
    json_t *o = l->provider->wire->body(&l->c, &c->q, l->dropped, output_most(c), &c->sent);
    char *body = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));

    BUG_IF(!body);
    json_decref(o);
    exchange_start(c, l->url, body);
    free(body);
}

void web_stop(struct call *c)
{
    http_stop(c->x);
    c->x = NULL;
    reader_free(&c->reader);
}

bool web_wait(struct llm *l, double wait_s)
{
    return http_wait(l->http, wait_s);
}

/* ---- what a response that is not 200 means ---- */

static bool is_word(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

static const char *find_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || !is_word(p[-1])) && !is_word(p[n]))
            return p;
    return NULL;
}

/* The parameter that a refusal names first, of those that were in the request; 0 when none. */
static unsigned refused_param(const struct call *c, const struct wire_error *e)
{
    const struct param *params = c->llm->provider->wire->params;
    const char *first = NULL;
    unsigned bit = 0;

    for (const struct param *p = params; p->name; p++)
        if ((c->sent & p->bit) && find_word(e->param, p->name))
            return c->sent & p->bit;
    for (const struct param *p = params; p->name; p++) {
        const char *at = c->sent & p->bit ? find_word(e->message, p->name) : NULL;
        if (at && (!first || at < first)) {
            first = at;
            bit = c->sent & p->bit;
        }
    }
    return bit;
}

/* "max_tokens: 16384 > 8192, which is the maximum": the limit it tells. 0 when it tells none. */
static int told_limit(const char *message)
{
    const char *at = find_word(message, "max_tokens"), *more = at ? strchr(at, '>') : NULL;
    long v = more ? strtol(more + 1, NULL, 10) : 0;

    return v >= 256 && v < 10000000 ? (int)v : 0;
}

static bool is_about_model(const struct wire_error *e, const char *model)
{
    if (str_eq(e->code, "model_not_found"))
        return true;
    return (strcasestr(e->message, "model") || strstr(e->message, model)) &&
           (strcasestr(e->message, "not found") || strcasestr(e->message, "not exist") ||
            strcasestr(e->message, "unknown model") || strcasestr(e->message, "invalid model") ||
            str_eq(e->param, "model"));
}

static bool has_any(const struct wire_error *e, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(e->message, *words) || strstr(e->code, *words) || strstr(e->type, *words))
            return true;
    return false;
}

static enum verdict judge_400(struct call *c, const struct wire_error *e, struct answer *a)
{
    static const char *const too_long[] = {"context_length", "context length", "too long", "context window",
                                           NULL};
    static const char *const filtered[] = {"content_filter", "content_policy", "content management policy",
                                           NULL};
    struct llm *l = c->llm;
    int limit = told_limit(e->message);
    unsigned bit;

    if (limit && (!l->max_output || limit < l->max_output)) {
        l->max_output = limit;
        return TRY_CHANGED;
    }
    bit = refused_param(c, e);
    if (bit) {
        l->dropped |= bit;
        return TRY_CHANGED;
    }
    if (has_any(e, filtered)) {
        answer_fail(a, TRY_DONE, "the provider's filter refused the prompt: %.300s", e->message);
        a->end = LLM_REFUSED;
        return TRY_DONE;
    }
    if (has_any(e, too_long))
        return TRY_NO_MORE;
    return is_about_model(e, l->c.model) ? TRY_NO_MODEL : TRY_FATAL;
}

static const char *key_words(const struct llm *l)
{
    static char words[300];
    const char *variable = l->c.key_env ? l->c.key_env : l->provider->key_env;

    if (l->key)
        snprintf(words, sizeof(words), "the key in %s is not accepted",
                 l->c.key_file ? l->c.key_file : variable);
    else
        snprintf(words, sizeof(words),
                 "it wants a key: set %s, or name the variable or file that holds it (--key-env, --key-file)",
                 l->provider->key_env);
    return words;
}

static enum verdict judge_status(struct call *c, const struct http_response *r, struct answer *a)
{
    static const char *const paid_out[] = {"insufficient_quota", "billing", "credit balance", NULL};
    const char *raw = str_text(&c->reader.body);
    json_t *o = text_parse_json(raw, c->reader.body.len);
    struct wire_error e;
    char told[420] = "", host[256];
    enum verdict v;

    wire_error_read(o, &e);
    if (!*e.message && !o && raw[strspn(raw, " \t\r\n")] != '<') /* a web page helps nobody */
        e.message = raw;
    if (*e.message)
        snprintf(told, sizeof(told), ": %.400s", e.message);
    if (r->status >= 300 && r->status < 400) {
        bool other = !url_host(r->location, host, sizeof(host)) || strcmp(host, c->llm->host) != 0;
        v = TRY_FATAL;
        answer_fail(a, v,
                    "%s redirects to %.200s, which is not followed%s: set the base URL to where the API is",
                    c->llm->host, *r->location ? r->location : "nowhere",
                    other ? " (another host would get the key)" : "");
    } else if (r->status == 400 || r->status == 422) {
        v = judge_400(c, &e, a);
        if (v != TRY_DONE)
            answer_fail(a, v, "%s refuses the request (HTTP %ld)%s", c->llm->host, r->status, told);
    } else if (r->status == 404) {
        v = is_about_model(&e, c->llm->c.model) ? TRY_NO_MODEL : TRY_FATAL;
        answer_fail(a, TRY_NO_MODEL, "%s knows no model '%s' at %s (HTTP 404)%s", c->llm->host, c->llm->c.model,
                    c->llm->shown, told);
        if (v == TRY_FATAL)
            answer_fail(a, v, "there is no API at %s (HTTP 404)%s; a base URL often ends in /v1", c->llm->shown,
                        told);
    } else if (r->status == 401 || r->status == 403) {
        v = TRY_FATAL;
        answer_fail(a, v, "%s refuses the key or its rights (HTTP %ld)%s; %s", c->llm->host, r->status, told,
                    key_words(c->llm));
    } else if (r->status == 402 || (r->status == 429 && has_any(&e, paid_out))) {
        v = TRY_FATAL;
        answer_fail(a, v, "%s will not be asked before it is paid (HTTP %ld)%s", c->llm->host, r->status, told);
    } else if (r->status == 408 || r->status == 409 || r->status == 425 || r->status == 429 ||
               r->status >= 500) {
        const char *trouble = r->status == 529 ? "overloaded" : "in trouble";
        v = TRY_AGAIN;
        answer_fail(a, v, "%s is %s (HTTP %ld)%s", c->llm->host, r->status == 429 ? "asked too often" : trouble,
                    r->status, told);
    } else {
        v = r->status == 413 ? TRY_NO_MORE : TRY_FATAL;
        answer_fail(a, v, "%s answers with HTTP %ld%s", c->llm->host, r->status, told);
    }
    json_decref(o);
    return v;
}

static enum verdict judge_broken(struct call *c, const struct http_response *r, struct answer *a)
{
    const char *host = c->llm->host;
    int enough;

    switch (r->end) {
    case HTTP_UNREACHABLE:
        answer_fail(a, TRY_AGAIN, "cannot reach %s: %s", host, r->words);
        /* Nobody there at three tries is nobody there; who was there may come back. */
        enough = MIN(c->llm->reached ? c->llm->c.max_attempts : 3, c->llm->c.max_attempts);
        return c->attempts < enough ? TRY_AGAIN : TRY_FATAL;
    case HTTP_UNTRUSTED:
        answer_fail(a, TRY_FATAL, "cannot trust %s: %s; a certificate of your own goes into --ca-file", host,
                    r->words);
        return TRY_FATAL;
    default:
        answer_fail(a, TRY_AGAIN, "the exchange with %s broke: %s", host, r->words);
        return TRY_AGAIN;
    }
}

/* ---- which models there are, for the one who named another ---- */

static void list_start(struct call *c)
{
    const char *shown = c->llm->shown, *path = c->llm->provider->wire->path;
    char url[1100];

    snprintf(url, sizeof(url), "%.*s/models%s", (int)(strlen(shown) - strlen(path)), shown,
             c->llm->url + strlen(shown));
    c->answer = c->reader.answer;
    c->reader.answer = (struct answer){0};
    http_stop(c->x);
    c->state = CALL_LISTING;
    c->try_s = time_s();
    exchange_start(c, url, NULL);
}

static void list_end(struct call *c)
{
    json_t *o = http_look(c->x)->status / 100 == 2
                    ? text_parse_json(str_text(&c->reader.body), c->reader.body.len)
                    : NULL;
    const json_t *list = json_object_get(o, "data"), *model;
    VEC(const char *) names = {0};
    size_t i;

    json_array_foreach(list, i, model)
    {
        vec_push(&names, json_text(model, "id", "?"));
    }
    if (names.n) {
        str_add(&c->answer.words, "; it has ");
        text_add_list(&c->answer.words, names.v, names.n, 20);
    }
    vec_free(&names);
    json_decref(o);
    web_stop(c);
    call_judged(c, TRY_FATAL, NAN);
}

/* ---- the end of a try ---- */

static void finish(struct call *c, enum verdict v, double retry_after_s)
{
    c->answer = c->reader.answer;
    c->reader.answer = (struct answer){0};
    web_stop(c);
    call_judged(c, v, retry_after_s);
}

void web_look(struct call *c)
{
    const struct http_response *r = http_look(c->x);
    struct answer *a = &c->reader.answer;
    enum verdict v;

    if (c->state == CALL_LISTING) {
        if (r->end != HTTP_RUNNING || c->full || time_s() - c->try_s > 15)
            list_end(c);
        return;
    }
    if (r->end == HTTP_RUNNING && !c->full) {
        const char *late = call_over_time(c, a->said, r->last_byte_s);
        if (!late)
            return;
        v = TRY_ONCE_MORE;
        if (a->ended && !a->failed) /* all is said, only the connection stays open */
            v = answer_judge(a);
        else
            answer_fail(a, v, "%s %s", c->llm->host, late);
        finish(c, v, NAN);
        return;
    }
    c->llm->reached |= r->status > 0;
    if (!c->reader.wire)
        reader_start(&c->reader, c->llm->provider->wire, r->content_type);
    if (r->end == HTTP_COMPLETE && r->status / 100 != 2) {
        v = judge_status(c, r, a);
        if (v == TRY_NO_MODEL)
            list_start(c);
        else
            finish(c, v, r->retry_after_s);
        return;
    }
    if (c->full || r->end == HTTP_COMPLETE || c->reader.bytes) {
        reader_end(&c->reader, r->end == HTTP_COMPLETE);
        v = answer_judge(a);
        if (v == TRY_AGAIN && r->end == HTTP_BROKEN)
            str_addf(&a->words, " (%s)", r->words);
    } else {
        v = judge_broken(c, r, a);
    }
    finish(c, v, r->retry_after_s);
}

/* ---- errors in the forms servers use ---- */

void wire_error_read(const json_t *o, struct wire_error *e)
{
    const json_t *inner = json_object_get(o, "error"), *code = json_object_get(inner, "code");

    *e = (struct wire_error){"", "", "", ""};
    if (json_is_string(inner)) { /* Ollama */
        e->message = json_string_value(inner);
        return;
    }
    if (!json_is_object(inner))
        inner = o; /* older vLLM, FastAPI */
    e->message = json_text(inner, "message", json_text(inner, "detail", ""));
    e->type = json_text(inner, "type", "");
    e->code = json_is_string(code) ? json_string_value(code) : "";
    e->param = json_text(inner, "param", "");
}

enum verdict wire_error_verdict(const char *type, const char *code)
{
    static const char *const lasting[] = {"invalid_request",    "authentication", "permission", "not_found",
                                          "insufficient_quota", "billing",        NULL};

    for (const char *const *w = lasting; *w; w++)
        if (strstr(type, *w) || strstr(code, *w))
            return TRY_NO_MORE;
    return TRY_AGAIN;
}
