/* kernel.cu: the wanted declarations in the framework's own words and order, each behind a #line of its place,
 * in their namespaces; before them the toolkit's headers and what torch's headers would have given
 * (share/init). origin.json: from which files, at which hashes, every one of them came. */
#include "init/wrapper.h"

#include <ctype.h>

struct writer {
    struct init_source *s;
    struct str out;
    const char *scope; /* that is open */
    bool extern_c;
};

static char *with_edits(struct init_source *s, struct init_span span, char *text)
{
    struct str out = {.arena = s->arena};
    size_t at = 0;

    for (size_t i = 0; i < s->edits.n; i++) {
        const struct init_edit *e = &s->edits.v[i];

        if (e->span.start < span.start + at || e->span.end > span.end)
            continue;
        str_addn(&out, text + at, e->span.start - span.start - at);
        str_add(&out, e->text);
        at = e->span.end - span.start;
        for (const char *p = text + (e->span.start - span.start); p < text + at; p++) {
            if (*p == '\n')
                str_add(&out, " \\\n"); /* as many lines as before */
        }
    }
    str_add(&out, text + at);
    return arena_strdup(s->arena, str_text(&out));
}

/* `register int i` says nothing any more, and C++17 does not take it; NVRTC does not know `__extension__`:
 * blank. */
static void blank_words(char *text)
{
    static const char word[] = "register", extension[] = "__extension__";
    char *p = text;

    while ((p = (char *)str_find_word(text, p, extension)))
        memset(p, ' ', strlen(extension));
    p = text;
    while ((p = (char *)str_find_word(text, p, word))) {
        const char *next = p + strlen(word);
        if (*next == ' ' && next[strspn(next, " ")] != '\0' && !strchr("\"=;,)", next[strspn(next, " ")]))
            memset(p, ' ', strlen(word));
        p += strlen(word);
    }
}

/* text: of span; of it what lies in c. */
static void blank(char *text, struct init_span span, struct init_span c)
{
    for (size_t at = MAX(c.start, span.start); at < MIN(c.end, span.end); at++) {
        char *p = &text[at - span.start];

        if (*p != '\n' && *p != '\r')
            *p = ' ';
    }
}

/* The bytes of [first, end) as the file has them, blank where a decided condition leaves something out: lines
 * and columns stay. */
static char *own_text(struct init_source *s, struct init_span span, const struct init_file *f)
{
    char *text = arena_strndup(s->arena, f->text + (span.start - f->base), span.end - span.start);

    for (size_t i = 0; i < s->cuts.n; i++)
        blank(text, span, s->cuts.v[i]);
    for (size_t i = 0; i < s->members.n; i++)
        blank(text, span, s->members.v[i]);
    blank_words(text);
    return with_edits(s, span, text);
}

static void add_line(struct writer *w, size_t at)
{
    int line, col;
    const struct init_file *f = init_place(w->s, at, &line, &col);

    str_addf(&w->out, "#line %d \"%s\"\n%*s", line, f->path, col - 1, "");
}

static const char *part(struct arena *a, const char **scope)
{
    const char *end = strstr(*scope, "::");
    const char *word = arena_strndup(a, *scope, (size_t)(end - *scope));

    *scope = end + 2;
    return strcmp(word, "{}") == 0 ? "" : word;
}

static void leave(struct writer *w)
{
    const char *rest = w->scope;

    while (*rest) {
        part(w->s->arena, &rest);
        str_add(&w->out, "}\n");
    }
    if (w->extern_c)
        str_add(&w->out, "}\n");
    w->scope = "";
    w->extern_c = false;
}

static void enter(struct writer *w, const char *scope, bool extern_c)
{
    const char *rest = scope;

    if (strcmp(w->scope, scope) == 0 && w->extern_c == extern_c)
        return;
    leave(w);
    if (extern_c)
        str_add(&w->out, "extern \"C\" {\n");
    while (*rest) {
        const char *name = part(w->s->arena, &rest);

        str_addf(&w->out, "namespace%s%s {\n", *name ? " " : "", name);
    }
    w->scope = scope;
    w->extern_c = extern_c;
}

static const struct init_file *file_of(const struct init_source *s, size_t at)
{
    int line, col;

    return init_place(s, at, &line, &col);
}

