/* Types of expressions, sizes of types, integers known at compile time. */
#include "rewrite/analysis.h"

#include <ctype.h>

/* The X of `(X *)p` and `reinterpret_cast<X *>(p)`, const or not, or no node. */
static struct node cast_to_pointer(const struct function *f, struct node e)
{
    struct node type = node_is(e, NODE_CAST_EXPRESSION) ? node_field(e, FIELD_TYPE) : (struct node){0};
    if (call_is(f, e, "reinterpret_cast") || call_is(f, e, "static_cast"))
        type = node_child(node_field(node_field(e, FIELD_FUNCTION), FIELD_ARGUMENTS), 0);
    struct node d = node_field(type, FIELD_DECLARATOR);
    bool pointer = node_is(d, NODE_ABSTRACT_POINTER_DECLARATOR) && !node_ok(node_field(d, FIELD_DECLARATOR));
    return pointer ? node_field(type, FIELD_TYPE) : (struct node){0};
}

/* The type that a template parameter gets by an argument that is the launcher's own parameter, `T *` by `float
 * *`, or is cast to a pointer. */
static struct node told_by_argument(const struct function *f, const struct launch *l, const char *name)
{
    size_t n;
    struct node *params =
        named_children(f, node_field(node_field(l->host, FIELD_DECLARATOR), FIELD_PARAMETERS), &n);
    for (size_t p = 0; p < f->n_params; p++) {
        struct node arg = launch_arg(f, l, &f->variables[p]), cast = cast_to_pointer(f, arg);
        if (str_eq(f->variables[p].type, name) && f->variables[p].pointer && node_ok(cast))
            return cast;
        for (size_t i = 0; str_eq(f->variables[p].type, name) && node_is(arg, NODE_IDENTIFIER) && i < n; i++) {
            struct node d = node_field(params[i], FIELD_DECLARATOR);
            bool pointer = node_is(d, NODE_POINTER_DECLARATOR);
            d = pointer ? node_field(d, FIELD_DECLARATOR) : d;
            if (pointer == f->variables[p].pointer && node_is(d, NODE_IDENTIFIER) &&
                node_text_is(f->s, d, text_of(f, arg)))
                return node_field(params[i], FIELD_TYPE);
        }
    }
    return (struct node){0};
}

bool ctype_is_parameter(const struct function *f, const char *name, size_t *position)
{
    size_t n = 0;
    struct node *params = node_is(f->whole, NODE_TEMPLATE_DECLARATION)
                              ? named_children(f, node_field(f->whole, FIELD_PARAMETERS), &n)
                              : NULL;
    for (*position = 0; *position < n;
         ++*position) { /* `typename T = float`, `template <typename T> class F` */
        char *text = text_of(f, params[*position]), *is = strchr(text, '=');
        size_t len = strlen(name);
        if (is)
            *is = '\0';
        text_trim(text);
        size_t all = strlen(text);
        if (str_ends(text, name) && (all == len || !str_in_word(text[all - len - 1])))
            return true;
    }
    return false;
}

/* What template parameter `name` is bound to in every launch; no node when launches differ or it is none. */
static struct node template_binding(const struct function *f, const char *name)
{
    struct node none = {0}, bound = {0};
    size_t position;
    if (f->n_launches == 0 || !ctype_is_parameter(f, name, &position))
        return none;
    for (size_t l = 0; l < f->n_launches; l++) {
        size_t n_args = 0;
        struct node *args = node_ok(f->launches[l].template_args)
                                ? named_children(f, f->launches[l].template_args, &n_args)
                                : NULL;
        struct node here = position < n_args ? args[position] : told_by_argument(f, &f->launches[l], name);
        if (!node_ok(here) || (l > 0 && !str_eq(text_of(f, here), text_of(f, bound))))
            return none;
        bound = here;
    }
    return bound;
}

