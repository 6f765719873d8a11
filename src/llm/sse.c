/* Server-sent events, fed in pieces of any size; lines end in LF, CR or CRLF, as the standard allows. */
#include "llm/internal.h"

static bool dispatch(struct sse *s, sse_take *take, void *context)
{
    bool go_on = true;

    if (s->has_data)
        go_on = take(context, str_text(&s->event), str_text(&s->data), s->data.len);
    str_clear(&s->data);
    str_clear(&s->event);
    s->has_data = false;
    return go_on;
}

static bool name_is(const char *line, size_t n, const char *name)
{
    return n == strlen(name) && memcmp(line, name, n) == 0;
}

static bool line_end(struct sse *s, sse_take *take, void *context)
{
    const char *line = str_text(&s->line), *colon, *value;
    size_t len = s->line.len, name_len, value_len;

    if (!s->begun) {
        s->begun = true;
        if (len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
            line += 3;
            len -= 3;
        }
    }
    if (len == 0) {
        str_clear(&s->line);
        return dispatch(s, take, context);
    }
    colon = memchr(line, ':', len);
    name_len = colon ? (size_t)(colon - line) : len;
    value = colon ? colon + 1 : line + len;
    value_len = len - (size_t)(value - line);
    if (value_len && *value == ' ') {
        value++;
        value_len--;
    }
    if (name_is(line, name_len, "data")) {
        if (s->has_data)
            str_addc(&s->data, '\n');
        str_addn(&s->data, value, value_len);
        s->has_data = true;
    } else if (name_is(line, name_len, "event")) {
        str_clear(&s->event);
        str_addn(&s->event, value, value_len);
    }
    str_clear(&s->line);
    return true;
}

bool sse_feed(struct sse *s, const char *bytes, size_t n, sse_take *take, void *context)
{
    const char *end = bytes + n;

    while (bytes < end) {
        const char *p = bytes;
        if (s->after_cr && *p == '\n') {
            s->after_cr = false;
            bytes++;
            continue;
        }
        s->after_cr = false;
        while (p < end && *p != '\n' && *p != '\r')
            p++;
        str_addn(&s->line, bytes, (size_t)(p - bytes));
        if (p == end)
            break;
        s->after_cr = *p == '\r';
        bytes = p + 1;
        if (!line_end(s, take, context))
            return false;
    }
    return true;
}

bool sse_end(struct sse *s, sse_take *take, void *context)
{
    if (s->line.len && !line_end(s, take, context))
        return false;
    return dispatch(s, take, context);
}

void sse_free(struct sse *s)
{
    str_free(&s->line);
    str_free(&s->event);
    str_free(&s->data);
    *s = (struct sse){0};
}
