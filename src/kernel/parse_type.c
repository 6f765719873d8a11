/* Types, declarators, parameters and template lists; and the parser's small tools. What begins a type is known:
 * the words of the language, the built-in names, and what the file and the function declared before. */
#include "kernel/internal.h"

void parse_fail(struct parser *p, const char *expected)
{
    if (p->t->kind == TOK_END)
        fail(p->unit, p->t, "the file ends where %s was expected", expected);
    fail(p->unit, p->t, "`%.*s` is not understood here; %s was expected", (int)MIN(p->t->len, 60), p->t->s,
         expected);
}

bool parse_is(const struct parser *p, const char *s)
{
    return p->t->kind != TOK_END && token_is(p->t, s);
}

void parse_enter(struct parser *p)
{
    if (++p->depth > MAX_PARSE_DEPTH)
        fail(p->unit, p->t, "this nests deeper than %d levels", MAX_PARSE_DEPTH);
    if (++p->unit->parse_work > 20 * (size_t)MAX_TOKENS)
        fail(p->unit, p->t, "the file takes too long to understand");
}

bool parse_take(struct parser *p, const char *s)
{
    if (!parse_is(p, s))
        return false;
    p->t++;
    return true;
}

void parse_expect(struct parser *p, const char *s)
{
    char expected[80];

    if (parse_take(p, s))
        return;
    snprintf(expected, sizeof(expected), "`%s`", s);
    parse_fail(p, expected);
}

/* `>`, also as a part of `>>` and `>>>`: p->angle says how much of the present sign is used up. */
void parse_close_angle(struct parser *p)
{
    if (p->t->kind != TOK_PUNCT || p->t->s[p->angle] != '>')
        parse_fail(p, "`>`");
    if (++p->angle == (int)p->t->len) {
        p->t++;
        p->angle = 0;
    } else if (!p->no_greater) {
        parse_fail(p, "one `>`");
    }
}

static bool at_angle(const struct parser *p)
{
    return p->t->kind == TOK_PUNCT && p->t->s[p->angle] == '>';
}

void parse_skip_balanced(struct parser *p)
{
    int depth = 0;

    do {
        if (p->t->kind == TOK_END)
            return;
        if (parse_is(p, "(") || parse_is(p, "[") || parse_is(p, "{"))
            depth++;
        else if (parse_is(p, ")") || parse_is(p, "]") || parse_is(p, "}"))
            depth--;
        p->t++;
    } while (depth > 0);
}

static const char *const builtin_words[] = {"unsigned", "signed", "char", "short", "int", "long",
                                            "float",    "double", "bool", "void",  "auto"};
static const char specifier_words[] =
    "const|constexpr|volatile|mutable|static|inline|extern|register|typename|struct|class|enum|union|decltype|"
    "thread_local|__restrict__|__device__|__host__|__global__|__constant__|__shared__|__managed__|"
    "__forceinline__|__inline__|__inline|__noinline__|__launch_bounds__|__cluster_dims__|__maxnreg__|"
    "__block_size__|__align__|alignas|__attribute__|__grid_constant__|__nv_pure__|__extension__|mutable|"
    "explicit|virtual|friend|consteval|constinit";
static const char reserved_words[] =
    "if|else|for|while|do|switch|case|default|break|continue|return|goto|sizeof|new|delete|throw|try|catch|"
    "template|using|typedef|namespace|operator|static_cast|reinterpret_cast|const_cast|dynamic_cast|true|"
    "false|nullptr|this|asm|static_assert|and|or|not|xor|bitand|bitor|compl|and_eq|or_eq|xor_eq|not_eq|"
    "alignof|noexcept|typeid|co_await";

static bool is_builtin_word(const struct parser *p)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin_words); i++)
        if (token_is(p->t, builtin_words[i]))
            return true;
    return false;
}

static bool at_name(const struct parser *p)
{
    return p->t->kind == TOK_WORD && !is_builtin_word(p) && !token_in(p->t, specifier_words) &&
           !token_in(p->t, reserved_words);
}

char *parse_word(struct parser *p)
{
    if (!at_name(p) && p->t->kind == TOK_WORD && (is_builtin_word(p) || token_in(p->t, specifier_words)))
        parse_fail(p, "a name (a declaration stands on its own, before this)");
    if (!at_name(p))
        parse_fail(p, "a name");
    return token_text(p->arena, p->t++);
}

