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

bool wrapper_is_struct(const struct wrapper_reader *r, const char *spelled)
{
    return wrapper_struct_named(r, spelled) != NULL;
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
