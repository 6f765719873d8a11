/* Text to tokens; and the places and messages that go with them. */
#include "kernel/internal.h"

#include <ctype.h>

void unit_place(const struct unit *u, size_t at, int *line, int *col)
{
    size_t low = 0, high = u->lines.n;

    while (high - low > 1) {
        size_t mid = (low + high) / 2;

        if (u->lines.v[mid] <= at)
            low = mid;
        else
            high = mid;
    }
    *line = (int)low + 1;
    *col = (int)(at - u->lines.v[low]) + 1;
}

void fail(struct unit *u, const struct token *t, const char *fmt, ...)
{
    struct trap *trap = u->trap;
    char text[1600], from[120] = "";
    int line = 1, col = 1;
    va_list ap;

    BUG_IF(!trap);
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (t)
        unit_place(u, t->at, &line, &col);
    if (t && t->macro)
        snprintf(from, sizeof(from), t->foreign ? " (in %.80s)" : " (in the expansion of %.80s)", t->macro);
    err_at(&trap->err, u->path, line, col, "launcher: %s%s", text, from);
    longjmp(trap->jump, 1);
}

char *token_text(struct arena *a, const struct token *t)
{
    return arena_strndup(a, t->s, t->len);
}

bool token_is(const struct token *t, const char *s)
{
    size_t len = strlen(s);

    return t->len == len && memcmp(t->s, s, len) == 0 && t->kind != TOK_STRING && t->kind != TOK_CHAR;
}

