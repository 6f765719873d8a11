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

static const char *sensed_macro(const struct token *t)
{
    static const char *const exact[] = {"__FILE__",
                                        "__DATE__",
                                        "__TIME__",
                                        "__TIMESTAMP__",
                                        "__BASE_FILE__",
                                        "__FILE_NAME__",
                                        "__INCLUDE_LEVEL__",
                                        "__COUNTER__",
                                        "__has_include",
                                        "__has_include_next",
                                        "__NV_BUILTIN_HEADERS__"};
    static const char *const part[] = {"CUDACC", "NVCC", "NVRTC", "CC_RTC"};

    if (t->string || t->len >= 64)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(exact); i++)
        if (token_is(t, exact[i]))
            return exact[i];
    if (t->len > 6 && !memcmp(t->at, "ASTRA_", 6)) /* names of the stand-in headers */
        return "ASTRA_";
    /* also halves that ## would join */
    for (size_t i = 0; t->at[0] == '_' && i < ARRAY_LEN(part); i++)
        if (memmem(t->at, t->len, part[i], strlen(part[i])))
            return part[i];
    return NULL;
}

enum compile_end guard_text(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                            const char **words, int *line)
{
    int *line_of;
    const char *start = splice(a, q->text, &line_of), *at = start;
    struct token t, previous = {0};

    if (strlen(q->text) > (1u << 20)) {
        *words = "the file is larger than 1 MiB";
        return COMPILE_FAILED;
    }
    while (next_token(&at, start, line_of, &t)) {
        const char *sensed = sensed_macro(&t);
        bool directive = (token_is(&previous, "#") || token_is(&previous, "%:")) && previous.line_start;
        *line = t.line;
        if (sensed) {
            *words = arena_printf(a, "%.*s: a kernel may not ask which compiler builds it, or when", (int)t.len,
                                  t.at);
            return COMPILE_CHEAT;
        }
        if (directive && (token_is(&t, "include") || token_is(&t, "include_next") || token_is(&t, "import") ||
                          token_is(&t, "embed"))) {
            *words = token_is(&t, "include") ? include_fault(n, a, q, t.at + t.len)
                                             : arena_printf(a, "#%.*s is not allowed", (int)t.len, t.at);
            if (*words)
                return COMPILE_FAILED;
            at = t.at + strcspn(t.at, "\n"); /* <a/b> is no sequence of tokens */
        }
        previous = t;
    }
    *line = 0;
    return COMPILE_DONE;
}

/* A word of PTX (an opcode with its modifiers, a register, a name) and why it is refused. */
static const struct {
    const char *word;
    enum { WHOLE, PREFIX, PART } how;
    const char *why;
} ptx_denied[] = {
    {"%globaltimer", PREFIX, "reads the wall clock"},
    {"%clock", PREFIX, "reads the cycle counter"},
    {"%smid", WHOLE, "asks on which SM it runs"},
    {"%nsmid", WHOLE, "asks for the number of SMs"},
    {"%warpid", WHOLE, "asks on which hardware warp it runs"},
    {"%nwarpid", WHOLE, "asks for the number of hardware warps"},
    {"%gridid", WHOLE, "asks for the number of the launch"},
    {"%pm", PREFIX, "reads a performance counter"},
    {"%reserved_smem_offset_cap", WHOLE, "reads the driver's registers"},
    {"nanosleep", PREFIX, "sleeps"},
    {"pmevent", PREFIX, "triggers performance events"},
    {"brkpt", PREFIX, "stops in the debugger"},
    {"createpolicy", PREFIX, "pins lines in the L2 beyond its own launch"},
    {"evict_last", PART, "pins lines in the L2 beyond its own launch"},
    {"applypriority", PREFIX, "changes the priority of lines in the L2"},
    {"discard.", PREFIX, "drops memory's contents"},
    {"griddepcontrol", PREFIX, "starts the next kernel before this one is done"},
    {"cudaLaunchDevice", PREFIX, "launches kernels from the device"},
    {"cudaGetParameterBuffer", PREFIX, "launches kernels from the device"},
    {"cudaGraphLaunch", PREFIX, "launches graphs from the device"},
    {"__cudaCDP", PREFIX, "launches kernels from the device"},
};

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
                bool hit = ptx_denied[i].how == WHOLE    ? n == m && !memcmp(p, ptx_denied[i].word, m)
                           : ptx_denied[i].how == PREFIX ? n >= m && !memcmp(p, ptx_denied[i].word, m)
                                                         : memmem(p, n, ptx_denied[i].word, m) != NULL;
                if (!hit)
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
