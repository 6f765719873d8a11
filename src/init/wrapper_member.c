/* Parameters that are structs and classes: the members that are asked for become the launcher's parameters, and
 * the launcher fills the struct with them. Of a class template its parameters stand for what it is given. */
#include "init/wrapper.h"

enum { MOST_DEPTH = 8, MOST_NAMED = 64, MOST_INNER = 4 };

/* Names within a class, and what they stood for outside of it. */
struct named {
    struct {
        const char *name, *before;
    } v[MOST_NAMED];
    size_t n;
};

static void name_type(struct wrapper_reader *r, struct named *names, const char *name, const char *type)
{
    if (names->n == MOST_NAMED || !*name)
        return;
    const char *before = map_get(&r->alias, name);
    names->v[names->n].name = name;
    names->v[names->n++].before = before ? before : name;
    map_put(&r->alias, name, (void *)type);
}

static void forget_types(struct wrapper_reader *r, struct named *names)
{
    while (names->n) {
        names->n--;
        map_put(&r->alias, names->v[names->n].name, (void *)names->v[names->n].before);
    }
}

/* Words of a type that stand for others do so: `pair<T, U>` is `pair<float, int>`. */
static const char *with_types(struct wrapper_reader *r, const char *spelled)
{
    struct str out = {.arena = r->arena};

    for (const char *p = spelled; *p;) {
        const size_t len = str_word(p);
        const char *word = len ? arena_strndup(r->arena, p, len) : NULL,
                   *of = word ? map_get(&r->alias, word) : NULL;

        if (of && (p == spelled || p[-1] != ':'))
            str_add(&out, of);
        else
            str_addn(&out, p, len ? len : 1);
        p += len ? len : 1;
    }
    return arena_strdup(r->arena, str_text(&out));
}

/* The default that an announcement of the class template gives its parameter; NULL: none. */
static const char *announced_default(struct wrapper_reader *r, const struct init_decl *d, size_t which)
{
    const struct init_names *found = init_named(r->source, d->name);
    const struct token *v = r->source->tokens.v;

    for (size_t k = 0; found && k < found->decls.n; k++) {
        const struct init_decl *x = &r->source->decls.v[found->decls.v[k]];
        if (x == d || x->kind != INIT_TYPE || !x->is_template || x->specialised || !str_eq(x->scope, d->scope))
            continue;
        const size_t end = init_angle(r->source, x->first + 1, x->end);
        size_t i = x->first + 2, name, next;
        for (size_t at = 0; at < which && i + 1 < end; at++)
            i = wrapper_item(v, i, end - 1) + 1;
        next = i + 1 < end ? wrapper_item(v, i, end - 1) : i;
        for (name = i; name < next && !token_is(&v[name], "="); name++)
            continue;
        if (name + 1 < next)
            return wrapper_text(r->arena, v, name + 1, next);
    }
    return NULL;
}

/* The parameters of the class template are what `spelled` gives them, or their defaults. */
static void name_tparams(struct wrapper_reader *r, const struct init_decl *d, const char *spelled,
                         struct named *names)
{
    const struct token *v = r->source->tokens.v;
    const char *open = strchr(spelled, '<'), *inside = NULL;
    const size_t end =
        token_is(&v[d->first], "template") ? init_angle(r->source, d->first + 1, d->end) : d->first;
    size_t which = 0;

    if (open && str_ends(open, ">"))
        inside = arena_strndup(r->arena, open + 1, strlen(open) - 2);
    for (size_t i = d->first + 2, next; i + 1 < end; i = next + 1, which++) {
        next = wrapper_item(v, i, end - 1);
        size_t name = i;
        while (name < next && !token_is(&v[name], "="))
            name++;
        const char *given = inside ? wrapper_listed(r->arena, inside, which) : NULL;
        if (!given && name + 1 < next)
            given = wrapper_text(r->arena, v, name + 1, next);
        if (!given)
            given = announced_default(r, d, which);
        if (given)
            given = with_types(r, given);
        if (given && name > i && v[name - 1].kind == TOK_WORD)
            name_type(r, names, token_text(r->arena, &v[name - 1]), given);
    }
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

/* The number that the tokens of an array's extent say; 0: not known. */
static int extent_of(struct wrapper_reader *r, const struct token *v, size_t first, size_t last)
{
    const char *text = last == first + 1 ? token_text(r->arena, &v[first]) : "", *of;

    for (int i = 0; i < MOST_DEPTH && (of = map_get(&r->alias, text)) && !str_eq(of, text); i++)
        text = of;
    return v[first].kind == TOK_WORD && text == token_text(r->arena, &v[first]) ? 0
                                                                                : (int)strtol(text, NULL, 0);
}

/* One declaration of members, [first, last): `index_t a, b`, `void *__restrict__ p = nullptr`. */
static void add_members(struct wrapper_reader *r, const struct token *v, size_t first, size_t last,
                        struct wrapper_members *to)
{
    size_t type_end = 0;

