/* Types that the file declares: structs with their members, enumerations, other names of types. */
#include "kernel/internal.h"

const char *scope_qualify(struct parser *p, const struct scope *s, const char *name)
{
    return *s->prefix ? arena_printf(p->arena, "%s%s", s->prefix, name) : name;
}

static void enumeration(struct parser *p, const struct scope *s, struct type_name *type)
{
    struct enumerator *before = NULL;

    parse_expect(p, "{");
    while (!parse_is(p, "}")) {
        struct enumerator *e = arena_new(p->arena, struct enumerator);
        const struct token *at = p->t;

        e->name = parse_word(p);
        e->type = type;
        e->before = before;
        if (parse_take(p, "="))
            e->value = parse_conditional(p);
        declare_in(p->unit, enumerators, e);
        if (!type->scoped)
            decl_add(p->unit, (struct decl){DECL_ENUMERATOR, e->name, s->prefix, at, .enumerator = e});
        before = e;
        if (!parse_take(p, ","))
            break;
    }
    parse_expect(p, "}");
}

/* `using name = type;` or `typedef type name;` in a struct; false: it is something else. */
static bool member_alias(struct parser *p, struct member_type *m)
{
    struct specifiers spec = {0};
    const struct token *at;

    if (parse_is(p, "using") && token_is(p->t + 2, "=")) {
        p->t++;
        m->name = parse_word(p);
        parse_expect(p, "=");
        m->type = parse_type_id(p);
    } else if (parse_take(p, "typedef")) {
        m->type = parse_specifiers(p, &spec);
        if (spec.has_layout)
            parse_fail(p, "a type without alignment or attributes");
        m->type = parse_declarator(p, m->type, &m->name, &at, NULL);
    } else {
        return false;
    }
    parse_expect(p, ";");
    return true;
}

/* Behind the parameters of a constructor: `: a(x), b{y}`. */
static void member_starts(struct parser *p, struct func *f)
{
    VEC(struct member_start) starts = {0};

    do {
        struct member_start s = {.name = parse_word(p)};

        if (parse_is(p, "{")) {
            s.init = parse_braces(p);
        } else {
            s.init = parse_parentheses(p);
        }
        vec_add(p->arena, &starts, s);
    } while (parse_take(p, ","));
    f->starts = starts.v;
    f->n_starts = starts.n;
}

/* A constructor or a member function; false: it is something else. Where it is not understood, it fails. */
static bool member_function(struct parser *p, struct type_name *type)
{
    struct func *f = arena_new(p->arena, struct func);
    struct specifiers spec = {0}, after = {0};

    while (parse_take(p, "template")) {
        f->is_template = true;
        parse_template_params(p, &f->tparams, &f->n_tparams);
    }
    parse_attributes(p, &spec);
    const bool maker = parse_is(p, type->name) && token_is(p->t + 1, "(");
    if (maker) {
        f->at = p->t;
        f->name = parse_word(p);
    } else {
        f->result = parse_specifiers(p, &spec);
        f->result = parse_declarator(p, f->result, &f->name, &f->at, f);
    }
    if (!*f->name || !parse_is(p, "("))
        return false;
    f->qualified = f->name;
    f->scope = p->scope;
    f->owner = type;
    f->is_device = spec.is_device;
    f->is_host = spec.is_host;
    parse_params(p, f);
    while (parse_take(p, "const") || parse_take(p, "noexcept") || parse_take(p, "override"))
        ;
    parse_attributes(p, &after);
    if (parse_take(p, "->"))
        f->result = parse_type_id(p);
    for (size_t i = 0; i < f->n_params; i++)
        parse_declare_variable(p, f->params[i].name);
    if (maker && parse_take(p, ":"))
        member_starts(p, f);
    if (parse_is(p, "{")) {
        f->body = (size_t)(p->t - p->unit->tokens.v);
        parse_skip_balanced(p);
    } else {
        if (parse_take(p, "="))
            f->defaulted = token_is(p->t++, "default");
        parse_expect(p, ";");
    }
    if (!maker) {
        vec_add(p->arena, &type->methods, f);
        return true;
    }
    type->constructed = true;
    const bool copies = f->n_params == 1 && f->params[0].type->kind == TN_REFERENCE && !f->is_template &&
                        f->params[0].type->to->name && strcmp(f->params[0].type->to->name, type->name) == 0;
    if (copies && f->body)
        vec_add(p->arena, &type->copiers, f);
    type->unmade |= copies && !f->body && !f->defaulted;
    type->part_made |= !copies && !f->body && !f->defaulted; /* made elsewhere */
    if (!copies)
        vec_add(p->arena, &type->makers, f);
    return true;
}

