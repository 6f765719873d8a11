/* What a candidate may not say. The text is read as the compiler's first phases do (lines spliced, comments and
 * strings set apart), because a check that a backslash at a line's end escapes is no check. docs/integrity.md
 * lists the rows. */
#include "internal.h"

#include <ctype.h>

struct token {
    const char *at; /* in the spliced text */
    size_t len;
    int line;
    bool line_start; /* first on its line */
    bool string;     /* a string or character literal */
};

/* The text without spliced newlines; line_of[i] is the line of byte i. Trigraphs are gone from C++17 on. */
static char *splice(struct arena *a, const char *text, int **line_of)
{
    size_t n = strlen(text), k = 0;
    char *to = arena_alloc(a, n + 1);
    int line = 1;

    *line_of = arena_alloc(a, (n + 1) * sizeof(int));
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\') {
            size_t j = i + 1;
            while (text[j] == ' ' || text[j] == '\t' || text[j] == '\r')
                j++;
            if (text[j] == '\n') {
                line++;
                i = j;
                continue;
            }
        }
        (*line_of)[k] = line;
        to[k++] = text[i];
        line += text[i] == '\n';
    }
    (*line_of)[k] = line;
    to[k] = 0;
    return to;
}

static const char *skip_raw_string(const char *p) /* p at the quote of R"x(...)x" */
{
    const char *open = strchr(p, '(');
    char close[32];

    if (!open || open - p > 17)
        return p + strlen(p);
    snprintf(close, sizeof(close), ")%.*s\"", (int)(open - p - 1), p + 1);
    const char *end = strstr(open, close);
    return end ? end + strlen(close) : p + strlen(p);
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool next_token(const char **at, const char *start, const int *line_of, struct token *t)
{
    const char *p = *at;
    bool fresh = p == start;

    for (;;) {
        if (*p == '\n') {
            fresh = true;
            p++;
        } else if (isspace((unsigned char)*p)) {
            p++;
        } else if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            break;
        }
    }
    if (!*p)
        return false;
    *t = (struct token){p, 1, line_of[p - start], fresh, false};
    if (*p == '"' || *p == '\'') {
        const char *q = p + 1;
        while (*q && *q != *p && *q != '\n')
            q += q[0] == '\\' && q[1] ? 2 : 1;
        t->len = (size_t)(q - p) + (*q == *p);
        t->string = true;
    } else if (word_char(*p)) {
        const char *q = p;
        /* A ' inside a number separates digits; inside a word it starts a literal. */
        while (word_char(*q) || (*q == '\'' && isdigit((unsigned char)*p) && word_char(q[1])))
            q++;
        t->len = (size_t)(q - p);
        if (*q == '"' && q[-1] == 'R' && t->len <= 3) {
            t->len = (size_t)(skip_raw_string(q) - p);
            t->string = true;
        }
    } else if (p[0] == '%' && p[1] == ':') { /* the digraph of # */
        t->len = 2;
    }
    *at = p + t->len;
    return true;
}

static bool token_is(const struct token *t, const char *word)
{
    return !t->string && strlen(word) == t->len && !memcmp(t->at, word, t->len);
}

static bool token_in(const struct token *t, const char *list)
{
    return !t->string && str_in_n(t->at, t->len, list);
}

static bool reachable(const struct nvrtc *n, const struct compile_request *q, const char *name)
{
    static const char *const below[] = {"", "cccl/"};
    char path[1200];

    if (name[0] == '/' || strstr(name, "..") || strchr(name, '\\'))
        return false;
    for (size_t i = 0; i < q->n_headers; i++)
        if (!strcmp(q->headers[i].name, name))
            return true;
    snprintf(path, sizeof(path), SHIMS "%s", name);
    if (share_find(path))
        return true;
    for (size_t i = 0; n->include_dir[0] && i < ARRAY_LEN(below); i++) {
        snprintf(path, sizeof(path), "%s/%s%s", n->include_dir, below[i], name);
        if (fs_exists(path) && !fs_is_dir(path))
            return true;
    }
    return false;
}

static const char *include_fault(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                                 const char *after)
{
    const char *p = after + strspn(after, " \t");
    char close = *p == '<' ? '>' : '"';

    if (*p != '<' && *p != '"')
        return "an #include must name its file directly, as <name> or \"name\"";
    size_t len = strcspn(p + 1, close == '>' ? ">\n" : "\"\n");
    char *name = arena_strndup(a, p + 1, len);
    if (p[1 + len] != close || reachable(n, q, name))
        return NULL; /* an unclosed name is the compiler's business */
    if (!n->include_dir[0])
        return arena_printf(
            a,
            "cannot include %s: no CUDA headers were found beside %s (pip install nvidia-cuda-runtime "
            "nvidia-cuda-cccl, or set ASTRA_CUDA_INCLUDE)",
            name, n->path);
    return arena_printf(
        a,
        "cannot include %s: only the CUDA toolkit's headers, the common standard headers and those the "
        "task lists under headers: can be included",
        name);
}

