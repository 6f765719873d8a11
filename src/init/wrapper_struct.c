/* Structs, enumerations and variables of the files, by their names. */
#include "init/wrapper.h"

const char *wrapper_plain_name(struct arena *a, const char *spelled)
{
    const char *name = arena_strndup(a, spelled, strcspn(spelled, "<")), *colon = strrchr(name, ':');

    return colon ? colon + 1 : name;
}

const struct init_decl *wrapper_struct_named(const struct wrapper_reader *r, const char *spelled)
{
    const struct init_names *found = init_named(r->source, wrapper_plain_name(r->arena, spelled));
    const struct token *v = r->source->tokens.v;

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        size_t t = d->first, body;

        if (token_is(&v[t], "template"))
            t = init_angle(r->source, t + 1, d->end);
        t += token_is(&v[t], "typedef") && token_is(&v[t + 1], "struct"); /* `typedef struct { ... } name;` */
        for (body = t; body < d->end && !token_is(&v[body], "{"); body++)
            continue;
        if (d->kind == INIT_TYPE && !d->specialised && body < d->end && token_in(&v[t], "struct|class"))
            return d;
    }
    return NULL;
}

bool wrapper_is_struct(struct wrapper_reader *r, const char *spelled)
{
    return wrapper_struct_named(r, wrapper_unaliased(r, spelled)) != NULL;
}

/* The text with each word that is a parameter of the template at [first, end) as `given`, the list of an
 * instance, or the parameter's default, says it. */
static const char *instanced(struct wrapper_reader *r, size_t first, size_t end, const char *given,
                             const char *text)
{
    const struct token *v = r->source->tokens.v;
    struct str out = {.arena = r->arena};

    for (const char *p = text; *p;) {
        const size_t len = str_word(p), step = len ? len : 1;
        const char *word = arena_strndup(r->arena, p, step), *as = word;
        for (size_t i = first, next, which = 0; i < end && len; i = next + 1, which++) {
            next = wrapper_item(v, i, end);
            size_t name = i;
            while (name < next && !token_is(&v[name], "="))
                name++;
            if (name == i || !token_is(&v[name - 1], word))
                continue;
            const char *said = wrapper_listed(r->arena, given, which);
            if (!said && name + 1 < next)
                said = wrapper_text(r->arena, v, name + 1, next);
            as = said ? said : as;
        }
        str_add(&out, as);
        p += step;
    }
    return arena_strdup(r->arena, str_text(&out));
}

/* `using Name = type;`, `template <typename T> using Name = type<T>;`, `typedef type Name;`: the type; NULL: it
 * is none of these. */
static const char *alias_of(struct wrapper_reader *r, const char *spelled)
{
    const char *open = strchr(spelled, '<'), *given = "", *name = wrapper_plain_name(r->arena, spelled);
    const struct init_names *found = init_named(r->source, name);
    const struct token *v = r->source->tokens.v;

    if (open && str_ends(open, ">"))
        given = arena_strndup(r->arena, open + 1, strlen(open) - 2);
    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        size_t t = d->first, list = t;
        if (d->is_template && token_is(&v[t], "template")) {
            list = t + 2;
            t = init_angle(r->source, t + 1, d->end);
        }
        if (!token_is(&v[t], "using") || !token_is(&v[t + 1], name) || !token_is(&v[t + 2], "="))
            continue;
        const char *text = init_text(r->source, t + 3, d->end - 1);
        return d->is_template ? instanced(r, list, t - 1, given, text) : text;
    }
    return open ? NULL : wrapper_file_alias(r, name);
}

const char *wrapper_unaliased(struct wrapper_reader *r, const char *spelled)
{
    enum { MOST_DEPTH = 4 };
    const char *of;

    for (int depth = 0; depth < MOST_DEPTH && !wrapper_struct_named(r, spelled) && (of = alias_of(r, spelled));
         depth++)
        spelled = of;
    return spelled;
}

/* Of "a::b::Name". */
static const struct init_names *named_last(const struct wrapper_reader *r, const char *spelled)
{
    const char *colon = spelled ? strrchr(spelled, ':') : NULL, *last = colon ? colon + 1 : spelled;

    return last ? init_named(r->source, last) : NULL;
}

bool wrapper_is_enum(const struct wrapper_reader *r, const char *spelled)
{
    const struct init_names *found = named_last(r, spelled);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *x = &r->source->decls.v[found->decls.v[i]];
        if (x->kind == INIT_TYPE && token_is(&r->source->tokens.v[x->first], "enum"))
            return true;
    }
    return false;
}

/* Does the enumerator say that nothing is done? `kNullOp`, `None`. */
static bool says_nothing(const char *name)
{
    static const char *const words[] = {"null", "none", "invalid", "unknown", "undefined", "noop"};
    bool says = false;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        says = says || strcasestr(name, words[i]);
    return says;
}

const char *wrapper_enum_value(const struct wrapper_reader *r, const char *spelled)
{
    const struct init_names *found = named_last(r, spelled);
    const struct token *v = r->source->tokens.v;
    const struct init_decl *d = NULL;
    long long value = 0;

    for (size_t i = 0; found && i < found->decls.n && !d; i++) {
        const struct init_decl *x = &r->source->decls.v[found->decls.v[i]];
        d = x->kind == INIT_TYPE && token_is(&v[x->first], "enum") && x->end > x->first + 2 ? x : NULL;
    }
    for (size_t i = d ? d->first : 0; d && i + 1 < d->end; i++) {
        if (!wrapper_sign(&v[i], "{ ,") || v[i + 1].kind != TOK_WORD)
            continue;
        if (token_is(&v[i + 2], "="))
            value = strtoll(token_text(r->arena, &v[i + 3]), NULL, 0);
        if (!says_nothing(token_text(r->arena, &v[i + 1])))
            break;
        value++;
    }
    return arena_printf(r->arena, "static_cast<%s>(%lld)", spelled, value);
}

/* Does the body say the word by itself, not as somebody's member? */
bool wrapper_says_alone(const struct wrapper_reader *r, const char *name)
{
    for (size_t i = r->f.params; i < r->f.body_end; i++) {
        if (token_is(&r->v[i], name) && !wrapper_sign(&r->v[i - 1], ". -> ::"))
            return true;
    }
    return false;
}

bool wrapper_variable(struct wrapper_reader *r, const char *name, struct wrapper_type *type)
{
    const struct init_names *found = init_named(r->source, name);
    const struct token *v = r->source->tokens.v;

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        bool fixed =
            d->kind != INIT_VARIABLE || d->is_device || d->is_constexpr || d->is_template || !d->name_at;

        for (size_t k = d->first; k < d->name_at && !fixed; k++)
            fixed = token_in(&v[k], "const|__constant__|__shared__");
        if (fixed || !token_is(&v[d->name_at], name))
            continue;
        *type = wrapper_type_of(r, v, d->first, d->name_at);
        return type->type && !type->pointer;
    }
    return false;
}