/* Does the constructor copy each member, and nothing else? `name(const name &o) : a(o.a), b(o.b) {}` */
static bool copies_members(const struct parser *p, const struct func *f, const struct type_name *type)
{
    const struct token *body = &p->unit->tokens.v[f->body];
    size_t n = 0;

    for (size_t i = 0; i < type->n_fields; i++)
        n += !type->fields[i].value;
    if (n != f->n_starts || !token_is(body + 1, "}"))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct expr *init = f->starts[i].init,
                          *of = (init->kind == EX_INIT || init->kind == EX_CONSTRUCT) && init->n_args == 1
                                    ? init->args[0]
                                    : NULL;
        bool there = false;
        for (size_t k = 0; k < type->n_fields; k++)
            there |= !type->fields[k].value && strcmp(type->fields[k].name, f->starts[i].name) == 0;
        for (size_t k = 0; k < i; k++)
            there &= strcmp(f->starts[k].name, f->starts[i].name) != 0;
        if (!there || !of || of->kind != EX_MEMBER || of->arrow || of->type ||
            strcmp(of->name, f->starts[i].name) != 0 || of->a->kind != EX_NAME ||
            strcmp(of->a->name, f->params[0].name) != 0)
            return false;
    }
    return true;
}

/* A constructor at [from, to) that is not understood: may it be one that copies? A template is none, but where
 * it takes a plain `T &` of its own it would be preferred to one. */
static bool may_copy(const struct token *from, const struct token *to, const struct type_name *type)
{
    const bool is_template = token_is(from, "template");
    const struct token *open = from;

    while (open < to && !(token_is(open, type->name) && token_is(open + 1, "(")))
        open++;
    for (const struct token *t = open + 2;
         t < to && !token_is(t, "{") && !token_is(t, ";") && !token_is(t, ":"); t++) {
        if (!is_template && token_is(t, type->name))
            return true;
        if (!is_template || t->kind != TOK_WORD || !(token_is(t + 1, "&") || token_is(t + 1, "&&")) ||
            token_is(t - 1, "const"))
            continue;
        for (const struct token *own = from; own < open; own++) {
            if (token_in(own, "class|typename") && own[1].len == t->len && memcmp(own[1].s, t->s, t->len) == 0)
                return true;
        }
    }
    return false;
}

/* What the words [from, to) of a member that is no data say of how values are made, copied and destroyed. */
static void note_making(const struct token *from, const struct token *to, struct type_name *type)
{
    const bool empty = token_is(to - 1, "}") && token_is(to - 2, "{"),
               usual = empty || (token_is(to - 1, ";") && token_is(to - 2, "default"));

    for (const struct token *t = from; t < to && !token_is(t, "{"); t++) {
        type->has_table |= token_is(t, "virtual");
        if (token_is(t, type->name) && token_is(t + 1, "(") && t > from && token_is(t - 1, "~"))
            type->unmade |= !usual;
        if (token_is(t, "operator") && token_is(t + 1, "="))
            type->unmade |= empty || !usual;
    }
}

/* Is it a type of the struct's own, and no data of it? `enum { N = 4 };`, `struct inner { ... };` */
static bool only_declares_type(const struct token *t)
{
    int depth = 0;

    if (!token_in(t, "enum|struct|class|union"))
        return false;
    while (t->kind != TOK_END && !token_is(t, "{") && !token_is(t, ";") && !token_is(t, "="))
        t++;
    const struct token *before =
        t - 1; /* a union, or a struct without a name, has members that are the outer's */
    if (!token_is(t, "{"))
        return false;
    do {
        depth += token_is(t, "{");
        depth -= token_is(t, "}");
        t++;
    } while (depth && t->kind != TOK_END);
    return token_is(t, ";") && !token_in(before, "struct|class|union");
}