/* `#define UNROLL #pragma unroll`, which nvcc alone takes: with the operator that the language has for it. */
static char *with_operator(struct init_source *s, char *text)
{
    char *sign = *text == '#' ? strchr(text + 1, '#') : NULL, *words = sign ? sign + 1 : NULL, *end;

    while (words && *words == ' ')
        words++;
    if (!words || !str_starts(words, "pragma ") || strpbrk(words, "\"\\\n"))
        return text;
    words += strlen("pragma ");
    end = words + strlen(words);
    while (end > words && isspace((unsigned char)end[-1]))
        end--;
    return arena_printf(s->arena, "%.*s_Pragma(\"%.*s\")%s", (int)(sign - text), text, (int)(end - words),
                        words, end);
}

static void add_span(struct writer *w, struct init_span span, const char *cond)
{
    if (cond)
        str_addf(&w->out, "#if %s\n", cond);
    add_line(w, span.start);
    char *text = own_text(w->s, span, file_of(w->s, span.start));
    if (*text == '#')
        text = with_operator(w->s, text);
    /* what reports where it stands: its file's name is no question to the compiler */
    if (strstr(text, "__FILE__"))
        text =
            str_replace_word(w->s->arena, text, "__FILE__",
                             arena_printf(w->s->arena, "\"%s\"", fs_basename(file_of(w->s, span.start)->path)));
    str_add(&w->out, text);
    str_addc(&w->out, '\n');
    if (cond)
        str_add(&w->out, "#endif\n");
}

static struct init_span span_of(const struct init_source *s, const struct init_decl *d)
{
    const struct token *last = &s->tokens.v[d->end - 1];

    return (struct init_span){s->tokens.v[d->first].at, last->at + last->len};
}

static int lines_of(const char *text)
{
    int n = 0;

    while ((text = strchr(text, '\n'))) {
        text++;
        n++;
    }
    return n;
}

static void add_decl(struct writer *w, struct init_decl *d)
{
    struct init_source *s = w->s;
    struct init_span span = span_of(s, d);

    enter(w, d->scope, d->in_extern_c);
    d->line = lines_of(str_text(&w->out));
    if (file_of(s, span.start) == file_of(s, span.end))
        add_span(w, span, d->cond);
    else /* an #include within it */
        str_addf(&w->out, "%s\n", init_text(s, d->first, d->end));
}

/* Of `using namespace x`: what is kept may open x only behind it. */
static void open_before(struct writer *w, size_t i)
{
    const struct init_source *s = w->s;
    const struct token *first = &s->tokens.v[s->decls.v[i].first], *last = &s->tokens.v[s->decls.v[i].end - 2];

    if (s->decls.v[i].kind != INIT_USING || !token_is(first + 1, "namespace"))
        return;
    for (size_t k = 0; k < s->decls.n; k++) {
        if (!s->decls.v[k].wanted || !init_ends_in(s->decls.v[k].scope, last->s, last->len))
            continue;
        if (k > i)
            enter(w, s->decls.v[k].scope, false);
        return;
    }
}

/* A header of a library that the text names. */
static bool library_of(const char *text, const char *header)
{
    static const char *const libraries[][2] = {{"<cub/", "cub"},
                                               {"<cuda/", "cuda"},
                                               {"<cooperative_groups", "cooperative_groups"},
                                               {"<mma.h>", "nvcuda"}};

    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        if (str_starts(header, libraries[i][0]) && !(i == 1 && strchr(header, '.')))
            return str_has_word(text, libraries[i][1]);
    }
    return str_starts(header, "<curand_") && strstr(text, "curand"); /* curandState, curand_init, ... */
}

