/* expand-macros: calls of the file's own macros that hold a loop, load or store, or take an address stand in
 * the function as the text that they mean, so that the other transforms see loops, loads and stores. The
 * compiler sees the same; alone it changes nothing. Macros that paste or quote, take any number of arguments or
 * are defined twice stay. */
#include "rewrite/analysis.h"

enum { MOST_PARAMETERS = 8, MOST_BYTES = 1 << 16 };

struct macro {
    const char *name, *body;
    const char *parameters[MOST_PARAMETERS];
    size_t n;
    bool held; /* it is not expanded: it stays, or stands in its own text */
};

typedef VEC(struct macro) macro_list;

struct expansion {
    struct arena *a;
    macro_list macros;
    size_t bytes; /* written so far */
    bool failed;
};

static bool can_stand(const struct macro *m)
{
    static const char *const words[] = {"__VA_ARGS__", "__LINE__", "__FILE__",
                                        "__COUNTER__", "__func__", "_Pragma"};
    bool can = !strchr(m->body, '#');

    for (size_t i = 0; i < ARRAY_LEN(words) && can; i++)
        can = !str_has_word(m->body, words[i]);
    return can;
}

/* A macro's text on one line. */
static char *one_line(struct arena *a, const char *text)
{
    struct str b = {.arena = a};
    for (const char *p = text; *p; p++) {
        bool space = strchr(" \t\n\\", *p) != NULL;
        if (!space || (b.len > 0 && b.s[b.len - 1] != ' '))
            str_addc(&b, space ? ' ' : *p);
    }
    return str_take(&b, a);
}

static macro_list macros_of(const struct function *f)
{
    macro_list list = {0};
    for (size_t i = 0; i < f->n_macros; i++) {
        size_t n_names;
        struct node *names = named_children(f, node_field(f->macros[i].definition, FIELD_PARAMETERS), &n_names);
        struct macro m = {.name = f->macros[i].name, .body = one_line(f->a, f->macros[i].body), .n = n_names};
        m.held = n_names > MOST_PARAMETERS || !can_stand(&m);
        for (size_t k = 0; k < n_names && !m.held; k++) {
            m.parameters[k] = text_of(f, names[k]);
            m.held = !str_is_name(m.parameters[k]);
        }
        for (size_t k = 0; k < list.n; k++)
            if (str_eq(list.v[k].name, m.name))
                list.v[k].held = m.held = true;
        vec_add(f->a, &list, m);
    }
    return list;
}

/* The arguments behind `(`, as the preprocessor cuts them. NULL: the call does not end, or there are others. */
static const char *arguments(struct arena *a, const char *p, const char **args, size_t want)
{
    size_t n = 0, depth = 0;
    const char *from = p, *start = p;
    for (; *p; p++) {
        const char *behind = text_behind_literal(start, p);
        if (behind > p) {
            p = behind - 1;
            continue;
        }
        if ((*p == ',' || *p == ')') && depth == 0) {
            if (n == want && !(want == 0 && from == p))
                return NULL;
            if (n < want)
                args[n++] = one_line(a, arena_strndup(a, from, (size_t)(p - from)));
            if (*p == ')')
                return n == want ? p + 1 : NULL;
            from = p + 1;
        }
        depth += *p == '(';
        depth -= *p == ')';
    }
    return NULL;
}

static char *expanded(struct expansion *x, const char *text);

/* The text of a call's macro with its arguments in it. */
static char *stand_in(struct expansion *x, struct macro *m, const char **args)
{
    struct str b = {.arena = x->a};
    for (size_t i = 0; i < m->n; i++)
        args[i] = expanded(x, args[i]);
    for (const char *p = m->body; *p;) {
        size_t len = str_word(p), k = 0;
        const char *behind = len ? p + len : text_behind_literal(m->body, p);
        while (k < m->n && !(len && strlen(m->parameters[k]) == len && memcmp(m->parameters[k], p, len) == 0))
            k++;
        behind += behind == p;
        if (k < m->n)
            str_add(&b, args[k]);
        else
            str_addn(&b, p, (size_t)(behind - p));
        p = behind;
    }
    m->held = true;
    char *text = expanded(x, str_take(&b, x->a));
    m->held = false;
    return text;
}

