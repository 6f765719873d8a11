/* Anthropic's Messages. The system prompt, the same for all calls of a role, is marked for its cache. */
#include "llm/internal.h"

static json_t *text_block(const char *text, bool cached)
{
    json_t *o = json_object();

    json_put_text(o, "type", "text");
    json_put_text(o, "text", text);
    if (cached) {
        json_t *control = json_object();
        json_put_text(control, "type", "ephemeral");
        json_put(o, "cache_control", control);
    }
    return o;
}

static int thinking_tokens(const char *effort)
{
    if (str_eq(effort, "low"))
        return 2048;
    return str_eq(effort, "medium") ? 6144 : 12288;
}

/* Newer models take an effort and think as they see fit; older ones take a budget for thinking, and what
 * refuses both takes neither. */
static void put_effort(json_t *o, const struct llm_config *c, unsigned dropped, int64_t most, int *max_output,
                       unsigned *sent)
{
    json_t *thinking = json_object();

    if (!(dropped & PARAM_EFFORT)) {
        json_t *config = json_object();
        *sent |= PARAM_EFFORT;
        json_put_text(thinking, "type", "adaptive");
        json_put_text(config, "effort", c->effort);
        json_put(o, "output_config", config);
    } else {
        int budget = thinking_tokens(c->effort);
        if (most > 0 && budget + 1024 > most)
            budget = most > 2048 ? (int)most - 1024 : 1024; /* the least that is taken */
        *sent |= PARAM_THINKING;
        json_put_text(thinking, "type", "enabled");
        json_put_int(thinking, "budget_tokens", budget);
        if (*max_output < budget + 1024)
            *max_output = budget + 1024;
    }
    json_put(o, "thinking", thinking);
}

static json_t *body(const struct llm_config *c, const struct llm_request *q, unsigned dropped, int max_output,
                    unsigned *sent)
{
    json_t *o = json_object(), *messages = json_array();
    bool cached = !(dropped & PARAM_CACHE);

    if (max_output <= 0)
        max_output = REPLY_TOKENS;
    *sent = 0;
    json_put_text(o, "model", c->model);
    if (q->system && *q->system) {
        json_t *system = json_array();
        *sent |= cached ? PARAM_CACHE : 0;
        json_array_append_new(system, text_block(q->system, cached));
        json_put(o, "system", system);
    }
    for (size_t i = 0; i < q->n_messages; i++) {
        json_t *m = json_object();
        json_put_text(m, "role", q->messages[i].assistant ? "assistant" : "user");
        json_put_text(m, "content", q->messages[i].text);
        json_array_append_new(messages, m);
    }
    json_put(o, "messages", messages);
    if (!(dropped & PARAM_STREAM)) {
        *sent |= PARAM_STREAM;
        json_put_flag(o, "stream", true);
    }
    if (c->effort && (~dropped & (PARAM_EFFORT | PARAM_THINKING)))
        put_effort(o, c, dropped, q->output_most, &max_output, sent);
    else if (isfinite(c->temperature) && !(dropped & PARAM_TEMPERATURE)) {
        *sent |= PARAM_TEMPERATURE;
        json_put_num(o, "temperature", c->temperature);
    }
    json_put_int(o, "max_tokens", max_output);
    return o;
}

/* Input is what was new, what the cache took and what it gave; an event brings only what it knows. */
static void read_usage(struct answer *a, const json_t *u)
{
    int64_t fresh = json_int(u, "input_tokens", -1), written = json_int(u, "cache_creation_input_tokens", -1),
            read = json_int(u, "cache_read_input_tokens", -1);

    if (fresh >= 0) {
        a->usage.cached = read;
        a->usage.cache_written = written;
        a->usage.input = fresh + MAX(read, 0) + MAX(written, 0);
    }
    a->usage.output = json_int(u, "output_tokens", a->usage.output);
}

