/* What tree-sitter-cuda does not parse and CUDA files contain, replaced by as many spaces. A small lexer walks
 * the text so that comments, strings and character constants stay as they are. */
#include "source/internal.h"

#include <ctype.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of the comment, string or character constant that starts at i; i itself when none does. */
static size_t skip_quiet(const char *t, size_t len, size_t i)
{
    if (t[i] == '/' && i + 1 < len && t[i + 1] == '/') {
        while (i < len && t[i] != '\n')
            i++;
        return i;
    }
    if (t[i] == '/' && i + 1 < len && t[i + 1] == '*') {
        for (i += 2; i < len; i++) {
            if (t[i] == '*' && i + 1 < len && t[i + 1] == '/')
                return i + 2;
        }
        return len;
    }
    if (t[i] == '"' || t[i] == '\'') {
        char quote = t[i++];

        while (i < len && t[i] != quote && t[i] != '\n')
            i += t[i] == '\\' && i + 1 < len ? 2 : 1;
        return i < len ? i + 1 : len;
    }
    return i;
}

static size_t skip_space(const char *t, size_t len, size_t i)
{
    while (i < len && isspace((unsigned char)t[i]))
        i++;
    return i;
}

static size_t word_end(const char *t, size_t len, size_t i)
{
    while (i < len && is_word(t[i]))
        i++;
    return i;
}

static bool word_is(const char *t, size_t start, size_t end, const char *word)
{
    return end - start == strlen(word) && memcmp(t + start, word, end - start) == 0;
}

/* End of the bracketed text that opens at i (where t[i] is '('); 0 when it does not close within 4 KB. comma2
 * gets the place of the second comma at depth one, 0 when there is none. */
static size_t bracket_end(const char *t, size_t len, size_t i, size_t *comma2)
{
    int depth = 0, commas = 0;

    len = MIN(len, i + 4096);
    if (comma2)
        *comma2 = 0;
    while (i < len) {
        size_t after = skip_quiet(t, len, i);

        if (after > i) {
            i = after;
            continue;
        }
        if (t[i] == '(') {
            depth++;
        } else if (t[i] == ')' && --depth == 0) {
            return i + 1;
        } else if (t[i] == ',' && depth == 1 && ++commas == 2 && comma2) {
            *comma2 = i;
        } else if (t[i] == ';' || t[i] == '{') {
            return 0;
        }
        i++;
    }
    return 0;
}

static void blank(char *t, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++) {
        if (t[i] != '\n' && t[i] != '\r')
            t[i] = ' ';
    }
}

/* Behind `else`: a line `#pragma unroll` before its statement. */
static void mask_pragma(char *t, size_t len, size_t at)
{
    size_t end = at;

    if (at + 7 >= len || memcmp(t + at, "#pragma", 7) != 0)
        return;
    while (end < len && (t[end] != '\n' || t[end - 1] == '\\'))
        end++;
    blank(t, at, end);
}

/* `typename A::B(x)` makes a value: the end of the type's name when a bracket follows; 0 when none does. */
static size_t made_type_end(const char *t, size_t len, size_t at)
{
    size_t end = word_end(t, len, at);
    bool qualified = false;

    while (end > at && end + 2 < len && t[end] == ':' && t[end + 1] == ':' && is_word(t[end + 2])) {
        end = word_end(t, len, end + 2);
        qualified = true;
    }
    return qualified && end < len && t[end] == '(' ? end : 0;
}

/* The word at [start, end): blank it, alone or with its bracket, where the grammar stumbles. Returns where to
 * go on. */
static size_t mask_word(char *t, size_t len, size_t start, size_t end)
{
    size_t open = skip_space(t, len, end), close, comma2;

    if (str_in_n(t + start, end - start, "__extension__|__nv_pure__|__tile_builtin__")) {
        blank(t, start, end);
        return end;
    }
    if (word_is(t, start, end, "else"))
        mask_pragma(t, len, open);
    if (word_is(t, start, end, "typename") && made_type_end(t, len, open))
        blank(t, start, end);
    if (open >= len || t[open] != '(')
        return end;
    if (str_in_n(t + start, end - start, "__align__|__cluster_dims__|__maxnreg__|__block_size__") &&
        (close = bracket_end(t, len, open, NULL))) {
        blank(t, start, close);
        return close;
    }
    if (word_is(t, start, end, "__launch_bounds__") && (close = bracket_end(t, len, open, &comma2)) && comma2)
        blank(t, comma2, close - 1);
    return end;
}

/* After a `]` at i: `__device__` and the like before a lambda's parameters. */
static size_t mask_lambda(char *t, size_t len, size_t i)
{
    for (size_t at = skip_space(t, len, i); at < len;) {
        size_t end = word_end(t, len, at);

        if (!word_is(t, at, end, "__device__") && !word_is(t, at, end, "__host__"))
            break;
        blank(t, at, end);
        i = end;
        at = skip_space(t, len, end);
    }
    return i;
}

bool source_mask(char *text, size_t len, size_t *too_deep_at)
{
    int depth = 0;

    for (size_t i = 0; i < len;) {
        size_t after = skip_quiet(text, len, i);

        if (after > i) {
            i = after;
        } else if (is_word(text[i])) {
            size_t end = word_end(text, len, i);

            /* A raw string's quotes and brackets mean nothing; its prefix ends in R. */
            if (end < len && text[end] == '"' && text[end - 1] == 'R') {
                const char *close = memchr(text + end, '(', len - end);
                size_t n = close ? (size_t)(close - (text + end)) : 0; /* delimiter and the opening quote */
                size_t at = end + n + 1;

                if (close && n <= 17) {
                    for (; at + n < len; at++) {
                        if (text[at] == ')' && memcmp(text + at + 1, text + end + 1, n - 1) == 0 &&
                            text[at + n] == '"')
                            break;
                    }
                    i = at + n < len ? at + n + 1 : len;
                    continue;
                }
            }
            /* 1'000'000: the quotes belong to the number. */
            if (isdigit((unsigned char)text[i])) {
                while (end + 1 < len && text[end] == '\'' && is_word(text[end + 1]))
                    end = word_end(text, len, end + 1);
                i = end;
                continue;
            }
            i = mask_word(text, len, i, end);
        } else {
            char c = text[i++];

            if (c == '(' || c == '[' || c == '{') {
                if (++depth > SOURCE_MAX_BRACKETS) {
                    *too_deep_at = i - 1;
                    return false;
                }
            } else if (c == ')' || c == ']' || c == '}') {
                depth -= depth > 0;
                if (c == ']')
                    i = mask_lambda(text, len, i);
            }
        }
    }
    return true;
}