static int builtin_size(const char *type)
{
    if (str_in(type, "char|unsigned char|signed char|int8_t|uint8_t"))
        return 1;
    if (str_in(type,
               "__half|half|__nv_bfloat16|nv_bfloat16|bfloat16|short|unsigned short|int16_t|uint16_t|ushort"))
        return 2;
    if (str_in(type, "float|int|unsigned|unsigned int|int32_t|uint32_t|uint"))
        return 4;
    if (str_in(type, "double|long|unsigned long|long long|unsigned long long|int64_t|uint64_t|size_t|ulong"))
        return 8;
    if (str_in(type, "char2|uchar2"))
        return 2;
    if (str_in(type, "__half2|half2|__nv_bfloat162|nv_bfloat162|char4|uchar4|short2|ushort2"))
        return 4;
    if (str_in(type, "float2|int2|uint2|short4|ushort4"))
        return 8;
    if (str_in(type, "float4|int4|uint4|double2|longlong2|ulonglong2|long2|ulong2"))
        return 16;
    return 0;
}

void ctype_find_aliases(struct function *f)
{
    static const struct {
        enum node_kind kind;
        enum node_field name;
    } forms[] = {{NODE_ALIAS_DECLARATION, FIELD_NAME}, {NODE_TYPE_DEFINITION, FIELD_DECLARATOR}};
    VEC(struct alias) found = {0};
    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        for (struct node *x = nodes_of(f, source_root(f->s), forms[k].kind); node_ok(*x); x++)
            if (!node_is(node_parent(*x), NODE_TEMPLATE_DECLARATION)) {
                struct alias alias = {text_of(f, node_field(*x, forms[k].name)),
                                      text_of(f, node_field(*x, FIELD_TYPE))};
                vec_add(f->a, &found, alias);
            }
    }
    f->aliases = found.v;
    f->n_aliases = found.n;
}

/* What all aliases of that name stand for; NULL: there are none, or they differ. */
static const char *one_alias(const struct function *f, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < f->n_aliases; i++) {
        if (!str_eq(f->aliases[i].name, name))
            continue;
        if (found && !str_eq(found, f->aliases[i].type))
            return NULL;
        found = f->aliases[i].type;
    }
    return found;
}

const char *ctype_alias(const struct function *f, const char *type)
{
    enum { DEEPEST = 8 };
    for (int i = 0; i < DEEPEST && str_is_name(type) && !builtin_size(type); i++) {
        const char *next = one_alias(f, type);
        if (!next || str_eq(next, type))
            break;
        type = next;
    }
    return type;
}

int ctype_size(const struct function *f, const char *type)
{
    int size = builtin_size(type);
    return size ? size : builtin_size(ctype_bound(f, type));
}

/* `float x, y, z;` or `float v[3];` behind *bytes of a struct. */
static bool add_field(const struct function *f, struct node field, int64_t *bytes, int64_t *align)
{
    size_t n;
    struct node *all = named_children(f, field, &n), type = node_field(field, FIELD_TYPE);
    int64_t size = node_is(field, NODE_FIELD_DECLARATION) ? ctype_size(f, text_of(f, type)) : 0;
    for (size_t i = 0; i < n && size > 0; i++) {
        int64_t many = 1;
        if (node_same(all[i], type))
            continue;
        if (!node_is(all[i], NODE_FIELD_IDENTIFIER) &&
            !(node_is(all[i], NODE_ARRAY_DECLARATOR) &&
              node_is(node_field(all[i], FIELD_DECLARATOR), NODE_FIELD_IDENTIFIER) &&
              constant_value(f, node_field(all[i], FIELD_SIZE), &many) && many > 0))
            return false;
        *bytes = (*bytes + size - 1) / size * size + many * size;
        *align = MAX(*align, size);
    }
    return size > 0 && n > 1;
}

