/* The declarations of the file: functions, constants, types. A declaration that is not understood is passed
 * over; what it declared is then an unknown name, which is said where the launcher uses it. */
#include "kernel/internal.h"

static void func_add(struct parser *p, const struct scope *s, struct func *f)
{
    declare_in(p->unit, funcs, f);
    decl_add(p->unit, (struct decl){DECL_FUNC, f->name, s->prefix, f->at, .func = f});
}

/* `using namespace a::b;` and `using a::b::name;`. Those of namespaces that the file does not open add nothing
 * that is not known without them. */
void using_add(struct parser *p, const char *from)
{
    bool whole = parse_take(p, "namespace"), global = parse_take(p, "::");
    const struct token *at = p->t;
    const char *head = "", *last = NULL, *scope;

    while (p->t->kind == TOK_WORD) {
        const char *word = token_text(p->arena, p->t++);
        bool more = parse_take(p, "::");

        if (more || whole)
            head = arena_printf(p->arena, "%s%s::", head, word);
        else
            last = word;
        if (!more)
            break;
    }
    if (scope_known(p->unit, from, head, global, &scope))
        vec_add(p->arena, &p->unit->usings,
                ((struct using_name){.in = from, .from = scope, .name = last, .at = at}));
}

static size_t index_of(const struct parser *p, const struct token *t)
{
    return (size_t)(t - p->unit->tokens.v);
}

static bool same_type_node(const struct type_node *a, const struct type_node *b)
{
    for (; a && b; a = a->to, b = b->to) {
        if (a->kind != b->kind || a->constant != b->constant || a->n_args != b->n_args ||
            (a->name && b->name ? strcmp(a->name, b->name) != 0 : a->name != b->name))
            return false;
    }
    return !a && !b;
}

/* Two declarations of one function, as far as their words tell. */
static bool same_function(const struct func *a, const struct func *b)
{
    if (strcmp(a->qualified, b->qualified) != 0 || a->n_params != b->n_params ||
        a->is_template != b->is_template || a->n_tparams != b->n_tparams)
        return false;
    for (size_t i = 0; i < a->n_params; i++) {
        struct type_node x = *a->params[i].type, y = *b->params[i].type;

        x.constant = y.constant = false; /* int and const int are one parameter */
        if (!same_type_node(&x, &y))
            return false;
    }
    return true;
}

/* A default that calls between the two declarations do not see. */
static bool adds_default(const struct func *before, const struct func *f)
{
    bool adds = false;

    for (size_t i = 0; i < f->n_params; i++)
        adds |= f->params[i].fallback && !before->params[i].fallback;
    for (size_t i = 0; i < f->n_tparams; i++) {
        const struct template_arg_node *a = &before->tparams[i].fallback, *b = &f->tparams[i].fallback;

        adds |= (b->type || b->value) && !a->type && !a->value;
    }
    return adds;
}

