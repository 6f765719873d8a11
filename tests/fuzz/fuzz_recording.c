/* Any bytes as a recording, and as a prompt that drifted. */
#include "llm/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    char *text = arena_strndup(a, (const char *)data, size), *middle;
    struct recording r;
    struct err err = {0};
    struct str diff = {0}, clean = {0};

    if (record_parse((const char *)data, size, "fuzz.json", a, &r, &err)) {
        BUG_IF(!r.role || !r.label || !r.reply.text);
        for (size_t i = 0; i < r.n_messages; i++)
            BUG_IF(!r.messages[i].text);
    } else {
        BUG_IF(!err.text[0]);
    }
    middle = arena_strdup(a, text + strlen(text) / 2);
    text[strlen(text) / 2] = '\0';
    text_diff(&diff, "a", text, "b", middle, 50);
    text_add_utf8(&clean, (const char *)data, size);
    BUG_IF(clean.len < size);
    BUG_IF(llm_tokens(str_text(&clean)) < 0);
    str_free(&diff);
    str_free(&clean);
    arena_close(a);
    return 0;
}