static bool is_type_name(const struct parser *p, const char *name, enum look look)
{
    for (size_t i = look == LOOK_HERE ? p->names.n : 0; i-- > 0;) {
        if (strcmp(p->names.v[i].name, name) == 0)
            return p->names.v[i].is_type;
    }
    return type_builtin_name(name) ||
           type_name_find(p->unit, (struct name_use){name, p->scope, look, p->t + 1});
}

void parse_declare_type(struct parser *p, const char *name)
{
    if (*name)
        vec_add(p->arena, &p->names, ((struct scope_name){name, true}));
}

/* `int half = n / 2;`: from here on half is no type. */
void parse_declare_variable(struct parser *p, const char *name)
{
    if (*name && is_type_name(p, name, LOOK_HERE))
        vec_add(p->arena, &p->names, ((struct scope_name){name, false}));
}

static bool is_template_name(const struct parser *p, const char *name, enum look look)
{
    static const char known[] = "min|max|numeric_limits|is_same|is_same_v|conditional_t|forward|clamp";
    for (size_t i = look == LOOK_HERE ? p->names.n : 0; i-- > 0;) {
        if (strcmp(p->names.v[i].name, name) == 0 && p->names.v[i].is_type)
            return true; /* a template's parameter that is one itself: no type is less than something */
    }
    if (str_in(last_name(name), known))
        return true;
    struct found f;
    names_find(p->unit, (struct name_use){name, p->scope, look, p->t}, &f);
    for (size_t i = 0; i < f.n; i++) {
        if ((f.v[i]->func && f.v[i]->func->is_template) || (f.v[i]->type && f.v[i]->type->is_template) ||
            (f.v[i]->global && f.v[i]->global->n_tparams))
            return true;
    }
    return false;
}

/* The `::` and `std::` in front of a name. */
static enum look take_look(struct parser *p)
{
    enum look look = parse_take(p, "::") ? LOOK_GLOBAL : LOOK_HERE;

    if (!parse_is(p, "std") || !token_is(p->t + 1, "::"))
        return look;
    p->t += 2;
    return LOOK_STD;
}

struct qualified { /* a, ::a, a::b, a<x>::b */
    enum look look;
    struct template_arg_node *args;
    size_t n_args;
    bool has_args;
};

static char *qualified(struct parser *p, bool is_type, struct qualified *q)
{
    char *name = NULL;

    *q = (struct qualified){.look = take_look(p)};
    for (;;) {
        char *word;

        parse_take(p, "template");
        word = parse_word(p);
        name = name ? arena_printf(p->arena, "%s::%s", name, word) : word;
        if (parse_is(p, "<") && (is_type || is_template_name(p, name, q->look))) {
            q->args = parse_template_args(p, &q->n_args);
            q->has_args = true;
        }
        if (strlen(name) > 1000)
            parse_fail(p, "a shorter name");
        if (!parse_is(p, "::"))
            return name;
        p->t++;
    }
}

char *parse_qualified(struct parser *p, struct expr *e)
{
    struct qualified q;
    char *name = qualified(p, false, &q);

    e->targs = q.args;
    e->n_targs = q.n_args;
    e->has_targs = q.has_args;
    e->look = q.look;
    e->scope = p->scope;
    return name;
}

bool parse_at_type(struct parser *p)
{
    const struct token *start = p->t;
    char *name = NULL;
    enum look look;
    bool is;

    if (p->t->kind != TOK_WORD && !parse_is(p, "::"))
        return false;
    if (is_builtin_word(p) || token_in(p->t, specifier_words))
        return true;
    look = take_look(p);
    while (at_name(p)) {
        char *word = token_text(p->arena, p->t++);

        name = name ? arena_printf(p->arena, "%s::%s", name, word) : word;
        if (!parse_is(p, "::"))
            break;
        p->t++;
    }
    is = name && is_type_name(p, name, look);
    p->t = start;
    return is;
}

/* [[...]] or __attribute__((...)) of those that change no value and call nothing; true: the layout is another.
 */