int ctype_struct_size(const struct function *f, const char *type)
{
    enum { MOST = 1024 };
    const char *name = str_starts(type, "struct ") ? type + 7 : type;
    int64_t bytes = 0, align = 1;
    struct node body = {0};
    for (struct node *c = nodes_of(f, source_root(f->s), NODE_STRUCT_SPECIFIER); node_ok(*c); c++) {
        struct node up = node_parent(*c);
        bool is =
            node_text_is(f->s, node_field(*c, FIELD_NAME), name) ||
            (node_is(up, NODE_TYPE_DEFINITION) && node_text_is(f->s, node_field(up, FIELD_DECLARATOR), name));
        size_t parts; /* a base or an alignment is one more */
        named_children(f, *c, &parts);
        if (!is || !node_ok(node_field(*c, FIELD_BODY)))
            continue;
        if (node_ok(body) || parts != 1 + (size_t)node_ok(node_field(*c, FIELD_NAME)) ||
            node_is(up, NODE_TEMPLATE_DECLARATION))
            return 0;
        body = node_field(*c, FIELD_BODY);
    }
    for (struct node *d = node_ok(body) ? named_children(f, body, NULL) : NULL; d && node_ok(*d); d++)
        if (!node_is(*d, NODE_COMMENT) && !add_field(f, *d, &bytes, &align))
            return 0;
    bytes = (bytes + align - 1) / align * align;
    return bytes <= MOST ? (int)bytes : 0;
}

bool ctype_is_integer(const struct function *f, const char *type)
{
    type = ctype_alias(f, type);
    return str_in(type + (str_starts(type, "std::") ? 5 : 0),
                  "int|unsigned|unsigned int|long|long long|unsigned long|unsigned long long|int64_t|"
                  "uint64_t|int32_t|uint32_t|size_t|short|char|ptrdiff_t|uint|ulong");
}

bool ctype_is_float(const char *type)
{
    return str_eq(type, "float") || str_eq(type, "double");
}

const char *ctype_bound(const struct function *f, const char *type)
{
    if (!type)
        return NULL;
    struct node bound = template_binding(f, type);
    return ctype_alias(f, node_ok(bound) ? text_of(f, bound) : type);
}

const char *ctype_packed(const struct function *f, const char *type)
{
    const char *comma = strchr(type, ',');
    if (!comma || !str_starts(type, "packed<"))
        return NULL;
    return arena_strndup(f->a, type + 7, (size_t)(comma - type) - 7);
}

/* T of `packed<T, N> name`, for name.at[k]. */
static const char *packed_type(const struct function *f, struct node e)
{
    if (!node_is(e, NODE_FIELD_EXPRESSION))
        return NULL;
    const struct variable *v = function_variable_of(f, node_field(e, FIELD_ARGUMENT));
    return v ? ctype_packed(f, v->type) : NULL;
}

const char *expression_type(const struct function *f, struct node e)
{
    if (node_is(e, NODE_PARENTHESIZED_EXPRESSION))
        return expression_type(f, node_child(e, 0));
    if (node_is(e, NODE_CAST_EXPRESSION))
        return text_of(f, node_field(e, FIELD_TYPE));
    if (node_is(e, NODE_NUMBER_LITERAL)) {
        const char *t = text_of(f, e);
        bool hex = t[0] == '0' && (t[1] == 'x' || t[1] == 'X');
        if (hex || !strpbrk(t, ".eEfF"))
            return strpbrk(t, "uUlL") ? NULL : "int";
        return strpbrk(t, "fF") ? "float" : "double";
    }
    if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->pointer && !v->array)
            return v->type;
        return !v && str_ends(text_of(f, e), "_F") ? "float" : NULL;
    }
    if (node_is(e, NODE_SUBSCRIPT_EXPRESSION)) {
        const struct variable *v = function_variable_of(f, node_field(e, FIELD_ARGUMENT));
        if (!v)
            return packed_type(f, node_field(e, FIELD_ARGUMENT));
        return v->pointer || v->array ? v->type : NULL;
    }
    if (node_is(e, NODE_UNARY_EXPRESSION))
        return expression_type(f, node_field(e, FIELD_ARGUMENT));
    if (node_is(e, NODE_CALL_EXPRESSION)) {
        const char *name = call_name(f, e);
        size_t len = strlen(name);
        if (str_eq(name, "__half2float") || str_eq(name, "__bfloat162float") ||
            str_starts(name, "__int2float") || str_eq(name, "__fdividef") || str_eq(name, "float"))
            return "float";
        struct node args = node_field(e, FIELD_ARGUMENTS);
        if ((str_eq(name, "max") || str_eq(name, "min")) && node_count(args) == 2) {
            const char *x = expression_type(f, node_child(args, 0));
            return str_eq(x, expression_type(f, node_child(args, 1))) ? x : NULL;
        }
        return call_is_pure_builtin(f, e) && len > 2 && name[len - 1] == 'f' ? "float" : NULL;
    }
    if (node_is(e, NODE_CONDITIONAL_EXPRESSION)) {
        const char *x = expression_type(f, node_field(e, FIELD_CONSEQUENCE));
        return str_eq(x, expression_type(f, node_field(e, FIELD_ALTERNATIVE))) ? x : NULL;
    }
    if (node_is(e, NODE_BINARY_EXPRESSION)) {
        const char *x = expression_type(f, node_field(e, FIELD_LEFT)),
                   *y = expression_type(f, node_field(e, FIELD_RIGHT));
        const char *op = node_op(f, e);
        if (!x || !y || strpbrk(op, "<>=!&|"))
            return NULL;
        if (str_eq(x, y))
            return x;
        x = ctype_bound(f, x);
        y = ctype_bound(f, y);
        if ((ctype_is_float(x) || ctype_is_integer(f, x)) && (ctype_is_float(y) || ctype_is_integer(f, y))) {
            if (str_eq(x, "double") || str_eq(y, "double"))
                return "double";
            if (str_eq(x, "float") || str_eq(y, "float"))
                return "float";
        }
    }
    return NULL;
}

