/* One list of tokens of a file and its headers: includes followed, conditions decided as nvcc for a GPU decides
 * them, macros noted and not expanded. Of conditions on the device's architecture every branch is read. */
#include "init/internal.h"

#include <limits.h>

enum { ENDS = 4 };

struct level {
    bool active, outer, taken, kept;  /* kept: it hangs on the architecture, and stays in the text */
    const char *outer_cond, *not_yet; /* around the whole; that none of the branches before holds */
    uint32_t outer_branch;
    size_t at;
};

struct reader {
    struct init_source *s;
    VEC(struct level) levels;
    const char *cond;
    uint32_t branch, last_branch;
    int depth;
    bool again; /* the file was read before */
};

static void read_file(struct reader *r, struct init_file *f);

static bool is_active(const struct reader *r)
{
    return r->levels.n == 0 || vec_last(&r->levels).active;
}

/* Of a file that is read again, guarded or not, the first time counts. */
static void cut(struct reader *r, const struct token *first, const struct token *last)
{
    struct init_source *s = r->s;

    if (!r->again)
        vec_add(s->arena, &s->cuts, ((struct init_span){first->at, last->at + last->len}));
}

/* The words of a file; its own message where it has none. */
static bool lex(struct init_source *s, struct init_file *f, struct err *err)
{
    struct unit *u = arena_new(s->arena, struct unit);
    struct trap trap = {.up = NULL};

    if (f->raw.n)
        return true;
    *u = (struct unit){.arena = s->arena,
                       .path = f->path,
                       .text = f->text,
                       .len = f->len,
                       .any_words = true,
                       .any_joins = true,
                       .trap = &trap};
    if (setjmp(trap.jump)) {
        *err = trap.err;
        if (str_starts(err->text, "launcher: "))
            memmove(err->text, err->text + 10, strlen(err->text + 10) + 1);
        return false;
    }
    lex_text(u);
    for (size_t i = 0; i < u->raw.n; i++)
        u->raw.v[i].at += f->base;
    f->raw = u->raw;
    return true;
}

static const char *both(struct arena *a, const char *x, const char *y)
{
    return x ? arena_printf(a, "%s && %s", x, y) : y;
}

/* The condition of a directive that is kept, as text; and in its place in the file. */
static const char *condition_text(struct reader *r, const struct token *name, const struct token *v, size_t n)
{
    struct init_source *s = r->s;
    const char *text;

    if (n == 0)
        init_fail(s, name->at, "#%.*s without a condition", (int)name->len, name->s);
    if (token_in(name, "ifdef|ifndef"))
        return arena_printf(s->arena, "%sdefined(%.*s)", token_is(name, "ifdef") ? "" : "!", (int)v->len, v->s);
    text = init_condition_text(s, v, n);
    if (!r->again)
        vec_add(s->arena, &s->edits, ((struct init_edit){{v[0].at, v[n - 1].at + v[n - 1].len}, text}));
    return arena_printf(s->arena, "(%s)", text);
}

static int condition_of(struct reader *r, const struct token *name, const struct token *v, size_t n)
{
    struct token defined[2];

    if (token_in(name, "ifdef|ifndef")) {
        int yes;

        if (n == 0)
            init_fail(r->s, name->at, "#%.*s without a name", (int)name->len, name->s);
        defined[0] = *name;
        defined[0].s = "defined";
        defined[0].len = 7;
        defined[1] = v[0];
        yes = init_condition(r->s, defined, 2, name->at);
        return yes < 0 ? yes : yes == token_is(name, "ifdef");
    }
    return init_condition(r->s, v, n, name->at);
}

bool init_says_amd(const char *word)
{
    return strcasestr(word, "hip") || strcasestr(word, "rocm") || strcasestr(word, "amd");
}

/* Does the condition ask for another vendor's compiler alone? */
static bool is_of_others(const struct init_source *s, const struct token *v, size_t n)
{
    bool others = false, cuda = false;

    for (size_t i = 0; i < n; i++) {
        const char *word = token_text(s->arena, &v[i]);
        others = others || init_says_amd(word) || strcasestr(word, "sycl") || strcasestr(word, "musa");
        cuda = cuda || strcasestr(word, "cuda") || strcasestr(word, "nvcc") || strcasestr(word, "gpu");
    }
    return others && !cuda;
}

/* Does the first directive behind the condition make a name of what functions of the device need:
 * `#define ON_BOTH __host__ __device__`? A build for a GPU takes that branch, whatever it is called. */
