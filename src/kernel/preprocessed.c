/* What was understood of a file, beside what the host compiler's preprocessor makes of it. Macros of headers
 * are not known here, so what was understood goes through the same preprocessor: then both have them expanded.
 * The outputs are read as hostile: a line that claims to be another file's would hide code from the comparison.
 */
#include "kernel/internal.h"

#include <ctype.h>

enum { WORDS_A_LINE = 16 };

static void add_include(const struct inclusion *x, size_t at, struct str *s)
{
    if (x->before == at)
        str_addf(s, "\n#include %s\n", x->name);
}

char *kernel_understood_text(struct arena *a, const struct kernel *k)
{
    const struct unit *u = k->unit;
    struct str s = {0};
    size_t next = 0;

    for (size_t i = 0; i < u->tokens.n; i++) {
        const struct token *t = &u->tokens.v[i];

        for (; next < u->inclusions.n && u->inclusions.v[next].before <= i; next++)
            add_include(&u->inclusions.v[next], u->inclusions.v[next].before, &s);
        if (t->kind == TOK_END)
            break;
        /* A # that begins a line would be a directive. */
        str_addc(&s, i % WORDS_A_LINE == 0 && !token_is(t, "#") ? '\n' : ' ');
        str_addn(&s, t->s, t->len);
    }
    for (; next < u->inclusions.n; next++)
        add_include(&u->inclusions.v[next], u->inclusions.v[next].before, &s);
    str_addc(&s, '\n');
    char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* ---- outputs of a preprocessor */

struct output {
    const struct kernel_output *of;
    struct unit unit;
    size_t i, markers;
    int line; /* of the present file */
    bool own; /* the present file is the kernel's or one of its headers */
    const char *name;
    size_t name_len;
    struct token token;  /* the present one; TOK_END at the end */
    struct str *pragmas; /* of the file's own, as they come; NULL: nobody asks */
};

/* In the folder of the file itself. */
static bool is_own(const struct output *o, const char *name, size_t len)
{
    const char *slash = strrchr(o->of->path, '/');
    size_t folder = slash ? (size_t)(slash - o->of->path) + 1 : 0;

    return folder ? len > folder && memcmp(name, o->of->path, folder) == 0
                  : len == strlen(o->of->path) && memcmp(name, o->of->path, len) == 0;
}

static _Noreturn void bad(struct output *o, const char *words)
{
    fail(&o->unit, NULL, "%s", words);
}

/* # 12 "name" flags: 1 enters a file, 2 comes back to it. */
static void read_marker(struct output *o, const char *s, const char *end)
{
    bool enters = false, returns = false, first = o->markers++ < 4;
    long line = strtol(s, (char **)(uintptr_t)&s, 10);
    const char *name, *quote;

    while (s < end && *s == ' ')
        s++;
    if (s >= end || *s != '"')
        bad(o, "a line's place is not understood");
    name = s + 1;
    for (quote = name; quote < end && *quote != '"'; quote++)
        quote += *quote == '\\' && quote + 1 < end;
    for (s = quote + 1; s < end; s++) {
        enters |= *s == '1';
        returns |= *s == '2';
    }
    size_t len = (size_t)MAX(quote - name, 0);
    bool same = o->name && len == o->name_len && memcmp(name, o->name, len) == 0;
    /* Without a flag only the compiler's own beginning changes the file; else a #line did. */
    if (!same && !enters && !returns && !first && !(o->name_len && o->name[0] == '<'))
        bad(o, "a line that claims to be another file's");
    o->name = name;
    o->name_len = len;
    o->own = is_own(o, name, len);
    o->line = line < 0 || line > 1 << 24 ? 0 : (int)line;
}

static void take_pragma(struct output *o, const char *line, size_t len)
{
    o->line++;
    if (o->own && o->pragmas)
        str_addf(o->pragmas, "\n%.*s\n#line %d\n", (int)len, line, o->line);
}

/* The next word or sign of the file's own lines. */
static void advance(struct output *o)
{
    const char *t = o->unit.text;
    size_t len = o->unit.len;

    o->token = (struct token){.kind = TOK_END, .s = "", .at = len};
    while (o->i < len) {
        bool line_start = o->i == 0 || t[o->i - 1] == '\n';
        const char *newline = memchr(t + o->i, '\n', len - o->i);
        size_t end = newline ? (size_t)(newline - t) + 1 : len;

        if (line_start && t[o->i] == '#') {
            if (o->i + 2 < len && t[o->i + 1] == ' ' && isdigit((unsigned char)t[o->i + 2]))
                read_marker(o, t + o->i + 2, t + end);
            else
                take_pragma(o, t + o->i, end - o->i);
            o->i = end;
        } else if (!o->own) {
            o->i = end;
        } else if (isspace((unsigned char)t[o->i])) {
            o->line += t[o->i++] == '\n';
        } else {
            o->token = lex_token(&o->unit, t, len, o->i);
            /* <<< and >>, which macros and templates put together in ways of their own */
            if (strspn(o->token.s, "<>") >= o->token.len)
                o->token.len = 1;
            for (size_t k = 0; k < o->token.len; k++)
                o->line += o->token.s[k] == '\n';
            o->i += o->token.len;
            return;
        }
    }
}

static void output_open(struct output *o, const struct kernel_output *of, struct arena *a, struct trap *trap)
{
    *o = (struct output){.of = of, .line = 1};
    o->unit = (struct unit){.arena = a, .path = of->path, .text = of->text, .len = of->len, .trap = trap};
}

static void add_words(struct output *o, struct str *s)
{
    size_t end = 0;
    int line = 1;

    for (advance(o); o->token.kind != TOK_END; advance(o)) {
        if (o->line > line && o->line - line < 1 << 16) /* on its own line, for messages and __LINE__ */
            for (; line < o->line; line++)
                str_addc(s, '\n');
        else if (o->i - o->token.len > end) /* what stands together may be one sign */
            str_addc(s, ' ');
        str_addn(s, o->token.s, o->token.len);
        end = o->i;
    }
    str_addc(s, '\n');
}

/* `#define __CUDA_NO_HALF_OPERATORS__` and its like say what the headers behind it declare. */
static void add_settings(const struct unit *u, struct str *s)
{
    const struct token *v = u->raw.v;

    for (size_t i = 0; i + 3 < u->raw.n; i++) {
        size_t end = i + 2;

        if (!v[i].line_start || !token_is(&v[i], "#") || !token_is(&v[i + 1], "define") || v[end].s[0] != '_')
            continue;
        while (!v[end + 1].line_start && v[end + 1].kind != TOK_END)
            end++;
        str_addf(s, "%.*s\n", (int)(v[end].at + v[end].len - v[i].at), u->text + v[i].at);
    }
}

char *kernel_own_words(struct arena *a, const struct kernel *k, const struct kernel_output *of,
                       const char *before, struct err *err)
{
    const struct unit *u = k->unit;
    struct str s = {.arena = a};
    struct trap trap = {.up = NULL};
    struct output o;

    output_open(&o, of, a, &trap);
    o.pragmas = &s;
    add_settings(u, &s);
    for (size_t i = 0; i < u->inclusions.n; i++)
        add_include(&u->inclusions.v[i], u->inclusions.v[i].before, &s);
    str_addf(&s, "%s#line 1\n", before);
    if (setjmp(trap.jump)) {
        err_at(err, k->path, o.line, 1, "as nvcc reads it: %s", trap.err.text);
        return NULL;
    }
    add_words(&o, &s);
    return str_take(&s, a);
}

static bool same_token(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

/* __FILE__ and __LINE__: each of the two texts lies in a file of its own, and has lines of its own. */
static bool says_own_place(const struct output *o)
{
    const struct token *t = &o->token;
    size_t len = strlen(o->of->path);

    if (t->kind == TOK_NUMBER)
        return t->len < 10 && strtol(t->s, NULL, 10) == o->line;
    return t->kind == TOK_STRING && t->len == len + 2 && memcmp(t->s + 1, o->of->path, len) == 0;
}

static bool same_word(const struct output *a, const struct output *b)
{
    return same_token(&a->token, &b->token) ||
           (a->token.kind == b->token.kind && says_own_place(a) && says_own_place(b));
}

/* assert quotes its argument and says its line: that is not what it computes. */
static void skip_quotes(struct output *a, struct output *b)
{
    advance(a);
    advance(b);
    for (int depth = 0; a->token.kind != TOK_END && same_token(&a->token, &b->token) && !depth;) {
        depth += token_is(&a->token, "(");
        advance(a);
        advance(b);
    }
    for (int i = 0; i < 5 && a->token.kind == b->token.kind; i++) {
        bool skipped = a->token.kind == TOK_STRING || a->token.kind == TOK_NUMBER;

        if (!skipped && !(token_is(&a->token, ",") && token_is(&b->token, ",")))
            break;
        advance(a);
        advance(b);
    }
}

/* `#line`, or its short form `# 12 "name"`, in the file itself. */
static int line_directive(const char *t)
{
    int line = 1;

    for (size_t i = 0; t[i]; i++) {
        size_t at = i + 1, before = i;

        line += t[i] == '\n';
        if (t[i] != '#')
            continue;
        while (before > 0 && (t[before - 1] == ' ' || t[before - 1] == '\t'))
            before--;
        bool comment = before > 1 && t[before - 1] == '/' && t[before - 2] == '*';
        if (before > 0 && t[before - 1] != '\n' && !comment)
            continue;
        while (t[at] == ' ' || t[at] == '\t')
            at++;
        if (isdigit((unsigned char)t[at]) || strncmp(t + at, "line", 4) == 0)
            return line;
    }
    return 0;
}

static const char *shown(struct arena *a, const struct token *t)
{
    return t->kind == TOK_END ? "its end" : arena_strndup(a, t->s, MIN(t->len, 60u));
}

bool kernel_same_words(const struct kernel *k, const struct kernel_output *theirs,
                       const struct kernel_output *ours, struct err *err)
{
    struct arena *scratch = arena_open();
    struct trap trap = {.up = NULL};
    struct output a, b;
    char *text = arena_strdup(scratch, k->text);
    int line;

    origin_blank(text); /* as it was when it was compiled */
    line = line_directive(text);
    output_open(&a, theirs, scratch, &trap);
    output_open(&b, ours, scratch, &trap);
    if (line) {
        err_at(err, k->path, line, 1, "a directive that renames lines: what is compiled cannot be compared");
        arena_close(scratch);
        return false;
    }
    if (setjmp(trap.jump)) {
        err_at(err, k->path, a.line, 1, "as the host compiler reads it: %s", trap.err.text);
        arena_close(scratch);
        return false;
    }
    for (advance(&a), advance(&b); same_word(&a, &b);) {
        if (a.token.kind == TOK_END)
            break;
        if (token_is(&a.token, "__assert_fail")) {
            skip_quotes(&a, &b);
        } else {
            advance(&a);
            advance(&b);
        }
    }
    bool same = same_word(&a, &b);
    if (!same)
        err_at(
            err, k->path, a.line, 1,
            "the host compiler reads `%s` where the judge understood `%s`: what would be shipped is not what was "
            "judged",
            shown(scratch, &a.token), shown(scratch, &b.token));
    arena_close(scratch);
    return same;
}

/* Members and specialisations: does the token stand in the body of a function whose own head says that a device
 * alone has it? A body stands behind `)`, or a word behind that; every other brace holds declarations. */
static bool in_device_body(const struct unit *u, const struct region *r, size_t at)
{
    bool device = false, host = false; /* said since the declaration began */
    int round = 0, body = 0;           /* brackets that are open */

    for (size_t i = r->first; i < at; i++) {
        const struct token *t = &u->tokens.v[i];
        bool opens = token_is(t, "{"), closes = token_is(t, "}");

        if (body) {
            body += opens - closes;
        } else {
            round += token_is(t, "(") - token_is(t, ")");
            if (round)
                continue;
            device |= token_in(t, "__device__|__global__");
            host |= token_is(t, "__host__");
            body = opens && i > r->first &&
                   (token_is(t - 1, ")") || token_in(t - 1, "const|noexcept|override|final"));
        }
        if (!body && (opens || closes || token_is(t, ";")))
            device = host = false;
    }
    return body && device && !host;
}

static const struct token *assembler_text(const struct unit *u)
{
    for (size_t i = 0, r = 0; i < u->tokens.n; i++) {
        const struct token *t = &u->tokens.v[i];
        const struct region *in;

        if (!token_is(t, "asm") && !token_is(t, "__asm__") && !token_is(t, "__asm"))
            continue;
        while (r < u->regions.n && u->regions.v[r].last <= i)
            r++;
        in = r < u->regions.n && u->regions.v[r].first <= i ? &u->regions.v[r] : NULL;
        bool on_device = in && (in->func ? in->func->is_global || (in->func->is_device && !in->func->is_host)
                                         : in_device_body(u, in, i));
        if (!on_device)
            return t;
    }
    return NULL;
}

/* A function that says it runs by itself, a variable of the host's that is more than a constant, or a type's
 * declaration that ends in one. */
static const struct token *not_constant(const struct unit *u)
{
    for (size_t i = 0; i < u->tokens.n; i++)
        if (token_is(&u->tokens.v[i], "constructor") || token_is(&u->tokens.v[i], "__constructor__"))
            return &u->tokens.v[i];
    for (const struct region *r = u->regions.v; r < u->regions.v + u->regions.n; r++) {
        const struct token *v = u->tokens.v;
        bool call = false, constant = true;

        if (r->func || r->last <= r->first + 1)
            continue;
        for (size_t k = 0; k < r->n_globals; k++) {
            const struct global *g = u->globals.v[r->first_global + k];
            constant &= g->device || g->usable;
        }
        for (size_t k = r->first; k < r->last; k++)
            call |= token_is(&v[k], "(");
        bool type = token_is(&v[r->last - 2], "}") && !r->n_globals;
        bool alias = token_is(&v[r->first], "using") || token_is(&v[r->first], "typedef") ||
                     token_is(&v[r->first], "static_assert");
        bool function = !r->n_globals && in_device_body(u, r, r->last - 1);
        if (!constant || (!r->n_globals && !type && !alias && !function) ||
            (r->n_globals && call && !u->globals.v[r->first_global]->device &&
             !u->globals.v[r->first_global]->decl.is_constexpr))
            return &v[r->first];
    }
    return NULL;
}

bool kernel_host_is_plain(const struct kernel *k, bool constants, struct err *err)
{
    const struct token *assembler = assembler_text(k->unit),
                       *variable = constants ? not_constant(k->unit) : NULL,
                       *t = assembler ? assembler : variable;
    int line, col;

    if (!t)
        return true;
    unit_place(k->unit, t->at, &line, &col);
    err_at(err, k->path, line, col,
           assembler ? "assembler text in host code" : "code that runs before anything is asked");
    return false;
}

/* The last word of a mangled name that is not the standard library's: _ZN1a4evilEi is of evil. */
static size_t last_word(const char *name, const char **word)
{
    size_t len = 0;

    *word = name;
    if (strncmp(name, "_Z", 2) != 0)
        return strlen(name);
    if (strncmp(name, "_ZNSt", 5) == 0 || strncmp(name, "_ZSt", 4) == 0 || strncmp(name, "_ZNKSt", 6) == 0)
        return 0;
    for (const char *s = name + 2; *s;) {
        if (!isdigit((unsigned char)*s)) {
            if (len && *s != 'C' && *s != 'L')
                break;
            s++;
            continue;
        }
        len = strtoul(s, (char **)(uintptr_t)&s, 10);
        *word = s;
        if (len > strlen(s))
            return 0;
        s += len;
    }
    return len;
}

static bool declares_only(const struct unit *u, const char *word, size_t len)
{
    bool declares = false;

    for (size_t i = 0; i < u->funcs.n; i++) {
        const struct func *f = u->funcs.v[i];

        if (strlen(f->name) != len || memcmp(f->name, word, len) != 0)
            continue;
        if (f->body || f->tree)
            return false;
        declares = true;
    }
    return declares;
}

bool kernel_calls_none(const struct kernel *k, const struct kernel *original, const char *const *names,
                       size_t n, struct err *err)
{
    const struct unit *u = k->unit;

    for (size_t i = 0; i < n; i++) {
        const char *word;
        size_t len = last_word(names[i], &word);
        int line, col;

        if (original && declares_only(original->unit, word, len))
            continue;
        for (const struct token *at = u->tokens.v; len && at < u->tokens.v + u->tokens.n; at++) {
            if (at->kind != TOK_WORD || at->len != len || memcmp(at->s, word, len) != 0)
                continue;
            unit_place(u, at->at, &line, &col);
            err_at(err, u->path, line, col, "the host code calls %.*s, which no launcher needs", (int)len,
                   word);
            return false;
        }
    }
    return true;
}