static bool number_of(const char *text, int64_t *value)
{
    char *end;
    long long v = strtoll(text, &end, 0);
    while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
        end++;
    *value = v;
    return end != text && *end == '\0';
}

static char *macro_text(const struct function *f, struct node value)
{
    char *text = text_of(f, value), *comment = strstr(text, "//");
    if (comment)
        *comment = '\0';
    return text_trim(text);
}

/* A constexpr variable or a macro at file level, as text; NULL also where two namespaces have the name. */
static const char *file_constant(const struct function *f, const char *name)
{
    const char *found = NULL;
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++) {
        struct node n = *item, d = node_field(n, FIELD_DECLARATOR), value = node_field(n, FIELD_VALUE);
        if (node_is(n, NODE_PREPROC_DEF) && node_text_is(f->s, node_field(n, FIELD_NAME), name))
            return node_ok(value) ? macro_text(f, value) : NULL;
        if (!node_is(n, NODE_DECLARATION) || !node_is(d, NODE_INIT_DECLARATOR) ||
            !node_text_is(f->s, node_field(d, FIELD_DECLARATOR), name) ||
            !(str_has_word(text_of(f, n), "constexpr") || str_has_word(text_of(f, n), "const")))
            continue;
        if (found)
            return NULL;
        found = text_of(f, node_field(d, FIELD_VALUE));
    }
    return found;
}

/* x op y; false where the result is not known or does not fit. */
static bool operation(const char *op, int64_t x, int64_t y, int64_t *value)
{
    const struct {
        const char *op;
        bool holds;
    } relations[] = {{"==", x == y}, {"!=", x != y}, {"<", x < y},   {"<=", x <= y},
                     {">", x > y},   {">=", x >= y}, {"&&", x && y}, {"||", x || y}};

    if (str_eq(op, "+"))
        return !__builtin_add_overflow(x, y, value);
    if (str_eq(op, "-"))
        return !__builtin_sub_overflow(x, y, value);
    if (str_eq(op, "*"))
        return !__builtin_mul_overflow(x, y, value);
    for (size_t i = 0; i < ARRAY_LEN(relations); i++)
        if (str_eq(op, relations[i].op))
            return *value = relations[i].holds, true;
    if (y > 0 && x >= 0 && str_eq(op, "/"))
        return *value = x / y, true;
    if (y > 0 && x >= 0 && str_eq(op, "%"))
        return *value = x % y, true;
    if (y >= 0 && y < 31 && x >= 0 && x < (1LL << 31) && str_eq(op, "<<"))
        return *value = x << y, true;
    return false;
}