static bool marks_device(const struct token *t)
{
    bool marks = false;

    if (!token_is(t, "#") || !token_is(t + 1, "define") || t[2].kind != TOK_WORD)
        return false;
    for (t += 3; t->kind == TOK_WORD && !t->line_start; t++) {
        if (!token_in(t, "__device__|__host__|__forceinline__|__inline__|inline|static|constexpr"))
            return false;
        marks = marks || token_is(t, "__device__");
    }
    return marks && (t->line_start || t->kind == TOK_END);
}

static void open_level(struct reader *r, const struct token *name, const struct token *v, size_t n)
{
    struct level l = {.outer = is_active(r), .outer_cond = r->cond, .outer_branch = r->branch, .at = name->at};
    int yes = l.outer ? condition_of(r, name, v, n) : 0;

    if (l.outer && !yes && !is_of_others(r->s, v, n))
        yes = marks_device(v + n);

    l.kept = yes < 0;
    l.active = l.taken = yes != 0;
    if (l.kept) {
        const char *text = condition_text(r, name, v, n);

        r->cond = both(r->s->arena, l.outer_cond, text);
        l.not_yet = arena_printf(r->s->arena, "!(%s)", text);
    }
    vec_add(r->s->arena, &r->levels, l);
}

/* #elif and #else. */
static void next_branch(struct reader *r, const struct token *name, const struct token *v, size_t n)
{
    struct level *l = &vec_last(&r->levels);
    const bool last = token_is(name, "else");
    struct arena *a = r->s->arena;
    int yes;

    if (!l->kept) {
        l->active = l->outer && !l->taken && (last || condition_of(r, name, v, n) != 0);
        l->taken |= l->active;
        return;
    }
    yes = last ? 1 : condition_of(r, name, v, n);
    l->active = yes != 0;
    r->branch = ++r->last_branch;
    if (last) {
        r->cond = both(a, l->outer_cond, l->not_yet);
    } else {
        const char *text = condition_text(r, name, v, n);

        r->cond = both(a, l->outer_cond, arena_printf(a, "%s && %s", l->not_yet, text));
        l->not_yet = arena_printf(a, "%s && !(%s)", l->not_yet, text);
    }
}

static void conditional(struct reader *r, const struct token *hash, const struct token *last)
{
    const struct token *name = hash + 1, *v = hash + 2;
    size_t n = (size_t)(last + 1 - v);
    bool kept;

    if (token_in(name, "if|ifdef|ifndef")) {
        open_level(r, name, v, n);
        kept = vec_last(&r->levels).kept;
    } else {
        if (!r->levels.n)
            init_fail(r->s, name->at, "#%.*s without #if", (int)name->len, name->s);
        kept = vec_last(&r->levels).kept;
        if (token_is(name, "endif")) {
            r->cond = vec_last(&r->levels).outer_cond;
            r->branch = vec_last(&r->levels).outer_branch;
            r->levels.n--;
        } else {
            next_branch(r, name, v, n);
        }
    }
    if (!kept)
        cut(r, hash, last);
}

static void note_macro(struct reader *r, const struct token *hash, const struct token *last)
{
    struct init_source *s = r->s;
    struct init_macro m = {.undef = token_is(hash + 1, "undef"), .before = s->tokens.n, .cond = r->cond};
    struct trap trap = {.up = s->unit.trap};
    const struct token *name = hash + 2;

    if (name > last || name->kind != TOK_WORD)
        init_fail(s, hash->at, "#%.*s without a name", (int)hash[1].len, hash[1].s);
    m.name = token_text(s->arena, name);
    m.text = (struct init_span){hash->at, last->at + last->len};
    s->unit.trap = &trap;
    if (m.undef)
        map_put(&s->expander.macros, m.name, NULL);
    else if (setjmp(trap.jump) == 0)
        m.macro = macro_define(&s->expander, name, (size_t)(last + 1 - name));
    s->unit.trap = trap.up;
    vec_add(s->arena, &s->macros, m);
    map_put(&s->macro_names, m.name, s);
}

