#include "base/base.h"

static const char *value_of(const char *where, const struct fill_slot *slots, size_t n, const char *name,
                            size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(slots[i].name) == len && memcmp(slots[i].name, name, len) == 0)
            return slots[i].value ? slots[i].value : "";
    BUG("%s: no value for {{%.*s}}", where, (int)len, name);
}

char *fill_text(struct arena *a, const char *where, const char *text, const struct fill_slot *slots, size_t n)
{
    struct str out = {0};
    const char *open;
    char *filled;

    while ((open = strstr(text, "{{"))) {
        const char *close = strstr(open, "}}"), *value;
        BUG_IF(!close);
        value = value_of(where, slots, n, open + 2, (size_t)(close - open) - 2);
        str_addn(&out, text, (size_t)(open - text));
        str_add(&out, value);
        text = close + 2;
        if (!*value && (out.len == 0 || out.s[out.len - 1] == '\n') && *text == '\n')
            text++;
    }
    str_add(&out, text);
    while (out.len && out.s[out.len - 1] == '\n')
        out.s[--out.len] = 0;
    filled = arena_strdup(a, str_text(&out));
    str_free(&out);
    return filled;
}

char *fill_share(struct arena *a, const char *file, const struct fill_slot *slots, size_t n)
{
    return fill_text(a, file, share_text(file), slots, n);
}