static bool constant_depth(const struct function *f, struct node n, int64_t *value, bool launched, int depth);

/* What a launch passes, where it is a constant: one that the launcher declares, once, is looked through, and
 * its other names are nothing of the kernel's. No node: it is none. */
static struct node passed_constant(const struct function *f, const struct launch *l, const struct variable *v)
{
    struct node arg = node_strip(launch_arg(f, l, v)), none = {0}, d = host_declarator(f, l, arg);
    const char *params = text_of(f, node_field(node_field(l->host, FIELD_DECLARATOR), FIELD_PARAMETERS));
    size_t position, declared = 0;
    for (struct node *x = nodes_of(f, l->host, NODE_INIT_DECLARATOR); node_ok(d) && node_ok(*x); x++)
        declared += node_text_is(f->s, node_field(*x, FIELD_DECLARATOR), text_of(f, arg));
    if (declared == 1 && str_starts(text_of(f, node_parent(d)), "const"))
        arg = node_field(d, FIELD_VALUE);
    for (struct node *name = names_in(f, arg); node_ok(*name); name++)
        if (str_has_word(params, text_of(f, *name)) || node_ok(host_declarator(f, l, *name)) ||
            ctype_is_parameter(f, text_of(f, *name), &position))
            return none;
    return arg;
}

/* What all launches give a parameter: the same constant, or no pointer at all. */
static bool given_value(const struct function *f, const struct variable *v, int64_t *value, int depth)
{
    bool known = v->assignments == 0 && !v->array && f->n_launches > 0 &&
                 (v->pointer || ctype_is_integer(f, v->type) || str_eq(v->type, "bool"));
    for (size_t l = 0; known && l < f->n_launches; l++) {
        int64_t here;
        known = constant_depth(f, passed_constant(f, &f->launches[l], v), &here, true, depth + 1) &&
                here >= 0 && here <= INT32_MAX && !(v->pointer && here) && !(l > 0 && here != *value);
        if (known)
            *value = str_eq(v->type, "bool") ? here != 0 : here;
    }
    return known;
}

/* Of a variable of the function. */
static bool variable_value(const struct function *f, const struct variable *v, int64_t *value, bool launched,
                           int depth)
{
    if (launched && v->param)
        return given_value(f, v, value, depth);
    bool flag = str_eq(v->type, "bool"),
         plain = v->to_const || (launched && (flag || ctype_is_integer(f, v->type)));
    bool known = !v->param && v->assignments == 0 && plain && node_ok(v->init) && !v->array && !v->pointer &&
                 constant_depth(f, v->init, value, launched, depth + 1);
    if (flag && known)
        *value = *value != 0;
    return known;
}

static bool constant_depth(const struct function *f, struct node n, int64_t *value, bool launched, int depth)
{
    n = node_strip(n);
    if (!node_ok(n) || depth > 12)
        return false;
    if (node_is(n, NODE_NUMBER_LITERAL))
        return number_of(text_of(f, n), value);
    if (launched && (node_text_is(f->s, n, "nullptr") || node_text_is(f->s, n, "NULL")))
        return *value = 0, true;
    if (node_is(n, NODE_TRUE) || node_is(n, NODE_FALSE))
        return *value = node_is(n, NODE_TRUE), true;
    if (node_is(n, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, n), "!")) {
        bool known = constant_depth(f, node_field(n, FIELD_ARGUMENT), value, launched, depth + 1);
        *value = known && !*value;
        return known;
    }
    if (node_is(n, NODE_QUALIFIED_IDENTIFIER)) {
        const char *text = file_constant(f, text_of(f, callee_name(n)));
        return text && number_of(text, value);
    }
    if (node_is(n, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, n);
        if (v)
            return variable_value(f, v, value, launched, depth);
        const char *text = file_constant(f, text_of(f, n));
        if (text)
            return number_of(text, value);
        struct node bound = template_binding(f, text_of(f, n));
        if (node_ok(bound) && !node_text_is(f->s, bound, text_of(f, n)))
            return constant_depth(f, bound, value, launched, depth + 1);
        return false;
    }
    if (group_method(f, n, "size") || group_method(f, n, "num_threads"))
        return *value = 32, true;
    if (node_is(n, NODE_SIZEOF_EXPRESSION)) {
        struct node type = node_field(n, FIELD_TYPE);
        *value = node_ok(type) ? ctype_size(f, text_of(f, type)) : 0;
        return *value > 0;
    }
    if (node_is_binary(f, n, "&&") || node_is_binary(f, n, "||")) { /* one side may settle it */
        bool either = str_eq(node_op(f, n), "||");
        int64_t x, y;
        bool left = constant_depth(f, node_field(n, FIELD_LEFT), &x, launched, depth + 1),
             right = constant_depth(f, node_field(n, FIELD_RIGHT), &y, launched, depth + 1);
        bool settled = (left && (x != 0) == either) || (right && (y != 0) == either);
        *value = settled == either;
        return settled || (left && right);
    }
    if (node_is(n, NODE_BINARY_EXPRESSION)) {
        int64_t x, y;
        return constant_depth(f, node_field(n, FIELD_LEFT), &x, launched, depth + 1) &&
               constant_depth(f, node_field(n, FIELD_RIGHT), &y, launched, depth + 1) &&
               operation(node_op(f, n), x, y, value) &&
               (!launched || *value >= 0); /* types are not looked at */
    }
    return false;
}

