/* A type that no file of the repository declares, as one of a library that is not there: it is written from
 * what the code asks of it. Names alone are an enumeration's, what is asked for nothing is a number, brackets
 * and extents by number are a view's, and members are those of a struct. Each is a question. */
#include "init/wrapper.h"

#include <ctype.h>

enum { MOST_STANDINS = 8, MOST_PARAMS = 6, MOST_UNKNOWN = 7 };

struct asked { /* of values of the type */
    const char *name;
    int n_args;   /* of a method; -1: a member */
    int most;     /* of numbers that it is indexed with, one more; 0: none is */
    bool address; /* it is indexed, added to or followed */
};

struct standin {
    struct init_source *s;
    const char *name, *scope; /* "cv::cuda::"; "": none */
    bool is_template, is_type[MOST_PARAMS];
    size_t n_params, element; /* which of them is the type of its elements */
    bool elements;            /* some use says which */
    bool tag;                 /* it is an argument of templates and nothing else */
    bool used;                /* for a type */
    bool said;                /* in code of the device */
    VEC(struct asked) asked;
    VEC(const char *) values; /* X::value */
    int rank;                 /* by brackets, arguments or the numbers of extents */
    bool brackets, called, index, other;
};

static const struct token *tok(const struct standin *x, size_t i)
{
    return &x->s->tokens.v[MIN(i, x->s->tokens.n - 1)];
}

static const struct init_decl *around(const struct standin *x, size_t i)
{
    for (size_t k = 0; k < x->s->decls.n; k++) {
        const struct init_decl *d = &x->s->decls.v[k];
        if (d->first <= i && i < d->end)
            return d;
    }
    return NULL;
}

/* How many arguments stand between the bracket at `open` and its end. */
static int arguments(const struct standin *x, size_t open)
{
    const size_t close = init_balanced(x->s, open, x->s->tokens.n) - 1;
    int n = close > open + 1;

    for (size_t i = open + 1, next; i < close; i = next + 1) {
        next = wrapper_item(x->s->tokens.v, i, close);
        n += next < close;
    }
    return n;
}

static void ask_for(struct standin *x, const struct asked *a)
{
    for (size_t i = 0; i < x->asked.n; i++) {
        struct asked *b = &x->asked.v[i];
        if (str_eq(a->name, b->name) && (a->n_args < 0) == (b->n_args < 0)) {
            b->address = b->address || a->address;
            b->n_args = MAX(a->n_args, b->n_args);
            b->most = MAX(a->most, b->most);
            return;
        }
    }
    vec_add(x->s->arena, &x->asked, *a);
}

static bool is_extent(const char *name)
{
    return str_in(name, "size|getSize|get_size|sizes|extent|shape|dim|getDim|stride|getStride");
}

/* What stands behind a value of the type, which token `at` - 1 names. */
static void read_value(struct standin *x, size_t at, bool pointer)
{
    int rank = 0;

    while (token_is(tok(x, at), "[")) {
        rank += !(pointer && !rank);
        at = init_balanced(x->s, at, x->s->tokens.n);
        x->brackets = x->brackets || !pointer;
        pointer = false;
    }
    x->rank = MAX(x->rank, rank);
    if (token_is(tok(x, at), "(") && !pointer) {
        x->called = true;
        x->rank = MAX(x->rank, arguments(x, at));
    }
    if (!token_is(tok(x, at), ".") && !token_is(tok(x, at), "->"))
        return;
    if (rank) /* an element's */
        return;
    at += 1 + token_is(tok(x, at + 1), "template");
    struct asked a = {.name = token_text(x->s->arena, tok(x, at)), .n_args = -1};
    at++;
    if (token_is(tok(x, at), "<"))
        at = init_angle(x->s, at, x->s->tokens.n);
    if (token_is(tok(x, at), "(")) {
        a.n_args = arguments(x, at);
        const struct token *number = tok(x, at + 1);
        if (a.n_args == 1 && is_extent(a.name) && number->kind == TOK_NUMBER)
            x->rank = MAX(x->rank, atoi(token_text(x->s->arena, number)) + 1);
        at = init_balanced(x->s, at, x->s->tokens.n);
    }
    a.address = token_is(tok(x, at), "[");
    if (a.address && tok(x, at + 1)->kind == TOK_NUMBER && token_is(tok(x, at + 2), "]"))
        a.most = atoi(token_text(x->s->arena, tok(x, at + 1))) + 1;
    ask_for(x, &a);
}