static void include(struct reader *r, const struct init_file *by, const struct token *hash,
                    const struct token *last)
{
    struct init_source *s = r->s;
    const struct token *v = hash + 2;
    bool quoted = v <= last && v->kind == TOK_STRING && v->len > 2;
    const char *name;
    struct init_file *f;

    cut(r, hash, last);
    if (!quoted && !(v < last && token_is(v, "<")))
        return; /* a macro makes the name */
    name = quoted ? arena_strndup(s->arena, v->s + 1, v->len - 2)
                  : arena_strndup(s->arena, v->s + 1, (size_t)(last->s - v->s) - 1);
    struct err err;
    f = init_find(s, by, name, quoted, v->at);
    if (!f || (!lex(s, f, &err) && strstr(err.text, "words and signs"))) { /* tables of numbers, mostly */
        vec_add(s->arena, &s->missing,
                ((struct init_include){arena_printf(s->arena, quoted ? "\"%s\"" : "<%s>", name), v->at}));
        return;
    }
    if (f->once)
        return;
    if (++r->depth > INIT_MAX_DEPTH)
        init_fail(s, v->at, "headers include each other in a circle, here through %s; nothing guards it", name);
    read_file(r, f);
    r->depth--;
}

/* One that a compiler does not know (`#pragma unoll`) says nothing. */
static bool is_known_pragma(const struct token *word)
{
    static const char *const families[] = {"nv_", "diag_", "hd_", "push_", "pop_"};
    bool known = token_in(word, "unroll|nounroll|pack|GCC|clang|omp|message|warning|region|endregion|nvcc");

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        known =
            known || (word->len > strlen(families[i]) && !memcmp(word->s, families[i], strlen(families[i])));
    return known;
}

static void directive(struct reader *r, struct init_file *f, const struct token *hash, const struct token *last)
{
    const struct token *name = hash + 1;

    if (name > last)
        return;
    if (token_in(name, "if|ifdef|ifndef|elif|else|endif")) {
        conditional(r, hash, last);
        return;
    }
    if (!is_active(r)) {
        cut(r, hash, last);
        return;
    }
    if (token_in(name, "define|undef") && name < last &&
        token_in(name + 1, "__global__|__device__|__host__|__shared__|__constant__|__managed__|__forceinline__|"
                           "__noinline__|__launch_bounds__|__restrict__|__align__|__location__"))
        cut(r, hash, last); /* the compiler's own words, as a copy of its headers has them */
    else if (token_in(name, "define|undef"))
        note_macro(r, hash, last);
    else if (token_is(name, "include"))
        include(r, f, hash, last);
    else if (token_is(name, "pragma") && name < last && token_is(name + 1, "once"))
        f->once = true;
    else if (!token_is(name, "pragma") || (name < last && !is_known_pragma(name + 1)))
        cut(r, hash, last);
}

static void read_file(struct reader *r, struct init_file *f)
{
    struct init_source *s = r->s;
    const size_t open = r->levels.n;
    const bool again = r->again;
    const struct token *v;
    size_t i = 0;
    struct err err;

    if (!lex(s, f, &err)) {
        s->trap.err = err;
        longjmp(s->trap.jump, 1);
    }
    v = f->raw.v;
    r->again = f->read;
    f->read = true;
    while (v[i].kind != TOK_END) {
        size_t end = i + 1;

        if (token_is(&v[i], "#") && v[i].line_start) {
            while (!v[end].line_start)
                end++;
            directive(r, f, &v[i], &v[end - 1]);
            i = end;
            continue;
        }
        while (v[end].kind != TOK_END && !(token_is(&v[end], "#") && v[end].line_start))
            end++;
        if (!is_active(r))
            cut(r, &v[i], &v[end - 1]);
        for (size_t k = i; is_active(r) && k < end; k++) {
            if (s->tokens.n >= INIT_MAX_TOKENS)
                init_fail(s, v[k].at, "the file and its headers have more than %d words and signs",
                          INIT_MAX_TOKENS);
            vec_add(s->arena, &s->tokens, v[k]);
            vec_add(s->arena, &s->conds, r->cond);
            vec_add(s->arena, &s->branches, r->branch);
        }
        i = end;
    }
    if (r->levels.n > open)
        init_fail(s, vec_last(&r->levels).at, "this #if is not closed");
    r->again = again;
}

/* A file of init's own. */
static struct init_file *own_file(struct init_source *s, const char *path, const char *text)
{
    struct init_file *f = arena_new(s->arena, struct init_file);

    f->path = f->real = path;
    f->text = text;
    f->len = strlen(text);
    f->base = s->next_base;
    s->next_base += f->len + 2;
    vec_add(s->arena, &s->files, f);
    return f;
}