static bool take_attribute(struct parser *p)
{
    static const char known[] =
        "maybe_unused|nodiscard|likely|unlikely|fallthrough|deprecated|noreturn|unused|__unused__|noinline|__noinline__|"
        "always_inline|__always_inline__|aligned|__aligned__|packed|__packed__|pure|const|hot|cold|flatten|used|"
        "warn_unused_result|visibility|nonnull|may_alias|__may_alias__|device|host|global|launch_bounds";
    const struct token *t = p->t + parse_is(p, "__attribute__"), *end;
    bool layout = false;

    p->t = t;
    parse_skip_balanced(p);
    for (end = p->t; t < end; t++) {
        if (t->kind != TOK_WORD || (token_is(t, "gnu") && token_is(t + 1, "::")))
            continue;
        if (!token_in(t, known))
            fail(p->unit, t, "the attribute %.*s may change what this means; leave it out",
                 (int)MIN(t->len, 60), t->s);
        layout |= token_in(t, "aligned|__aligned__|packed|__packed__|may_alias|__may_alias__");
        if (token_is(t + 1, "(")) {
            p->t = t + 1;
            parse_skip_balanced(p);
            t = p->t - 1;
        }
    }
    p->t = end;
    return layout;
}

void parse_statement_attributes(struct parser *p)
{
    while (parse_is(p, "[") && token_is(p->t + 1, "["))
        take_attribute(p);
}

static bool take_specifier(struct parser *p, struct specifiers *s)
{
    const struct {
        const char *words;
        bool *said;
    } specifiers[] = {{"const", &s->is_const},
                      {"constexpr|consteval|constinit", &s->is_constexpr},
                      {"static", &s->is_static},
                      {"inline", &s->is_inline},
                      {"thread_local", &s->is_thread_local},
                      {"__global__", &s->is_global},
                      {"__device__", &s->is_device},
                      {"__host__", &s->is_host},
                      {"__constant__", &s->is_constant_memory},
                      {"__shared__", &s->is_shared}};

    for (size_t i = 0; i < ARRAY_LEN(specifiers); i++)
        if (token_in(p->t, specifiers[i].words)) {
            p->t++;
            return *specifiers[i].said = true;
        }
    return false;
}

void parse_attributes(struct parser *p, struct specifiers *s)
{
    static const char bracketed[] =
        "__launch_bounds__|__cluster_dims__|__maxnreg__|__block_size__|__align__|alignas";
    static const char ignored[] =
        "volatile|mutable|register|typename|__restrict__|__managed__|__forceinline__|__inline__|__inline|"
        "__noinline__|__grid_constant__|__nv_pure__|__extension__|mutable|explicit|virtual|friend|__restrict";

    for (;;) {
        if ((parse_is(p, "[") && token_is(p->t + 1, "[")) || parse_is(p, "__attribute__")) {
            s->has_layout |= take_attribute(p);
        } else if (token_in(p->t, bracketed)) {
            s->has_layout |= parse_is(p, "__align__") || parse_is(p, "alignas");
            p->t++;
            if (parse_is(p, "("))
                parse_skip_balanced(p);
        } else if (token_in(p->t, ignored)) {
            p->t++;
        } else if (parse_is(p, "extern") && p->t[1].kind != TOK_STRING) {
            s->is_extern = true;
            p->t++;
        } else if (!take_specifier(p, s)) {
            return;
        }
    }
}

/* The spelling of a run of built-in words, from how often each was said. */
static const char *builtin_spelling(struct parser *p, const struct token *at, const int *count)
{
    enum { UNSIGNED, SIGNED, CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, BOOL, VOID, AUTO };
    bool u = count[UNSIGNED] > 0;
    int kinds = (count[CHAR] > 0) + (count[FLOAT] > 0) + (count[DOUBLE] > 0) + (count[BOOL] > 0) +
                (count[VOID] > 0) + (count[AUTO] > 0) + (count[SHORT] > 0 || count[LONG] > 0 || count[INT] > 0);

    if (kinds > 1 && !(count[DOUBLE] && count[LONG]))
        fail(p->unit, at, "these words together are not a type");
    if (count[DOUBLE])
        return count[LONG] ? "long double" : "double";
    if (count[FLOAT])
        return "float";
    if (count[BOOL])
        return "bool";
    if (count[VOID])
        return "void";
    if (count[AUTO])
        return "auto";
    if (count[CHAR] && u)
        return "unsigned char";
    if (count[CHAR])
        return count[SIGNED] ? "signed char" : "char";
    if (count[SHORT])
        return u ? "unsigned short" : "short";
    if (count[LONG] >= 2)
        return u ? "unsigned long long" : "long long";
    if (count[LONG])
        return u ? "unsigned long" : "long";
    return u ? "unsigned" : "int";
}

