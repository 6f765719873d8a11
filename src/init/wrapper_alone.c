/* A launcher from the kernel alone, where no function that launches it can be read: its parameters are the
 * launcher's, its template parameters have the values that files say somewhere, or plain ones, and grid and
 * block are what its indexing asks for (wrapper_grid.c). */
#include "init/wrapper.h"

#include <ctype.h>

const char *wrapper_file_instance(struct wrapper_reader *r, const char *kernel)
{
    const struct init_source *s = r->source;
    const char *best = NULL;

    for (size_t n = 0; n < s->decls.n; n++) {
        const struct init_decl *x = &s->decls.v[n];
        if (x->kind != INIT_CALL && x->kind != INIT_OTHER && x->kind != INIT_FUNCTION)
            continue;
        if (x->body ||
            (x->kind == INIT_FUNCTION && x->is_template && token_is(&s->tokens.v[x->first + 1], "<")))
            continue;
        struct tokens list = init_expand(r->source, x->first, x->end);
        for (size_t i = 0; i + 1 < list.n; i++) {
            size_t back = i, end;
            while (back && back + 9 > i && !wrapper_sign(&list.v[back], "template ; }"))
                back--;
            if (!token_is(&list.v[i], kernel) || !token_is(&list.v[i + 1], "<") ||
                !token_is(&list.v[back], "template") || token_is(&list.v[back + 1], "<"))
                continue;
            end = wrapper_angle(list.v, list.n, i + 1);
            if (!end)
                continue;
            const char *args = wrapper_text(s->arena, list.v, i + 2, end);
            if (!best || (strstr(args, "half") && !strstr(best, "half")))
                best = args;
        }
    }
    return best;
}

struct alone {
    struct wrapper_reader r; /* its function is the kernel */
    struct wrapper_grid grid;
    bool shared;      /* views share what extents they can, because there are too many sizes */
    const char *view; /* the first parameter that is a view, of so many extents; NULL: none */
    int view_rank;
    const char *extents; /* the first sizes that are an array in a struct: "shape" of shape_0, shape_1, ... */
    int n_extents;
    const char *counted; /* the parameter that is how many threads do something; NULL: none */
    struct str params, call, instance, fill, freed;
};

const char *wrapper_guessed_value(struct wrapper_reader *r, const struct wrapper_tparam *p)
{
    static const char *const numbers[INIT_NUMBERS] = {"1", "4", "8", "64", "128"},
                             *const threads[INIT_BLOCKS] = {"256", "128", "32", "1024", "64"};
    const char *value = wrapper_plain_value(r, p);

    if (value && wrapper_is_enum(r, p->type)) { /* not each one may be meant */
        if (r->in->number)
            value = arena_printf(r->arena, "static_cast<%s>(%d)", p->type, r->in->number);
        r->task->guessed = true;
    } else if (!value && wrapper_names_threads(p->name))
        value = threads[r->in->block];
    else if (!value && (strcasestr(p->name, "warp_size") || strcasestr(p->name, "warpsize")))
        value = "32";
    else if (!value) {
        value = numbers[r->in->number];
        if (!wrapper_type_name(r, p->type, NULL) && strstr(p->type, "::")) /* a library's enumeration */
            value = arena_printf(r->arena, "static_cast<%s>(%s)", p->type, value);
        r->task->guessed = true;
    }
    wrapper_ask(r, "which value has the template parameter %s? (name the instance: %s<...>)", p->name,
                r->kernel.name);
    return value;
}

static bool is_function(const struct init_source *s, const char *name)
{
    const struct init_names *found = init_named(s, name);

    return found && found->decls.n && s->decls.v[found->decls.v[0]].kind == INIT_FUNCTION;
}