static size_t punct_len(const char *s, size_t left)
{
    static const char *const puncts[] = {
        "<<<", ">>>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
        "==",  "!=",  "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "##", ".*",
    };

    for (size_t i = 0; i < ARRAY_LEN(puncts); i++) {
        size_t len = strlen(puncts[i]);

        if (len <= left && memcmp(s, puncts[i], len) == 0)
            return len;
    }
    return 1;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* End of the quoted text that opens at i; an unclosed one ends at its line. */
static size_t quoted_end(const char *t, size_t len, size_t i)
{
    char quote = t[i++];

    while (i < len && t[i] != quote && t[i] != '\n')
        i += t[i] == '\\' && i + 1 < len ? 2 : 1;
    return i < len && t[i] == quote ? i + 1 : MIN(i, len);
}

/* R"x( ... )x" whose quote is at i; 0 when it is not one. */
static size_t raw_end(const char *t, size_t len, size_t i)
{
    size_t open = i + 1;

    while (open < len && open - i <= 17 && t[open] != '(' && !isspace((unsigned char)t[open]))
        open++;
    if (open >= len || t[open] != '(')
        return 0;
    for (size_t at = open + 1, n = open - i - 1; at + n + 1 < len; at++) {
        if (t[at] == ')' && memcmp(t + at + 1, t + i + 1, n) == 0 && t[at + n + 1] == '"')
            return at + n + 2;
    }
    return len;
}

static size_t number_end(const char *t, size_t len, size_t i)
{
    while (i < len) {
        if ((t[i] == '+' || t[i] == '-') && strchr("eEpP", t[i - 1]))
            i++;
        else if (word_char(t[i]) || t[i] == '.' ||
                 (t[i] == '\'' && i + 1 < len && isalnum((unsigned char)t[i + 1])))
            i++;
        else
            break;
        /* 0x1e+3 is an addition. */
        if (i < len && (t[i] == '+' || t[i] == '-') && (t[i - 1] == 'e' || t[i - 1] == 'E')) {
            size_t back = i - 1;

            while (back > 0 && (isalnum((unsigned char)t[back - 1])))
                back--;
            if (t[back] == '0' && back + 1 < len && (t[back + 1] == 'x' || t[back + 1] == 'X'))
                return i;
        }
    }
    return i;
}

static struct token next_token(const char *t, size_t len, size_t i)
{
    struct token k = {.s = t + i, .at = i};
    size_t end;

    if (word_char(t[i]) && !isdigit((unsigned char)t[i])) {
        for (end = i; end < len && word_char(t[end]);)
            end++;
        k.kind = TOK_WORD;
        if (end < len && (t[end] == '"' || t[end] == '\'') && end - i <= 3) {
            static const char *const prefixes[] = {"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};

            for (size_t p = 0; p < ARRAY_LEN(prefixes); p++) {
                size_t raw = 0;

                if (end - i != strlen(prefixes[p]) || memcmp(t + i, prefixes[p], end - i) != 0)
                    continue;
                if (t[end] == '"' && t[end - 1] == 'R')
                    raw = raw_end(t, len, end);
                k.kind = t[end] == '"' ? TOK_STRING : TOK_CHAR;
                end = raw ? raw : quoted_end(t, len, end);
                break;
            }
        }
    } else if (isdigit((unsigned char)t[i]) ||
               (t[i] == '.' && i + 1 < len && isdigit((unsigned char)t[i + 1]))) {
        k.kind = TOK_NUMBER;
        end = number_end(t, len, i + 1);
    } else if (t[i] == '"' || t[i] == '\'') {
        k.kind = t[i] == '"' ? TOK_STRING : TOK_CHAR;
        end = quoted_end(t, len, i);
    } else {
        k.kind = TOK_PUNCT;
        end = i + punct_len(t + i, len - i);
    }
    k.len = (uint32_t)(end - i);
    return k;
}

void lex_text(struct unit *u)
{
    const char *t = u->text;
    size_t len = u->len, i = 0;
    bool line_start = true, space = false;

    vec_add(u->arena, &u->lines, 0);
    for (size_t at = 0; at < len; at++) {
        if (t[at] == '\n')
            vec_add(u->arena, &u->lines, at + 1);
    }
    while (i < len) {
        size_t end;

        if (t[i] == '\n') {
            line_start = true;
            i++;
        } else if (t[i] == '\\' && i + 1 < len && (t[i + 1] == '\n' || t[i + 1] == '\r')) {
            i += t[i + 1] == '\r' && i + 2 < len && t[i + 2] == '\n' ? 3 : 2;
            space = true;
        } else if (isspace((unsigned char)t[i])) {
            space = true;
            i++;
        } else if (t[i] == '/' && i + 1 < len && (t[i + 1] == '/' || t[i + 1] == '*')) {
            if (t[i + 1] == '/') {
                for (end = i; end < len && t[end] != '\n'; end++) {
                    if (t[end] == '\\' && end + 1 < len && t[end + 1] == '\n')
                        end++;
                }
            } else {
                const char *close = len - i > 3 ? memmem(t + i + 2, len - i - 2, "*/", 2) : NULL;

                end = close ? (size_t)(close - t) + 2 : len;
            }
            end = MIN(end, len);
            vec_add(u->arena, &u->comments, ((struct comment){i, end}));
            space = true;
            i = end;
        } else {
            struct token k = next_token(t, len, i);

            k.line_start = line_start;
            k.space_before = space;
            if (u->raw.n >= MAX_TOKENS)
                fail(u, &k, "the file has more than %d words and signs", MAX_TOKENS);
            vec_add(u->arena, &u->raw, k);
            line_start = space = false;
            i += k.len;
        }
    }
    vec_add(u->arena, &u->raw,
            ((struct token){.kind = TOK_END, .s = "end of file", .len = 11, .at = len, .line_start = true}));
}

/* Tokens with one space between them, directives on lines of their own: equal for texts that differ only in
 * comments and layout. */
char *kernel_normalise(struct arena *a, const char *text, size_t len)
{
    struct arena *scratch = arena_open();
    struct unit u = {.arena = scratch, .path = "", .text = text, .len = len};
    struct trap trap = {.up = NULL};
    struct str out = {0};
    bool directive = false;
    char *copy;

    u.trap = &trap;
    if (setjmp(trap.jump) == 0) {
        lex_text(&u);
        for (size_t i = 0; i + 1 < u.raw.n; i++) {
            const struct token *t = &u.raw.v[i];

            if (t->line_start && (directive || token_is(t, "#"))) {
                directive = token_is(t, "#");
                str_addc(&out, '\n');
            } else if (i > 0) {
                /* `#define F (x)` is not `#define F(x)`. */
                if (!directive || t->space_before || !token_is(t, "("))
                    str_addc(&out, ' ');
            }
            str_addn(&out, t->s, t->len);
        }
        copy = arena_strndup(a, str_text(&out), out.len);
    } else {
        copy = arena_strndup(a, text, len);
    }
    str_free(&out);
    arena_close(scratch);
    return copy;
}