struct type_node *parse_specifiers(struct parser *p, struct specifiers *s)
{
    struct type_node *n = arena_new(p->arena, struct type_node);
    int count[ARRAY_LEN(builtin_words)] = {0};
    bool builtin = false;

    n->at = p->t;
    for (;;) {
        parse_attributes(p, s);
        if (is_builtin_word(p) && !n->name && n->kind != TN_DECLTYPE) {
            for (size_t i = 0; i < ARRAY_LEN(builtin_words); i++)
                count[i] += token_is(p->t, builtin_words[i]);
            builtin = true;
            p->t++;
        } else if (parse_is(p, "decltype") && !builtin && !n->name) {
            p->t++;
            parse_expect(p, "(");
            n->kind = TN_DECLTYPE;
            if (parse_is(p, "("))
                parse_fail(p, "a name or an operation without brackets (two brackets make a reference)");
            n->of = parse_expr(p);
            parse_expect(p, ")");
        } else if (!builtin && !n->name && n->kind != TN_DECLTYPE) {
            struct qualified q;

            if (parse_is(p, "struct") || parse_is(p, "class") || parse_is(p, "enum") || parse_is(p, "union"))
                p->t++;
            if (!at_name(p) && !parse_is(p, "::"))
                parse_fail(p, "a type");
            n->name = qualified(p, true, &q);
            n->args = q.args;
            n->n_args = q.n_args;
            n->look = q.look;
            n->scope = p->scope;
        } else {
            break;
        }
    }
    if (builtin)
        n->name = builtin_spelling(p, n->at, count);
    if (n->name && strcmp(n->name, "auto") == 0)
        n->kind = TN_AUTO;
    n->constant = s->is_const || s->is_constexpr;
    return n;
}

static struct type_node *wrap(struct parser *p, enum type_node_kind kind, struct type_node *to)
{
    struct type_node *n = arena_new(p->arena, struct type_node);

    n->kind = kind;
    n->at = to ? to->at : p->t;
    n->to = to;
    return n;
}

struct type_node *parse_declarator(struct parser *p, struct type_node *base, const char **name,
                                   const struct token **at, struct func *f)
{
    struct type_node *n = base;
    struct specifiers s = {0};
    VEC(struct expr *) sizes = {0};

    *name = "";
    while (parse_is(p, "*") || parse_is(p, "&") || parse_is(p, "&&")) {
        n = wrap(p, parse_is(p, "*") ? TN_POINTER : TN_REFERENCE, n);
        n->rvalue = parse_is(p, "&&");
        p->t++;
        s = (struct specifiers){0};
        parse_attributes(p, &s);
        n->constant = s.is_const;
    }
    *at = p->t;
    const struct token *star = p->t + 1 + token_is(p->t + 1, "CUDAAPI"); /* an empty macro of cuda.h */
    if (parse_is(p, "(") && (token_is(star, "*") || token_is(star, "&"))) {
        p->t = star + 1;
        s = (struct specifiers){0};
        parse_attributes(p, &s);
        *at = p->t;
        if (at_name(p))
            *name = parse_word(p);
        parse_expect(p, ")");
        if (!parse_is(p, "("))
            parse_fail(p, "the parameters of a function pointer");
        parse_skip_balanced(p);
        n = wrap(p, TN_FUNCTION, NULL);
        n->constant = s.is_const;
        return n;
    }
    if (at_name(p))
        *name = parse_word(p);
    while (parse_is(p, "[") && token_is(p->t + 1, "[")) {
        if (take_attribute(p))
            parse_fail(p, "a variable without an alignment of its own");
    }
    if (f && parse_is(p, "("))
        return n;
    while (parse_is(p, "[") && sizes.n < 8) {
        p->t++;
        vec_add(p->arena, &sizes, parse_is(p, "]") ? NULL : parse_expr(p));
        parse_expect(p, "]");
    }
    while (sizes.n > 0) {
        n = wrap(p, TN_ARRAY, n);
        n->size = sizes.v[--sizes.n];
    }
    return n;
}

