#include "base/base.h"

#include <ctype.h>

static void str_reserve(struct str *b, size_t more)
{
    size_t need = b->len + more + 1;

    if (need <= b->cap)
        return;
    b->cap = MAX(need, b->cap * 2);
    if (b->arena)
        b->s = memcpy(arena_alloc(b->arena, b->cap), str_text(b), b->len + 1);
    else
        b->s = mem_realloc(b->s, b->cap);
}

void str_free(struct str *b)
{
    if (!b->arena)
        free(b->s);
    *b = (struct str){.arena = b->arena};
}

void str_clear(struct str *b)
{
    b->len = 0;
    if (b->s)
        b->s[0] = 0;
}

void str_addn(struct str *b, const char *s, size_t len)
{
    str_reserve(b, len);
    if (len)
        memcpy(b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = 0;
}

void str_add(struct str *b, const char *s)
{
    str_addn(b, s, strlen(s));
}

void str_addc(struct str *b, char c)
{
    str_addn(b, &c, 1);
}

void str_vaddf(struct str *b, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        return;
    str_reserve(b, (size_t)n);
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
}

void str_addf(struct str *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(b, fmt, ap);
    va_end(ap);
}

void str_add_shell(struct str *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

    if (*word && word[strspn(word, plain)] == 0) {
        str_add(b, word);
        return;
    }
    str_addc(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            str_add(b, "'\\''");
        else
            str_addc(b, *word);
    str_addc(b, '\'');
}

const char *str_text(const struct str *b)
{
    return b->s ? b->s : "";
}

char *str_take(struct str *b, struct arena *a)
{
    char *text = arena_strndup(a, str_text(b), b->len);

    str_free(b);
    return text;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_eq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t str_word(const char *s)
{
    size_t n = 0;

    while (str_in_word(s[n]))
        n++;
    return n;
}

bool str_is_name(const char *s)
{
    size_t n = str_word(s);

    return n && !s[n] && !isdigit((unsigned char)*s);
}

const char *str_find_word(const char *text, const char *from, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = from; len && (p = strstr(p, word)); p += len) {
        if ((p == text || !str_in_word(p[-1])) && !str_in_word(p[len]))
            return p;
    }
    return NULL;
}

size_t str_count_word(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = str_find_word(text, p, word)); p += strlen(word))
        n++;
    return n;
}

bool str_has_word(const char *text, const char *word)
{
    return str_find_word(text, text, word) != NULL;
}

char *str_replace_word(struct arena *a, const char *text, const char *word, const char *by)
{
    struct str b = {.arena = a};
    const char *from = text;

    for (const char *p; (p = str_find_word(text, from, word)); from = p + strlen(word)) {
        str_addn(&b, from, (size_t)(p - from));
        str_add(&b, by);
    }
    str_add(&b, from);
    return str_take(&b, a);
}

size_t str_line_start(const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

int str_hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) % 16 : -1;
}

int str_hex4(const char *s)
{
    int v = 0;

    for (int i = 0, d; i < 4; i++) {
        if ((d = str_hex_digit(s[i])) < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

bool str_in_n(const char *word, size_t len, const char *list)
{
    for (const char *p = list; *p;) {
        size_t n = 0;
        while (n < len && p[n] == word[n] && p[n])
            n++;
        if (n == len && (p[n] == '|' || !p[n]))
            return true;
        p = strchrnul(p + n, '|');
        p += *p == '|';
    }
    return false;
}

bool str_in(const char *word, const char *list)
{
    return str_in_n(word, strlen(word), list);
}

static int edit_distance(const char *a, const char *b)
{
    int row[64], n = (int)strlen(a), m = (int)strlen(b);

    if (n >= 60 || m >= 60)
        return 99;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = MIN(row[j], row[j - 1]) + 1;
            best = MIN(best, diag + (a[i - 1] != b[j - 1]));
            diag = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

const char *str_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 2;

    for (; *names; names++) {
        int d = edit_distance(word, *names);
        if (d < best_distance) {
            best_distance = d;
            best = *names;
        }
    }
    return best;
}