/* Values of the type that are called `name` in [first, end). */
static void read_values(struct standin *x, const char *name, size_t first, size_t end, bool pointer)
{
    int depth = 0;

    for (size_t i = first; i + 1 < end; i++) {
        depth += token_is(tok(x, i), "[") - token_is(tok(x, i), "]");
        if (!token_is(tok(x, i), name) || wrapper_sign(tok(x, i - 1), ". -> ::"))
            continue;
        x->index = x->index || depth > 0;
        read_value(x, i + 1, pointer);
    }
}

/* The arguments of the template, where the type is written with some at `open`. Gives what is behind. */
static size_t read_params(struct standin *x, size_t open)
{
    const size_t end = init_angle(x->s, open, x->s->tokens.n);
    size_t n = 0;

    if (end == open)
        return open;
    for (size_t i = open + 1, next; i + 1 < end && n < MOST_PARAMS; i = next + 1, n++) {
        next = wrapper_item(x->s->tokens.v, i, end - 1);
        const struct token *t = tok(x, i);
        const char *word = t->kind == TOK_WORD ? token_text(x->s->arena, t) : "0";
        bool is_number = t->kind == TOK_NUMBER || strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") > 3;
        is_number = is_number || (next > i + 1 && wrapper_sign(tok(x, i + 1), "+ - /")) ||
                    str_in(word, "D|DIM|Dim|N|NDim|ndim|Rank|RANK|dim|rank");
        const size_t len = strlen(word);
        const bool scalar = token_in(t, "const|float|double|half|__half|int|unsigned|uchar|T|DType") ||
                            str_ends(word, "_t") || (len > 4 && str_ends(word, "Type"));
        if (scalar && !x->elements) {
            x->element = n;
            x->elements = true;
        }
        x->is_type[n] = (n >= x->n_params || x->is_type[n]) && !is_number;
        x->n_params = MAX(x->n_params, n + 1);
    }
    x->is_template = true;
    return end;
}

/* The namespaces "cuda::" as they are found from `from`: "cv::cuda::". */
static const char *whole_scope(struct init_source *s, const char *from, const char *scope)
{
    for (size_t n = strlen(from); n > 0; n--) {
        const char *whole = arena_printf(s->arena, "%.*s%s", (int)n, from, scope);
        for (size_t i = 0; from[n - 1] == ':' && i < s->namespaces.n; i++) {
            if (str_eq(s->namespaces.v[i], whole))
                return whole;
        }
    }
    return arena_strdup(s->arena, scope);
}

/* One place that says the type. */
static void read_use(struct standin *x, size_t i)
{
    const struct init_decl *d = around(x, i);
    size_t at = i + 1;
    bool pointer = false;

    if (token_is(tok(x, at), "<"))
        at = read_params(x, at);
    if (token_is(tok(x, at), "::")) {
        vec_add(x->s->arena, &x->values, token_text(x->s->arena, tok(x, at + 1)));
        x->other = x->other || token_is(tok(x, at + 2), "(") || token_is(tok(x, at + 2), "<");
        return;
    }
    x->used = x->used || (d && (d->is_global || d->is_device || d->kind == INIT_TYPE));
    if (!d || (!d->is_global && !d->is_device)) /* what the host asks of it does not count */
        return;
    x->said = true;
    x->tag = x->tag && wrapper_sign(tok(x, i - 1), "< ,") && wrapper_sign(tok(x, at), ", >");
    if (token_is(tok(x, i - 1), "::") && tok(x, i - 2)->kind == TOK_WORD) {
        size_t first = i - 1;
        struct str scope = {.arena = x->s->arena};
        while (token_is(tok(x, first), "::") && tok(x, first - 1)->kind == TOK_WORD)
            first -= 2;
        for (size_t k = first + 1; k < i; k++)
            str_addf(&scope, "%.*s", (int)tok(x, k)->len, tok(x, k)->s);
        if (scope.len > strlen(x->scope))
            x->scope = whole_scope(x->s, d ? d->scope : "", str_text(&scope));
    }
    x->other = x->other || (wrapper_sign(tok(x, at), "( {") && arguments(x, at) > 1);
    while (wrapper_sign(tok(x, at), "* & &&") || token_in(tok(x, at), "const|__restrict__|__restrict")) {
        pointer = pointer || token_is(tok(x, at), "*");
        at++;
    }
    if (d->kind == INIT_FUNCTION && tok(x, at)->kind == TOK_WORD &&
        wrapper_sign(tok(x, at + 1), ", ) ; = { ( ["))
        read_values(x, token_text(x->s->arena, tok(x, at)), MAX(at + 1, d->body), d->end, pointer);
}

