/* Texts that come from outside made fit to keep: UTF-8, without secrets; and what differs between two of them.
 */
#include "llm/internal.h"

#define REPLACEMENT "\xef\xbf\xbd"

void text_add_utf8(struct str *out, const char *s, size_t n)
{
    size_t i = 0, clean = 0;

    while (i < n) {
        size_t len = s[i] ? utf8_read(s + i, n - i, NULL) : 0;
        if (len) {
            i += len;
            continue;
        }
        str_addn(out, s + clean, i - clean);
        str_add(out, REPLACEMENT);
        clean = ++i;
    }
    str_addn(out, s + clean, n - clean);
}

void text_redact(struct str *s, const char *secret)
{
    struct str clean = {0};
    const char *at = str_text(s), *found;
    size_t len = secret ? strlen(secret) : 0;

    if (len < 4 || !strstr(at, secret))
        return;
    while ((found = strstr(at, secret))) {
        str_addn(&clean, at, (size_t)(found - at));
        str_add(&clean, "[key]");
        at = found + len;
    }
    str_add(&clean, at);
    explicit_bzero(s->s, s->len);
    str_free(s);
    *s = clean;
}

void text_tidy(struct str *s)
{
    struct str clean = {0};

    text_add_utf8(&clean, str_text(s), s->len);
    for (size_t i = 0; i < clean.len; i++)
        if ((unsigned char)clean.s[i] < ' ' || clean.s[i] == 0x7f)
            clean.s[i] = ' ';
    str_free(s);
    *s = clean;
}

/* \u0000 and surrogates without their other half become \ufffd in place: jansson refuses both. */
static void mend_escapes(char *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        int v, low;
        if (s[i] != '\\')
            continue;
        if (s[i + 1] != 'u' || i + 6 > n || (v = str_hex4(s + i + 2)) < 0) {
            i++;
            continue;
        }
        if (v >= 0xd800 && v <= 0xdbff && i + 12 <= n && s[i + 6] == '\\' && s[i + 7] == 'u') {
            low = str_hex4(s + i + 8);
            if (low >= 0xdc00 && low <= 0xdfff) {
                i += 11;
                continue;
            }
        }
        if (v == 0 || (v >= 0xd800 && v <= 0xdfff))
            memcpy(s + i + 2, "fffd", 4);
        i += 5;
    }
}

json_t *text_parse_json(const char *s, size_t n)
{
    struct str clean = {0};
    json_error_t e;
    json_t *o;

    text_add_utf8(&clean, s, n);
    if (clean.len)
        mend_escapes(clean.s, clean.len);
    o = json_loadb(str_text(&clean), clean.len, 0, &e);
    str_free(&clean);
    return o;
}

void text_add_list(struct str *out, const char *const *names, size_t n, size_t max)
{
    for (size_t i = 0; i < n && i < max; i++)
        str_addf(out, "%s%s", i ? ", " : "", names[i]);
    if (n > max)
        str_addf(out, " and %zu more", n - max);
}

void text_diff(struct str *out, const char *name_a, const char *a, const char *name_b, const char *b,
               size_t max_lines)
{
    struct arena *arena = arena_open();
    const char *p = diff_unified(arena, name_a, a, name_b, b);
    size_t said = 0, left = 0;

    for (; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (said++ < max_lines)
            str_addn(out, p, strcspn(p, "\n") + 1);
        else
            left++;
    if (left)
        str_addf(out, "(%zu more lines of difference)\n", left);
    arena_close(arena);
}