/* Members of a struct: data, static constants, types and functions. */
static void struct_members(struct parser *p, struct type_name *type)
{
    VEC(struct field) fields = {0};
    VEC(struct member_type) types = {0};
    const size_t outer_names = p->names.n;

    while (!parse_is(p, "}") && p->t->kind != TOK_END) {
        const struct token *start = p->t;
        struct trap trap = {.up = p->unit->trap};
        const int depth = p->depth;

        p->unit->trap = &trap;
        if (setjmp(trap.jump) == 0) {
            struct specifiers spec = {0};
            struct member_type m;

            if (member_alias(p, &m)) {
                vec_add(p->arena, &types, m);
                parse_declare_type(p, m.name);
            } else if ((parse_is(p, "public") || parse_is(p, "private") || parse_is(p, "protected")) &&
                       token_is(p->t + 1, ":")) {
                p->t += 2;
            } else if (parse_take(p, ";")) { /* behind the body of a function */
            } else {
                struct type_node *base = parse_specifiers(p, &spec);
                size_t n;
                struct declarator *d = parse_declarators(p, base, &spec, &n);

                parse_expect(p, ";");
                type->opaque |= spec.has_layout;
                for (size_t i = 0; i < n; i++) {
                    if (d[i].init && d[i].init->kind == EX_INIT && !d[i].init->braces)
                        parse_fail(p, "a member that is no function");
                    struct field f = {.name = d[i].name,
                                      .type = d[i].type,
                                      .value = spec.is_static || spec.is_constexpr ? d[i].init : NULL};

                    f.init = f.value ? NULL : d[i].init;

                    if (!spec.is_static || f.value)
                        vec_add(p->arena, &fields, f);
                }
            }
            p->unit->trap = trap.up;
            continue;
        }
        p->unit->trap = trap.up;
        p->depth = depth;
        p->no_greater = p->angle = 0;
        p->t = start;
        p->unit->trap = &trap;
        const size_t n_names = p->names.n;
        if (setjmp(trap.jump) == 0) {
            bool understood = !parse_is(p, "friend") && member_function(p, type);

            p->unit->trap = trap.up;
            p->names.n = n_names;
            if (understood) {
                note_making(start, p->t, type);
                continue;
            }
        }
        p->unit->trap = trap.up;
        p->names.n = n_names;
        p->depth = depth;
        p->no_greater = p->angle = 0;
        p->t = start;
        /* A member function or type: its size does not count. Data that is not understood does. */
        bool function = parse_is(p, "friend") || parse_is(p, "template") || only_declares_type(p->t),
             maker = false;

        while (p->t->kind != TOK_END && !parse_is(p, "}") && !parse_take(p, ";")) {
            bool body = parse_is(p, "{");

            function |= parse_is(p, "(") || parse_is(p, "using") || parse_is(p, "typedef");
            maker |= parse_is(p, type->name) && token_is(p->t + 1, "(") &&
                     !(p->t > start && token_is(p->t - 1, "~"));
            parse_skip_balanced(p);
            if (body && !parse_is(p, ";"))
                break;
        }
        type->opaque |= !function;
        type->constructed |= maker;
        type->part_made |= maker;
        type->unmade |= maker && may_copy(start, p->t, type);
        note_making(start, p->t, type);
    }
    p->names.n = outer_names;
    type->fields = fields.v;
    type->n_fields = fields.n;
    type->types = types.v;
    type->n_types = types.n;
    for (size_t i = 0; i < type->copiers.n; i++)
        type->unmade |= !copies_members(p, type->copiers.v[i], type);
}

/* A definition behind specialisations is specialised like what announced it. */
static void type_add(struct parser *p, const struct scope *s, struct type_name *type, const struct token *at)
{
    for (size_t i = 0; i < p->unit->types.n; i++) {
        const struct type_name *o = p->unit->types.v[i];

        if (strcmp(o->qualified, type->qualified) != 0)
            continue;
        if (o->specialised)
            type->opaque = type->specialised = true;
        for (size_t k = 0; o->forward && k < o->n_tparams && o->n_tparams == type->n_tparams; k++) {
            if (!type->tparams[k].fallback.type && !type->tparams[k].fallback.value)
                type->tparams[k].fallback = o->tparams[k].fallback; /* what announced it says */
        }
        for (size_t k = 0; k < o->special.n; k++)
            vec_add(p->arena, &type->special, o->special.v[k]);
        for (size_t k = 0; k < o->partial.n; k++)
            vec_add(p->arena, &type->partial, o->partial.v[k]);
    }
    declare_in(p->unit, types, type);
    decl_add(p->unit, (struct decl){DECL_TYPE, type->name, s->prefix, at, .type = type});
}