static void read_stop(struct answer *a, const char *why)
{
    if (!why)
        return;
    a->ended = true;
    if (str_eq(why, "max_tokens") || str_eq(why, "model_context_window_exceeded"))
        a->end = LLM_CUT;
    else if (str_eq(why, "refusal"))
        a->end = LLM_REFUSED;
}

static void read_block(struct answer *a, const json_t *b)
{
    const char *type = json_text(b, "type", "");

    if (str_starts(type, "text")) { /* text, text_delta */
        const json_t *text = json_object_get(b, "text");
        if (json_is_string(text) && json_string_length(text)) {
            text_add_utf8(&a->text, json_string_value(text), json_string_length(text));
            a->said = true;
        }
    } else if (str_starts(type, "thinking")) {
        a->thought_bytes += strlen(json_text(b, "thinking", ""));
        a->said = true;
    } else if (str_eq(type, "tool_use")) {
        str_addf(&a->tool, "%s%.60s", a->tool.len ? ", " : "", json_text(b, "name", "?"));
        a->said = true;
    }
}

static bool read_error(struct answer *a, const json_t *o)
{
    struct wire_error e;

    if (!str_eq(json_text(o, "type", ""), "error"))
        return false;
    wire_error_read(o, &e);
    answer_fail(a, wire_error_verdict(e.type, e.code), "the server reports: %.300s", e.message);
    return true;
}

static void event(struct answer *a, const char *name, const json_t *o)
{
    const char *type = json_text(o, "type", name);

    if (read_error(a, o))
        return;
    if (str_eq(type, "message_start")) {
        const json_t *m = json_object_get(o, "message");
        str_clear(&a->model);
        str_add(&a->model, json_text(m, "model", ""));
        a->choice = true;
        read_usage(a, json_object_get(m, "usage"));
    } else if (str_eq(type, "content_block_start")) {
        read_block(a, json_object_get(o, "content_block"));
    } else if (str_eq(type, "content_block_delta")) {
        read_block(a, json_object_get(o, "delta"));
    } else if (str_eq(type, "message_delta")) {
        read_stop(a, json_text(json_object_get(o, "delta"), "stop_reason", NULL));
        read_usage(a, json_object_get(o, "usage"));
    } else if (str_eq(type, "message_stop")) {
        a->finished = true;
    }
}

static void whole(struct answer *a, const json_t *o)
{
    const json_t *block, *content = json_object_get(o, "content");
    size_t i;

    if (read_error(a, o))
        return;
    str_add(&a->model, json_text(o, "model", ""));
    a->choice = json_is_array(content);
    json_array_foreach(content, i, block)
    {
        read_block(a, block);
    }
    read_stop(a, json_text(o, "stop_reason", NULL));
    read_usage(a, json_object_get(o, "usage"));
    a->ended = a->finished = true;
}

static const char *const headers[] = {"anthropic-version: 2023-06-01", NULL};

static const struct param params[] = {
    {"output_config", PARAM_EFFORT},
    {"effort", PARAM_EFFORT},
    {"adaptive", PARAM_EFFORT},
    {"thinking", PARAM_EFFORT | PARAM_THINKING},
    {"budget_tokens", PARAM_THINKING},
    {"temperature", PARAM_TEMPERATURE},
    {"cache_control", PARAM_CACHE},
    {"stream", PARAM_STREAM},
    {NULL, 0},
};

const struct wire wire_anthropic = {
    .base_url = "https://api.anthropic.com/v1",
    .path = "/messages",
    .version = "/v1",
    .key_header = "x-api-key: ",
    .headers = headers,
    .params = params,
    .body = body,
    .event = event,
    .whole = whole,
};

const struct provider provider_anthropic = {
    .name = "anthropic",
    .what = "Anthropic's Messages",
    .wire = &wire_anthropic,
    .key_env = "ANTHROPIC_API_KEY",
    .check = web_check,
    .open = web_open,
    .start = web_start,
    .look = web_look,
    .stop = web_stop,
    .wait = web_wait,
};