/* The toolkit's and standard headers that device code may need, in the order met. */
static void add_headers(struct init_source *s, const char *text, struct str *out)
{
    static const char *const always[] = {"<cstdint>", "<cuda_fp16.h>", "<cuda_bf16.h>"};
    static const char *const for_std[] = {"<algorithm>", "<cfloat>",      "<cmath>",
                                          "<limits>",    "<type_traits>", "<utility>"};
    static const struct {
        const char *word, *header;
    } for_words[] = {{"FLT_MAX", "<cfloat>"},
                     {"FLT_MIN", "<cfloat>"},
                     {"FLT_EPSILON", "<cfloat>"},
                     {"DBL_MAX", "<cfloat>"},
                     {"INT_MAX", "<climits>"},
                     {"assert", "<cassert>"},
                     {"__nv_fp8_e4m3", "<cuda_fp8.h>"},
                     {"Float8_e4m3fn", "<cuda_fp8.h>"},
                     {"CUtensorMap", "<cuda.h>"},
                     {"memset", "<cstring>"},
                     {"memcpy", "<cstring>"}};
    static const char device[] =
        "<cassert>|<assert.h>|<cfloat>|<float.h>|<climits>|<limits.h>|<cmath>|<math.h>|<cstdint>|<stdint.h>|<cstdio>|"
        "<stdio.h>|<limits>|<type_traits>|<algorithm>|<array>|<tuple>|<utility>|<functional>|<numeric>|<optional>|"
        "<cstddef>|<stddef.h>|<cstring>|<string.h>|<cuda_fp8.h>|<cuda_pipeline.h>|"
        "<cuda_pipeline_primitives.h>|<cuda_awbarrier.h>|<math_constants.h>|<vector_types.h>";
    VEC(const char *) list = {0};

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        vec_add(s->arena, &list, always[i]);
    for (size_t i = 0; i < s->missing.n; i++) {
        const char *name = s->missing.v[i].name;
        const char *angled = arena_printf(s->arena, "<%.*s>", (int)strlen(name) - 2, name + 1);

        if (str_in(angled, device) || library_of(text, angled))
            vec_add(s->arena, &list, angled);
    }
    if (strstr(text, "cuC") || strstr(text, "cuFloatComplex") || strstr(text, "cuDoubleComplex"))
        vec_add(s->arena, &list, "<cuComplex.h>");
    if (strstr(text, "cub::")) /* where a header that is not read includes it */
        vec_add(s->arena, &list, "<cub/cub.cuh>");
    for (size_t i = 0; i < ARRAY_LEN(for_words); i++) {
        if (str_has_word(text, for_words[i].word))
            vec_add(s->arena, &list, for_words[i].header);
    }
    for (size_t i = 0; i < ARRAY_LEN(for_std) && str_has_word(text, "std"); i++)
        vec_add(s->arena, &list, for_std[i]);
    for (size_t i = 0; i < list.n; i++) {
        bool before = false;

        for (size_t k = 0; k < i; k++)
            before |= strcmp(list.v[k], list.v[i]) == 0;
        if (!before)
            str_addf(out, "#include %s\n", list.v[i]);
    }
}

/* By more than `using ::name;`, which another file's declaration must stand before? */
static bool is_declared(const struct init_source *s, const char *word)
{
    const struct init_names *found = init_named(s, word);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[found->decls.v[i]];
        if (d->kind != INIT_USING || token_is(&s->tokens.v[d->first + 2], "="))
            return true;
    }
    return false;
}

/* A name by itself; "at::" only where it is a namespace's. */
static bool uses_name(struct init_source *s, const char *text, const char *name)
{
    size_t len = str_word(name);
    const char *word = arena_strndup(s->arena, name, len), *p = text;

    if (!len || (is_declared(s, word) && !init_is_view(word)) || map_has(&s->macro_names, word))
        return false;
    while ((p = str_find_word(text, p, word)) && !str_starts(p + len, name + len))
        p += len;
    return p != NULL;
}

/* What headers that are not read would have said of the names that are used: the paragraphs of share/init, each
 * behind the names that ask for it. */
static void add_vocabulary(struct init_source *s, const char *text, struct str *out)
{
    const char *at = share_text("init/vocabulary.cuh");

    while ((at = strstr(at, "\n// for: "))) {
        const char *names = at + 9, *body = strchr(names, '\n') + 1, *end = strstr(body, "\n// for: ");
        size_t len = end ? (size_t)(end + 1 - body) : strlen(body);
        bool asked = false;

        for (const char *p = names; p < body; p += strcspn(p, " \n") + 1)
            asked |= uses_name(s, text, arena_strndup(s->arena, p, strcspn(p, " \n")));
        if (asked)
            str_addn(out, body, len);
        at = body - 1;
    }
}

