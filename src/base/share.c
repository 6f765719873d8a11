#include "base/base.h"

const struct share_file *share_find(const char *name)
{
    for (size_t i = 0; i < share_n_files; i++)
        if (strcmp(share_files[i].name, name) == 0)
            return &share_files[i];
    return NULL;
}

const char *share_text(const char *name)
{
    const struct share_file *f = share_find(name);

    if (!f)
        BUG("share/%s is not in share/meson.build", name);
    return f->text;
}

static const char *slot_value(const char *file, const struct share_slot *slots, size_t n, const char *name,
                              size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(slots[i].name) == len && memcmp(slots[i].name, name, len) == 0)
            return slots[i].value ? slots[i].value : "";
    BUG("%s: no value for {{%.*s}}", file, (int)len, name);
}

char *share_fill(struct arena *a, const char *file, const struct share_slot *slots, size_t n)
{
    const char *p = share_text(file), *open;
    struct str out = {0};
    char *text;

    while ((open = strstr(p, "{{"))) {
        const char *close = strstr(open, "}}"), *value;
        BUG_IF(!close);
        value = slot_value(file, slots, n, open + 2, (size_t)(close - open) - 2);
        str_addn(&out, p, (size_t)(open - p));
        str_add(&out, value);
        p = close + 2;
        if (!*value && (out.len == 0 || out.s[out.len - 1] == '\n') && *p == '\n')
            p++;
    }
    str_add(&out, p);
    while (out.len && out.s[out.len - 1] == '\n')
        out.s[--out.len] = 0;
    text = arena_strdup(a, str_text(&out));
    str_free(&out);
    return text;
}