    first += token_is(&v[first], "mutable");
    for (size_t item = first; item < last;) {
        size_t end = wrapper_item(v, item, last), name = item;
        struct wrapper_member m = {0};

        while (name < end && !wrapper_sign(&v[name], "= { [ :"))
            name++;
        if (name <= first + (type_end == 0) || v[name - 1].kind != TOK_WORD ||
            (name < end && token_is(&v[name], ":")))
            return;
        m.name = m.path = token_text(r->arena, &v[name - 1]);
        m.array = name < end && token_is(&v[name], "[");
        if (!type_end) /* of all of the list but for stars */
            type_end = name - 1;
        m.type = wrapper_type_of(r, v, first, type_end);
        if (item > first && token_is(&v[item], "*"))
            m.type.pointer = true;
        m.numbers = m.array && m.type.type && !m.type.pointer && wrapper_skip(v, last, name) == end;
        if (m.array && wrapper_skip(v, last, name) == end)
            m.extent = extent_of(r, v, name + 1, end - 1);
        if (m.array && !m.numbers && m.type.pointer != (m.type.type != NULL)) /* zeros */
            return;
        if (!m.type.type && strchr(m.type.spelled, '<'))
            m.type.spelled = with_types(r, m.type.spelled);
        if (m.type.stars == 1 && !m.type.type && !str_eq(m.type.spelled, "void") &&
            str_is_name(m.type.spelled) && !wrapper_struct_named(r, m.type.spelled)) { /* of a library: bytes */
            m.type.type = "u8";
            m.type.lanes = 2;
        }
        if (m.type.pointer && !m.type.type && str_eq(m.type.spelled, "void")) {
            const char *spelled = cast_in_kernel(r, m.name);
            m.type.spelled = spelled ? spelled : "float";
            m.type.type = wrapper_type_name(r, m.type.spelled, &m.type.lanes);
            m.guessed = !spelled;
        }
        vec_add(r->arena, to, m);
        item = end + 1;
    }
}

/* What is collected of a struct, and of those in it. */
struct collecting {
    struct wrapper_reader *r;
    struct wrapper_members *to;
    bool make_plain; /* all structs that are met, for a launcher that fills them */
};

static bool collect(struct collecting *c, const char *spelled, int depth);

/* The members of the structs that this one comes from: [colon, open) are `: public a, b<int>`. */
static bool collect_bases(struct collecting *c, size_t colon, size_t open, int depth)
{
    const struct token *v = c->r->source->tokens.v;

    for (size_t i = colon + 1, end; i < open; i = end + 1) {
        end = wrapper_item(v, i, open);
        while (i < end && token_in(&v[i], "public|private|protected|virtual"))
            i++;
        if (!collect(c, with_types(c->r, wrapper_text(c->r->arena, v, i, end)), depth + 1))
            return false;
    }
    return true;
}

/* Adds the members of the struct that `m` is, or of each one of its array; false: it is none. */
static bool add_inner(struct collecting *c, const struct wrapper_member *m, int depth)
{
    struct wrapper_members inner = {0};
    struct collecting of = *c;

    of.to = &inner;
    if (m->type.type || m->type.pointer || m->type.reference || m->type.stream ||
        (m->array && (m->extent < 1 || m->extent > MOST_INNER)) ||
        init_is_view(wrapper_plain_name(c->r->arena, m->type.spelled)) ||
        !collect(&of, m->type.spelled, depth + 1))
        return false;
    for (int i = 0; i < (m->array ? m->extent : 1); i++) {
        const char *name = m->array ? arena_printf(c->r->arena, "%s%d", m->name, i) : m->name,
                   *path = m->array ? arena_printf(c->r->arena, "%s[%d]", m->path, i) : m->path;
        for (size_t k = 0; k < inner.n; k++) {
            struct wrapper_member n = inner.v[k];
            n.name = arena_printf(c->r->arena, "%s_%s", name, n.name);
            n.path = arena_printf(c->r->arena, "%s.%s", path, n.path);
            n.by_methods = n.by_methods || m->by_methods;
            vec_add(c->r->arena, c->to, n);
        }
    }
    return true;
}

/* Of the members from `from` on those that are structs become their members. */
static void collect_inner(struct collecting *c, size_t from, int depth)
{
    struct wrapper_members before = {0};

    for (size_t i = from; i < c->to->n; i++)
        vec_add(c->r->arena, &before, c->to->v[i]);
    c->to->n = from;
    for (size_t i = 0; i < before.n; i++) {
        if (!add_inner(c, &before.v[i], depth))
            vec_add(c->r->arena, c->to, before.v[i]);
    }
}

/* `using T = type;`, `typedef type T;`, `enum { N = 4 };`, `static constexpr int N = 4;` at [i, last): what
 * members are said with. */
static void learn_name(struct wrapper_reader *r, size_t i, size_t last, struct named *names)
{
    const struct token *v = r->source->tokens.v;
    size_t first = i + 3, end = last, name = i + 1;

    if (token_in(&v[i], "enum|static|constexpr")) {
        for (size_t k = i; k + 2 < last; k++) {
            if (v[k].kind == TOK_WORD && token_is(&v[k + 1], "=") && wrapper_sign(&v[k + 3], ", } ;"))
                name_type(r, names, token_text(r->arena, &v[k]), token_text(r->arena, &v[k + 2]));
        }
        return;
    }
    if (token_is(&v[i], "typedef")) {
        first = i + 1;
        end = name = last - 1;
    } else if (!token_is(&v[i], "using") || !token_is(&v[i + 2], "="))
        return;
    if (end <= first || v[name].kind != TOK_WORD)
        return;
    const char *text = with_types(r, wrapper_text(r->arena, v, first, end)),
               *word = token_text(r->arena, &v[name]);
    const char *open = strchr(text, '<');
    if (str_starts(text, "typename ") && open && (strcasestr(word, "ptr") || strcasestr(word, "pointer"))) {
        const char *inside =
            wrapper_listed(r->arena, arena_strndup(r->arena, open + 1, strcspn(open, ">") - 1), 0);
        text = arena_printf(r->arena, "%s *", inside); /* the pointers of a class of traits */
    }
    if (!str_eq(text, word))
        name_type(r, names, word, text);
}

/* How often the class says the name: more than once, where its functions do. */
static bool says_twice(const struct wrapper_reader *r, const struct init_decl *d, const char *name)
{
    int n = 0;

    for (size_t i = d->first; i < d->end; i++)
        n += token_is(&r->source->tokens.v[i], name);
    return n > 1;
}

/* The class and its specialisations. */
static void make_plain(struct wrapper_reader *r, const struct init_decl *d)
{
    const struct init_names *all = init_named(r->source, d->name);

    init_make_plain(r->source, d);
    for (size_t i = 0; i < all->decls.n; i++) {
        const struct init_decl *x = &r->source->decls.v[all->decls.v[i]];
        if (x != d && x->kind == INIT_TYPE && str_eq(x->scope, d->scope))
            init_make_plain(r->source, x);
    }
}

/* All members of the struct, those of its bases first. */
static bool collect(struct collecting *c, const char *spelled, int depth)
{
    struct wrapper_reader *r = c->r;
    spelled = wrapper_unaliased(r, spelled);
    const struct init_decl *d = depth < MOST_DEPTH ? wrapper_struct_named(r, spelled) : NULL;
    const struct token *v = r->source->tokens.v;
    struct named names = {0};
    size_t i, end, open;
    bool whole = true;

    if (!d)
        return false;
    if (c->make_plain)
        make_plain(r, d);
    name_tparams(r, d, spelled, &names);
    for (open = d->first; open < d->end && !token_is(&v[open], "{"); open++)
        continue;
    for (i = d->first; i < open && whole; i++)
        whole = !token_is(&v[i], ":") || collect_bases(c, i, open, depth);
    const size_t from = c->to->n;
    end = wrapper_skip(v, d->end, open) - 1;
    for (i = open + 1; i < end && whole;) {
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
        if (token_in(&v[i], "using|typedef|enum|static|constexpr"))
            learn_name(r, i, last, &names);
        else if (plain && !token_in(&v[i], "friend|struct|template"))
            add_members(r, v, i, last, c->to);
        i = last < end && token_is(&v[last], ";") ? last + 1 : MAX(last, i + 1);
    }
    for (i = from; i < c->to->n; i++)
        c->to->v[i].by_methods = says_twice(r, d, c->to->v[i].name);
    collect_inner(c, from, depth);
    forget_types(r, &names);
    return whole;
}

/* What a buffer of such structs is made of: numbers of one type, else bytes. NULL: it is no struct of the
 * files, or has pointers. */
const char *wrapper_plain_elements(struct wrapper_reader *r, const char *spelled, int *lanes)
{
    struct wrapper_members members = {0};
    spelled = wrapper_unaliased(r, spelled);
    const struct init_decl *d = r->within_struct ? NULL : wrapper_struct_named(r, spelled);
    const char *type = NULL;
    bool plain = d != NULL, same = true;

    r->within_struct = true;
    plain = plain && collect(&(struct collecting){.r = r, .to = &members}, spelled, 0);
    r->within_struct = false;
    for (size_t i = d ? d->first : 0; plain && i < d->end; i++)
        same = same && (!token_is(&r->source->tokens.v[i], "[") || /* of how many nobody asks */
                        token_is(&r->source->tokens.v[i - 1], "operator"));
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
    struct wrapper_members all = {0};

    collect(&(struct collecting){.r = r, .to = &all, .make_plain = true}, spelled, 0);
}

static const char *last_of(const struct wrapper_member *m)
{
    const char *dot = strrchr(m->path, '.');

    return dot ? dot + 1 : m->path;
}

/* Is the parameter called so handed on as a whole, to a function that may ask it for anything? */
static bool is_handed_on(const struct wrapper_reader *r, const char *name)
{
    const struct token *v = r->kernel_tokens.v;

    for (size_t i = r->kernel.body; i + 1 < r->kernel_tokens.n && name; i++) {
        if (token_is(&v[i], name) && !wrapper_sign(&v[i - 1], ". -> ::") && wrapper_sign(&v[i + 1], ", )"))
            return true;
    }
    return false;
}

bool wrapper_members(struct wrapper_reader *r, const char *spelled, const char *name, enum wrapper_asks asks,
                     struct wrapper_members *to)
{
    const bool own = asks == WRAPPER_OWN, lenient = asks >= WRAPPER_KERNEL;
    const struct tokens *all = &r->source->tokens;
    bool known = true, handed = !own, methods = asks == WRAPPER_METHODS;
    size_t used = 0;