/* What #pragma pack says; a template's instances are laid out elsewhere. */
static void set_pack(struct type_name *type, const struct token *open, const struct token *close)
{
    type->pack = close->pack;
    type->opaque |= open->pack != close->pack || (type->is_template && close->pack);
}

/* Behind the name of a struct's specialisation. Of a full one with a body the members are known; with any other
 * only the general form is, so that neither size nor members are. */
static void specialisation(struct parser *p, const struct scope *s, struct type_name *type)
{
    bool full = !type->n_tparams && type->is_struct;
    struct found f;

    names_find(p->unit, (struct name_use){type->name, s->prefix, LOOK_HERE, p->t}, &f);
    for (size_t i = 0; i < f.n; i++) { /* until it is understood, also when it never is */
        struct type_name *general = f.v[i]->type;
        const bool opaque = general && general->opaque, specialised = general && general->specialised;
        const struct token *start = p->t;

        if (!general)
            continue;
        general->opaque = general->specialised = true;
        if (!full && !type->is_struct)
            continue;
        type->special_args = parse_template_args(p, &type->n_special_args);
        const struct token *open = p->t;
        bool whole = type->n_special_args == general->n_tparams; /* no default argument, no pack */
        for (size_t k = 0; k < general->n_tparams; k++)
            whole &= !general->tparams[k].pack;
        if (whole && !full) {
            type->opaque |= !parse_take(p, "{");
            if (!type->opaque)
                struct_members(p, type);
            general->opaque = opaque;
            general->specialised = specialised;
            vec_add(p->arena, &general->partial, type);
        } else if (whole && parse_take(p, "{")) {
            struct_members(p, type);
            set_pack(type, open, p->t);
            general->opaque = opaque;
            general->specialised = specialised;
            vec_add(p->arena, &general->special, type);
        }
        p->t = start;
    }
    while (p->t->kind != TOK_END && !parse_is(p, "{") && !parse_is(p, ";"))
        p->t++;
    if (parse_is(p, "{"))
        parse_skip_balanced(p);
    parse_take(p, ";");
}

/* `: public a::b<T>` in front of the members; NULL: it is more than one plain name. */
static struct type_node *base_struct(struct parser *p)
{
    const struct token *t = p->t + 1;
    struct specifiers spec = {0};

    t += token_is(t, "public");
    p->t = t;
    while (t->kind == TOK_WORD && token_is(t + 1, "::"))
        t += 2;
    if (t->kind != TOK_WORD || !(token_is(t + 1, "{") || token_is(t + 1, "<")) ||
        token_in(t, "private|protected|virtual"))
        return NULL;
    const struct token *start = p->t;
    struct type_node *base = parse_specifiers(p, &spec);
    if (parse_is(p, "{"))
        return base;
    p->t = start;
    return NULL;
}