/* What nvcc 13 defines for host code with a GPU's code beside it, and what -D and -U say. */
static struct init_file *flags_file(struct init_source *s)
{
    static const char builtin[] = "#define __linux__ 1\n#define __x86_64__ 1\n"
                                  "#define __GNUC__ 12\n#define __CUDACC__ 1\n#define __NVCC__ 1\n"
                                  "#define __CUDACC_VER_MAJOR__ 13\n#define __CUDACC_VER_MINOR__ 0\n"
                                  "#define CUDA_VERSION 13000\n#define CUDART_VERSION 13000\n"
                                  "#define CCCL_VERSION 3000000\n#define CCCL_MAJOR_VERSION 3\n"
                                  "#define CUB_VERSION 300000\n#define THRUST_VERSION 300000\n"
                                  "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 6\n";
    struct str text = {.arena = s->arena};

    str_add(&text, builtin);
    for (size_t i = 0; i < s->flags.n; i++) {
        const char *flag = s->flags.v[i], *value = strchr(flag, '=');

        if (str_starts(flag, "-D"))
            str_addf(&text, "#define %.*s %s\n", (int)(value ? value - flag - 2 : (long)strlen(flag) - 2),
                     flag + 2, value ? value + 1 : "1");
        else if (str_starts(flag, "-U"))
            str_addf(&text, "#undef %s\n", flag + 2);
    }
    for (size_t i = 0; i < s->supplied.n; i++)
        str_addf(&text, "#define %s %s\n", s->supplied.v[i].name, s->supplied.v[i].value);
    return own_file(s, INIT_FLAGS, str_text(&text));
}

static struct init_file *standins_file(struct init_source *s)
{
    struct str text = {.arena = s->arena};

    for (size_t i = 0; i < s->standins.n; i++)
        str_add(&text, s->standins.v[i].text);
    return own_file(s, INIT_STANDINS, str_text(&text));
}

/* __cplusplus cannot be defined by a file. */
static void define_language(struct init_source *s)
{
    struct macro *m = arena_new(s->arena, struct macro);
    struct token *t = arena_new(s->arena, struct token);

    *t = (struct token){.kind = TOK_NUMBER, .s = "201703", .len = 6};
    *m = (struct macro){.name = "__cplusplus", .body = t, .n_body = 1, .predefined = true};
    map_put(&s->expander.macros, m->name, m);
}

/* So that who looks ahead finds the end. */
static void add_end(struct init_source *s, const struct init_file *f)
{
    for (int i = 0; i < ENDS; i++) {
        vec_add(s->arena, &s->tokens, vec_last(&f->raw));
        vec_add(s->arena, &s->conds, NULL);
        vec_add(s->arena, &s->branches, 0);
    }
}

/* A file that the kernel's does not include, for what it declares; one that cannot be read is none. */
static void read_ahead(struct init_source *s, const char *path)
{
    const struct trap before = s->trap;
    const size_t n_tokens = s->tokens.n, n_macros = s->macros.n;
    struct reader r = {.s = s};

    if (setjmp(s->trap.jump) == 0) {
        struct init_file *f = init_open(s, path, path, SIZE_MAX);
        if (!f->read)
            read_file(&r, f);
    } else {
        s->tokens.n = s->conds.n = s->branches.n = n_tokens;
        s->macros.n = n_macros;
    }
    s->trap = before;
    for (size_t i = 0; i < s->files.n; i++) /* what it declares is known, also without a guard */
        s->files.v[i]->once |= s->files.v[i]->read;
}

void init_read(struct init_source *s, struct init_file *f)
{
    struct reader r = {.s = s};

    s->unit =
        (struct unit){.arena = s->arena, .path = f->path, .text = "", .any_words = true, .trap = &s->trap};
    vec_add(s->arena, &s->unit.lines, 0);
    s->expander = (struct expander){.unit = &s->unit, .arena = s->arena};
    define_language(s);
    read_file(&r, flags_file(s));
    s->macros.n = 0; /* those of the flags that are used stand at the head of the kernel's file */
    if (s->standins.n)
        read_file(&r, standins_file(s));
    for (size_t i = 0; i < s->ahead.n; i++)
        read_ahead(s, s->ahead.v[i]);
    if (!f->read)
        read_file(&r, f);
    add_end(s, f);
}

