/* Chat completions as OpenAI defined them and many servers speak them: hosted ones, vLLM, SGLang, Ollama, the
 * llama.cpp server, gateways. */
#include "llm/internal.h"

#include <ctype.h>

/* Models that reason before they answer (o1 and on, gpt-5 and on) take no temperature, and name their limit
 * otherwise. A wrong guess costs one refused request. */
static bool reasons(const char *model)
{
    const char *slash = strrchr(model, '/'), *m = slash ? slash + 1 : model;

    return (m[0] == 'o' && isdigit((unsigned char)m[1])) ||
           (str_starts(m, "gpt-") && strtod(m + 4, NULL) >= 5 && !strstr(m, "chat"));
}

static json_t *message(const char *role, const char *text)
{
    json_t *o = json_object();

    json_put_text(o, "role", role);
    json_put_text(o, "content", text);
    return o;
}

static json_t *body(const struct llm_config *c, const struct llm_request *q, unsigned dropped, int max_output,
                    unsigned *sent)
{
    json_t *o = json_object(), *messages = json_array();
    bool reasoning = reasons(c->model);
    unsigned limit = reasoning ? PARAM_MAX_COMPLETION : PARAM_MAX_TOKENS;

    if (dropped & limit) /* the other name, unless that was refused as well */
        limit = (PARAM_MAX_COMPLETION | PARAM_MAX_TOKENS) & ~dropped;
    *sent = 0;
    json_put_text(o, "model", c->model);
    if (q->system && *q->system)
        json_array_append_new(messages, message("system", q->system));
    for (size_t i = 0; i < q->n_messages; i++)
        json_array_append_new(messages,
                              message(q->messages[i].assistant ? "assistant" : "user", q->messages[i].text));
    json_put(o, "messages", messages);
    if (!(dropped & PARAM_STREAM)) {
        *sent |= PARAM_STREAM;
        json_put_flag(o, "stream", true);
        if (!(dropped & PARAM_STREAM_OPTIONS)) {
            json_t *options = json_object();
            *sent |= PARAM_STREAM_OPTIONS;
            json_put_flag(options, "include_usage", true);
            json_put(o, "stream_options", options);
        }
    }
    if (max_output > 0 && limit) {
        *sent |= limit;
        json_put_int(o, limit == PARAM_MAX_TOKENS ? "max_tokens" : "max_completion_tokens", max_output);
    }
    if (c->effort && !(dropped & PARAM_EFFORT)) {
        *sent |= PARAM_EFFORT;
        json_put_text(o, "reasoning_effort", c->effort);
    }
    if (isfinite(c->temperature) && !reasoning && !(dropped & PARAM_TEMPERATURE)) {
        *sent |= PARAM_TEMPERATURE;
        json_put_num(o, "temperature", c->temperature);
    }
    return o;
}

/* Content is a text or an array of parts. */
static void add_content(struct str *to, const json_t *content)
{
    const json_t *part;
    size_t i;

    if (json_is_string(content))
        text_add_utf8(to, json_string_value(content), json_string_length(content));
    json_array_foreach(content, i, part)
    {
        str_add(to, json_is_string(part) ? json_string_value(part) : json_text(part, "text", ""));
    }
}

static void read_usage(struct answer *a, const json_t *o)
{
    const json_t *u = json_object_get(o, "usage");
    const json_t *in = json_object_get(u, "prompt_tokens_details"),
                 *out = json_object_get(u, "completion_tokens_details");

    if (!json_is_object(u))
        return;
    a->usage.input = json_int(u, "prompt_tokens", a->usage.input);
    a->usage.output = json_int(u, "completion_tokens", a->usage.output);
    a->usage.cached = json_int(in, "cached_tokens", json_int(u, "prompt_cache_hit_tokens", a->usage.cached));
    a->usage.reasoning = json_int(out, "reasoning_tokens", a->usage.reasoning);
}