static void function(struct parser *p, const struct scope *s, struct func *f, const struct specifiers *spec)
{
    f->qualified = scope_qualify(p, s, f->name);
    f->scope = s->prefix;
    f->is_global = spec->is_global;
    f->is_device = spec->is_device;
    f->is_host = spec->is_host;
    f->extern_c = s->extern_c;
    parse_params(p, f);
    struct specifiers after = {0};
    while (parse_is(p, "noexcept") || parse_is(p, "const")) {
        bool condition = token_is(p->t, "noexcept") && token_is(p->t + 1, "(");

        p->t++;
        if (condition)
            parse_skip_balanced(p);
    }
    parse_attributes(p, &after);
    if (parse_take(p, "->"))
        f->result = parse_type_id(p);
    if (parse_is(p, "{")) {
        f->body = index_of(p, p->t);
        parse_skip_balanced(p);
    } else if (parse_take(p, "=")) { /* = delete */
        p->t++;
        parse_expect(p, ";");
    } else {
        parse_expect(p, ";");
    }
    if (!f->body) { /* a declaration adds nothing to the one before */
        for (size_t i = 0; i < p->unit->funcs.n; i++) {
            struct func *o = p->unit->funcs.v[i];

            if (same_function(o, f)) {
                o->late_default |= adds_default(o, f);
                return;
            }
        }
    }
    for (size_t i = 0; f->body && i < p->unit->funcs.n; i++) {
        struct func *o = p->unit->funcs.v[i];

        if (!o->body && same_function(o, f)) {
            f->late_default = o->late_default || adds_default(o, f);
            for (size_t k = 0; k < f->n_params; k++) { /* defaults stand in the declaration */
                if (!f->params[k].fallback)
                    f->params[k].fallback = o->params[k].fallback;
            }
            for (size_t k = 0; k < f->n_tparams && k < o->n_tparams; k++) {
                if (!f->tparams[k].fallback.type && !f->tparams[k].fallback.value)
                    f->tparams[k].fallback = o->tparams[k].fallback;
            }
            f->extern_c |= o->extern_c;
            f->specialised |= o->specialised;
            f->is_device |= o->is_device;
            f->is_host |= o->is_host;
            p->unit->funcs.v[i] = f;
            for (size_t k = 0; k < p->unit->decls.n; k++) {
                if (p->unit->decls.v[k].func == o)
                    p->unit->decls.v[k].func = f;
            }
            return;
        }
    }
    func_add(p, s, f);
}

/* False when it is no function after all, such as `const int x(3);`. A function with parameters that are not
 * understood still counts as one: the device part has to know. */
static bool function_or_skip(struct parser *p, const struct scope *s, struct func *f,
                             const struct specifiers *spec)
{
    const struct token *const call = p->t;
    struct trap trap = {.up = p->unit->trap};

    p->unit->trap = &trap;
    if (setjmp(trap.jump) == 0) {
        function(p, s, f, spec);
        p->unit->trap = trap.up;
        return true;
    }
    p->unit->trap = trap.up;
    p->t = call;
    p->depth = p->no_greater = p->angle = 0;
    parse_skip_balanced(p);
    if (parse_is(p, ";"))
        return false;
    while (p->t->kind != TOK_END && !parse_is(p, "{") && !parse_is(p, ";"))
        parse_skip_balanced(p);
    if (parse_is(p, "{"))
        parse_skip_balanced(p);
    f->not_understood = true;
    f->qualified = scope_qualify(p, s, f->name);
    f->scope = s->prefix;
    func_add(p, s, f);
    return true;
}

static void refuse_macro(struct parser *p, const char *name, const struct token *at)
{
    if (system_predefined(name))
        fail(p->unit, at, "%s is a macro of the compiler or of a header; use another name", name);
}

/* template <> int width<float>() { ... }: which body a call means is then not known here. */
static void note_specialisation(struct parser *p, const char *name)
{
    for (size_t i = 0; i < p->unit->funcs.n; i++) {
        if (strcmp(p->unit->funcs.v[i]->name, name) == 0)
            p->unit->funcs.v[i]->specialised = true;
    }
    for (size_t i = 0; i < p->unit->globals.n; i++) {
        if (strcmp(p->unit->globals.v[i]->decl.name, name) == 0)
            p->unit->globals.v[i]->specialised = true;
    }
}