    if (!collect(&(struct collecting){.r = r, .to = to}, spelled, 0))
        return false;
    for (size_t i = 0; i < to->n && handed; i++)
        handed = !says_member(r->kernel_tokens.v, r->kernel_tokens.n, last_of(&to->v[i]));
    handed = handed || (lenient && is_handed_on(r, name));
    for (size_t i = 0; i < to->n && lenient; i++) /* an address that its functions alone ask for */
        methods = methods || (to->v[i].type.pointer && to->v[i].by_methods &&
                              !says_member(r->kernel_tokens.v, r->kernel_tokens.n, last_of(&to->v[i])));
    for (size_t i = 0; i < to->n; i++) {
        struct wrapper_member m = to->v[i];
        const char *last = last_of(&m);
        bool said = own ? wrapper_says_alone(r, m.name)
                        : says_member(r->kernel_tokens.v, r->kernel_tokens.n, last) ||
                              says_member(r->v, r->n, last) || (handed && says_member(all->v, all->n, last)) ||
                              (methods && m.by_methods);
        if (m.type.stream || !said || wrapper_is_enum(r, m.type.spelled)) /* it is its first value */
            continue;
        known = known && m.type.type && (!own || str_eq(m.name, m.path));
        to->v[used++] = m;
    }
    to->n = used;
    return used > 0 && (known || lenient);
}

void wrapper_fill_member(struct wrapper_reader *r, struct str *to, const char *of,
                         const struct wrapper_member *m)
{
    if (m->numbers)
        str_addf(to,
                 "    for (int launch_i = 1; launch_i < (int)(sizeof(%s.%s) / sizeof(%s.%s[0])); launch_i++)\n"
                 "        %s.%s[launch_i] = 1;\n",
                 of, m->path, of, m->path, of, m->path);
    if (m->numbers)
        wrapper_ask(r, "of the numbers in %s.%s all but the first are 1 here; which are they?", of, m->path);
    else if (m->array)
        wrapper_ask(r, "of the pointers in %s.%s the first alone is given; are there more?", of, m->path);
}

bool wrapper_is_tag(struct wrapper_reader *r, const char *spelled)
{
    static const char *const constants[] = {"std::bool_constant<", "std::integral_constant<", "std::true_type",
                                            "std::false_type"};
    struct wrapper_members members = {0};

    if (str_eq(spelled, PLAIN_FUNCTION))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (str_starts(spelled, constants[i]))
            return true;
    }
    return collect(&(struct collecting){.r = r, .to = &members}, spelled, 0) && !members.n;
}