/* "int" of image_i and Vec3i; NULL: the name does not say it. */
static const char *element_by_name(const char *name)
{
    static const struct {
        char last;
        const char *type;
    } types[] = {{'b', "unsigned char"}, {'s', "short"}, {'i', "int"}, {'u', "unsigned int"}, {'f', "float"}};
    const size_t n = strlen(name);

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (n > 3 && name[n - 1] == types[i].last &&
            (isdigit((unsigned char)name[n - 2]) || strstr(name, "Ptr") || strstr(name, "Step")))
            return types[i].type;
    }
    return NULL;
}

static bool is_base(const char *name)
{
    return str_in(name, "data|data_|ptr|ptr_|base|begin|get|raw|address|buffer|data_handle|pointer");
}

/* The number type that a name that is asked for nothing is; NULL: the name may be a class's. */
static const char *number_type(const struct standin *x)
{
    static const char *const counts[] = {"size", "index",  "idx", "count",  "int",
                                         "id_t", "offset", "dim", "ordinal"};
    static const char *const reals[] = {"real", "float", "scalar", "value"};

    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        if (strcasestr(x->name, reals[i]) && !x->index)
            return "float";
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        if (strcasestr(x->name, counts[i]))
            return "int";
    }
    return x->index ? "int" : NULL;
}

static void add_head(const struct standin *x, struct str *to)
{
    if (x->is_template)
        str_add(to, "template <");
    for (size_t i = 0; x->is_template && i < x->n_params; i++)
        str_addf(to, "%s%s%zu = %s", i ? ", " : "", x->is_type[i] ? "typename T" : "int N", i,
                 x->is_type[i] ? "float" : "1");
    str_addf(to, "%sstruct %s {\n", x->is_template ? "> " : "", x->name);
}

/* An address of elements, by row and column, over sizes that lie one behind the other. */
static void add_places(const struct standin *x, struct str *to, const char *type, const char *data,
                       const char *step)
{
    static const char on[] = "__host__ __device__";
    struct str params = {.arena = x->s->arena};
    const char *at = "i0";

    for (int i = 0; i < x->rank; i++) {
        str_addf(&params, "%sint i%d", i ? ", " : "", i);
        at = i ? arena_printf(x->s->arena, "(%s) * size_[%d] + i%d", at, i, i) : at;
    }
    if (x->called && step && x->rank == 2)
        str_addf(to,
                 "    %s %s &operator()(int i0, int i1) const { return ((%s *)((char *)%s + i0 * %s))[i1]; }\n",
                 on, type, type, data, step);
    else if (x->called)
        str_addf(to, "    %s %s &operator()(%s) const { return %s[%s]; }\n", on, type, str_text(&params), data,
                 at);
    if (x->brackets && x->rank < 2)
        str_addf(to, "    %s %s &operator[](int i) const { return %s[i]; }\n", on, type, data);
    else if (x->brackets)
        str_addf(to, "    %s %s *operator[](int i) const { return %s + i * size_[1]; }\n", on, type, data);
}

/* A member that holds extents, or strides, by their numbers. */
static bool holds_extents(const struct asked *a)
{
    return a->n_args < 0 && a->address &&
           str_in(a->name,
                  "shape|shape_|size|size_|sizes|sizes_|dims|dims_|extents|strides|strides_|stride|stride_");
}

/* A pair has a type for each of its members, a vector one for all. */
static const char *member_type(const struct standin *x, const char *name, const char *type)
{
    const bool pair = x->is_template && x->n_params > 1 && x->is_type[0] && x->is_type[1];

    if (pair && str_in(name, "key|first"))
        return "T0";
    if (pair && str_in(name, "value|second"))
        return "T1";
    return str_in(name, "x|y|z|w|r|g|b|a") ? type : "int";
}