/* Views that the file declares outside of all namespaces are those of the vocabulary. */
static void add_views(struct init_source *s, const char *text, struct str *out)
{
    static const char *const views[] = {"TensorInfo", "IndexToOffset"};

    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        const struct init_names *found = init_named(s, views[i]);
        bool global = false;
        for (size_t k = 0; found && k < found->decls.n; k++) {
            const struct init_decl *d = &s->decls.v[found->decls.v[k]];
            global = global || (d->kind == INIT_TYPE && !*d->scope && !d->wanted);
        }
        if (global && str_has_word(text, views[i]) && str_has_word(text, views[0]))
            str_addf(out, "using at::cuda::detail::%s;\n", views[i]);
    }
}

/* What flags and the build define, where the text says it. */
static void add_flags(const struct init_source *s, const char *text, struct str *out)
{
    for (size_t i = 0; i < s->flags.n; i++) {
        const char *flag = s->flags.v[i], *value = strchr(flag, '=');
        const size_t len = str_word(flag + 2);
        const char *name = arena_strndup(s->arena, flag + 2, len);
        if (str_starts(flag, "-D") && len && str_has_word(text, name))
            str_addf(out, "#define %s %s\n", name, value ? value + 1 : "1");
    }
    for (size_t i = 0; i < s->supplied.n; i++) {
        const struct init_supplied *x = &s->supplied.v[i];
        if (str_has_word(text, arena_strndup(s->arena, x->name, str_word(x->name))))
            str_addf(out, "#define %s %s // %s%s\n", x->name, x->value, x->from ? "as in " : "a guess",
                     x->from ? x->from : "");
    }
}

char *init_kernel_text(struct init_source *s, const struct init_task *t, const char *from)
{
    struct writer w = {.s = s, .out = {.arena = s->arena}, .scope = ""};
    struct str head = {.arena = s->arena};
    size_t m = 0;

    for (size_t i = 0; i <= s->decls.n; i++) {
        struct init_decl *d = i < s->decls.n ? &s->decls.v[i] : NULL;

        if (d && !d->wanted)
            continue;
        for (; m < s->macros.n && (!d || s->macros.v[m].before <= d->first); m++) {
            if (!s->macros.v[m].wanted || !d)
                continue;
            leave(&w);
            add_span(&w, s->macros.v[m].text, s->macros.v[m].cond);
        }
        if (d)
            open_before(&w, i);
        if (d)
            add_decl(&w, d);
        for (; d && m < s->macros.n && s->macros.v[m].before < d->end; m++)
            ; /* it stands in the declaration's text */
    }
    leave(&w);
    str_addf(&head, "// From %s by `astra init`; origin.json says from which lines.\n", from);
    const char *launcher = t->launcher;
    if (launcher && strstr(launcher, "__FILE__"))
        launcher = str_replace_word(s->arena, launcher, "__FILE__", "\"kernel.cu\"");
    if (launcher && strstr(launcher, "__LINE__"))
        launcher = str_replace_word(s->arena, launcher, "__LINE__", "0");
    const char *all = arena_printf(s->arena, "%s%s", str_text(&w.out), launcher ? launcher : "");
    struct str flags = {.arena = s->arena};
    add_flags(s, all, &flags);
    all = arena_printf(s->arena, "%s%s", str_text(&flags), all); /* what they stand for is used as well */
    add_headers(s, all, &head);
    add_vocabulary(s, all, &head);
    add_views(s, all, &head);
    str_add(&head, str_text(&flags));
    str_addc(&head, '\n');
    s->head_lines = lines_of(str_text(&head));
    str_add(&head, str_text(&w.out));
    if (launcher)
        str_addf(&head, "#line %d \"kernel.cu\"\n%s", lines_of(str_text(&head)) + 2, launcher);
    return arena_strdup(s->arena, str_text(&head));
}

struct init_decl *init_decl_at(struct init_source *s, int line)
{
    struct init_decl *found = NULL;

    for (size_t i = 0; i < s->decls.n; i++) {
        struct init_decl *d = &s->decls.v[i];
        if (d->wanted && s->head_lines + d->line < line)
            found = d;
    }
    return found;
}

bool init_is_left(const struct init_source *s, const struct token *t)
{
    for (size_t i = 0; i < s->members.n; i++) {
        if (t->at >= s->members.v[i].start && t->at < s->members.v[i].end)
            return true;
    }
    return false;
}

/* Behind the member of a type that begins at token i. Is it a function without which the type is as large, and
 * is made, copied and called as before? */