static void choose_value(struct alone *d, size_t i)
{
    struct wrapper_reader *r = &d->r;
    const struct wrapper_tparam *p = &r->kernel.tparams[i];
    const char *value = wrapper_instance_arg(r, i);

    if (!value)
        value = wrapper_called_with(r, r->kernel.name, i, 0);
    value = wrapper_fitting(r, p, value);
    if (value && p->is_type && str_eq(value, p->name)) { /* callers have a name of their own for it */
        const char *type = wrapper_type_name(r, value, NULL);
        value = type ? wrapper_spelled(type) : NULL;
    }
    const bool called = p->is_type && wrapper_is_called(r, p->name);
    if (called && value && wrapper_type_name(r, value, NULL)) /* callers' own parameters of that name */
        value = NULL;
    if (!value && p->is_type && !p->fallback)
        value = wrapper_class_for(r, r->v, r->n, p->name);
    if (!value && called) {
        value = PLAIN_FUNCTION;
        wrapper_ask(r, "which function is %s? Here it adds what it is given (name the instance: %s<...>)",
                    p->name, r->kernel.name);
    }
    if (!value)
        value = p->is_type && !p->fallback ? wrapper_default_type(p->name) : p->fallback;
    if (!value)
        value = wrapper_guessed_value(r, p);
    str_addf(&d->instance, "%s%s", i ? ", " : "<", value);
    if (*p->name && (p->is_type ? wrapper_type_name(r, value, NULL) || wrapper_is_struct(r, value) ||
                                      str_eq(value, PLAIN_FUNCTION)
                                : isdigit((unsigned char)*value)))
        map_put(&r->alias, p->name, (void *)value);
    if (!*p->name || str_starts(p->type, "template") || str_eq(p->type, "(*)"))
        return;
    if (p->is_type)
        str_addf(&r->head, "    using %s = %s;\n", p->name, value);
    else if (!str_eq(p->name, value) && !is_function(r->source, value))
        str_addf(&r->head, "    constexpr %s %s = %s;\n", p->type, p->name, value);
}

/* A name that no argument has yet, nor a parameter that follows. */
static const char *fresh(const struct alone *d, const char *name)
{
    bool there = false;

    for (size_t i = 0; i < d->r.task->args.n; i++)
        there = there || str_eq(d->r.task->args.v[i].name, name);
    for (size_t i = 0; i < d->r.kernel.n_list; i++)
        there = there || str_eq(d->r.kernel.list[i].name, name);
    return there ? fresh(d, arena_printf(d->r.arena, "%s_", name)) : name;
}

/* Is the parameter a number that becomes a size? */
static bool is_size_param(struct alone *d, const char *name)
{
    for (size_t i = 0; i < d->r.kernel.n_list; i++) {
        const struct wrapper_param *p = &d->r.kernel.list[i];
        struct wrapper_type k = wrapper_type_of(&d->r, d->r.v, p->first, p->last);
        if (str_eq(p->name, name))
            return !k.pointer && k.type && wrapper_is_size(name, k.type) && !init_is_stride(name);
    }
    return false;
}

/* A size of the launcher's own; NAME is no parameter of the kernel. */
static const char *own_name(const struct alone *d, const char *name)
{
    for (size_t i = 0; i < d->r.kernel.n_list; i++) {
        if (str_eq(d->r.kernel.list[i].name, name))
            return arena_printf(d->r.arena, "n_%s", name);
    }
    return name;
}

/* Before all other sizes: what lies in a block is innermost. */
static void add_outermost(struct alone *d, const char *name)
{
    struct init_task *t = d->r.task;

    vec_add(d->r.arena, &t->dims, name);
    for (size_t i = t->dims.n - 1; i > 0; i--)
        t->dims.v[i] = t->dims.v[i - 1];
    t->dims.v[0] = name;
}

/* Of a number of threads that the kernel takes apart by sizes: a product of these and of how many there are. */
static void compose(struct alone *d, struct init_arg *a)
{
    struct str product = {.arena = d->r.arena};
    const char *outer = own_name(d, "outer");

    str_add(&product, outer);
    for (size_t i = 0; i < d->grid.divisors.n; i++) {
        if (!str_eq(d->grid.divisors.v[i], a->name) && is_size_param(d, d->grid.divisors.v[i]))
            str_addf(&product, " * %s", d->grid.divisors.v[i]);
    }
    a->value = a->name;
    if (strchr(str_text(&product), '*')) {
        a->value = arena_strdup(d->r.arena, str_text(&product));
        init_ask(a, arena_printf(d->r.arena, "is %s always such a product?", a->name));
    }
    if (a->value == a->name)
        vec_add(d->r.arena, &d->r.task->dims, a->name);
    else
        add_outermost(d, outer);
}

static void give_number(struct alone *d, struct init_arg *a)
{
    bool counts = false;

    for (int i = 0; i < 3; i++)
        counts = counts || (d->grid.blocks[i] && str_has_word(d->grid.blocks[i], a->name));
    for (size_t i = 0; i < d->grid.divisors.n; i++) /* never 0 */
        counts = counts || str_eq(d->grid.divisors.v[i], a->name);
    if (str_eq(d->counted, a->name))
        compose(d, a);
    else if (counts && !str_in(a->type, "f16|bf16|f32|f64|bool")) {
        a->value = a->name;
        vec_add(d->r.arena, &d->r.task->dims, a->name);
    } else
        wrapper_scalar(&d->r, a);
}

