/* Lines of stdin to messages. A pure function of the bytes, so that it can be fuzzed. */
#include "internal.h"

#define META_REVISION     "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

void mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t n)
{
    if (l->at) {
        memmove(l->text.s, l->text.s + l->at, l->text.len - l->at);
        l->text.len -= l->at;
        l->at = 0;
    }
    str_addn(&l->text, bytes, n);
}

enum mcp_line mcp_lines_next(struct mcp_lines *l, const char **line, size_t *len)
{
    size_t left = l->text.len - l->at;
    const char *begin = str_text(&l->text) + l->at, *end = memchr(begin, '\n', left);

    if (l->skipping) {
        l->at += end ? (size_t)(end + 1 - begin) : left;
        l->skipping = !end;
        return end ? mcp_lines_next(l, line, len) : MCP_NO_LINE;
    }
    if ((end ? (size_t)(end - begin) : left) > MCP_LINE_BYTES) {
        l->at += end ? (size_t)(end + 1 - begin) : left;
        l->skipping = !end;
        return MCP_LONG_LINE;
    }
    if (!end)
        return MCP_NO_LINE;
    *line = begin;
    *len = (size_t)(end - begin);
    l->at += *len + 1;
    return MCP_LINE;
}

void mcp_lines_free(struct mcp_lines *l)
{
    str_free(&l->text);
    *l = (struct mcp_lines){0};
}

json_t *mcp_error(const json_t *id, enum mcp_code code, json_t *data, const char *fmt, ...)
{
    json_t *o = json_object(), *error = json_object();
    struct str text = {0};
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    json_put_text(o, "jsonrpc", "2.0");
    json_put(o, "id", id ? json_deep_copy(id) : json_null());
    json_put_int(error, "code", code);
    json_put_text(error, "message", str_text(&text));
    if (data)
        json_put(error, "data", data);
    json_put(o, "error", error);
    str_free(&text);
    return o;
}

void mcp_message_free(struct mcp_message *m)
{
    json_decref(m->all);
    *m = (struct mcp_message){0};
}

static enum mcp_kind broken(struct mcp_message *m, json_t *answer)
{
    json_decref(m->all);
    *m = (struct mcp_message){.answer = answer};
    return MCP_BROKEN;
}

/* What a request of the stateless revision must say of itself. */
static enum mcp_kind read_meta(struct mcp_message *m)
{
    const json_t *meta = json_object_get(m->params, "_meta"), *revision, *token;

    if (!meta)
        return MCP_REQUEST;
    if (!json_is_object(meta))
        return broken(m, mcp_error(m->id, MCP_BAD_PARAMS, NULL, "params._meta must be an object"));
    token = json_object_get(meta, "progressToken");
    if (token && !json_is_string(token) && !json_is_integer(token))
        return broken(m, mcp_error(m->id, MCP_BAD_PARAMS, NULL,
                                   "params._meta.progressToken must be a string or a whole number"));
    m->token = token;
    revision = json_object_get(meta, META_REVISION);
    if (!revision)
        return MCP_REQUEST;
    if (!json_is_string(revision))
        return broken(
            m, mcp_error(m->id, MCP_BAD_PARAMS, NULL, "params._meta: " META_REVISION " must be a string"));
    m->revision = json_string_value(revision);
    if (!json_is_object(json_object_get(meta, META_CAPABILITIES)))
        return broken(m, mcp_error(m->id, MCP_BAD_PARAMS, NULL,
                                   "params._meta: " META_CAPABILITIES " must be an object; {} will do"));
    return MCP_REQUEST;
}

enum mcp_kind mcp_message_read(const char *line, size_t len, struct mcp_message *m)
{
    struct err err;
    const json_t *id, *params, *method;
    bool has_id;

    *m = (struct mcp_message){0};
    while (len && strchr(" \t\r", line[len - 1]))
        len--;
    if (!len)
        return MCP_NOTHING;
    m->all = json_parse(line, len, "the message", &err);
    if (!m->all)
        return broken(m, mcp_error(NULL, MCP_NOT_JSON, NULL, "this line is no JSON: %s", err.text));
    if (json_is_array(m->all))
        return broken(m, mcp_error(NULL, MCP_NOT_A_REQUEST, NULL,
                                   "batches are not taken; send each message in a line of its own"));
    id = json_object_get(m->all, "id");
    has_id = json_is_string(id) || json_is_integer(id);
    method = json_object_get(m->all, "method");
    if (!method && (json_object_get(m->all, "result") || json_object_get(m->all, "error"))) {
        mcp_message_free(m);
        return MCP_NOTHING;
    }
    if (!str_eq(json_text(m->all, "jsonrpc", NULL), "2.0") || !json_is_string(method) || (id && !has_id))
        return broken(
            m, mcp_error(has_id ? id : NULL, MCP_NOT_A_REQUEST, NULL,
                         "a request is an object with \"jsonrpc\": \"2.0\", a `method`, and an `id` that "
                         "is a string or a whole number"));
    params = json_object_get(m->all, "params");
    if (params && !json_is_object(params) && has_id)
        return broken(m, mcp_error(id, MCP_BAD_PARAMS, NULL, "params must be an object"));
    m->method = json_string_value(method);
    m->params = json_is_object(params) ? params : NULL;
    if (!has_id)
        return MCP_NOTIFICATION;
    m->id = id;
    return read_meta(m);
}
