/* The bytes of a reply to an answer. A server that was asked for a stream may answer whole, and say neither
 * truly; so the content type is only the first guess, and the first byte decides. */
#include "llm/internal.h"

#include <strings.h>

void answer_free(struct answer *a)
{
    str_free(&a->text);
    str_free(&a->words);
    str_free(&a->model);
    str_free(&a->tool);
    *a = (struct answer){0};
}

void answer_fail(struct answer *a, enum verdict again, const char *fmt, ...)
{
    va_list ap;

    a->failed = true;
    a->again = again;
    str_clear(&a->words);
    va_start(ap, fmt);
    str_vaddf(&a->words, fmt, ap);
    va_end(ap);
}

/* Models that are served without a parser for their reasoning put it into the text, in front, in tags. */
static void cut_thoughts(struct answer *a)
{
    static const char open[] = "<think>", close[] = "</think>";
    const char *s = str_text(&a->text), *p = s + strspn(s, " \t\r\n"), *end;
    struct str rest = {0};

    if (!str_starts(p, open))
        return;
    end = strstr(p, close);
    a->thought_bytes += end ? (size_t)(end - p) : strlen(p);
    if (end) {
        end += strlen(close);
        str_add(&rest, end + strspn(end, "\r\n"));
    }
    str_free(&a->text);
    a->text = rest;
}

enum verdict answer_judge(struct answer *a)
{
    if (a->failed)
        return a->again;
    cut_thoughts(a);
    if (a->usage.reasoning < 0 && a->thought_bytes)
        a->usage.reasoning = (int64_t)(a->thought_bytes + 3) / 4;
    if (!a->ended) {
        answer_fail(a, TRY_AGAIN, "the reply broke off after %zu bytes of text", a->text.len);
        return a->again;
    }
    if (a->end == LLM_REFUSED) {
        if (!a->words.len)
            str_add(&a->words, "the model, or its provider's filter, refused to answer");
        return TRY_DONE;
    }
    if (a->end == LLM_CUT) {
        if (!a->words.len)
            str_addf(&a->words, "cut at the limit of output%s",
                     a->text.len ? "" : ", all of which went into reasoning: allow more tokens of output");
        return TRY_DONE;
    }
    if (!a->text.len) {
        if (a->tool.len)
            answer_fail(a, TRY_ONCE_MORE, "the model called a tool that nobody offered (%s) and said nothing",
                        str_text(&a->tool));
        else if (!a->choice)
            answer_fail(a, TRY_ONCE_MORE, "the reply holds no message");
        else
            answer_fail(a, TRY_ONCE_MORE, "the reply is empty");
        return a->again;
    }
    return TRY_DONE;
}

void reader_start(struct reader *r, const struct wire *w, const char *content_type)
{
    *r = (struct reader){.wire = w};
    r->answer.usage = LLM_USAGE_UNKNOWN;
    r->html = strncasecmp(content_type, "text/html", 9) == 0;
    if (strncasecmp(content_type, "text/event-stream", 17) == 0)
        r->kind = READER_STREAM;
    else if (strncasecmp(content_type, "application/json", 16) == 0)
        r->kind = READER_WHOLE;
}

static bool take(void *context, const char *event, const char *data, size_t len)
{
    struct reader *r = context;
    struct answer *a = &r->answer;
    json_t *o;

    if (len == 6 && memcmp(data, "[DONE]", 6) == 0) {
        a->finished = true;
        a->ended |= a->text.len > 0; /* a server that gives no reason */
        return false;
    }
    if (len == 0)
        return true;
    o = text_parse_json(data, len);
    if (json_is_object(o))
        r->wire->event(a, event, o);
    else
        answer_fail(a, TRY_AGAIN, "the stream holds what is no JSON object: %.80s", data);
    json_decref(o);
    return !a->failed && !a->finished;
}

bool reader_feed(struct reader *r, const char *bytes, size_t n)
{
    r->bytes += n;
    if (r->bytes > REPLY_MAX_BYTES) {
        r->too_big = true;
        return false;
    }
    if (r->kind == READER_UNKNOWN) {
        size_t blank = 0;
        while (blank < n && strchr(" \t\r\n", bytes[blank]) && bytes[blank])
            blank++;
        if (blank < n)
            r->kind = bytes[blank] == 'd' || bytes[blank] == 'e' || bytes[blank] == ':' ? READER_STREAM
                                                                                        : READER_WHOLE;
    }
    if (r->kind == READER_STREAM)
        return sse_feed(&r->sse, bytes, n, take, r);
    str_addn(&r->body, bytes, n);
    return true;
}

void reader_end(struct reader *r, bool whole)
{
    struct answer *a = &r->answer;
    json_t *o;

    if (r->too_big) {
        answer_fail(a, TRY_NO_MORE, "the reply is longer than %zu MB", REPLY_MAX_BYTES >> 20);
        return;
    }
    if (r->kind == READER_STREAM) {
        if (!a->failed && !a->finished && whole)
            sse_end(&r->sse, take, r);
        return;
    }
    if (!whole) {
        answer_fail(a, TRY_AGAIN, "the reply broke off after %zu bytes", r->bytes);
        return;
    }
    o = text_parse_json(str_text(&r->body), r->body.len);
    if (json_is_object(o))
        r->wire->whole(a, o);
    else if (r->html)
        answer_fail(a, TRY_FATAL, "the server answered with a web page: is this the base URL of its API?");
    else
        answer_fail(a, TRY_AGAIN, "the reply is no JSON object: %.80s", str_text(&r->body));
    json_decref(o);
}

void reader_free(struct reader *r)
{
    sse_free(&r->sse);
    str_free(&r->body);
    answer_free(&r->answer);
    *r = (struct reader){0};
}