/* The number that a template's argument stands for; 0: none. */
static int number_of(const struct alone *d, const char *text)
{
    for (size_t i = 0; i < d->r.kernel.n_tparams && text && d->instance.len; i++) {
        if (str_eq(d->r.kernel.tparams[i].name, text))
            text = wrapper_listed(d->r.arena, str_text(&d->instance) + 1, i);
    }
    return text ? atoi(text) : 0;
}

/* The size that is the view's extent: of one that the kernel does not ask for, that of a view of which it does,
 * or that of the first view. */
static const char *extent_of(const struct alone *d, const char *name, int extent)
{
    const struct wrapper_reader *r = &d->r;
    const char *as = name;

    for (size_t i = 0; i < r->kernel.n_list && !wrapper_asks_extent(r, as, extent); i++)
        as = wrapper_asks_extent(r, r->kernel.list[i].name, extent) ? r->kernel.list[i].name : as;
    if (as == name && !wrapper_asks_extent(r, as, extent) && extent < d->view_rank)
        as = d->view;
    return arena_printf(r->arena, "%s_%d", as, extent);
}

/* A view of a tensor, as torch hands it to kernels: a pointer with sizes, and strides of rows that lie one
 * behind the other. */
struct view {
    const char *name, *place, *spelled; /* of arguments; what is filled: itself, or a member; its type */
};

static const struct {
    const char *name, *data, *sizes, *strides;
    int rank; /* 0: the template's second argument */
} views[] = {{"PackedTensorAccessor", "data_", "sizes_", "strides_", 0},
             {"THCDeviceTensor", "data_", "size_", "stride_", 0},
             {"TensorInfo", "data", "sizes", "strides", 2}};

/* Which of these the type is, with its template's arguments: "full"; ARRAY_LEN(views): none. */
static size_t which_view(struct wrapper_reader *r, const char *spelled, const char **full)
{
    const char *alias = wrapper_file_alias(r, spelled);
    size_t which = 0;

    *full = alias ? alias : spelled;
    while (which < ARRAY_LEN(views) && !strstr(*full, views[which].name))
        which++;
    if (which < ARRAY_LEN(views) &&
        (!strchr(*full, '<') || strstr(*full, views[which].name) > strchr(*full, '<')))
        return ARRAY_LEN(views);
    return which;
}

static bool is_view(struct wrapper_reader *r, const char *spelled)
{
    const char *full;

    return which_view(r, spelled, &full) < ARRAY_LEN(views);
}

static bool give_view(struct alone *d, const struct view *v)
{
    struct wrapper_reader *r = &d->r;
    const char *name = v->name, *full, *inside, *element, *behind = "";
    const size_t which = which_view(r, v->spelled, &full);

    if (which == ARRAY_LEN(views))
        return false;
    const char *open = strchr(full, '<');
    inside = arena_strndup(r->arena, open + 1, strlen(open) - 2);
    element = wrapper_listed(r->arena, inside, 0);
    const bool constant = element && str_starts(element, "const ");
    const size_t skip = constant ? strlen("const ") : 0;
    const char *type = element ? wrapper_type_name(r, element + skip, NULL) : NULL;
    const int rank = views[which].rank ? views[which].rank : number_of(d, wrapper_listed(r->arena, inside, 1));
    struct init_arg a = {.name = fresh(d, arena_printf(r->arena, "%s_data", name)), .type = type};
    if (!type || rank < 1 || rank > WRAPPER_RANK)
        return false;
    wrapper_add_param(&d->params, "%s *%s", wrapper_resolved(r, element), a.name);
    wrapper_buffer(r, &a, constant);
    vec_add(r->arena, &r->task->args, a);
    if (str_eq(v->place, name))
        str_addf(&d->fill, "    %s %s{};\n", v->spelled, name);
    str_addf(&d->fill, "    %s.%s = %s;\n", v->place, views[which].data, a.name);
    if (!d->view) {
        d->view = name;
        d->view_rank = rank;
    }
    for (int i = rank; i-- > 0;) {
        const int named = wrapper_named_extent(r, name, i);
        const char *size = arena_printf(r->arena, "%s_%d", name, i);
        if (named)
            size = arena_printf(r->arena, "%d", named);
        str_addf(&d->fill, "    %s.%s[%d] = %s;\n    %s.%s[%d] = 1%s;\n", v->place, views[which].sizes, i, size,
                 v->place, views[which].strides, i, behind);
        behind = arena_printf(r->arena, " * %s%s", size, behind);
    }
    if (views[which].rank)
        str_addf(&d->fill, "    %s.dims = %d;\n", v->place, rank);
    for (int i = 0; i < rank; i++) {
        struct init_arg n = {.name = arena_printf(r->arena, "%s_%d", name, i), .type = "i32"};
        if (wrapper_named_extent(r, name, i))
            continue;
        n.value = d->shared ? extent_of(d, name, i) : n.name;
        if (str_eq(n.value, n.name))
            vec_add(r->arena, &r->task->dims, n.name);
        else
            init_ask(&n, arena_printf(r->arena, "is %s always %s?", n.name, n.value));
        wrapper_add_param(&d->params, "int %s", n.name);
        vec_add(r->arena, &r->task->args, n);
    }
    return true;
}