struct type_node *parse_type_id(struct parser *p)
{
    struct specifiers s = {0};
    struct type_node *n = parse_specifiers(p, &s);
    const struct token *at;
    const char *name;

    if (s.has_layout)
        parse_fail(p, "a type without alignment or attributes");
    n = parse_declarator(p, n, &name, &at, NULL);
    if (*name)
        fail(p->unit, at, "a name is not expected in this type");
    return n;
}

void parse_params(struct parser *p, struct func *f)
{
    VEC(struct param) params = {0};

    parse_expect(p, "(");
    if (parse_is(p, "void") && token_is(p->t + 1, ")"))
        p->t++;
    while (!parse_is(p, ")")) {
        struct specifiers s = {0};
        struct param param = {0};

        if (parse_take(p, "...")) {
            f->variadic = true;
            break;
        }
        param.type = parse_specifiers(p, &s);
        while (parse_is(p, "&") &&
               (token_is(p->t + 1, "...") || (token_is(p->t + 1, "&") && token_is(p->t + 2, "..."))))
            p->t++; /* Args &&...args */
        if (parse_is(p, "&&") && token_is(p->t + 1, "..."))
            p->t++;
        param.by_reference = token_is(p->t - 1, "&") || token_is(p->t - 1, "&&");
        param.pack = parse_take(p, "...");
        param.type = parse_declarator(p, param.type, &param.name, &param.at, NULL);
        f->variadic |= param.pack && !parse_is(p, ")");
        if (parse_take(p, "="))
            param.fallback = parse_is(p, "{") ? parse_braces(p) : parse_assignment(p);
        vec_add(p->arena, &params, param);
        if (!parse_take(p, ","))
            break;
    }
    parse_expect(p, ")");
    f->params = params.v;
    f->n_params = params.n;
}

struct template_arg_node *parse_template_args(struct parser *p, size_t *n)
{
    VEC(struct template_arg_node) args = {0};

    parse_enter(p);
    parse_expect(p, "<");
    p->no_greater++;
    while (!at_angle(p)) {
        struct template_arg_node arg = {0};

        if (parse_at_type(p)) {
            const struct token *start = p->t;

            arg.type = parse_type_id(p);
            /* sizeof-like uses of a type in an expression: int(3), T::value ... */
            if (!parse_is(p, ",") && !at_angle(p)) {
                p->t = start;
                arg.type = NULL;
            }
        }
        if (!arg.type)
            arg.value = parse_conditional(p);
        vec_add(p->arena, &args, arg);
        if (!parse_take(p, ","))
            break;
    }
    p->no_greater--;
    parse_close_angle(p);
    p->depth--;
    *n = args.n;
    return args.v;
}

/* After `template`: <typename T, int N = 4, ...>. The type parameters become types for what follows. */
void parse_template_params(struct parser *p, struct template_param **params, size_t *n)
{
    VEC(struct template_param) list = {0};

    parse_expect(p, "<");
    p->no_greater++;
    while (!at_angle(p)) {
        struct template_param t = {.name = ""};

        if (parse_take(p, "template")) { /* of templates: template <typename> class Op */
            const size_t outer = p->names.n;
            struct template_param *inner;
            size_t n_inner;

            parse_template_params(p, &inner, &n_inner);
            p->names.n = outer;
        }
        t.is_type = parse_is(p, "typename") || parse_is(p, "class");
        if (t.is_type) {
            p->t++;
            t.pack = parse_take(p, "...");
            if (at_name(p))
                t.name = parse_word(p);
            parse_declare_type(p, t.name);
            if (parse_take(p, "="))
                t.fallback.type = parse_type_id(p);
        } else {
            struct specifiers s = {0};
            const struct token *at;

            t.type = parse_specifiers(p, &s);
            t.pack = parse_take(p, "...");
            t.type = parse_declarator(p, t.type, &t.name, &at, NULL);
            if (parse_take(p, "="))
                t.fallback.value = parse_conditional(p);
        }
        if (!*t.name && !t.pack) /* it is looked up by one that no word is */
            t.name = arena_printf(p->arena, "#%zu", list.n + 1);
        vec_add(p->arena, &list, t);
        if (!parse_take(p, ","))
            break;
    }
    p->no_greater--;
    parse_close_angle(p);
    *params = list.v;
    *n = list.n;
}
