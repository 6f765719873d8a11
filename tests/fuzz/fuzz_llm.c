/* Any bytes as a server's reply, streamed or whole, in both protocols: an answer that stands, or words. What
 * the first byte says: which protocol, which content type, pieces of which size, whether the end is proper. */
#include "llm/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct answer *a, enum verdict v)
{
    struct str clean = {0};

    BUG_IF(v != TRY_DONE && !a->words.len);
    BUG_IF(v == TRY_DONE && a->end == LLM_DONE && !a->text.len);
    text_add_utf8(&clean, str_text(&a->text), a->text.len);
    BUG_IF(strcmp(str_text(&clean), str_text(&a->text)) != 0);
    str_free(&clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/event-stream", "application/json", "text/plain", "text/html"};
    uint8_t how = size ? data[0] : 0;
    static const size_t pieces[] = {4096, 1, 7, 1};
    size_t piece = pieces[how >> 4 & 3];
    struct reader r;
    bool more = true;

    reader_start(&r, how & 1 ? &wire_anthropic : &wire_openai, types[how >> 1 & 3]);
    for (size_t at = 1; at < size && more; at += piece)
        more = reader_feed(&r, (const char *)data + at, MIN(piece, size - at));
    reader_end(&r, !(how & 8));
    check(&r.answer, answer_judge(&r.answer));
    reader_free(&r);

    if (size > 1) { /* the same bytes as the body of a refusal */
        json_t *o = text_parse_json((const char *)data + 1, size - 1);
        struct wire_error e;
        wire_error_read(o, &e);
        BUG_IF(!e.message || !e.type || !e.code || !e.param);
        json_decref(o);
    }
    return 0;
}
