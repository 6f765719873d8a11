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

const struct kernel_header *token_header(const struct unit *u, const struct token *t)
{
    for (const struct kernel_header *h = u->headers; t->foreign && h < u->headers + u->n_headers; h++) {
        if ((uintptr_t)t->s >= (uintptr_t)h->text && (uintptr_t)t->s < (uintptr_t)h->text + h->len)
            return h;
    }
    return NULL;
}

/* A place in a header: it lies in the file's folder, or below. */
static const char *header_place(const struct unit *u, const struct kernel_header *h, const struct token *t,
                                int *line, int *col)
{
    const char *folder = strrchr(u->path, '/');

    *line = *col = 1;
    for (const char *p = h->text; p < t->s; p++) {
        *line += *p == '\n';
        *col = *p == '\n' ? 1 : *col + 1;
    }
    return folder ? arena_printf(u->arena, "%.*s/%s", (int)(folder - u->path), u->path, h->name) : h->name;
}

void fail(struct unit *u, const struct token *t, const char *fmt, ...)
{
    struct trap *trap = u->trap;
    const struct kernel_header *h = t ? token_header(u, t) : NULL;
    const char *path = u->path;
    char text[1600], from[120] = "";
    int line = 1, col = 1;
    va_list ap;

    BUG_IF(!trap);
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (h)
        path = header_place(u, h, t, &line, &col);
    else if (t)
        unit_place(u, t->at, &line, &col);
    if (!h && t && t->macro)
        snprintf(from, sizeof(from), t->foreign ? " (in %.80s)" : " (in the expansion of %.80s)", t->macro);
    err_at(&trap->err, path, line, col, "launcher: %s%s", text, from);
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

bool token_in(const struct token *t, const char *list)
{
    return t->kind == TOK_WORD && str_in_n(t->s, t->len, list);
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

static _Noreturn void fail_at(struct unit *u, size_t at, const char *why)
{
    fail(u, &(struct token){.s = "", .at = at}, "%s", why);
}

/* `<:` and its like, which stand for other signs. */
static bool is_digraph(const char *t, size_t len, size_t i)
{
    static const char *const signs[] = {"<:", ":>", "<%", "%>", "%:"};

    for (size_t k = 0; k < ARRAY_LEN(signs); k++) {
        if (len - i < 2 || memcmp(t + i, signs[k], 2) != 0)
            continue;
        /* <::name is < and ::name */
        return k != 0 || len - i < 4 || t[i + 2] != ':' || t[i + 3] == ':' || t[i + 3] == '>';
    }
    return false;
}

struct token lex_token(struct unit *u, const char *t, size_t len, size_t i)
{
    struct token k = {.s = t + i, .at = i};
    size_t end;

    if (word_char(t[i]) && !isdigit((unsigned char)t[i])) {
        for (end = i; end < len && word_char(t[end]);)
            end++;
        k.kind = TOK_WORD;
        if (end < len && (t[end] == '"' || t[end] == '\'') && end - i <= 3) {
            size_t raw = 0;

            if (str_in_n(t + i, end - i, "L|u|U|u8|R|LR|uR|UR|u8R")) {
                if (t[end] == '"' && t[end - 1] == 'R')
                    raw = raw_end(t, len, end);
                k.kind = t[end] == '"' ? TOK_STRING : TOK_CHAR;
                end = raw ? raw : quoted_end(t, len, end);
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
        if (is_digraph(t, len, i))
            fail_at(u, i, "a digraph; write the sign itself: [ ] { } #");
        if (t[i] == '\\' || t[i] == '@' || t[i] == '`' || (unsigned char)t[i] < ' ')
            fail_at(u, i, "a character that begins no word and no sign");
    }
    for (size_t at = i; k.kind == TOK_WORD && at < end; at++) {
        if ((unsigned char)t[at] >= 0x80 && !u->any_words)
            fail_at(u, at, "a letter outside of ASCII in a name");
    }
    k.len = (uint32_t)(end - i);
    return k;
}

/* The length of a backslash that ends its line, with the line's end; 0 when it does not. */
static size_t splice_len(struct unit *u, size_t i)
{
    const char *t = u->text;
    size_t end = i + 1;

    if (t[i] != '\\')
        return 0;
    while (end < u->len && (t[end] == ' ' || t[end] == '\t' || t[end] == '\v' || t[end] == '\f'))
        end++;
    if (end < u->len && t[end] == '\r')
        end++;
    if (end >= u->len || t[end] != '\n')
        return 0;
    if (end - i > 2 || (end - i == 2 && t[i + 1] != '\r'))
        fail_at(u, i, "blanks between a backslash and the end of its line: compilers differ; remove them");
    return end + 1 - i;
}

static bool parts(char c)
{
    return isspace((unsigned char)c) || strchr("(){}[];,", c);
}

/* Lines joined between two tokens are nothing; within one they make it, which is refused. */
static size_t splice_end(struct unit *u, size_t i)
{
    size_t end = i, n;

    while (end < u->len && (n = splice_len(u, end)))
        end += n;
    if (end > i && i > 0 && end < u->len && !u->any_joins && !parts(u->text[i - 1]) && !parts(u->text[end]))
        fail_at(u, i,
                "a backslash joins what could be one word or sign; put a blank before it or join the lines");
    return end;
}

static size_t line_comment_end(struct unit *u, size_t i)
{
    size_t n;

    while (i < u->len && u->text[i] != '\n')
        i += (n = splice_len(u, i)) ? n : 1;
    return i;
}

static size_t block_comment_end(struct unit *u, size_t i)
{
    for (i += 2; i < u->len; i++) {
        size_t next = i + 1, n;

        if (u->text[i] != '*')
            continue;
        while (next < u->len && (n = splice_len(u, next)))
            next += n;
        if (next >= u->len || u->text[next] != '/')
            continue;
        if (next > i + 1)
            fail_at(u, i, "a backslash within the end of a comment; join the lines");
        return next + 1;
    }
    return u->len;
}

/* What compilers, or the host's and the device's, read in different ways. */
static void check_text(struct unit *u)
{
    const char *t = u->text;

    for (size_t i = 0; i < u->len; i++) {
        if (t[i] == '\r' && (i + 1 >= u->len || t[i + 1] != '\n'))
            fail_at(u, i, "a carriage return that ends no line; end lines with a line feed");
    }
}

/* Some compilers replace trigraphs; of those in a comment only the backslash's could end it elsewhere. */
static void check_trigraphs(struct unit *u, size_t from, size_t end, const char *third)
{
    const char *t = u->text;

    for (size_t i = from; i < end && i + 2 < u->len && !u->any_words; i++) {
        if (t[i] == '?' && t[i + 1] == '?' && t[i + 2] && strchr(third, t[i + 2]))
            fail_at(u, i, "a trigraph, which some compilers replace; write a blank between the question marks");
    }
}

static void find_lines(struct unit *u)
{
    vec_add(u->arena, &u->lines, 0);
    for (size_t at = 0; at < u->len; at++) {
        if (u->text[at] == '\n')
            vec_add(u->arena, &u->lines, at + 1);
    }
}

void lex_text(struct unit *u)
{
    const char *t = u->text;
    size_t len = u->len, i = 0;
    bool line_start = true, space = false;

    find_lines(u);
    if (!u->any_words)
        check_text(u);
    while (i < len) {
        size_t end;

        if (t[i] == '\n') {
            line_start = space = true;
            i++;
        } else if (t[i] == '\\' && splice_len(u, i)) {
            i = splice_end(u, i);
        } else if (isspace((unsigned char)t[i])) {
            space = true;
            i++;
        } else if (t[i] == '/' && i + 1 < len && (t[i + 1] == '/' || t[i + 1] == '*')) {
            end = MIN(t[i + 1] == '/' ? line_comment_end(u, i) : block_comment_end(u, i), len);
            vec_add(u->arena, &u->comments, ((struct comment){i, end}));
            check_trigraphs(u, i, end, "/");
            space = true;
            i = end;
        } else {
            struct token k = lex_token(u, t, len, i);

            k.line_start = line_start;
            k.space_before = space;
            check_trigraphs(u, i, i + k.len, "=/'()!<>-");
            if (u->raw.n >= MAX_TOKENS)
                fail(u, &k, "the file has more than %d words and signs", MAX_TOKENS);
            if (k.kind == TOK_STRING || k.kind == TOK_CHAR) {
                for (size_t at = i; at < i + k.len; at++)
                    splice_len(u, at); /* refuses blanks behind the backslash */
            }
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