static size_t member_end(const struct init_source *s, const struct init_decl *d, size_t i, bool *plain)
{
    const struct token *v = s->tokens.v;
    bool function = false, data = false;

    *plain = true;
    for (; i + 1 < d->end && !token_is(&v[i], ";"); i++) {
        const char *word = v[i].kind == TOK_WORD ? token_text(s->arena, &v[i]) : "";
        if (token_is(&v[i], "(")) {
            const char *name = v[i - 1].kind == TOK_WORD ? token_text(s->arena, &v[i - 1]) : "";
            function = function || (!data && !token_is(&v[i + 1], "*"));
            *plain = *plain && !str_eq(name, d->name) && !map_has(&s->macro_names, name);
            i = init_balanced(s, i, d->end) - 1;
        } else if (token_is(&v[i], "{")) {
            i = init_balanced(s, i, d->end) - 1;
            if (function && !token_is(&v[i + 1], "{") &&
                !token_is(&v[i + 1], ",")) /* behind `: a{x}` is more */
                break;
        }
        data = data || token_is(&v[i], "=");
        *plain = *plain && !str_in(word, "virtual|override|struct|class|union|enum|using|typedef");
    }
    *plain = *plain && function;
    return MIN(i + 1, d->end);
}

static void leave_tokens(struct init_source *s, size_t first, size_t end)
{
    const struct token *v = s->tokens.v;

    if (!init_is_left(s, &v[first]))
        vec_add(s->arena, &s->members, ((struct init_span){v[first].at, v[end - 1].at + v[end - 1].len}));
}

/* Is the member at [i, end) a constructor that no device code may call? */
static bool is_host_constructor(const struct init_source *s, const struct init_decl *d, size_t i, size_t end)
{
    bool constructs = false;

    for (; i + 1 < end && !constructs && !wrapper_sign(&s->tokens.v[i], "{ ; ="); i++) {
        const struct token *t = &s->tokens.v[i];
        if (t->kind == TOK_WORD && memmem(t->s, t->len, "device__", 8))
            return false;
        if (t->kind == TOK_WORD && (memmem(t->s, t->len, "DEVICE", 6) || memmem(t->s, t->len, "INLINE", 6)))
            return false; /* a macro that may say so */
        constructs = token_is(t, d->name) && token_is(t + 1, "(") && !token_is(t - 1, "~");
    }
    return constructs;
}

/* Does the member at [i, end) say __host__, and not __device__? */
static bool is_host_function(const struct init_source *s, const struct init_decl *d, size_t i, size_t end)
{
    bool host = false, function;

    member_end(s, d, i, &function);
    for (; i < end && function && !wrapper_sign(&s->tokens.v[i], "("); i++) {
        host = host || token_is(&s->tokens.v[i], "__host__");
        if (token_is(&s->tokens.v[i], "__device__"))
            return false;
    }
    return host;
}

/* What a member of a class at [i, end) is to how its values are made. */
enum making { MAKES_OTHERWISE, MAKES_OF_NOTHING, MAKES_COPY, DESTROYS };

static enum making making_of(const struct init_source *s, const struct init_decl *d, size_t i, size_t end,
                             bool *is_maker)
{
    const struct token *v = s->tokens.v;
    size_t open = i;

    *is_maker = false;
    while (open + 1 < end && !token_is(&v[open], "("))
        open++;
    if (open == i || open + 1 >= end)
        return MAKES_OTHERWISE;
    if (token_is(&v[open - 1], "=") && token_is(&v[open - 2], "operator"))
        return MAKES_COPY;
    if (!token_is(&v[open - 1], d->name))
        return MAKES_OTHERWISE;
    if (open >= i + 2 && token_is(&v[open - 2], "~"))
        return DESTROYS;
    *is_maker = true;
    const size_t close = init_balanced(s, open, end) - 1;
    if (close == open + 1)
        return MAKES_OF_NOTHING;
    for (size_t k = open + 1; k < close; k++) {
        if (token_is(&v[k], ","))
            k = close;
        else if (token_is(&v[k], d->name) && !token_is(&v[i], "template"))
            return MAKES_COPY;
    }
    return MAKES_OTHERWISE;
}