enum { MOST_EXTENTS = 8, MOST_POINTERS = 16384, EASY_DIMS = 9 };

/* An array of numbers that are extents, or strides of rows that lie one behind the other. */
static bool is_array_of(const struct wrapper_member *m, bool strides)
{
    static const char *const extents[] = {"size", "dim", "shape", "extent", "len"};
    const bool steps = strcasestr(m->name, "stride") != NULL;
    bool says = steps && strides;

    for (size_t i = 0; i < ARRAY_LEN(extents) && !steps && !strides; i++)
        says = says || strcasestr(m->name, extents[i]);
    return says && m->numbers && m->extent > 0 && m->extent <= MOST_EXTENTS &&
           !str_in(m->type.type, "f16|bf16|f32|f64");
}

/* Each number of the array `m` of `name` is a size; or, of strides, the product of the sizes `of` behind it,
 * which are arguments already. */
static void give_extents(struct alone *d, const char *name, const struct wrapper_member *m,
                         const struct wrapper_member *of)
{
    struct wrapper_reader *r = &d->r;
    const struct wrapper_member *array = of ? of : m;
    const char *behind = "1", *sizes = name;
    const bool like = !of && d->shared && d->extents && d->n_extents == m->extent;

    if (strchr(array->path, '.'))
        sizes = arena_printf(r->arena, "%s_%s", name, array->name);
    for (int i = m->extent; i-- > 0;) {
        const char *size = arena_printf(r->arena, "%s_%d", sizes, i);
        str_addf(&d->fill, "    %s.%s[%d] = %s;\n", name, m->path, i, of ? behind : size);
        behind = arena_printf(r->arena, "%s * %s", size, behind);
    }
    for (int i = 0; i < m->extent && !of; i++) {
        struct init_arg n = {.name = arena_printf(r->arena, "%s_%d", sizes, i), .type = m->type.type};
        n.value = like ? arena_printf(r->arena, "%s_%d", d->extents, i) : n.name;
        if (like)
            init_ask(&n, arena_printf(r->arena, "is %s always %s?", n.name, n.value));
        else
            vec_add(r->arena, &r->task->dims, n.name);
        wrapper_add_param(&d->params, "%s %s", m->type.spelled, n.name);
        vec_add(r->arena, &r->task->args, n);
    }
    if (!of && !d->extents) {
        d->extents = sizes;
        d->n_extents = m->extent;
    }
}

/* The extents that the strides `m` are of: those of the same struct, as many; NULL: none. */
static const struct wrapper_member *extents_of(const struct wrapper_members *members,
                                               const struct wrapper_member *m)
{
    for (size_t i = 0; i < members->n; i++) {
        const struct wrapper_member *x = &members->v[i];
        const char *a = strrchr(x->path, '.'), *b = strrchr(m->path, '.');
        const size_t len = a ? (size_t)(a - x->path) : 0;
        if (is_array_of(x, false) && x->extent == m->extent && len == (b ? (size_t)(b - m->path) : 0) &&
            strncmp(x->path, m->path, len) == 0)
            return x;
    }
    return NULL;
}

