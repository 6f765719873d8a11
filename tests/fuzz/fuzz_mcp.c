/* Any bytes as what a client writes to `astra mcp`, in two parts: every line is a message, or has an answer
 * that says what is wrong with it; and arguments of a tool are its own, or refused with words. */
#include "mcp/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(const char *line, size_t len)
{
    struct mcp_message m;
    const struct tool *t;
    enum mcp_kind kind = mcp_message_read(line, len, &m);

    BUG_IF((kind == MCP_BROKEN) != (m.answer != NULL));
    BUG_IF(m.answer && !json_is_integer(json_object_get(json_object_get(m.answer, "error"), "code")));
    BUG_IF((kind == MCP_REQUEST || kind == MCP_NOTIFICATION) && !m.method);
    BUG_IF(kind == MCP_REQUEST && !json_is_string(m.id) && !json_is_integer(m.id));
    t = kind == MCP_REQUEST ? tool_find(json_text(m.params, "name", "check")) : NULL;
    if (t && json_is_object(json_object_get(m.params, "arguments"))) {
        struct err err = {0};
        BUG_IF(!tool_check(t, json_object_get(m.params, "arguments"), &err) && !err.text[0]);
    }
    json_decref(m.answer);
    mcp_message_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcp_lines lines = {0};
    struct arena *a = arena_open();
    const char *line, *plain;
    size_t len, parts[2] = {size / 2, size - size / 2}, at = 0;

    for (size_t i = 0; i < ARRAY_LEN(parts); at += parts[i++]) {
        mcp_lines_add(&lines, (const char *)data + at, parts[i]);
        for (enum mcp_line got; (got = mcp_lines_next(&lines, &line, &len)) != MCP_NO_LINE;)
            if (got == MCP_LINE)
                take(line, len);
    }
    plain = beneath_plain(a, arena_strndup(a, (const char *)data, size));
    BUG_IF(plain &&
           (plain[0] == '/' || strstr(plain, "//") || str_starts(plain, "../") || strstr(plain, "/../")));
    mcp_lines_free(&lines);
    arena_close(a);
    return 0;
}