/* The struct with what is asked. NULL: something is that nobody can tell. */
static const char *as_struct(const struct standin *x)
{
    static const char on[] = "__host__ __device__";
    const char *by_name = element_by_name(x->name), *type = by_name ? by_name : "float", *data = NULL;
    const char *step = NULL, *width = NULL;
    struct str out = {.arena = x->s->arena};
    bool sizes = false, rows = false;

    if (x->is_template && x->n_params && x->is_type[x->element])
        type = arena_printf(x->s->arena, "T%zu", x->element);
    for (size_t i = 0; i < x->asked.n; i++) {
        const struct asked *a = &x->asked.v[i];
        const bool is_row = str_in(a->name, "ptr|row") && a->n_args == 1;
        sizes = sizes || (a->n_args == 1 && is_extent(a->name));
        rows = rows || is_row;
        if (a->n_args >= 1 && !is_row && !is_extent(a->name))
            return NULL;
        if (a->n_args < 0 && (a->address || is_base(a->name)) && !holds_extents(a) && !data)
            data = a->name;
        if (a->n_args < 0 && str_in(a->name, "step|pitch"))
            step = a->name;
        if (a->n_args < 0 && str_in(a->name, "cols|width|columns|n_cols"))
            width = a->name;
    }
    add_head(x, &out);
    sizes = sizes || (x->rank > 0 && !step);
    const bool own = !data && (rows || x->rank > 0);
    for (size_t i = 0; i < x->asked.n; i++) {
        const struct asked *a = &x->asked.v[i];
        if (holds_extents(a))
            str_addf(&out, "    int %s[%d];\n", a->name, MAX(a->most, 1));
        else if (a->n_args < 0 && (a->address || is_base(a->name)))
            str_addf(&out, "    %s *%s;\n", type, a->name);
        else if (a->n_args < 0)
            str_addf(&out, "    %s %s;\n", member_type(x, a->name, type), a->name);
        else if (a->n_args == 0 && is_base(a->name))
            str_addf(&out, "    %s *%s_of;\n    %s %s *%s() const { return %s_of; }\n", type, a->name, on, type,
                     a->name, a->name);
        else if (a->n_args == 0)
            str_addf(&out, "    int n_%s;\n    %s int %s() const { return n_%s; }\n", a->name, on, a->name,
                     a->name);
    }
    if (own) {
        data = "data_";
        str_addf(&out, "    %s *data_;\n", type);
    }
    if (rows && step) /* bytes */
        str_addf(&out, "    %s %s *ptr(int i = 0) const { return (%s *)((char *)%s + i * %s); }\n", on, type,
                 type, data, step);
    else if (rows) { /* one row lies behind the other */
        if (!width)
            str_addf(&out, "    int %s;\n", width = "step_");
        str_addf(&out, "    %s %s *ptr(int i = 0) const { return %s + i * %s; }\n", on, type, data, width);
    }
    if (rows)
        str_addf(&out, "    %s %s *row(int i) const { return ptr(i); }\n", on, type);
    if (sizes)
        str_addf(&out, "    int size_[%d];\n", MAX(x->rank, 1));
    for (size_t i = 0; i < x->asked.n; i++) {
        const struct asked *a = &x->asked.v[i];
        if (a->n_args == 1 && is_extent(a->name) && !strcasestr(a->name, "stride"))
            str_addf(&out, "    %s int %s(int i) const { return size_[i]; }\n", on, a->name);
        else if (a->n_args == 1 && is_extent(a->name))
            str_addf(&out,
                     "    %s int %s(int i) const { int n = 1; for (int k = i + 1; k < %d; k++) n *= size_[k]; "
                     "return n; }\n",
                     on, a->name, MAX(x->rank, 1));
    }
    add_places(x, &out, type, data, step);
    str_add(&out, "};\n");
    return arena_strdup(x->s->arena, str_text(&out));
}

static const char *as_enum(const struct standin *x)
{
    struct str out = {.arena = x->s->arena};

    str_addf(&out, "enum class %s {", x->name);
    for (size_t i = 0; i < x->values.n; i++) {
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before = before || str_eq(x->values.v[k], x->values.v[i]);
        if (!before)
            str_addf(&out, "%s %s", i ? "," : "", x->values.v[i]);
    }
    str_add(&out, " };\n");
    return arena_strdup(x->s->arena, str_text(&out));
}