static void give_member(struct alone *d, const char *name, const struct wrapper_members *members, size_t which)
{
    struct wrapper_reader *r = &d->r;
    const struct wrapper_member *m = &members->v[which], *of = NULL;
    struct init_arg a = {.name = fresh(d, arena_printf(r->arena, "%s_%s", name, m->name)),
                         .type = m->type.type};
    const char *c = m->type.constant && m->type.pointer ? "const " : "", *at = m->array ? "[0]" : "";
    const bool other = m->type.pointer && (m->type.lanes > 1 || wrapper_is_bits(m->type.spelled));
    const char *element = other ? wrapper_spelled(m->type.type) : NULL;

    if (is_array_of(m, false) || (is_array_of(m, true) && (of = extents_of(members, m)))) {
        give_extents(d, name, m, of);
        return;
    }
    if (!m->type.pointer && !m->array && m->type.lanes > 1 && !str_in(m->type.type, "f16|bf16")) {
        str_addf(&d->fill, "    %s.%s = %s;\n", name, m->path,
                 wrapper_give_vector(r, a.name, &m->type, &d->params));
        return;
    }
    wrapper_add_param(&d->params, "%s%s %s%s", c, element ? element : m->type.spelled,
                      m->type.pointer ? "*" : "", a.name);
    if (element && wrapper_type_name(r, m->type.spelled, NULL))
        str_addf(&d->fill, "    %s.%s%s = reinterpret_cast<%s%s *>(%s);\n", name, m->path, at, c,
                 m->type.spelled, a.name);
    else if (element) /* a type that may have its name in the class alone */
        str_addf(&d->fill, "    %s.%s%s = reinterpret_cast<decltype(%s.%s%s)>(%s);\n", name, m->path, at, name,
                 m->path, at, a.name);
    else
        str_addf(&d->fill, "    %s.%s%s = %s;\n", name, m->path, at, a.name);
    wrapper_fill_member(r, &d->fill, name, m);
    if (m->type.pointer)
        wrapper_buffer(r, &a, m->type.constant);
    else
        wrapper_scalar(r, &a);
    vec_add(r->arena, &r->task->args, a);
}

/* A struct of numbers, pointers, views and structs of these, which the launcher fills. */
static bool give_members(struct alone *d, const char *name, const char *spelled, enum wrapper_asks asks)
{
    struct wrapper_reader *r = &d->r;
    struct wrapper_members members = {0};
    bool any = false;

    if (!wrapper_members(r, spelled, name, asks, &members))
        return false;
    for (size_t i = 0; i < members.n; i++)
        any = any || members.v[i].type.type || is_view(r, members.v[i].type.spelled);
    if (!any)
        return false;
    wrapper_make_plain(r, spelled);
    str_addf(&d->fill, "    %s %s{};\n", spelled, name);
    for (size_t i = 0; i < members.n; i++) {
        const struct wrapper_member *m = &members.v[i];
        const struct view v = {arena_printf(r->arena, "%s_%s", name, m->name),
                               arena_printf(r->arena, "%s.%s", name, m->path), m->type.spelled};
        if (m->type.type)
            give_member(d, name, &members, i);
        else if (m->array || m->type.pointer || !give_view(d, &v))
            wrapper_ask(r, "%s.%s is left zeros; what do callers give it?", name, m->path);
    }
    return true;
}

/* The parameters of the constructor of class `x` that opens at token `open`, as types and names of numbers; a
 * pack of them has as many as the class has axes. False: it takes something else. */
static bool numbers_taken(struct alone *d, const struct init_decl *x, size_t open, int axes,
                          struct wrapper_names *names)
{
    struct wrapper_reader *r = &d->r;
    const struct token *v = r->source->tokens.v;
    const size_t close = init_balanced(r->source, open, x->end) - 1;

    names->n = 0;
    for (size_t i = open + 1, next; i < close; i = next + 1) {
        size_t end = next = wrapper_item(v, i, close);
        bool pack = false;
        for (size_t k = i; k < next; k++) {
            pack = pack || token_is(&v[k], "...");
            end = token_is(&v[k], "=") ? MIN(end, k) : end;
            if (wrapper_sign(&v[k], "* & && ( ["))
                return false;
        }
        if (end < i + 2 || v[end - 1].kind != TOK_WORD)
            return false;
        const char *type = token_text(r->arena, &v[end - 2]), *name = token_text(r->arena, &v[end - 1]);
        bool of_class = pack;
        for (size_t k = x->first; k < x->name_at; k++)
            of_class = of_class || token_is(&v[k], type);
        if (!of_class && !wrapper_type_name(r, type, NULL))
            return false;
        if (!pack)
            vec_add(r->arena, names, name);
        while (pack && names->n < (size_t)axes) {
            const char *one = arena_printf(r->arena, "%s%zu", name, names->n);
            vec_add(r->arena, names, one);
        }
    }
    return names->n > 0;
}