static void declaration(struct parser *p, const struct scope *s, struct region *r)
{
    struct template_param *tparams = NULL;
    size_t n_tparams = 0;
    bool is_template = false;
    struct specifiers spec = {0};
    struct type_node *base;
    struct func *f = arena_new(p->arena, struct func);
    const struct token *start = p->t;

    while (parse_take(p, "template")) {
        is_template = true;
        if (!parse_is(p, "<")) /* an explicit instantiation */
            parse_fail(p, "`<`");
        parse_template_params(p, &tparams, &n_tparams);
    }
    if (parse_is(p, "using") || parse_is(p, "typedef")) {
        type_alias(p, s, tparams, n_tparams);
        return;
    }
    if ((parse_is(p, "struct") || parse_is(p, "class") || parse_is(p, "union") || parse_is(p, "enum")) &&
        type_definition(p, s, tparams, n_tparams, is_template))
        return;
    base = parse_specifiers(p, &spec);
    f->result = parse_declarator(p, base, &f->name, &f->at, f);
    f->is_template = is_template;
    f->tparams = tparams;
    f->n_tparams = n_tparams;
    if (is_template && parse_is(p, "<")) {
        note_specialisation(p, f->name);
        f->qualified = scope_qualify(p, s, f->name);
        if (spec.is_global)
            vec_add(p->arena, &p->unit->written_for, f);
    }
    if (*f->name && parse_is(p, "(") && function_or_skip(p, s, f, &spec)) {
        r->func = f;
        return;
    }
    p->t = start;
    memset(&spec, 0, sizeof(spec));
    while (parse_take(p, "template"))
        parse_template_params(p, &tparams, &n_tparams);
    base = parse_specifiers(p, &spec);
    size_t n;
    struct declarator *list = parse_declarators(p, base, &spec, &n);
    parse_expect(p, ";");
    r->first_global = p->unit->globals.n;
    for (size_t i = 0; i < n; i++) {
        struct global *g = arena_new(p->arena, struct global);

        refuse_macro(p, list[i].name, list[i].at);
        g->name = scope_qualify(p, s, list[i].name);
        g->scope = s->prefix;
        g->decl = list[i];
        g->tparams = tparams;
        g->n_tparams = n_tparams;
        g->device = spec.is_device || spec.is_constant_memory || spec.is_shared;
        g->constant_memory = spec.is_constant_memory;
        g->usable = list[i].constant && !g->device && list[i].init && !is_template;
        declare_in(p->unit, globals, g);
        decl_add(p->unit, (struct decl){DECL_GLOBAL, list[i].name, s->prefix, list[i].at, .global = g});
        r->n_globals++;
    }
}

/* What a declaration that is not understood may have declared: the words outside of its brackets. */
static void add_unknown(struct parser *p, const struct scope *s, const struct token *from,
                        const struct token *to)
{
    int depth = 0;

    if (token_is(from, "static_assert") ||
        (token_is(from, "template") && (!token_is(from + 1, "<") || token_is(from + 2, ">"))))
        return;
    if (token_is(from, "asm") || token_is(from, "__asm__"))
        fail(p->unit, from, "assembler of the host; leave it out");
    for (const struct token *t = from; t < to; t++) {
        depth += token_is(t, "(") || token_is(t, "[") || token_is(t, "{");
        depth -= token_is(t, ")") || token_is(t, "]") || token_is(t, "}");
        if (depth == 0 && t->kind == TOK_WORD)
            decl_add(p->unit, (struct decl){DECL_UNKNOWN, token_text(p->arena, t), s->prefix, t, .func = NULL});
    }
}

