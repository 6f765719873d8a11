/* Parameters of the wrapper that are structs of numbers and pointers: the members that the kernel or the
 * wrapper says become the launcher's parameters, and a struct is filled of them. */
#include "init/wrapper.h"

static const struct init_decl *type_named(const struct wrapper_reader *r, const char *spelled)
{
    const char *name = arena_strndup(r->arena, spelled, strcspn(spelled, "<")), *colon = strrchr(name, ':');
    const struct init_names *found = init_named(r->source, colon ? colon + 1 : name);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        const struct token *t = &r->source->tokens.v[d->first];
        while (token_is(t, "template"))
            t = &r->source->tokens.v[init_angle(r->source, d->first + 1, d->end)];
        t += token_is(t, "typedef") && token_is(t + 1, "struct"); /* `typedef struct { ... } name;` */
        if (d->kind == INIT_TYPE && !d->specialised && token_in(t, "struct|class"))
            return d;
    }
    return NULL;
}

bool wrapper_is_struct(const struct wrapper_reader *r, const char *spelled)
{
    return type_named(r, spelled) != NULL;
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

/* Do these tokens say the member of something? */
static bool says_member(const struct token *v, size_t n, const char *name)
{
    for (size_t i = 1; i < n; i++) {
        if (token_is(&v[i], name) && wrapper_sign(&v[i - 1], ". ->"))
            return true;
    }
    return false;
}

/* A pointer to void has the type that the kernel casts it to: reinterpret_cast<T *>(p.name), (T *)p.name. */
static const char *cast_in_kernel(struct wrapper_reader *r, const char *name)
{
    const struct token *v = r->kernel_tokens.v;

    for (size_t i = 3; i < r->kernel_tokens.n; i++) {
        size_t close = i - 3, first;

        if (!token_is(&v[i], name) || !wrapper_sign(&v[i - 1], ". ->"))
            continue;
        if (token_is(&v[close], "(") && close)
            close--;
        if (!wrapper_sign(&v[close], "> )"))
            continue;
        first = close;
        while (first && !wrapper_sign(&v[first], "< ("))
            first--;
        struct wrapper_type t = wrapper_type_of(r, v, first + 1, close);
        if (t.pointer && wrapper_type_name(r, t.spelled, NULL))
            return t.spelled;
    }
    return NULL;
}

/* One declaration of members, [first, last): `index_t a, b`, `void *__restrict__ p = nullptr`. */
static void add_members(struct wrapper_reader *r, const struct token *v, size_t first, size_t last,
                        struct wrapper_members *to)
{
    size_t item = first, type_end = 0;

    while (item < last) {
        size_t end = wrapper_item(v, item, last), name = item;
        struct wrapper_member m = {0};

        while (name < end && !wrapper_sign(&v[name], "= { [ :"))
            name++;
        if (name <= first + (type_end == 0) || v[name - 1].kind != TOK_WORD ||
            (name < end && token_is(&v[name], ":")))
            return;
        m.name = token_text(r->arena, &v[name - 1]);
        m.array = name < end && token_is(&v[name], "[");
        if (!type_end) /* of all of the list but for stars */
            type_end = name - 1;
        m.type = wrapper_type_of(r, v, first, type_end);
        if (item > first && token_is(&v[item], "*"))
            m.type.pointer = true;
        m.numbers = m.array && m.type.type && !m.type.pointer && wrapper_skip(v, last, name) == end;
        if (m.array && !m.numbers && (!m.type.pointer || !m.type.type)) /* zeros */
            return;
        if (m.type.pointer && !m.type.type) {
            const char *spelled = cast_in_kernel(r, m.name);
            m.type.spelled = spelled ? spelled : "float";
            m.type.type = wrapper_type_name(r, m.type.spelled, &m.type.lanes);
            m.guessed = !spelled;
        }
        vec_add(r->arena, to, m);
        item = end + 1;
    }
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

static bool collect(struct wrapper_reader *r, const char *spelled, int depth, struct wrapper_members *to);

/* The members of the structs that this one comes from: [colon, open) are `: public a, b<int>`. */
static bool collect_bases(struct wrapper_reader *r, size_t colon, size_t open, int depth,
                          struct wrapper_members *to)
{
    const struct token *v = r->source->tokens.v;

    for (size_t i = colon + 1, end; i < open; i = end + 1) {
        end = wrapper_item(v, i, open);
        while (i < end && token_in(&v[i], "public|private|protected|virtual"))
            i++;
        if (!collect(r, wrapper_text(r->arena, v, i, end), depth + 1, to))
            return false;
    }
    return true;
}

/* All members of the struct, those of its bases first. */
static bool collect(struct wrapper_reader *r, const char *spelled, int depth, struct wrapper_members *to)
{
    const struct init_decl *d = depth < 8 ? type_named(r, spelled) : NULL;
    const struct token *v = r->source->tokens.v;
    size_t i, end, open;

    if (!d)
        return false;
    for (open = d->first; open < d->end && !token_is(&v[open], "{"); open++)
        continue;
    for (i = d->first; i < open; i++) {
        if (token_is(&v[i], ":") && !collect_bases(r, i, open, depth, to))
            return false;
    }
    end = wrapper_skip(v, d->end, open) - 1;
    for (i = open + 1; i < end;) {
        size_t last = i;
        bool plain = true;

        if (token_in(&v[i], "public|private|protected")) {
            i += 2;
            continue;
        }
        while (last < end && !token_is(&v[last], ";")) {
            if (token_is(&v[last], "("))
                plain = false;
            if (!plain && token_is(&v[last], "{")) { /* the body of a function, or a constructor's `a{x},` */
                last = wrapper_skip(v, end, last);
                if (!wrapper_sign(&v[last], "{ ,"))
                    break;
                continue;
            }
            last = wrapper_sign(&v[last], "( [ {") ? wrapper_skip(v, end, last) : last + 1;
        }
        if (token_is(&v[i], "using") && token_is(&v[i + 2], "=")) {
            struct wrapper_type t = wrapper_type_of(r, v, i + 3, last);
            const char *name = token_text(r->arena, &v[i + 1]);
            if (t.type && !map_has(&r->alias, name))
                map_put(&r->alias, name, (void *)t.spelled);
        } else if (plain && !token_in(&v[i], "static|using|typedef|friend|enum|struct|template|constexpr"))
            add_members(r, v, i, last, to);
        i = last < end && token_is(&v[last], ";") ? last + 1 : MAX(last, i + 1);
    }
    return true;
}

/* What a buffer of such structs is made of: numbers of one type, else bytes. NULL: it is no struct of the
 * files, or has pointers. */
const char *wrapper_plain_elements(struct wrapper_reader *r, const char *spelled, int *lanes)
{
    struct wrapper_members members = {0};
    const struct init_decl *d = r->within_struct ? NULL : type_named(r, spelled);
    const char *type = NULL;
    bool plain = d != NULL, same = true;

    r->within_struct = true;
    plain = plain && collect(r, spelled, 0, &members);
    r->within_struct = false;
    for (size_t i = d ? d->first : 0; plain && i < d->end; i++)
        same = same && !token_is(&r->source->tokens.v[i], "["); /* of how many nobody asks */
    for (size_t i = 0; i < members.n && plain; i++) {
        const struct wrapper_type *m = &members.v[i].type;
        plain = !m->pointer && !m->reference && !m->tensor && !m->stream &&
                (m->type || wrapper_is_enum(r, m->spelled)); /* others may have pointers */
        same = same && m->type && (!type || str_eq(type, m->type));
        type = m->type;
    }
    if (!plain)
        return NULL;
    *lanes = 2; /* not one: it is cast */
    return same && type ? type : "u8";
}

void wrapper_make_plain(struct wrapper_reader *r, const char *spelled)
{
    const struct init_decl *d = type_named(r, spelled);

    if (d)
        init_make_plain(r->source, d);
}

bool wrapper_members(struct wrapper_reader *r, const char *spelled, bool own, struct wrapper_members *to)
{
    if (!collect(r, spelled, 0, to))
        return false;

    const struct tokens *all = &r->source->tokens;
    size_t used = 0;
    bool known = true, handed = !own;
    for (size_t i = 0; i < to->n && handed; i++)
        handed = !says_member(r->kernel_tokens.v, r->kernel_tokens.n, to->v[i].name);
    for (size_t i = 0; i < to->n; i++) {
        struct wrapper_member m = to->v[i];
        bool said = own ? wrapper_says_alone(r, m.name)
                        : says_member(r->kernel_tokens.v, r->kernel_tokens.n, m.name) ||
                              says_member(r->v, r->n, m.name) ||
                              (handed && says_member(all->v, all->n, m.name));
        if (m.type.stream || !said || wrapper_is_enum(r, m.type.spelled)) /* it is its first value */
            continue;
        known = known && m.type.type;
        to->v[used++] = m;
    }
    to->n = used;
    return used > 0 && known;
}

void wrapper_fill_member(struct wrapper_reader *r, struct str *to, const char *of,
                         const struct wrapper_member *m)
{
    if (m->numbers)
        str_addf(to,
                 "    for (int launch_i = 1; launch_i < (int)(sizeof(%s.%s) / sizeof(%s.%s[0])); launch_i++)\n"
                 "        %s.%s[launch_i] = 1;\n",
                 of, m->name, of, m->name, of, m->name);
    if (m->numbers)
        wrapper_ask(r, "of the numbers in %s.%s all but the first are 1 here; which are they?", of, m->name);
    else if (m->array)
        wrapper_ask(r, "of the pointers in %s.%s the first alone is given; are there more?", of, m->name);
}

bool wrapper_is_tag(struct wrapper_reader *r, const char *spelled)
{
    static const char *const constants[] = {"std::bool_constant<", "std::integral_constant<", "std::true_type",
                                            "std::false_type"};
    struct wrapper_members members = {0};

    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (str_starts(spelled, constants[i]))
            return true;
    }
    return type_named(r, spelled) && collect(r, spelled, 0, &members) && !members.n;
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