/* A class that a constructor makes of numbers, which are sizes: offsets of an index, a divisor. */
static bool give_made(struct alone *d, const char *name, const char *spelled)
{
    struct wrapper_reader *r = &d->r;
    const char *open = strchr(spelled, '<'), *whole = arena_strndup(r->arena, spelled, strcspn(spelled, "<")),
               *colon = strrchr(whole, ':'), *plain = colon ? colon + 1 : whole;
    const struct init_names *found = init_named(r->source, plain);
    const struct token *v = r->source->tokens.v;
    struct wrapper_names names = {0}, best = {0};
    int axes = 0;

    for (size_t k = 0; open && k < 4; k++) {
        const char *inside = arena_strndup(r->arena, open + 1, strlen(open) - 2);
        axes = MAX(axes, number_of(d, wrapper_listed(r->arena, inside, k)));
    }
    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *x = &r->source->decls.v[found->decls.v[i]];
        for (size_t k = x->first; x->kind == INIT_TYPE && k + 2 < x->end; k++) {
            if (token_is(&v[k], plain) && token_is(&v[k + 1], "(") && !wrapper_sign(&v[k - 1], "~ . -> ::") &&
                numbers_taken(d, x, k + 1, axes, &names) && names.n > best.n && names.n <= INIT_MOST_DIMS) {
                best = names;
                names = (struct wrapper_names){0};
            }
        }
    }
    if (!best.n)
        return false;
    str_addf(&d->fill, "    %s %s(", spelled, name);
    for (size_t i = 0; i < best.n; i++) {
        struct init_arg a = {.name = fresh(d, arena_printf(r->arena, "%s_%s", name, best.v[i])), .type = "i32"};
        a.value = a.name;
        str_addf(&d->fill, "%s%s", i ? ", " : "", a.name);
        wrapper_add_param(&d->params, "int %s", a.name);
        vec_add(r->arena, &r->task->dims, a.name);
        vec_add(r->arena, &r->task->args, a);
    }
    str_add(&d->fill, ");\n");
    wrapper_ask(r, "with which numbers do callers make %s?", name);
    return true;
}

/* A buffer of pointers into one buffer, each a number of elements behind the one before it: a kernel of its own
 * makes it. */
static void give_pointers(struct alone *d, struct init_arg *a, const struct wrapper_type *k, const char *type)
{
    struct wrapper_reader *r = &d->r;
    struct init_arg step = {.name = fresh(d, arena_printf(r->arena, "%s_step", a->name)), .type = "i64"};
    const char *list = fresh(d, arena_printf(r->arena, "%s_list", a->name));

    wrapper_add_param(&d->params, "%s *%s", k->spelled, a->name);
    wrapper_buffer(r, a, k->constant);
    vec_add(r->arena, &r->task->args, *a);
    wrapper_add_param(&d->params, "int64_t %s", step.name);
    step.value = step.name;
    vec_add(r->arena, &r->task->dims, step.name);
    vec_add(r->arena, &r->task->args, step);
    str_addf(&d->fill,
             "    %s **%s;\n    cudaMallocAsync((void **)&%s, %d * sizeof(%s *), stream);\n"
             "    make_pointers<%s><<<%d / 256, 256, 0, stream>>>(%s, %s, %s);\n",
             k->spelled, list, list, MOST_POINTERS, k->spelled, k->spelled, MOST_POINTERS, list, a->name,
             step.name);
    str_addf(&d->freed, "    cudaFreeAsync(%s, stream);\n", list);
    while (str_starts(type, "const ") && strstr(type, "const const"))
        type += strlen("const ");
    str_addf(&d->call, "(%s)%s", type, list);
    wrapper_ask(r, "the pointers in %s lie %s elements apart here; where do those of callers point?", a->name,
                step.name);
}

