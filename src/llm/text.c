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

static int hex4(const char *s)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        int c = s[i], d = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* \u0000 and surrogates without their other half become \ufffd in place: jansson refuses both. */
static void mend_escapes(char *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        int v, low;
        if (s[i] != '\\')
            continue;
        if (s[i + 1] != 'u' || i + 6 > n || (v = hex4(s + i + 2)) < 0) {
            i++;
            continue;
        }
        if (v >= 0xd800 && v <= 0xdbff && i + 12 <= n && s[i + 6] == '\\' && s[i + 7] == 'u') {
            low = hex4(s + i + 8);
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

/* ---- a difference by lines ---- */

struct lines {
    const char **at;
    size_t *len, n;
};

static struct lines split(struct arena *a, const char *s)
{
    struct lines l = {0};
    size_t n = 1;

    for (const char *p = s; *p; p++)
        n += *p == '\n';
    l.at = arena_array(a, const char *, n);
    l.len = arena_array(a, size_t, n);
    while (*s) {
        size_t len = strcspn(s, "\n");
        l.at[l.n] = s;
        l.len[l.n++] = len;
        s += len + (s[len] == '\n');
    }
    return l;
}

static bool line_eq(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    return a->len[i] == b->len[j] && memcmp(a->at[i], b->at[j], a->len[i]) == 0;
}

struct step {
    char sign;
    size_t i, j; /* the next line of each text */
};

/* The steps from one text to the other by their longest common subsequence; texts whose middles are too long
 * for the table are one block taken out and one put in. */
static size_t steps(struct arena *arena, const struct lines *a, const struct lines *b, struct step **out)
{
    size_t head = 0, tail = 0, n = 0, na, nb, i, j;
    struct step *s = arena_array(arena, struct step, a->n + b->n + 1);
    uint32_t *table = NULL;

    while (head < a->n && head < b->n && line_eq(a, head, b, head))
        head++;
    while (tail < a->n - head && tail < b->n - head && line_eq(a, a->n - 1 - tail, b, b->n - 1 - tail))
        tail++;
    na = a->n - head - tail;
    nb = b->n - head - tail;
    for (i = 0; i < head; i++)
        s[n++] = (struct step){' ', i, i};
    if ((na + 1) * (nb + 1) <= (size_t)4 << 20) {
        table = arena_array(arena, uint32_t, (na + 1) * (nb + 1));
        for (i = na; i-- > 0;)
            for (j = nb; j-- > 0;)
                table[i * (nb + 1) + j] = line_eq(a, head + i, b, head + j)
                                              ? table[(i + 1) * (nb + 1) + j + 1] + 1
                                              : MAX(table[(i + 1) * (nb + 1) + j], table[i * (nb + 1) + j + 1]);
    }
    for (i = j = 0; i < na || j < nb;) {
        if (table && i < na && j < nb && line_eq(a, head + i, b, head + j)) {
            s[n++] = (struct step){' ', head + i++, head + j++};
        } else if (i < na &&
                   (j == nb || !table || table[(i + 1) * (nb + 1) + j] >= table[i * (nb + 1) + j + 1])) {
            s[n++] = (struct step){'-', head + i++, head + j};
        } else {
            s[n++] = (struct step){'+', head + i, head + j++};
        }
    }
    for (i = 0; i < tail; i++)
        s[n++] = (struct step){' ', head + na + i, head + nb + i};
    *out = s;
    return n;
}

void text_diff(struct str *out, const char *name_a, const char *a, const char *name_b, const char *b,
               size_t max_lines)
{
    enum { CONTEXT = 3 };
    struct arena *arena = arena_open();
    struct lines la = split(arena, a), lb = split(arena, b);
    struct step *s;
    size_t n = steps(arena, &la, &lb, &s), said = 0, left = 0;

    str_addf(out, "--- %s\n+++ %s\n", name_a, name_b);
    for (size_t at = 0; at < n;) {
        size_t first = at, last, end, olds = 0, news = 0;
        while (first < n && s[first].sign == ' ')
            first++;
        if (first == n)
            break;
        for (last = end = first; end < n && end <= last + 2 * CONTEXT; end++)
            if (s[end].sign != ' ')
                last = end;
        end = MIN(last + CONTEXT + 1, n);
        first = first - at > CONTEXT ? first - CONTEXT : at;
        for (size_t i = first; i < end; i++) {
            olds += s[i].sign != '+';
            news += s[i].sign != '-';
        }
        if (said < max_lines)
            str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", s[first].i + (olds > 0), olds, s[first].j + (news > 0),
                     news);
        for (size_t i = first; i < end; i++) {
            if (said++ >= max_lines) {
                left++;
                continue;
            }
            str_addc(out, s[i].sign);
            if (s[i].sign == '+')
                str_addn(out, lb.at[s[i].j], lb.len[s[i].j]);
            else
                str_addn(out, la.at[s[i].i], la.len[s[i].i]);
            str_addc(out, '\n');
        }
        at = end;
    }
    if (left)
        str_addf(out, "(%zu more lines of difference)\n", left);
    arena_close(arena);
}