bool init_read_more(struct init_source *s, const char *path)
{
    const struct trap before = s->trap;
    const size_t n_tokens = s->tokens.n, n_macros = s->macros.n;
    struct reader r = {.s = s};
    volatile bool ok = false;
    struct init_file *f;

    for (size_t i = 0; i < s->files.n; i++) /* what it declares is known, also without a guard */
        s->files.v[i]->once |= s->files.v[i]->read;
    if (setjmp(s->trap.jump) == 0) {
        f = init_open(s, path, path, SIZE_MAX);
        s->tokens.n = s->conds.n = s->branches.n = n_tokens - ENDS;
        read_file(&r, f);
        add_end(s, f);
        ok = true;
    } else {
        s->tokens.n = s->conds.n = s->branches.n = n_tokens - ENDS;
        s->macros.n = n_macros;
        add_end(s, s->files.v[0]);
    }
    s->trap = before;
    return ok;
}

static void find_changing(struct init_source *s)
{
    if (s->n_changing_of == s->macros.n)
        return;
    s->n_changing_of = s->macros.n;
    vec_clear(&s->changing);
    for (size_t i = 0; i < s->macros.n; i++) {
        struct init_changing c = {.name = s->macros.v[i].name};
        bool there = false;

        for (size_t k = 0; k < s->changing.n; k++)
            there = there || str_eq(s->changing.v[k].name, c.name);
        if (!s->macros.v[i].undef || there)
            continue;
        for (size_t k = 0; k < s->macros.n; k++) {
            if (str_eq(s->macros.v[k].name, c.name))
                vec_add(s->arena, &c.at, k);
        }
        vec_add(s->arena, &s->changing, c);
    }
}

const struct macro *init_macro_at(struct init_source *s, size_t i)
{
    const char *name = token_text(s->arena, &s->tokens.v[i]);
    const struct macro *m = map_get(&s->expander.macros, name);

    find_changing(s);
    for (size_t k = 0; k < s->changing.n; k++) {
        const struct init_changing *c = &s->changing.v[k];
        for (size_t n = 0; n < c->at.n && str_eq(c->name, name); n++) {
            const struct init_macro *x = &s->macros.v[c->at.v[n]];
            m = x->before <= i ? x->macro : m;
        }
    }
    return m;
}

/* The macros that the files undefine are what they were at token `first`, or what they become before `end`; of
 * SIZE_MAX, at the end. */
static void set_macros(struct init_source *s, size_t first, size_t end)
{
    for (size_t i = 0; i < s->changing.n; i++) {
        const struct init_changing *c = &s->changing.v[i];
        const struct init_macro *last = NULL;

        for (size_t k = 0; k < c->at.n; k++) {
            const struct init_macro *m = &s->macros.v[c->at.v[k]];
            if (m->before <= first || (m->before <= end && !m->undef && (!last || last->undef)))
                last = m;
        }
        if (last)
            map_put(&s->expander.macros, last->name, last->macro);
    }
}

struct tokens init_expand(struct init_source *s, size_t first, size_t end)
{
    struct tokens out = {0};
    struct trap trap = {.up = s->unit.trap};

    struct init_expanded *kept = &s->expanded[rng_hash(first, end) % INIT_KEPT];
    if (kept->end && kept->first == first && kept->end == end && kept->n_macros == s->macros.n)
        return kept->tokens;
    s->expander.produced = 0;
    s->unit.trap = &trap;
    find_changing(s);
    set_macros(s, first, end);
    if (setjmp(trap.jump)) {
        for (size_t i = 0; i < s->expander.macros.n; i++) {
            struct macro *m = s->expander.macros.entries[i].value;

            if (m)
                m->active = false;
        }
        out = (struct tokens){.v = s->tokens.v + first, .n = end - first};
    } else {
        expand_list(&s->expander, s->tokens.v + first, end - first, &out, false);
    }
    s->unit.trap = trap.up;
    set_macros(s, SIZE_MAX, SIZE_MAX);
    *kept = (struct init_expanded){first, end, s->macros.n, out};
    return out;
}

struct tokens init_words(struct init_source *s, const char *text)
{
    struct init_file *f = arena_new(s->arena, struct init_file);
    struct err err;

    *f = (struct init_file){.path = "the launcher", .text = text, .len = strlen(text)};
    if (!lex(s, f, &err))
        init_fail(s, SIZE_MAX, "the launcher: %s", err.text);
    f->raw.n--;
    return f->raw;
}