static void give(struct alone *d, size_t i)
{
    struct wrapper_reader *r = &d->r;
    const struct wrapper_param *p = &r->kernel.list[i];
    struct wrapper_type k = wrapper_type_of(r, r->v, p->first, p->last);

    if (k.pointer && str_eq(k.spelled, "void")) {
        const char *cast = wrapper_cast_of(r, r->v, 4, r->n, p->name);
        k.spelled = cast ? cast : "uint8_t";
        k.type = wrapper_type_name(r, k.spelled, &k.lanes);
    }
    if (k.pointer && !k.type && k.stars == 1) { /* nobody knows which members it has */
        k.type = "u8";
        k.lanes = 2;
    }
    struct init_arg a = {.name = *p->name ? p->name : arena_printf(r->arena, "arg%zu", i), .type = k.type};
    if (!k.pointer && k.lanes > 1 && !str_in(k.type, "f16|bf16")) {
        str_addf(&d->call, "%s%s", i ? ", " : "", wrapper_give_vector(r, a.name, &k, &d->params));
        return;
    }
    if (str_eq(k.spelled, "TORCH_DSA_KERNEL_ARGS")) { /* where assertions report to */
        str_addf(&d->call, "%s0", i ? ", " : "");
        return;
    }
    if (k.stars == 2 && k.type && k.lanes == 1 && *p->name) {
        str_add(&d->call, i ? ", " : "");
        give_pointers(d, &a, &k, wrapper_text(r->arena, r->v, p->first, p->last));
        return;
    }
    if (!k.pointer && wrapper_is_bits(k.spelled)) /* no number that a task has */
        k.type = NULL;
    const bool other = k.pointer && (k.lanes > 1 || wrapper_is_bits(k.spelled));
    const char *element = other && k.type ? wrapper_spelled(k.type) : NULL;

    str_add(&d->call, i ? ", " : "");
    if (other)
        str_addf(&d->call, "reinterpret_cast<%s%s *>(%s)", k.constant ? "const " : "", k.spelled, a.name);
    else if (!k.type && !k.pointer &&
             (give_view(d, &(struct view){a.name, a.name, k.spelled}) ||
              give_members(d, a.name, k.spelled, WRAPPER_KERNEL) || give_made(d, a.name, k.spelled) ||
              give_members(d, a.name, k.spelled, WRAPPER_METHODS))) {
        str_add(&d->call, a.name);
        return;
    } else if (!k.type && !k.pointer && wrapper_is_tag(r, k.spelled)) {
        str_addf(&d->call, "%s{}", k.spelled);
        return;
    } else if (!k.type && !k.pointer && wrapper_is_enum(r, k.spelled)) {
        str_add(&d->call, wrapper_enum_value(r, k.spelled));
        wrapper_ask(r, "which %s do callers pass as %s?", k.spelled, a.name);
        return;
    } else
        str_add(&d->call, k.type ? a.name : "{}");
    if (!k.type) {
        vec_add(r->arena, &r->source->unmade, k.spelled);
        wrapper_ask(r, "the kernel's parameter %s has the type %s; the launcher has to make one", a.name,
                    wrapper_text(r->arena, r->v, p->first, p->last));
        return;
    }
    const char *constant = k.constant && k.pointer ? "const " : "", *star = k.pointer ? "*" : "";
    wrapper_add_param(&d->params, "%s%s %s%s", constant, element ? element : k.spelled, star, a.name);
    if (k.pointer)
        wrapper_buffer(r, &a, k.constant);
    else
        give_number(d, &a);
    vec_add(r->arena, &r->task->args, a);
}

/* A size of the grid that nothing bounds. */
static const char *open_size(struct alone *d, int axis)
{
    static const char *const names[3] = {"blocks", "blocks_y", "blocks_z"};
    struct init_arg a = {.name = own_name(d, names[axis]), .type = "i32"};

    wrapper_add_param(&d->params, "int %s", a.name);
    a.value = a.name;
    add_outermost(d, a.name);
    vec_add(d->r.arena, &d->r.task->args, a);
    return a.name;
}

static const char *launch_text(struct alone *d)
{
    struct wrapper_reader *r = &d->r;
    struct wrapper_grid g = d->grid;

    for (int i = 0; i < 3; i++) {
        if (g.open[i] || (i == 0 && (!g.says || !r->task->dims.n)))
            g.blocks[i] = open_size(d, i);
    }
    wrapper_note(r, "grid and block are what the indexing of %s asks for", r->kernel.name);
    wrapper_ask(r, "with which grid, block and shared memory do callers launch %s?", r->kernel.name);
    return arena_printf(r->arena,
                        "    dim3 launch_block(%s, %s, %s);\n    dim3 launch_grid(%s, %s, %s);\n"
                        "    %s%s%s<<<launch_grid, launch_block, %s, stream>>>(%s);\n",
                        g.threads[0], g.threads[1], g.threads[2], g.blocks[0], g.blocks[1], g.blocks[2],
                        init_scope(r->source, r->in->kernel->scope), r->kernel.name, str_text(&d->instance),
                        g.shared ? "48 * 1024" : "0", str_text(&d->call));
}

/* Reads the kernel: its template's values, its indexing. False: it cannot be read. */
static bool open_alone(struct alone *d, struct init_task *t, const struct init_wrapped *w,
                       struct init_wrapped *with)
{
    struct init_source *s = w->source;