/* Is it what THCDeviceTensor of the vocabulary is: `<T, rank>`, brackets, extents by their numbers? */
static bool is_view(const struct standin *x)
{
    bool extents = false;

    if (!x->is_template || x->n_params < 2 || !x->is_type[0] || x->is_type[1] || x->called || *x->scope)
        return false;
    for (size_t i = 0; i < x->asked.n; i++) {
        const struct asked *a = &x->asked.v[i];
        extents = extents || is_extent(a->name);
        if (!(is_extent(a->name) && a->n_args == 1) && !(str_in(a->name, "data|numElements") && !a->n_args))
            return false;
    }
    return extents || x->brackets;
}

static bool add_vectors(struct init_source *s);
static int lanes_called(const char *name, const char **type);
static const char *small_vector(struct arena *a, const char *name, const char *scope);

/* What the type is, as a declaration; NULL: nobody can tell. */
static const char *declared(const struct standin *x)
{
    const char *type;

    if (x->values.n && !x->asked.n && !x->rank && !x->is_template && !x->other)
        return as_enum(x);
    if (x->other || x->values.n || !x->used)
        return NULL;
    if (x->tag && x->said && !x->asked.n && !x->rank && !x->is_template)
        return arena_printf(x->s->arena, "struct %s {};\n", x->name);
    if (!x->asked.n && !x->rank)
        return x->is_template || !(type = number_type(x))
                   ? NULL
                   : arena_printf(x->s->arena, "using %s = %s;\n", x->name, type);
    return as_struct(x);
}

/* The declaration in the namespaces "a::b::". */
static const char *in_scope(struct arena *a, const char *scope, const char *text)
{
    struct str out = {.arena = a};
    int depth = 0;

    for (const char *p = scope; *p; p += strcspn(p, ":") + 2, depth++)
        str_addf(&out, "namespace %.*s {\n", (int)strcspn(p, ":"), p);
    str_add(&out, text);
    while (depth--)
        str_add(&out, "}\n");
    return arena_strdup(a, str_text(&out));
}

/* The types that the compiler, or the launcher's language, does not know, as they are spelled: how many. */
static size_t unknown_types(struct arena *a, const char *why, const char *types[MOST_UNKNOWN])
{
    static const struct {
        const char *before, *behind;
    } words[] = {{"the type ", " is not known"}, {"the type ", " is not understood"},
                 {"the name ", " is not known"}, {"identifier \"", "\" is undefined"},
                 {"has no member \"", "\""},     {"error: ", " is not a template"}};
    const char *space = strstr(why, "must be a class or namespace name: ");
    const char *colons = space ? strstr(space, "::") : NULL; /* of the line that it stands in */
    size_t n_types = 0;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *at = strstr(why, words[i].before), *name = at ? at + strlen(words[i].before) : "";
        size_t n = str_word(name);
        while (n && str_starts(name + n, "::"))
            n += 2 + str_word(name + n + 2);
        if (n && str_starts(name + n, words[i].behind))
            types[n_types++] = arena_strndup(a, name, n);
    }
    if (colons) {
        const char *first = colons, *end = colons + 2 + str_word(colons + 2);
        while (first > space && str_in_word(first[-1]))
            first--;
        if (first < colons && end > colons + 2)
            types[n_types++] = arena_strndup(a, first, (size_t)(end - first));
    }
    return n_types;
}

static bool has_standin(const struct init_source *s, const char *name)
{
    for (size_t i = 0; i < s->standins.n; i++) {
        if (str_eq(s->standins.v[i].name, name))
            return true;
    }
    return false;
}