static bool is_sensed(const struct token *t)
{
    static const char exact[] =
        "__FILE__|__DATE__|__TIME__|__TIMESTAMP__|__BASE_FILE__|__FILE_NAME__|__INCLUDE_LEVEL__|__COUNTER__|"
        "__builtin_FILE|__builtin_FILE_NAME|__builtin_source_location|source_location|__has_include|"
        "__has_include_next|__NV_BUILTIN_HEADERS__";
    static const char *const part[] = {"CUDACC", "NVCC", "NVRTC", "CC_RTC"};

    if (t->string || t->len >= 64)
        return false;
    if (str_in_n(t->at, t->len, exact) ||
        (t->len > 6 && !memcmp(t->at, "ASTRA_", 6))) /* of the stand-in headers */
        return true;
    /* also halves that ## would join */
    for (size_t i = 0; t->at[0] == '_' && i < ARRAY_LEN(part); i++)
        if (memmem(t->at, t->len, part[i], strlen(part[i])))
            return true;
    return false;
}

/* ---- what conditions of the preprocessor ask for ---- */

struct span { /* of the spliced text */
    const char *from, *to;
};

struct macro {
    struct token name;
    struct span body; /* with its parameters */
};

struct conditions {
    const char *start;
    int *line_of;
    VEC(struct macro) macros;
    VEC(struct span) asked; /* conditions, and the macros that stand in them */
    struct span guard;      /* #ifndef as the first directive: harmless when its #endif ends the file */
    size_t directives, depth;
    bool closed, broken; /* the guard is; something follows, or stands in its stead */
};

/* Names that are the compiler's, the standard library's or a platform's: what they say differs between the
 * compilers that judge and ship, also where a file defines what is not defined yet. These do not differ, or are
 * nowhere defined where CUDA is built on this system. */
static bool is_reserved(const struct token *t)
{
    static const char *const harmless[] = {"__CUDA_ARCH__",
                                           "__CUDA_ARCH_FEAT",
                                           "__CUDA_ARCH_SPECIFIC",
                                           "__cplusplus",
                                           "__HIP",
                                           "_WIN",
                                           "_MSC_VER",
                                           "__APPLE",
                                           "__GFX",
                                           "__gfx",
                                           "__AMDGCN"};

    if (token_in(t, "linux|unix"))
        return true;
    if (t->string || t->at[0] != '_')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (t->len >= strlen(harmless[i]) && !memcmp(t->at, harmless[i], strlen(harmless[i])))
            return false;
    return true;
}

static void note_directive(struct conditions *c, const struct token *directive)
{
    const char *at = directive->at + directive->len, *end = at + strcspn(at, "\n");
    const struct span line = {at, end};
    struct token name;

    if (token_is(directive, "define") && next_token(&at, c->start, c->line_of, &name) && name.at < end)
        vec_push(&c->macros, ((struct macro){name, {at, end}}));
    if (token_in(directive, "if|ifdef|ifndef")) {
        c->depth++;
        if (c->directives == 0 && token_is(directive, "ifndef"))
            c->guard = line;
        else
            vec_push(&c->asked, line);
    } else if (token_in(directive, "else|elif|elifdef|elifndef")) {
        c->broken |= c->depth == 1;
        vec_push(&c->asked, line);
    } else if (token_is(directive, "endif")) {
        c->depth -= c->depth > 0;
        c->closed |= c->depth == 0;
    }
    c->directives++;
}

static const char *condition_fault(struct conditions *c, struct arena *a, int *line)
{
    if (c->guard.from && (c->broken || !c->closed))
        vec_push(&c->asked, c->guard);
    for (size_t i = 0; i < c->asked.n; i++) {
        const char *at = c->asked.v[i].from;
        struct token t;
        while (next_token(&at, c->start, c->line_of, &t) && t.at < c->asked.v[i].to) {
            if (is_reserved(&t)) {
                *line = t.line;
                return arena_printf(a,
                                    "a condition asks for %.*s: a kernel may not ask which compiler builds it",
                                    (int)t.len, t.at);
            }
            for (size_t k = 0; k < c->macros.n; k++) {
                struct macro *m = &c->macros.v[k];
                if (m->body.from && m->name.len == t.len && !memcmp(m->name.at, t.at, t.len)) {
                    vec_push(&c->asked, m->body);
                    m->body.from = NULL; /* once */
                }
            }
        }
    }
    return NULL;
}

static enum compile_end read_text(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                                  struct conditions *c, const char **words, int *line)
{
    const char *at = c->start;
    struct token t, previous = {0};