static void read_finish(struct answer *a, const json_t *choice)
{
    const char *why = json_text(choice, "finish_reason", NULL);

    if (!why)
        return;
    a->ended = true;
    if (str_eq(why, "length"))
        a->end = LLM_CUT;
    else if (str_eq(why, "content_filter"))
        a->end = LLM_REFUSED;
    else if (str_eq(why, "error")) /* of the server behind a gateway */
        answer_fail(a, TRY_AGAIN, "the server reports: %.300s",
                    json_text(json_object_get(choice, "error"), "message", "an error"));
}

/* A message, or the piece of one that an event brings. */
static void read_message(struct answer *a, const json_t *m)
{
    const char *refusal = json_text(m, "refusal", NULL);
    const char *thought = json_text(m, "reasoning_content", json_text(m, "reasoning", ""));
    const json_t *call;
    size_t i, before = a->text.len;

    add_content(&a->text, json_object_get(m, "content"));
    a->thought_bytes += strlen(thought);
    a->said |= a->text.len > before || *thought;
    if (refusal && *refusal) {
        a->end = LLM_REFUSED;
        a->said = true;
        str_add(&a->text, refusal);
        str_clear(&a->words);
        str_add(&a->words, "the model refused to answer");
    }
    json_array_foreach(json_object_get(m, "tool_calls"), i, call)
    {
        const char *name = json_text(json_object_get(call, "function"), "name", NULL);
        if (name && a->tool.len < 200)
            str_addf(&a->tool, "%s%.60s", a->tool.len ? ", " : "", name);
        a->said = true;
    }
}

static void read_choices(struct answer *a, const json_t *o, const char *key)
{
    const json_t *choice = json_array_get(json_object_get(o, "choices"), 0);

    if (!a->model.len)
        str_add(&a->model, json_text(o, "model", ""));
    if (json_is_object(choice)) {
        const json_t *m = json_object_get(choice, key);
        a->choice |= json_is_object(m);
        read_message(a, m);
        read_finish(a, choice);
    }
    read_usage(a, o);
}

static bool read_error(struct answer *a, const json_t *o)
{
    struct wire_error e;

    if (!json_object_get(o, "error") || json_is_null(json_object_get(o, "error")))
        return false;
    wire_error_read(o, &e);
    answer_fail(a, wire_error_verdict(e.type, e.code), "the server reports: %.300s", e.message);
    return true;
}

static void event(struct answer *a, const char *name, const json_t *o)
{
    (void)name;
    if (!read_error(a, o))
        read_choices(a, o, "delta");
}

static void whole(struct answer *a, const json_t *o)
{
    if (read_error(a, o))
        return;
    read_choices(a, o, "message");
    a->ended = a->finished = true;
}

static const char *const headers[] = {NULL};

static const struct param params[] = {
    {"stream_options", PARAM_STREAM_OPTIONS},
    {"include_usage", PARAM_STREAM_OPTIONS},
    {"stream", PARAM_STREAM},
    {"reasoning_effort", PARAM_EFFORT},
    {"temperature", PARAM_TEMPERATURE},
    {"max_tokens", PARAM_MAX_TOKENS},
    {"max_completion_tokens", PARAM_MAX_COMPLETION},
    {NULL, 0},
};

const struct wire wire_openai = {
    .base_url = "https://api.openai.com/v1",
    .path = "/chat/completions",
    .version = "",
    .key_header = "Authorization: Bearer ",
    .headers = headers,
    .params = params,
    .body = body,
    .event = event,
    .whole = whole,
};

const struct provider provider_openai = {
    .name = "openai",
    .what = "chat completions, at any --base-url: hosted, vLLM, SGLang, Ollama, llama.cpp, gateways",
    .wire = &wire_openai,
    .key_env = "OPENAI_API_KEY",
    .check = web_check,
    .open = web_open,
    .start = web_start,
    .look = web_look,
    .stop = web_stop,
    .wait = web_wait,
};