/* Behind the directive that begins at this line's start, with the lines that continue it; p: there is none. */
static const char *behind_directive(const char *text, const char *p)
{
    if ((p > text && p[-1] != '\n') || p[strspn(p, " \t")] != '#')
        return p;
    const char *end = strchr(p, '\n');
    while (end && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    return end ? end : p + strlen(p);
}

static char *expanded(struct expansion *x, const char *text)
{
    struct str b = {.arena = x->a};
    for (const char *p = text; *p && !x->failed;) {
        const char *directive = behind_directive(text, p);
        str_addn(&b, p, (size_t)(directive - p));
        if (!*(p = directive))
            break;
        size_t len = str_word(p);
        const char *behind = len ? p + len : text_behind_literal(text, p),
                   *open = behind + strspn(behind, " \t\n");
        struct macro *m = NULL;
        for (size_t i = 0; i < x->macros.n && len && *open == '('; i++)
            if (!x->macros.v[i].held && strlen(x->macros.v[i].name) == len &&
                memcmp(x->macros.v[i].name, p, len) == 0)
                m = &x->macros.v[i];
        const char *args[MOST_PARAMETERS], *end = m ? arguments(x->a, open + 1, args, m->n) : NULL;
        if (end) {
            str_add(&b, stand_in(x, m, args));
            p = end;
            continue;
        }
        behind += behind == p;
        str_addn(&b, p, (size_t)(behind - p));
        p = behind;
    }
    x->bytes += b.len;
    x->failed = x->failed || x->bytes > MOST_BYTES;
    return str_take(&b, x->a);
}

/* Is it another name for a load or store with a hint? */
static bool is_access(const char *body)
{
    static const char *const words[] = {"__ldg", "__ldcs", "__ldca", "__ldcg", "__stcs", "__stcg"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_has_word(body, words[i]))
            return true;
    return false;
}

/* Does the head of a loop call it? */
static bool is_in_head(const struct function *f, const char *name)
{
    for (struct node *loop = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*loop); loop++)
        if (str_has_word(text_range(f, node_start(*loop), node_start(node_field(*loop, FIELD_BODY))), name))
            return true;
    return false;
}

/* Does the function call a macro that hides something? */
static bool hides(const struct function *f, const macro_list *macros)
{
    const char *body = text_of(f, f->body);
    for (const struct macro *m = macros->v; m < macros->v + macros->n; m++)
        if (!m->held && str_has_word(body, m->name) &&
            (str_has_word(m->body, "for") || is_access(m->body) || macro_is_opaque(f, m->name) ||
             is_in_head(f, m->name)))
            return true;
    return false;
}

static char *body_of(const struct function *f)
{
    struct expansion x = {.a = f->a, .macros = macros_of(f)};
    if (!hides(f, &x.macros))
        return NULL;
    char *text = expanded(&x, text_of(f, f->body));
    return x.failed || str_eq(text, text_of(f, f->body)) ? NULL : text;
}

/* The kernels that run and the file's device functions in which macros are written out, into edits. */
static const struct function *expand_file(const struct transform_input *in, struct arena *a,
                                          struct edits *edits)
{
    size_t n;
    struct function **functions = functions_open(in, a, &n);
    const struct function *first = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct function *f = functions[i];
        bool device = f->global ||
                      str_has_word(text_range(f, node_start(f->definition), node_start(f->id)), "__device__");
        char *body = device ? body_of(f) : NULL;
        if (!body)
            continue;
        first = first ? first : f;
        edits_node(edits, f->body, body);
    }
    return first;
}

static void expand_find(const struct transform_input *in, struct site_list *found)
{
    const struct function *f = expand_file(in, found->arena, &(struct edits){.arena = found->arena});
    if (f)
        site_add(found, f, f->definition, 0, "behind macros nobody sees its loops, loads and stores",
                 "its macros");
}

static bool expand_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    (void)site;
    return expand_file(f->in, f->a, edits) != NULL ||
           err_input(why_not, "nothing calls a macro that could stand in it");
}

const struct transform transform_expand_macros = {
    .name = "expand-macros",
    .summary = "write out macros that hold loops, loads or stores, in kernels and device functions",
    .helps = "dram latency issue launch sync l2",
    .opens = true,
    .find_in_file = expand_find,
    .apply = expand_apply,
};