    *d = (struct alone){.r = {.arena = s->arena, .source = s, .task = t, .final = true, .in = with}};
    *with = *w;
    d->r.kernel_tokens = init_expand(s, w->kernel->first, w->kernel->end);
    d->r.v = d->r.kernel_tokens.v;
    d->r.n = d->r.kernel_tokens.n;
    if (!wrapper_scan(&d->r.kernel, s->arena, d->r.v, d->r.n))
        return false;
    d->r.f = d->r.kernel;
    if (!w->instance && d->r.kernel.n_tparams)
        with->instance = wrapper_file_instance(&d->r, w->kernel->name);
    for (size_t i = 0; i < d->r.kernel.n_tparams; i++)
        choose_value(d, i);
    if (d->instance.len)
        str_addc(&d->instance, '>');
    wrapper_grid(&d->r, &d->grid);
    for (size_t i = 0; i < d->r.kernel.n_list && d->grid.bound; i++) {
        if (str_eq(d->grid.bound, d->r.kernel.list[i].name))
            d->counted = d->grid.bound;
    }
    return true;
}

static void close_alone(struct alone *d)
{
    str_free(&d->params);
    str_free(&d->call);
    str_free(&d->instance);
    str_free(&d->fill);
    str_free(&d->freed);
    str_free(&d->r.head);
    map_free(&d->r.alias);
    map_free(&d->r.shown);
}

bool wrapper_is_composed(const struct init_wrapped *w)
{
    struct init_task none = {0};
    struct init_wrapped with;
    struct alone d;
    bool composed = false;

    if (open_alone(&d, &none, w, &with) && d.counted) {
        for (size_t i = 0; i < d.grid.divisors.n; i++)
            composed = composed ||
                       (!str_eq(d.grid.divisors.v[i], d.counted) && is_size_param(&d, d.grid.divisors.v[i]));
    }
    close_alone(&d);
    return composed;
}

static void add_names(struct arena *a, const struct wrapper_names *from, struct init_task *t)
{
    for (size_t i = 0; i < from->n; i++) {
        bool there = false;
        for (size_t k = 0; k < t->divisors.n; k++)
            there = there || str_eq(t->divisors.v[k], from->v[i]);
        if (!there)
            vec_add(a, &t->divisors, from->v[i]);
    }
}

void wrapper_divisors(struct init_task *t, const struct init_wrapped *w)
{
    struct init_task none = {0};
    struct init_wrapped with;
    struct alone d;

    if (open_alone(&d, &none, w, &with)) {
        add_names(w->source->arena, &d.grid.divisors, t);
        add_names(w->source->arena, &d.grid.block_divisors, t);
        wrapper_written(t, &d.r);
    }
    close_alone(&d);
}

/* Gives how many sizes there may be before views share them. */
static size_t declare_alone(struct init_task *t, const struct init_wrapped *w, bool shared)
{
    struct init_source *s = w->source;
    struct init_wrapped with;
    struct alone d;
    struct str open = {.arena = s->arena};

    if (!open_alone(&d, t, w, &with)) {
        close_alone(&d);
        return INIT_MOST_DIMS;
    }
    d.shared = shared;
    for (size_t i = 0; i < d.r.kernel.n_list; i++)
        give(&d, i);
    const char *launch = launch_text(&d);
    wrapper_add_using(&open, s->arena, init_scope(s, w->kernel->scope));
    t->alone = true;
    t->any_block = d.grid.guessed;
    t->views = !shared && (d.view || d.extents);
    if (d.freed.len)
        str_add(&open,
                "template <typename T> __global__ void make_pointers(T **list, T *first, int64_t step)\n{\n"
                "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    list[i] = first + i * step;\n}\n\n");
    t->launcher = arena_printf(s->arena, "%sextern \"C\" void %s(%scudaStream_t stream)\n{\n%s%s%s%s}\n",
                               str_text(&open), t->entry, str_text(&d.params), str_text(&d.r.head),
                               str_text(&d.fill), launch, str_text(&d.freed));
    const size_t most = d.extents ? EASY_DIMS : INIT_MOST_DIMS;
    close_alone(&d);
    return most;
}

void wrapper_declared(struct init_task *t, const struct init_wrapped *w)
{
    const struct init_task before = *t;

    const size_t most = declare_alone(t, w, w->shared);
    if (t->dims.n <= most || w->shared)
        return;
    *t = before;
    declare_alone(t, w, true);
}