/* Before the edits that stand behind it; once. */
static void add_edit(struct init_source *s, struct init_edit e)
{
    size_t i = 0;

    while (i < s->edits.n && s->edits.v[i].span.start < e.span.start)
        i++;
    if (i < s->edits.n && s->edits.v[i].span.start == e.span.start)
        return;
    vec_add(s->arena, &s->edits, e);
    for (size_t k = s->edits.n - 1; k > i; k--)
        s->edits.v[k] = s->edits.v[k - 1];
    s->edits.v[i] = e;
}

void init_drop_concepts(struct init_source *s, const struct init_decl *kernel)
{
    const struct tokens list = init_expand(s, kernel->first, kernel->end);
    struct wrapper_function f;

    if (!kernel->is_template || !wrapper_scan(&f, s->arena, list.v, list.n))
        return;
    for (size_t i = 0; i < f.n_tparams; i++) {
        if (f.tparams[i].constraint.end)
            add_edit(s, (struct init_edit){f.tparams[i].constraint, "typename", false});
    }
}

void init_forget_members(struct init_source *s)
{
    size_t used = 0;

    vec_clear(&s->members);
    for (size_t i = 0; i < s->edits.n; i++) {
        if (!s->edits.v[i].of_class)
            s->edits.v[used++] = s->edits.v[i];
    }
    s->edits.n = used;
}

void init_make_plain(struct init_source *s, const struct init_decl *d)
{
    const struct token *v = s->tokens.v;
    size_t i = d->first;
    bool makers = false, of_nothing = false, hidden = false;

    while (i < d->end && !token_is(&v[i], "{")) {
        hidden = hidden || token_is(&v[i], "class");
        i++;
    }
    const size_t open = i;
    if (open >= d->end || v[open].macro)
        return;
    for (i++; i + 1 < d->end;) {
        bool plain, data = true, maker;
        size_t star = i;
        if (token_in(&v[i], "public|private|protected") && token_is(&v[i + 1], ":")) {
            if (!token_is(&v[i], "public"))
                add_edit(s, (struct init_edit){{v[i].at, v[i].at + v[i].len}, "public", true});
            i += 2;
            continue;
        }
        const size_t end = member_end(s, d, i, &plain);
        const enum making making = making_of(s, d, i, end, &maker);
        const bool defaulted = end > i + 2 && token_in(&v[end - 2], "default|delete"),
                   elsewhere = token_is(&v[end - 1], ";") && !token_is(&v[end - 2], "}") && !defaulted,
                   empty = token_is(&v[end - 1], "}") && token_is(&v[end - 2], "{");
        if ((s->plainer && (maker || making == DESTROYS)) || is_host_constructor(s, d, i, end) ||
            is_host_function(s, d, i, end) || (making == DESTROYS && (elsewhere || empty)) ||
            ((making == MAKES_COPY || making == MAKES_OF_NOTHING) && elsewhere) ||
            (making == MAKES_COPY && defaulted)) {
            leave_tokens(s, i, end);
        } else if (maker && making != MAKES_COPY) {
            makers = true;
            of_nothing = of_nothing || making == MAKES_OF_NOTHING;
        }
        for (size_t k = i; k < end; k++) {
            data = data && !token_is(&v[k], "(") && !token_in(&v[k], "static|constexpr|using|typedef|struct");
            star = token_is(&v[k], "*") ? k : star;
        }
        for (size_t k = star; k < end && data; k++) {
            if (token_is(&v[k], "const"))
                leave_tokens(s, k, k + 1);
        }
        i = end;
    }
    if (hidden || (makers && !of_nothing)) {
        const char *make = makers && !of_nothing ? arena_printf(s->arena, " %s() = default;", d->name) : "";
        add_edit(s, (struct init_edit){{v[open].at, v[open].at + v[open].len},
                                       arena_printf(s->arena, "{ public:%s", make),
                                       true});
    }
}

/* Do the tokens [first, end) say what the host's standard library alone has? Not where a branch that the device
 * does not take says it. */
static bool says_host(const struct init_source *s, size_t first, size_t end)
{
    static const char host[] =
        "string|string_view|basic_string|to_string|vector|deque|list|queue|stack|map|set|unordered_map|unordered_set|"
        "multimap|unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|function|ostream|istream|ostringstream|"
        "istringstream|stringstream|ofstream|ifstream|cout|cerr|endl|exception|exception_ptr|runtime_error|logic_error|"
        "invalid_argument|out_of_range|bad_alloc|mutex|recursive_mutex|lock_guard|unique_lock|thread|future|promise|"
        "condition_variable|random_device|mt19937|variant|any|filesystem|regex|locale|type_index";
    const struct token *v = s->tokens.v;

    for (size_t i = first; i + 2 < end; i++) {
        if (token_is(&v[i], "std") && token_is(&v[i + 1], "::") && token_in(&v[i + 2], host) && !s->conds.v[i])
            return true;
    }
    return false;
}