static bool stand_in(struct init_source *s, const char *spelled)
{
    const char *whole = arena_strndup(s->arena, spelled, strcspn(spelled, "< *&"));
    const char *colon = strrchr(whole, ':');
    struct standin x = {.s = s, .name = colon ? colon + 1 : whole, .scope = "", .tag = true};
    const struct init_names *named = init_named(s, x.name);

    if (!*x.name || map_has(&s->macro_names, x.name) || s->standins.n >= MOST_STANDINS)
        return false;
    for (size_t i = 0; named && i < named->decls.n; i++) {
        if (s->decls.v[named->decls.v[i]].kind == INIT_TYPE)
            return false;
    }
    if (has_standin(s, x.name) || init_is_supplied(s, x.name))
        return false;
    for (size_t i = 2; i + 2 < s->tokens.n; i++) {
        if (token_is(tok(&x, i), x.name) && !wrapper_sign(tok(&x, i - 1), ". ->"))
            read_use(&x, i);
    }
    if (is_view(&x)) {
        vec_add(s->arena, &s->supplied, ((struct init_supplied){x.name, "THCDeviceTensor", NULL}));
        return true;
    }
    const char *type;
    if (lanes_called(x.name, &type)) {
        add_vectors(s);
        vec_add(s->arena, &s->standins,
                ((struct init_standin){x.name, small_vector(s->arena, x.name, x.scope)}));
        return true;
    }
    const char *text = declared(&x);
    if (!text)
        return false;
    vec_add(s->arena, &s->standins, ((struct init_standin){x.name, in_scope(s->arena, x.scope, text)}));
    return true;
}

/* ---- what headers of samples say of vector types: operators, and functions of them */

/* For types with n lanes: what is done to each of them. */
static void each_lane(struct str *to, const char *fmt)
{
    static const char *const behind[] = {"", "    if constexpr (lanes_of<V>::n > 2)\n    ",
                                         "    if constexpr (lanes_of<V>::n > 3)\n    "};
    static const char lanes[] = "xyzw";

    for (size_t i = 0; lanes[i]; i++) {
        str_add(to, i > 1 ? behind[i - 1] : "");
        str_add(to, "    ");
        for (const char *p = fmt; *p; p++) {
            if (*p == '@')
                str_addc(to, lanes[i]);
            else
                str_addc(to, *p);
        }
        str_add(to, ";\n");
    }
}

static void add_function(struct str *to, const char *head, const char *params, const char *lane)
{
    str_addf(to, "template <typename V> __host__ __device__ inline typename lanes_of<V>::vector %s(%s)\n{\n",
             head, params);
    each_lane(to, lane);
    str_add(to, "    return a;\n}\n");
}