/* The end in the file of the macro call that starts at a byte. */
static size_t call_end(const struct unit *u, size_t at)
{
    size_t low = 0, high = u->raw.n - 1, depth = 0;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (u->raw.v[mid].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    if (token_is(&u->raw.v[low + (low + 1 < u->raw.n)], "(")) {
        for (low++; low + 1 < u->raw.n; low++) {
            depth += token_is(&u->raw.v[low], "(");
            depth -= token_is(&u->raw.v[low], ")");
            if (depth == 0)
                break;
        }
    }
    return MIN(u->raw.v[low].at + u->raw.v[low].len, u->len);
}

/* Of a header: its bytes there, where it begins and ends in one text. */
static void header_region(struct parser *p, const struct token *start, struct region *r)
{
    const struct token *last = &p->t[-1];
    const struct kernel_header *h = token_header(p->unit, start);

    r->end = r->start;
    if (!h || h != token_header(p->unit, last) || start->s > last->s)
        return;
    r->header = h;
    r->start = (size_t)(start->s - h->text);
    r->end = (size_t)(last->s - h->text) + last->len;
}

static void one_declaration(struct parser *p, const struct scope *s)
{
    const struct token *const start = p->t;
    struct trap trap = {.up = p->unit->trap};
    struct region r = {.first = index_of(p, start), .scope = s->prefix};

    p->names.n = 0;
    p->scope = s->prefix;
    p->depth = p->no_greater = p->angle = 0;
    p->unit->trap = &trap;
    if (setjmp(trap.jump) == 0) {
        struct scope inner = *s;

        if (parse_is(p, "extern") && p->t[1].kind == TOK_STRING && !token_is(p->t + 2, "{")) {
            inner.extern_c = true;
            p->t += 2;
        }
        declaration(p, &inner, &r);
        p->unit->trap = trap.up;
    } else {
        p->unit->trap = trap.up;
        p->t = start;
        while (p->t->kind != TOK_END && !parse_is(p, "}")) {
            bool body = parse_is(p, "{");

            if (parse_take(p, ";"))
                break;
            parse_skip_balanced(p);
            if (body && !parse_is(p, ";") && !parse_is(p, "="))
                break;
        }
        if (p->t == start)
            p->t++;
        add_unknown(p, s, start, p->t);
    }
    r.last = index_of(p, p->t);
    r.start = start->at;
    r.end = p->t[-1].macro ? call_end(p->unit, p->t[-1].at) : p->t[-1].at + p->t[-1].len;
    if (start->foreign || p->t[-1].foreign)
        header_region(p, start, &r);
    if (r.func) {
        r.func->start = r.start;
        r.func->end = r.end;
    }
    vec_add(p->arena, &p->unit->regions, r);
}

static void namespace_add(struct parser *p, const char *name)
{
    for (size_t i = 0; i < p->unit->namespaces.n; i++) {
        if (strcmp(p->unit->namespaces.v[i], name) == 0)
            return;
    }
    vec_add(p->arena, &p->unit->namespaces, name);
}

/* `namespace x = a::b;` */
static void alias_add(struct parser *p, const struct scope *s)
{
    const struct token *at = p->t;
    const char *head = "", *to;

    p->t += token_is(p->t + 1, "=") ? 2 : 0;
    bool global = parse_take(p, "::");
    while (p->t->kind == TOK_WORD) {
        head = arena_printf(p->arena, "%s%.*s::", head, (int)p->t->len, p->t->s);
        p->t++;
        if (!parse_take(p, "::"))
            break;
    }
    if (at->kind == TOK_WORD && scope_known(p->unit, s->prefix, head, global, &to))
        vec_add(p->arena, &p->unit->aliases,
                ((struct namespace_alias){s->prefix, arena_printf(p->arena, "%.*s::", (int)at->len, at->s), to,
                                          at}));
    while (p->t->kind != TOK_END && !parse_take(p, ";"))
        p->t++;
}

static void declarations(struct parser *p, const struct scope *s)
{
    /* Namespaces and linkage blocks that are open, without recursion. */
    VEC(struct scope) open = {0};

    vec_add(p->arena, &open, *s);
    while (p->t->kind != TOK_END) {
        struct scope inner = vec_last(&open);

        if (parse_take(p, ";"))
            continue;
        if (parse_is(p, "}")) {
            p->t++;
            if (open.n > 1)
                open.n--;
        } else if (parse_is(p, "extern") && p->t[1].kind == TOK_STRING && token_is(p->t + 2, "{")) {
            p->t += 3;
            inner.extern_c = true;
            vec_add(p->arena, &open, inner);
        } else if (parse_is(p, "namespace") || (parse_is(p, "inline") && token_is(p->t + 1, "namespace"))) {
            bool is_inline = parse_take(p, "inline");
            const struct token *at = ++p->t;
            if (parse_is(p, "std") && token_is(p->t + 1, "{"))
                fail(p->unit, p->t, "namespace std is opened; declare the names in another one");
            while (p->t->kind == TOK_WORD || parse_is(p, "::")) {
                if (p->t->kind == TOK_WORD && !is_inline && strlen(inner.prefix) < 1000)
                    inner.prefix = arena_printf(p->arena, "%s%.*s::", inner.prefix, (int)p->t->len, p->t->s);
                p->t++;
            }
            if (parse_take(p, "{")) {
                for (const char *c = inner.prefix; (c = strstr(c, "::")); c += 2)
                    namespace_add(p, arena_strndup(p->arena, inner.prefix, (size_t)(c + 2 - inner.prefix)));
                vec_add(p->arena, &open, inner);
            } else {
                p->t = at;
                alias_add(p, &vec_last(&open));
            }
        } else {
            one_declaration(p, &inner);
        }
    }
}

/* NULL is 8 bytes for the host and 4 for the device: what looks at its type is two things. */
static void check_null(struct unit *u)
{
    for (size_t i = 2; i < u->tokens.n; i++) {
        const struct token *t = &u->tokens.v[i], *before = t - 1;
        bool asked = i > 2 && token_is(before, "=") && token_is(t - 3, "auto");

        if (!token_is(t, "NULL") && !token_is(t, "__null"))
            continue;
        while (before > u->tokens.v && token_is(before, "("))
            before--;
        if (asked || token_in(before, "sizeof|decltype|typeof|__typeof__|alignof"))
            fail(
                u, t,
                "the type of NULL, which the host's and the device's compiler have differently; write nullptr");
    }
}

/* `and` is `&&` everywhere behind the preprocessor. */
static void word_operator(struct token *t)
{
    static const struct {
        const char *word, *sign;
    } all[] = {{"and", "&&"},   {"or", "||"},     {"not", "!"},    {"bitand", "&"},
               {"bitor", "|"},  {"xor", "^"},     {"compl", "~"},  {"and_eq", "&="},
               {"or_eq", "|="}, {"xor_eq", "^="}, {"not_eq", "!="}};

    for (size_t i = 0; t->kind == TOK_WORD && i < ARRAY_LEN(all); i++) {
        if (!token_is(t, all[i].word))
            continue;
        t->kind = TOK_PUNCT;
        t->s = all[i].sign;
        t->len = (uint32_t)strlen(all[i].sign);
    }
}

/* Behind `operator`: does it take a type that the compiler has not built in, such as one of the file? */
static bool takes_own_type(struct unit *u, const struct token *t)
{
    int depth = 0;

    if (token_is(t, "(") && token_is(t + 1, ")")) /* operator()() */
        t += 2;
    while (t->kind != TOK_END && !token_is(t, "(") && !token_is(t, ";"))
        t++;
    for (; t->kind != TOK_END; t++) {
        depth += token_is(t, "(");
        depth -= token_is(t, ")");
        if (depth <= 0)
            return false;
        bool named = (token_is(t + 1, ",") || token_is(t + 1, ")")) && !token_is(t - 1, "(") &&
                     !token_is(t - 1, ",") && !token_in(t - 1, "const|volatile"); /* a parameter's name */

        if (t->kind == TOK_WORD && !named && !token_in(t, "const|volatile|unsigned|signed|long|short") &&
            !type_builtin_name(token_text(u->arena, t)))
            return true;
    }
    return true;
}

void unit_read(struct unit *u)
{
    struct parser p = {.unit = u, .arena = u->arena};
    struct scope file = {.prefix = ""};

    lex_text(u);
    macro_expand(u);
    check_null(u);
    p.t = u->tokens.v;
    for (size_t i = 0; i < u->tokens.n; i++) {
        const struct token *t = &u->tokens.v[i];

        u->operators |= token_is(t, "operator");
        u->operators_own |= token_is(t, "operator") && takes_own_type(u, t + 1);
        u->tuple_like |= token_is(t, "tuple_size");
        u->uses_std |= i > 0 && token_is(t, "std") && token_in(t - 1, "using|namespace");
        word_operator(&u->tokens.v[i]);
    }
    declarations(&p, &file);
}