bool init_leave_host(struct init_source *s, const struct init_decl *d)
{
    const struct token *v = s->tokens.v;
    size_t i = d->first;

    if (d->is_global || !says_host(s, d->first, d->end))
        return false;
    while (i < d->end && !token_is(&v[i], "{"))
        i++;
    if (d->kind != INIT_TYPE || i == d->end || v[i].macro || says_host(s, d->first, i))
        return true;
    for (i++; i + 1 < d->end;) {
        bool plain;
        size_t end = i + 2;
        if (!token_in(&v[i], "public|private|protected") || !token_is(&v[i + 1], ":"))
            end = member_end(s, d, i, &plain);
        if (says_host(s, i, end)) {
            bool function = false;
            for (size_t k = i; k < end; k++)
                function = function || token_is(&v[k], "(");
            if (!function && !token_in(&v[i], "using|typedef|static|friend"))
                return true;
            leave_tokens(s, i, end);
        }
        i = end;
    }
    return false;
}

bool init_leave_member(struct init_source *s, int line)
{
    struct init_decl *d = init_decl_at(s, line);
    const struct token *v = s->tokens.v;
    int first, col;

    if (!d || d->kind != INIT_TYPE || file_of(s, v[d->first].at) != file_of(s, v[d->end - 1].at))
        return false;
    init_place(s, v[d->first].at, &first, &col);
    const int wanted = first + line - (s->head_lines + d->line + (d->cond != NULL) + 2);
    size_t i = d->first;
    while (i < d->end && !token_is(&v[i], "{"))
        i++;
    for (i++; i + 1 < d->end;) {
        bool plain;
        if (token_in(&v[i], "public|private|protected") && token_is(&v[i + 1], ":")) {
            i += 2;
            continue;
        }
        const size_t end = member_end(s, d, i, &plain);
        int from, to;
        init_place(s, v[i].at, &from, &col);
        init_place(s, v[end - 1].at, &to, &col);
        if (from <= wanted && wanted <= to && plain) {
            leave_tokens(s, i, end);
            return true;
        }
        i = end;
    }
    return false;
}

char *init_origin_text(struct init_source *s, const struct init_task *t, const char *kernel)
{
    json_t *o = json_object(), *files = json_array(), *decls = json_array();

    json_put_text(o, "kernel", kernel);
    json_put_text(o, "entry", t->entry);
    json_put_text(o, "root", s->root);
    for (size_t i = 0; i < s->files.n; i++) {
        const struct init_file *f = s->files.v[i];
        json_t *file;
        char hex[65];

        if (str_in(s->files.v[i]->path, INIT_FLAGS "|" INIT_STANDINS))
            continue;
        file = json_object();
        hash_sha256_hex(f->text, f->len, hex);
        json_put_text(file, "path", f->path);
        json_put_text(file, "sha256", hex);
        json_array_append_new(files, file);
    }
    for (size_t i = 0; i < s->decls.n; i++) {
        const struct init_decl *d = &s->decls.v[i];
        struct init_span span = span_of(s, d);
        json_t *decl;
        const struct init_file *f;
        int line, col;

        if (!d->wanted)
            continue;
        decl = json_object();
        f = init_place(s, span.start, &line, &col);
        if (str_eq(f->path, INIT_STANDINS))
            continue;
        json_put_text(decl, "name", arena_printf(s->arena, "%s%s", init_scope(s, d->scope), d->name));
        json_put_text(decl, "file", f->path);
        json_put_int(decl, "line", line);
        json_put_int(decl, "start", (int64_t)(span.start - f->base));
        json_put_int(decl, "end", (int64_t)(span.end - f->base));
        json_array_append_new(decls, decl);
    }
    json_put(o, "files", files);
    json_put(o, "declarations", decls);
    struct str out = {.arena = s->arena};
    json_print(&out, o);
    return arena_strdup(s->arena, str_text(&out));
}