static const char *vector_text(struct arena *a)
{
    static const char *const elements[] = {"float", "int", "uint", "double"};
    static const char *const types[] = {"float", "int", "unsigned int", "double"};
    static const char *const makes[][3] = {
        {"float2", "float s", "s, s"},
        {"float3", "float s", "s, s, s"},
        {"float4", "float s", "s, s, s, s"},
        {"int3", "int s", "s, s, s"},
        {"float2", "int2 a", "float(a.x), float(a.y)"},
        {"float2", "float3 a", "a.x, a.y"},
        {"float3", "int3 a", "float(a.x), float(a.y), float(a.z)"},
        {"float3", "uint3 a", "float(a.x), float(a.y), float(a.z)"},
        {"float3", "float4 a", "a.x, a.y, a.z"},
        {"float3", "float2 a, float s", "a.x, a.y, s"},
        {"float4", "float3 a", "a.x, a.y, a.z, 0.f"},
        {"float4", "float3 a, float s", "a.x, a.y, a.z, s"},
        {"int2", "float2 a", "int(a.x), int(a.y)"},
        {"int3", "float3 a", "int(a.x), int(a.y), int(a.z)"},
        {"int3", "uint3 a", "int(a.x), int(a.y), int(a.z)"},
    };
    static const char on[] = "__host__ __device__ inline";
    struct str out = {.arena = a};

    str_add(&out, "template <typename V> struct lanes_of {\n    static constexpr int n = 0;\n};\n");
    for (size_t i = 0; i < ARRAY_LEN(elements); i++) {
        for (int n = 2; n <= 4; n++)
            str_addf(
                &out,
                "template <> struct lanes_of<%s%d> {\n    static constexpr int n = %d;\n    using type = %s;\n"
                "    using vector = %s%d;\n};\n",
                elements[i], n, n, types[i], elements[i], n);
    }
    for (const char *p = "+-*/"; *p; p++) {
        add_function(&out, arena_printf(a, "operator%c", *p), "V a, V b",
                     arena_printf(a, "a.@ = a.@ %c b.@", *p));
        add_function(&out, arena_printf(a, "operator%c", *p), "V a, typename lanes_of<V>::type b",
                     arena_printf(a, "a.@ = a.@ %c b", *p));
        add_function(&out, arena_printf(a, "operator%c", *p), "typename lanes_of<V>::type b, V a",
                     arena_printf(a, "a.@ = b %c a.@", *p));
        add_function(&out, arena_printf(a, "operator%c=", *p), "V &a, V b",
                     arena_printf(a, "a.@ = a.@ %c b.@", *p));
        add_function(&out, arena_printf(a, "operator%c=", *p), "V &a, typename lanes_of<V>::type b",
                     arena_printf(a, "a.@ = a.@ %c b", *p));
    }
    add_function(&out, "operator-", "V a", "a.@ = -a.@");
    add_function(&out, "fminf", "V a, V b", "a.@ = a.@ < b.@ ? a.@ : b.@");
    add_function(&out, "fmaxf", "V a, V b", "a.@ = a.@ > b.@ ? a.@ : b.@");
    add_function(&out, "floorf", "V a", "a.@ = ::floorf(a.@)");
    add_function(&out, "fabs", "V a", "a.@ = a.@ < 0 ? -a.@ : a.@");
    add_function(&out, "clamp", "V a, V b, V c", "a.@ = a.@ < b.@ ? b.@ : (a.@ > c.@ ? c.@ : a.@)");
    add_function(&out, "clamp", "V a, typename lanes_of<V>::type b, typename lanes_of<V>::type c",
                 "a.@ = a.@ < b ? b : (a.@ > c ? c : a.@)");
    add_function(&out, "lerp", "V a, V b, typename lanes_of<V>::type t", "a.@ = a.@ + t * (b.@ - a.@)");
    str_add(&out,
            "template <typename V> __host__ __device__ inline typename lanes_of<V>::type dot(V a, V b)\n{\n"
            "    typename lanes_of<V>::type sum = a.x * b.x + a.y * b.y;\n"
            "    if constexpr (lanes_of<V>::n > 2)\n        sum += a.z * b.z;\n"
            "    if constexpr (lanes_of<V>::n > 3)\n        sum += a.w * b.w;\n    return sum;\n}\n"
            "template <typename V> __host__ __device__ inline typename lanes_of<V>::type length(V a)\n{\n"
            "    return sqrt(dot(a, a));\n}\n"
            "template <typename V> __host__ __device__ inline typename lanes_of<V>::vector normalize(V a)\n{\n"
            "    return a * rsqrt(dot(a, a));\n}\n"
            "template <typename V> __host__ __device__ inline typename lanes_of<V>::vector cross(V a, V b)\n{\n"
            "    V c;\n    c.x = a.y * b.z - a.z * b.y;\n    c.y = a.z * b.x - a.x * b.z;\n"
            "    c.z = a.x * b.y - a.y * b.x;\n    return c;\n}\n");
    str_addf(&out, "%s float clamp(float a, float b, float c)\n{\n    return fmaxf(b, fminf(a, c));\n}\n", on);
    str_addf(&out, "%s int clamp(int a, int b, int c)\n{\n    return max(b, min(a, c));\n}\n", on);
    str_addf(&out, "%s float lerp(float a, float b, float t)\n{\n    return a + t * (b - a);\n}\n", on);
    for (size_t i = 0; i < ARRAY_LEN(makes); i++)
        str_addf(&out, "%s %s make_%s(%s)\n{\n    return make_%s(%s);\n}\n", on, makes[i][0], makes[i][0],
                 makes[i][1], makes[i][0], makes[i][2]);
    return arena_strdup(a, str_text(&out));
}

/* Does `why` miss an operator, or a function, of CUDA's vector types? */
static bool lacks_vectors(const char *why)
{
    static const char *const functions[] = {"\"clamp\" is undefined",     "\"dot\" is undefined",
                                            "\"lerp\" is undefined",      "\"cross\" is undefined",
                                            "\"normalize\" is undefined", "\"length\" is undefined"};
    static const char *const types[] = {"float2", "float3", "float4",  "int2",
                                        "int3",   "int4",   "double2", "double3"};
    const char *lacks = strstr(why, "no operator \"");
    bool any = false;

    lacks = lacks ? strstr(lacks, "operand types are: ") : strstr(why, "function \"make_");
    for (size_t i = 0; lacks && i < ARRAY_LEN(types); i++)
        any = any || memmem(lacks, strcspn(lacks, ";"), types[i], strlen(types[i]));
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        any = any || strstr(why, functions[i]);
    return any;
}