    while (next_token(&at, c->start, c->line_of, &t)) {
        bool directive = (token_is(&previous, "#") || token_is(&previous, "%:")) && previous.line_start;
        c->broken |= c->closed;
        *line = t.line;
        if (is_sensed(&t)) {
            *words = arena_printf(a, "%.*s: a kernel may not ask which compiler builds it, or when", (int)t.len,
                                  t.at);
            return COMPILE_CHEAT;
        }
        if (directive)
            note_directive(c, &t);
        if (directive && token_in(&t, "include|include_next|import|embed")) {
            *words = token_is(&t, "include") ? include_fault(n, a, q, t.at + t.len)
                                             : arena_printf(a, "#%.*s is not allowed", (int)t.len, t.at);
            if (*words)
                return COMPILE_FAILED;
            at = t.at + strcspn(t.at, "\n"); /* <a/b> is no sequence of tokens */
        }
        previous = t;
    }
    *line = 0;
    *words = condition_fault(c, a, line);
    return *words ? COMPILE_CHEAT : COMPILE_DONE;
}

enum compile_end guard_text(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                            const char **words, int *line)
{
    int *line_of;
    const char *start = splice(a, q->text, &line_of);
    struct conditions c = {.start = start, .line_of = line_of};

    if (strlen(q->text) > (1u << 20)) {
        *words = "the file is larger than 1 MiB";
        return COMPILE_FAILED;
    }
    enum compile_end end = read_text(n, a, q, &c, words, line);
    vec_free(&c.macros);
    vec_free(&c.asked);
    return end;
}

/* A word of PTX (an opcode with its modifiers, a register, a name) and why it is refused. */
static const struct {
    const char *word;
    enum { WHOLE, PREFIX } how;
    const char *why;
} ptx_denied[] = {
    {"%globaltimer", PREFIX, "reads the wall clock"},
    {"%clock", PREFIX, "reads the cycle counter"},
    {"%smid", WHOLE, "asks on which SM it runs"},
    {"%nsmid", WHOLE, "asks for the number of SMs"},
    {"%warpid", WHOLE, "asks on which hardware warp it runs"},
    {"%nwarpid", WHOLE, "asks for the number of hardware warps"},
    {"%gridid", WHOLE, "asks for the number of the launch"},
    {"%current_graph_exec", WHOLE, "asks whether it runs in a graph"},
    {"%pm", PREFIX, "reads a performance counter"},
    {"%reserved_smem_offset", PREFIX, "reads the driver's registers"},
    {"%envreg", PREFIX, "reads the driver's registers"},
    {"pmevent", PREFIX, "triggers performance events"},
    {"brkpt", PREFIX, "stops in the debugger"},
    {"cudaLaunchDevice", PREFIX, "launches kernels from the device"},
    {"cudaGetParameterBuffer", PREFIX, "launches kernels from the device"},
    {"cudaGraphLaunch", PREFIX, "launches graphs from the device"},
    {"__cudaCDP", PREFIX, "launches kernels from the device"},
};

/* Where a barrier of the whole grid has its counter. */
static bool is_grid_barrier(const char *word, size_t n)
{
    return n == 8 && (!memcmp(word, "%envreg1", n) || !memcmp(word, "%envreg2", n));
}

static bool ptx_word_char(char c)
{
    return isalnum((unsigned char)c) || strchr("_%$.:", c) != NULL;
}

static int line_of_loc(const char *loc) /* ".loc 1 23 4" */
{
    int file, line;

    return sscanf(loc, ".loc %d %d", &file, &line) == 2 ? line : 0;
}

enum compile_end guard_ptx(struct arena *a, const char *ptx, size_t len, const char **words, int *line)
{
    const char *end = ptx + len;
    int at_line = 0;

    for (const char *p = ptx; p < end;) {
        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *close = strstr(p + 2, "*/");
            p = close ? close + 2 : end;
        } else if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                ;
            p++;
        } else if (*p && ptx_word_char(*p)) {
            size_t n = 1;
            while (p[n] && ptx_word_char(p[n]))
                n++;
            if (n == 4 && !memcmp(p, ".loc", 4))
                at_line = line_of_loc(p);
            for (size_t i = 0; i < ARRAY_LEN(ptx_denied); i++) {
                size_t m = strlen(ptx_denied[i].word);
                bool hit = (ptx_denied[i].how == WHOLE ? n == m : n >= m) && !memcmp(p, ptx_denied[i].word, m);
                if (!hit || is_grid_barrier(p, n))
                    continue;
                *words =
                    arena_printf(a, "the kernel %s (%.*s in its PTX)", ptx_denied[i].why, (int)MIN(n, 60u), p);
                *line = at_line;
                return COMPILE_CHEAT;
            }
            p += n;
        } else {
            p++;
        }
    }
    return COMPILE_DONE;
}