bool constant_value(const struct function *f, struct node n, int64_t *value)
{
    return constant_depth(f, n, value, false, 0);
}

bool launched_value(const struct function *f, struct node n, int64_t *value)
{
    return constant_depth(f, n, value, true, 0);
}

int64_t array_bytes(const struct function *f, const struct variable *v)
{
    int64_t bytes = ctype_size(f, ctype_bound(f, v->type)), count;
    for (struct node up = node_parent(v->id); node_is(up, NODE_ARRAY_DECLARATOR); up = node_parent(up))
        if (!constant_value(f, node_field(up, FIELD_SIZE), &count) || count < 0 ||
            __builtin_mul_overflow(bytes, count, &bytes))
            return 0;
    return v->array ? bytes : 0;
}

int64_t shared_bytes(const struct function *f)
{
    int64_t all = 0, bytes;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (v->shared && !v->external) {
            bytes = v->array ? array_bytes(f, v) : ctype_size(f, ctype_bound(f, v->type));
            if (bytes < 0 || __builtin_add_overflow(all, bytes, &all))
                return INT64_MAX;
        }
    return all;
}

char *variable_type_text(const struct function *f, const struct variable *v)
{
    struct node first = node_field(v->statement, FIELD_DECLARATOR), own = v->id;
    while (!node_same(node_parent(own), v->statement))
        own = node_parent(own);
    char *text = arena_printf(f->a, "%s%s", text_range(f, node_start(v->statement), node_start(first)),
                              text_range(f, node_start(own), v->from));
    char *star = strrchr(text, '*');
    struct str b = {.arena = f->a};
    str_addn(&b, text, star ? (size_t)(star + 1 - text) : 0);
    char *rest = NULL;
    for (char *word = strtok_r(star ? star + 1 : text, " \t\n", &rest); word;
         word = strtok_r(NULL, " \t\n", &rest))
        if (!str_eq(word, "const"))
            str_addf(&b, "%s ", word);
    return arena_strdup(f->a, str_text(&b));
}

char *variable_array_text(const struct function *f, const struct variable *v, int n)
{
    struct node declarator = v->id;
    for (struct node up = node_parent(v->id);
         !node_same(up, v->statement) && !node_is(up, NODE_INIT_DECLARATOR); up = node_parent(up))
        declarator = up;
    return arena_printf(f->a, "%s%s[%d]%s", variable_type_text(f, v), v->name, n,
                        text_range(f, node_end(v->id), node_end(declarator)));
}

bool variable_is_plain(const struct function *f, const struct variable *v)
{
    size_t position;
    return v->pointer || ctype_size(f, v->type) > 0 || str_eq(ctype_alias(f, v->type), "bool") ||
           ctype_is_parameter(f, v->type, &position);
}