/* How many lanes a type called so has, and of what: vec3, ivec2, Vec4f; 0: it is no such. */
static int lanes_called(const char *name, const char **type)
{
    const char *p = name, *as = strchr("iud", *p) && strcasestr(p, "vec") == p + 1 ? p++ : "";

    *type = "float";
    if (strncasecmp(p, "vec", 3) != 0)
        return 0;
    p += str_starts(p + 3, "tor") ? 6 : 3;
    if (*p < '2' || *p > '4' || (p[1] && (!strchr("iudf", p[1]) || p[2])))
        return 0;
    as = p[1] ? p + 1 : as;
    if (*as == 'i' || *as == 'u' || *as == 'd')
        *type = *as == 'd' ? "double" : (const char *[]){"int", "unsigned int"}[*as == 'u'];
    return *p - '0';
}

static const char *small_vector(struct arena *a, const char *name, const char *scope)
{
    static const char on[] = "    __host__ __device__", lanes[] = "xyzw";
    static const char *const functions[] = {"dot", "cross"}, *const of_one[] = {"length", "normalize"};
    const char *type;
    const int n = lanes_called(name, &type);
    struct str out = {.arena = a}, all = {.arena = a};

    str_addf(&out, "struct %s {\n", name);
    for (int i = 0; i < n; i++)
        str_addf(&out, "    %s %c;\n", type, lanes[i]);
    str_addf(&out, "%s %s() {}\n%s %s(%s s) : x(s), y(s)%s%s {}\n%s %s(", on, name, on, name, type,
             n > 2 ? ", z(s)" : "", n > 3 ? ", w(s)" : "", on, name);
    for (int i = 0; i < n; i++)
        str_addf(&out, "%s%s %c_", i ? ", " : "", type, lanes[i]);
    str_add(&out, ") : ");
    for (int i = 0; i < n; i++)
        str_addf(&out, "%s%c(%c_)", i ? ", " : "", lanes[i], lanes[i]);
    str_addf(&out, " {}\n%s %s &operator[](int i) { return *(&x + i); }\n", on, type);
    str_addf(&out, "%s const %s &operator[](int i) const { return *(&x + i); }\n};\n", on, type);
    str_add(&all, in_scope(a, scope, str_text(&out)));
    str_addf(&all,
             "template <> struct lanes_of<%s%s> {\n    static constexpr int n = %d;\n    using type = %s;\n"
             "    using vector = %s%s;\n};\n",
             scope, name, n, type, scope, name);
    if (!*scope)
        return arena_strdup(a, str_text(&all));
    out = (struct str){.arena = a};
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        str_addf(&out, "__host__ __device__ inline auto %s(%s a, %s b)\n{\n    return ::%s(a, b);\n}\n",
                 functions[i], name, name, functions[i]);
    for (size_t i = 0; i < ARRAY_LEN(of_one); i++)
        str_addf(&out, "__host__ __device__ inline auto %s(%s a)\n{\n    return ::%s(a);\n}\n", of_one[i], name,
                 of_one[i]);
    str_add(&all, in_scope(a, scope, str_text(&out)));
    return arena_strdup(a, str_text(&all));
}

static bool add_vectors(struct init_source *s)
{
    static const char name[] = "the operators of vectors (float3)";

    if (has_standin(s, name))
        return false;
    vec_add(s->arena, &s->standins, ((struct init_standin){name, vector_text(s->arena)}));
    return true;
}

bool init_stand_in_for(struct init_source *s, const char *why)
{
    const char *types[MOST_UNKNOWN];
    const size_t n = unknown_types(s->arena, why, types);
    bool any = lacks_vectors(why) && add_vectors(s);

    for (size_t i = 0; i < n && !any; i++)
        any = stand_in(s, types[i]);
    for (size_t i = 0; i < s->unmade.n; i++)
        any = stand_in(s, s->unmade.v[i]) || any;
    return any;
}