bool type_definition(struct parser *p, const struct scope *s, struct template_param *tparams, size_t n_tparams,
                     bool is_template)
{
    const struct token *start = p->t;
    bool is_enum = parse_is(p, "enum"), is_union = parse_is(p, "union"), scoped = false;
    struct type_name *type = arena_new(p->arena, struct type_name);

    p->t++;
    if (is_enum)
        scoped = parse_take(p, "class") || parse_take(p, "struct");
    for (;;) {
        if ((parse_is(p, "alignas") || parse_is(p, "__align__")) && token_is(p->t + 1, "(")) {
            const struct token *open = ++p->t;

            p->t++;
            type->opaque |= parse_at_type(p);
            type->align = parse_at_type(p) ? NULL : parse_expr(p);
            p->t = open;
            parse_skip_balanced(p);
        } else if (parse_is(p, "__attribute__") || (parse_is(p, "[") && token_is(p->t + 1, "["))) {
            type->opaque = true; /* it may change the layout */
            p->t += !parse_is(p, "[");
            parse_skip_balanced(p);
        } else {
            break;
        }
    }
    const struct token *const at = p->t;
    type->name = p->t->kind == TOK_WORD ? parse_word(p) : "";
    type->qualified = scope_qualify(p, s, type->name);
    type->is_enum = is_enum;
    type->is_struct = !is_enum;
    type->scoped = scoped;
    type->scope = s->prefix;
    type->opaque |= is_union;
    type->tparams = tparams;
    type->n_tparams = n_tparams;
    type->is_template = is_template;
    if (parse_is(p, "<")) {
        specialisation(p, s, type);
        return true;
    }
    if (is_enum && parse_take(p, ":")) {
        struct specifiers spec = {0};

        type->alias = parse_specifiers(p, &spec);
    } else if (!is_enum && parse_is(p, ":")) { /* bases */
        type->base = base_struct(p);
        type->opaque |= !type->base;
        while (p->t->kind != TOK_END && !parse_is(p, "{") && !parse_is(p, ";"))
            p->t++;
    }
    if (!parse_is(p, "{") && !(parse_is(p, ";") && *type->name)) {
        p->t = start;
        return false;
    }
    if (parse_is(p, ";")) {
        type->opaque = !is_enum;
        type->forward = true;
        type_add(p, s, type, at);
        p->t++;
        return true;
    }
    if (*type->name)
        type_add(p, s, type, at);
    if (is_enum) {
        enumeration(p, s, type);
    } else {
        const struct token *open = p->t++;

        struct_members(p, type);
        set_pack(type, open, p->t);
        parse_expect(p, "}");
    }
    while (p->t->kind != TOK_END && !parse_take(p, ";")) { /* declarators behind the brace are not constants */
        type->opaque |= parse_is(p, "__attribute__");
        parse_skip_balanced(p);
    }
    return true;
}

void type_alias(struct parser *p, const struct scope *s, struct template_param *tparams, size_t n_tparams)
{
    struct type_name *type = arena_new(p->arena, struct type_name);
    const struct token *name_at = p->t;

    type->tparams = tparams;
    type->n_tparams = n_tparams;
    type->is_template = n_tparams > 0;
    if (parse_take(p, "using")) {
        if (parse_is(p, "namespace") || !token_is(p->t + 1, "=")) {
            using_add(p, s->prefix);
            while (p->t->kind != TOK_END && !parse_take(p, ";"))
                p->t++;
            return;
        }
        name_at = p->t;
        type->name = parse_word(p);
        parse_expect(p, "=");
        type->alias = parse_type_id(p);
    } else {
        struct specifiers spec = {0};

        parse_expect(p, "typedef");
        if ((parse_is(p, "struct") || parse_is(p, "union") || parse_is(p, "enum")) &&
            (token_is(p->t + 1, "{") || token_is(p->t + 2, "{") || token_is(p->t + 1, "__align__"))) {
            /* typedef struct { ... } name; */
            const struct token *body;

            type->is_enum = parse_is(p, "enum");
            type->opaque = parse_is(p, "union") || token_is(p->t + 1, "__align__");
            p->t++;
            while (!parse_is(p, "{") && p->t->kind != TOK_END)
                parse_skip_balanced(p);
            body = p->t;
            parse_skip_balanced(p);
            type->opaque |= parse_is(p, "__attribute__");
            name_at = p->t;
            type->name = parse_word(p);
            type->qualified = scope_qualify(p, s, type->name);
            type->scope = s->prefix;
            type->is_struct = !type->is_enum;
            parse_expect(p, ";");
            type_add(p, s, type, name_at);
            const struct token *after = p->t;
            p->t = body;
            if (type->is_enum) {
                enumeration(p, s, type);
            } else {
                p->t++;
                struct_members(p, type);
                set_pack(type, body, p->t);
            }
            p->t = after;
            return;
        }
        type->alias = parse_specifiers(p, &spec);
        if (spec.has_layout)
            parse_fail(p, "a type without alignment or attributes");
        type->alias = parse_declarator(p, type->alias, &type->name, &name_at, NULL);
    }
    type->qualified = scope_qualify(p, s, type->name);
    type->scope = s->prefix;
    parse_expect(p, ";");
    type_add(p, s, type, name_at);
}
