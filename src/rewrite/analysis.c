#include "rewrite/analysis.h"

#include <ctype.h>

/* Nodes -------------------------------------------------------------------------------------------------------
 */

struct node node_strip(struct node n)
{
    for (;;) {
        if (node_is(n, "parenthesized_expression") && node_count(n) > 0)
            n = node_child(n, 0);
        else if (node_is(n, "cast_expression"))
            n = node_field(n, "value");
        else
            return n;
    }
}

const char *node_op(const struct function *f, struct node n)
{
    struct node op = node_field(n, "operator");
    return node_ok(op) ? text_of(f, op) : "";
}

bool node_within(struct node inner, struct node outer)
{
    return node_start(inner) >= node_start(outer) && node_end(inner) <= node_end(outer);
}

struct node node_enclosing(struct node n, const char *kind)
{
    for (n = node_parent(n); node_ok(n) && !node_is(n, kind); n = node_parent(n))
        ;
    return n;
}

struct node node_statement(struct node n)
{
    for (; node_ok(n); n = node_parent(n)) {
        const char *kind = node_kind(n);
        if (str_ends(kind, "_statement") || str_eq(kind, "declaration"))
            return n;
    }
    return n;
}

struct node *named_children(const struct function *f, struct node n, size_t *count)
{
    uint32_t all = node_count(n);
    struct node *v = arena_array(f->a, struct node, all + 1);
    *count = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct node c = node_child(n, i);
        if (!node_is(c, "comment"))
            v[(*count)++] = c;
    }
    return v;
}

bool node_mentions(const struct function *f, struct node n, const char *name)
{
    if (node_is(n, "identifier") && node_text_is(f->s, n, name))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_mentions(f, node_child(n, i), name))
            return true;
    return false;
}

static const char *called_name(const struct function *f, struct node call)
{
    struct node callee = node_field(call, "function");
    if (node_is(callee, "template_function"))
        callee = node_field(callee, "name");
    if (node_is(callee, "qualified_identifier"))
        callee = node_field(callee, "name");
    return node_ok(callee) ? text_of(f, callee) : "";
}

bool call_is(const struct function *f, struct node n, const char *name)
{
    return node_is(n, "call_expression") && str_eq(called_name(f, n), name);
}

static bool in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(name, *list))
            return true;
    return false;
}

static bool body_is_pure(const struct function *f, struct node n)
{
    if (node_is(n, "subscript_expression") || node_is(n, "pointer_expression") || node_is(n, "asm_statement") ||
        node_is(n, "gnu_asm_expression") || node_is(n, "lambda_expression"))
        return false;
    if (node_is(n, "declaration") &&
        (text_has_word(text_of(f, n), "__shared__") || text_has_word(text_of(f, n), "static")))
        return false;
    if (node_is(n, "call_expression") && !call_is_pure(f, n))
        return false;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (!body_is_pure(f, node_child(n, i)))
            return false;
    return true;
}

static bool definition_is_pure(const struct function *f, const char *name)
{
    size_t count;
    struct node *all = node_find_all(f->a, source_root(f->s), "function_definition", &count);
    for (size_t i = 0; i < count; i++) {
        struct node declarator = node_field(all[i], "declarator");
        if (!node_is(declarator, "function_declarator") ||
            !node_text_is(f->s, node_field(declarator, "declarator"), name))
            continue;
        const char *params = text_of(f, node_field(declarator, "parameters"));
        return !strpbrk(params, "*&") && body_is_pure(f, node_field(all[i], "body"));
    }
    return false;
}

static bool call_is_pure_builtin(const struct function *f, struct node call)
{
    static const char *const prefixes[] = {"__half", "__float", "__bfloat", "__int",  "__uint", "__double",
                                           "__low",  "__high",  "__hadd",   "__hmul", "__hfma", "__hsub",
                                           "__hdiv", "__hmax",  "__hmin",   "make_",  NULL};
    static const char *const names[] = {"expf",        "exp",
                                        "__expf",      "exp2f",
                                        "exp2",        "exp10f",
                                        "expm1f",      "expm1",
                                        "logf",        "log",
                                        "__logf",      "log2f",
                                        "log2",        "__log2f",
                                        "log10f",      "log1pf",
                                        "powf",        "pow",
                                        "__powf",      "sqrtf",
                                        "sqrt",        "rsqrtf",
                                        "rsqrt",       "cbrtf",
                                        "sinf",        "sin",
                                        "__sinf",      "cosf",
                                        "cos",         "__cosf",
                                        "tanf",        "tan",
                                        "tanhf",       "tanh",
                                        "sinhf",       "coshf",
                                        "atanf",       "atan2f",
                                        "asinf",       "acosf",
                                        "erff",        "erf",
                                        "erfcf",       "fabsf",
                                        "fabs",        "fmaxf",
                                        "fmax",        "fminf",
                                        "fmin",        "max",
                                        "min",         "abs",
                                        "floorf",      "ceilf",
                                        "roundf",      "rintf",
                                        "truncf",      "floor",
                                        "ceil",        "fmaf",
                                        "fma",         "__fdividef",
                                        "__frcp_rn",   "__fsqrt_rn",
                                        "__frsqrt_rn", "fmodf",
                                        "copysignf",   "isnan",
                                        "isinf",       "float",
                                        "double",      "int",
                                        "static_cast", "reinterpret_cast",
                                        "const_cast",  NULL};
    const char *name = called_name(f, call);
    for (size_t i = 0; prefixes[i]; i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return in_list(name, names);
}

bool call_is_pure(const struct function *f, struct node call)
{
    static __thread int depth; /* functions that call each other end here */
    if (call_is_pure_builtin(f, call))
        return true;
    if (depth > 3)
        return false;
    depth++;
    bool pure = definition_is_pure(f, called_name(f, call));
    depth--;
    return pure;
}

bool calls_barrier(const struct function *f, struct node n)
{
    if (node_is(n, "call_expression")) {
        const char *name = called_name(f, n);
        if (str_starts(name, "__sync") || str_starts(name, "__shfl") || str_starts(name, "__any") ||
            str_starts(name, "__all") || str_starts(name, "__ballot") || str_starts(name, "__match") ||
            str_starts(name, "__reduce") || str_eq(name, "sync"))
            return true;
    }
    if (node_is(n, "gnu_asm_expression") || node_is(n, "asm_statement"))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (calls_barrier(f, node_child(n, i)))
            return true;
    return false;
}

/* Variables ---------------------------------------------------------------------------------------------------
 */

struct scan {
    struct function *f;
    LIST(struct variable) found;
    size_t scope_end;
};

static const char *specifier_type(const struct function *f, struct node statement)
{
    struct node t = node_field(statement, "type");
    return node_ok(t) ? text_of(f, t) : "";
}

static bool has_word_before(const struct function *f, struct node statement, struct node id, const char *word)
{
    char *before = text_range(f, node_start(statement), node_start(id));
    return text_has_word(before, word);
}

/* Walk down a declarator to its identifier. */
static void variable_add(struct scan *scan, struct node statement, struct node declarator, bool param)
{
    struct function *f = scan->f;
    struct variable v = {.statement = statement, .param = param, .type = specifier_type(f, statement)};
    struct node d = declarator;
    for (int depth = 0; node_ok(d) && !node_is(d, "identifier") && depth < 16; depth++) {
        if (node_is(d, "init_declarator")) {
            v.init = node_field(d, "value");
        } else if (node_is(d, "pointer_declarator")) {
            v.pointer = true;
        } else if (node_is(d, "array_declarator")) {
            v.array = true;
            v.size = node_field(d, "size");
        } else if (node_is(d, "reference_declarator")) {
            v.assignments++; /* another name for it may be written */
            d = node_child(d, 0);
            continue;
        } else if (!node_is(d, "optional_parameter_declaration")) {
            return;
        }
        d = node_field(d, "declarator");
    }
    if (!node_is(d, "identifier"))
        return;
    v.id = d;
    v.name = text_of(f, d);
    v.to_const = has_word_before(f, statement, d, "const") || has_word_before(f, statement, d, "constexpr");
    v.restricted =
        has_word_before(f, statement, d, "__restrict__") || has_word_before(f, statement, d, "__restrict");
    v.shared = has_word_before(f, statement, d, "__shared__");
    v.external = has_word_before(f, statement, d, "extern");
    v.from = node_start(d);
    v.to = scan->scope_end;
    v.index = scan->found.n;
    list_add(f->a, &scan->found, v);
}

static void scan_declarations(struct scan *scan, struct node n)
{
    size_t outer = scan->scope_end;
    if (node_is(n, "compound_statement") || node_is(n, "for_statement") || node_is(n, "lambda_expression"))
        scan->scope_end = node_end(n);
    if (node_is(n, "declaration")) {
        struct node type = node_field(n, "type");
        for (uint32_t i = 0, all = node_count(n); i < all; i++) {
            struct node c = node_child(n, i);
            if (!node_same(c, type) && (node_is(c, "identifier") || str_ends(node_kind(c), "declarator")))
                variable_add(scan, n, c, false);
        }
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        scan_declarations(scan, node_child(n, i));
    scan->scope_end = outer;
}

const struct variable *function_variable(const struct function *f, const char *name, size_t at)
{
    const struct variable *best = NULL;
    for (size_t i = 0; i < f->n_variables; i++) {
        const struct variable *v = &f->variables[i];
        if (v->from <= at && at < v->to && str_eq(v->name, name) && (!best || v->from > best->from))
            best = v;
    }
    return best;
}

const struct variable *function_variable_of(const struct function *f, struct node identifier)
{
    if (!node_is(identifier, "identifier"))
        return NULL;
    return function_variable(f, text_of(f, identifier), node_start(identifier));
}

static struct node assigned_target(struct node n)
{
    if (node_is(n, "assignment_expression"))
        return node_strip(node_field(n, "left"));
    if (node_is(n, "update_expression"))
        return node_strip(node_field(n, "argument"));
    return (struct node){0};
}

static struct node address_target(const struct function *f, struct node n)
{
    if (node_is(n, "pointer_expression") && str_eq(node_op(f, n), "&"))
        return node_strip(node_field(n, "argument"));
    return (struct node){0};
}

static void count_assignments(struct function *f, struct variable *variables, struct node n)
{
    struct node target = assigned_target(n);
    if (!node_ok(target))
        target = address_target(f, n);
    while (node_is(target, "field_expression"))
        target = node_field(target, "argument");
    const struct variable *v = node_ok(target) ? function_variable_of(f, target) : NULL;
    if (v)
        variables[v - f->variables].assignments++;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        count_assignments(f, variables, node_child(n, i));
}

bool variable_assigned_in(const struct function *f, const struct variable *v, struct node part)
{
    struct node target = assigned_target(part);
    if (!node_ok(target))
        target = address_target(f, part);
    while (node_is(target, "field_expression") || (v->array && node_is(target, "subscript_expression")))
        target = node_field(target, "argument");
    if (node_ok(target) && function_variable_of(f, target) == v)
        return true;
    for (uint32_t i = 0, all = node_count(part); i < all; i++)
        if (variable_assigned_in(f, v, node_child(part, i)))
            return true;
    return false;
}

/* Launches ----------------------------------------------------------------------------------------------------
 */

static bool is_host_definition(const struct function *f, struct node definition)
{
    struct node body = node_field(definition, "body");
    char *head = text_range(f, node_start(definition), node_start(body));
    return !text_has_word(head, "__global__") && !text_has_word(head, "__device__");
}

static void scan_launches(struct function *f, void *list, struct node n)
{
    LIST(struct launch) *found = list;
    if (node_is(n, "call_expression")) {
        struct node syntax = {0};
        for (uint32_t i = 0, all = node_count(n); i < all; i++)
            if (node_is(node_child(n, i), "kernel_call_syntax"))
                syntax = node_child(n, i);
        if (node_ok(syntax) && str_eq(called_name(f, n), f->name)) {
            struct launch l = {.call = n};
            struct node callee = node_field(n, "function");
            l.name = callee;
            if (node_is(callee, "template_function")) {
                l.name = node_field(callee, "name");
                l.template_args = node_field(callee, "arguments");
            }
            l.statement = node_statement(n);
            l.host = node_enclosing(n, "function_definition");
            size_t n_syntax;
            struct node *config = named_children(f, syntax, &n_syntax);
            l.args = named_children(f, node_field(n, "arguments"), &l.n_args);
            if (n_syntax >= 2 && node_ok(l.host) && is_host_definition(f, l.host) &&
                node_is(l.statement, "expression_statement")) {
                l.grid = config[0];
                l.block = config[1];
                if (n_syntax >= 3)
                    l.shared = config[2];
                list_add(f->a, found, l);
            }
        }
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        scan_launches(f, list, node_child(n, i));
}

bool function_is_named_elsewhere(const struct function *f)
{
    size_t times = 0, len = strlen(f->name);
    for (const char *p = f->text; (p = strstr(p, f->name)); p += len) {
        bool left = p == f->text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        bool right = !(isalnum((unsigned char)p[len]) || p[len] == '_');
        struct node at = node_at(f->s, (size_t)(p - f->text), (size_t)(p - f->text) + len);
        if (left && right && node_is(at, "identifier"))
            times++;
    }
    return times != f->n_launches + 1;
}

struct node launch_arg(const struct function *f, const struct launch *l, const struct variable *param)
{
    (void)f;
    if (!param || !param->param || param->index >= l->n_args)
        return (struct node){0};
    return l->args[param->index];
}

static bool plan_runs(const struct rewrite_input *in, const char *name, int64_t *block_x, bool *known)
{
    size_t len = strlen(name);
    bool runs = false;
    *known = true;
    *block_x = 0;
    for (size_t p = 0; p < in->n_plans; p++) {
        for (size_t i = 0; i < in->plans[p].n_steps; i++) {
            const struct plan_step *s = &in->plans[p].steps[i];
            if (s->kind != PLAN_LAUNCH || strncmp(s->kernel, name, len) != 0 ||
                (s->kernel[len] && s->kernel[len] != '<'))
                continue;
            if (s->block[1] != 1 || s->block[2] != 1 || (runs && *block_x != s->block[0]))
                *known = false;
            *block_x = s->block[0];
            runs = true;
        }
    }
    return runs;
}

/* Opening -----------------------------------------------------------------------------------------------------
 */

struct function *function_open(const struct rewrite_input *in, struct arena *a, struct node definition)
{
    struct function *f = arena_new(a, struct function);
    f->in = in;
    f->a = a;
    f->s = in->kernel->source;
    f->text = in->kernel->text;
    f->definition = f->whole = definition;
    struct node parent = node_parent(definition);
    if (node_is(parent, "template_declaration"))
        f->whole = parent;
    f->body = node_field(definition, "body");
    struct node declarator = node_field(definition, "declarator");
    for (int depth = 0; node_ok(declarator) && !node_is(declarator, "function_declarator") && depth < 8;
         depth++)
        declarator = node_field(declarator, "declarator");
    struct node id = node_field(declarator, "declarator");
    if (!node_is(f->body, "compound_statement") || !node_is(id, "identifier"))
        return NULL;
    f->id = id;
    f->name = text_of(f, id);
    f->global = text_has_word(text_range(f, node_start(definition), node_start(id)), "__global__");

    struct scan scan = {.f = f, .scope_end = node_end(f->body)};
    size_t n_params;
    struct node *params = named_children(f, node_field(declarator, "parameters"), &n_params);
    for (size_t i = 0; i < n_params; i++) {
        size_t before = scan.found.n;
        variable_add(&scan, params[i], node_field(params[i], "declarator"), true);
        if (scan.found.n == before)
            return NULL;
    }
    f->n_params = scan.found.n;
    scan_declarations(&scan, f->body);
    f->variables = scan.found.v;
    f->n_variables = scan.found.n;
    count_assignments(f, scan.found.v, f->body);

    LIST(struct launch) launches = {0};
    scan_launches(f, &launches, source_root(f->s));
    f->launches = launches.v;
    f->n_launches = launches.n;
    return f;
}

struct function *function_open_kernel(const struct rewrite_input *in, struct arena *a, size_t i)
{
    const struct kernel_function *k = &in->kernel->functions[i];
    int64_t planned = 0;
    bool known = false;
    if (in->n_plans > 0 && !plan_runs(in, k->name, &planned, &known))
        return NULL;
    if (node_has_error(k->definition))
        return NULL;
    struct function *f = function_open(in, a, k->definition);
    if (!f)
        return NULL;
    if (in->n_plans > 0) {
        f->block_x = known ? planned : 0;
    } else {
        for (size_t l = 0; l < f->n_launches; l++) {
            int64_t v = 0;
            if (!constant_value(f, f->launches[l].block, &v) || (l > 0 && v != f->block_x)) {
                f->block_x = 0;
                break;
            }
            f->block_x = v;
        }
    }
    for (size_t l = 0; l < f->n_launches; l++)
        if (f->launches[l].n_args != f->n_params)
            return NULL;
    return f;
}

const struct rewrite_fact *fact_of(const struct rewrite_input *in, const char *launcher_param)
{
    for (size_t i = 0; in->facts && i < in->kernel->n_params; i++)
        if (str_eq(in->kernel->params[i].name, launcher_param))
            return &in->facts[i];
    return NULL;
}

/* Types and constants -----------------------------------------------------------------------------------------
 */

/* What template parameter `name` is bound to in every launch; no node when launches differ or it is none. */
static struct node template_binding(const struct function *f, const char *name)
{
    struct node none = {0}, bound = {0};
    if (!node_is(f->whole, "template_declaration") || f->n_launches == 0)
        return none;
    size_t n, position;
    struct node *params = named_children(f, node_field(f->whole, "parameters"), &n);
    for (position = 0; position < n; position++)
        if (node_mentions(f, params[position], name) || text_has_word(text_of(f, params[position]), name))
            break;
    if (position == n)
        return none;
    for (size_t l = 0; l < f->n_launches; l++) {
        if (!node_ok(f->launches[l].template_args))
            return none;
        size_t n_args;
        struct node *args = named_children(f, f->launches[l].template_args, &n_args);
        if (position >= n_args || (l > 0 && !str_eq(text_of(f, args[position]), text_of(f, bound))))
            return none;
        bound = args[position];
    }
    return bound;
}

int ctype_size(const struct function *f, const char *type)
{
    static const struct {
        const char *name;
        int size;
    } known[] = {
        {"float", 4},
        {"double", 8},
        {"int", 4},
        {"unsigned", 4},
        {"unsigned int", 4},
        {"__half", 2},
        {"half", 2},
        {"__nv_bfloat16", 2},
        {"nv_bfloat16", 2},
        {"bfloat16", 2},
        {"char", 1},
        {"unsigned char", 1},
        {"signed char", 1},
        {"short", 2},
        {"unsigned short", 2},
        {"long long", 8},
        {"unsigned long long", 8},
        {"int8_t", 1},
        {"uint8_t", 1},
        {"int16_t", 2},
        {"uint16_t", 2},
        {"int32_t", 4},
        {"uint32_t", 4},
        {"int64_t", 8},
        {"uint64_t", 8},
        {"size_t", 8},
        {"long", 8},
        {"unsigned long", 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(known[i].name, type))
            return known[i].size;
    struct node bound = template_binding(f, type);
    if (node_ok(bound) && !str_eq(text_of(f, bound), type))
        return ctype_size(f, text_of(f, bound));
    return 0;
}

bool ctype_is_integer(const char *type)
{
    static const char *const names[] = {"int",       "unsigned",      "unsigned int",       "long",
                                        "long long", "unsigned long", "unsigned long long", "int64_t",
                                        "uint64_t",  "int32_t",       "uint32_t",           "size_t",
                                        "short",     "char",          "ptrdiff_t",          NULL};
    return in_list(type, names);
}

bool ctype_is_float(const char *type)
{
    return str_eq(type, "float") || str_eq(type, "double");
}

const char *ctype_bound(const struct function *f, const char *type)
{
    struct node bound = type ? template_binding(f, type) : (struct node){0};
    return node_ok(bound) ? text_of(f, bound) : type;
}

/* T of `packed<T, N> name`, for name.at[k]. */
static const char *packed_type(const struct function *f, struct node e)
{
    if (!node_is(e, "field_expression"))
        return NULL;
    const struct variable *v = function_variable_of(f, node_field(e, "argument"));
    const char *comma = v ? strchr(v->type, ',') : NULL;
    if (!comma || !str_starts(v->type, "packed<"))
        return NULL;
    return arena_strndup(f->a, v->type + 7, (size_t)(comma - v->type) - 7);
}

const char *expression_type(const struct function *f, struct node e)
{
    if (node_is(e, "parenthesized_expression"))
        return expression_type(f, node_child(e, 0));
    if (node_is(e, "cast_expression"))
        return text_of(f, node_field(e, "type"));
    if (node_is(e, "number_literal")) {
        const char *t = text_of(f, e);
        bool hex = t[0] == '0' && (t[1] == 'x' || t[1] == 'X');
        if (hex || !strpbrk(t, ".eEfF"))
            return strpbrk(t, "uUlL") ? NULL : "int";
        return strpbrk(t, "fF") ? "float" : "double";
    }
    if (node_is(e, "identifier")) {
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->pointer && !v->array)
            return v->type;
        return !v && str_ends(text_of(f, e), "_F") ? "float" : NULL;
    }
    if (node_is(e, "subscript_expression")) {
        const struct variable *v = function_variable_of(f, node_field(e, "argument"));
        if (!v)
            return packed_type(f, node_field(e, "argument"));
        return v->pointer || v->array ? v->type : NULL;
    }
    if (node_is(e, "unary_expression"))
        return expression_type(f, node_field(e, "argument"));
    if (node_is(e, "call_expression")) {
        const char *name = called_name(f, e);
        size_t len = strlen(name);
        if (str_eq(name, "__half2float") || str_eq(name, "__bfloat162float") ||
            str_starts(name, "__int2float") || str_eq(name, "__fdividef") || str_eq(name, "float"))
            return "float";
        struct node args = node_field(e, "arguments");
        if ((str_eq(name, "max") || str_eq(name, "min")) && node_count(args) == 2) {
            const char *x = expression_type(f, node_child(args, 0));
            return str_eq(x, expression_type(f, node_child(args, 1))) ? x : NULL;
        }
        return call_is_pure_builtin(f, e) && len > 2 && name[len - 1] == 'f' ? "float" : NULL;
    }
    if (node_is(e, "conditional_expression")) {
        const char *x = expression_type(f, node_field(e, "consequence"));
        return str_eq(x, expression_type(f, node_field(e, "alternative"))) ? x : NULL;
    }
    if (node_is(e, "binary_expression")) {
        const char *x = expression_type(f, node_field(e, "left")),
                   *y = expression_type(f, node_field(e, "right"));
        const char *op = node_op(f, e);
        if (!x || !y || strpbrk(op, "<>=!&|"))
            return NULL;
        if (str_eq(x, y))
            return x;
        x = ctype_bound(f, x);
        y = ctype_bound(f, y);
        if ((ctype_is_float(x) || ctype_is_integer(x)) && (ctype_is_float(y) || ctype_is_integer(y))) {
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

/* A constexpr variable or a macro at file level, as text. */
static const char *file_constant(const struct function *f, const char *name)
{
    struct node root = source_root(f->s);
    for (uint32_t i = 0, all = node_count(root); i < all; i++) {
        struct node n = node_child(root, i);
        if (node_is(n, "preproc_def") && node_text_is(f->s, node_field(n, "name"), name)) {
            struct node value = node_field(n, "value");
            if (!node_ok(value))
                return NULL;
            char *text = text_of(f, value);
            char *comment = strstr(text, "//");
            if (comment)
                *comment = '\0';
            for (size_t len = strlen(text); len > 0 && isspace((unsigned char)text[len - 1]); len--)
                text[len - 1] = '\0';
            return text;
        }
        if (!node_is(n, "declaration"))
            continue;
        struct node d = node_field(n, "declarator");
        if (node_is(d, "init_declarator") && node_text_is(f->s, node_field(d, "declarator"), name) &&
            (text_has_word(text_of(f, n), "constexpr") || text_has_word(text_of(f, n), "const")))
            return text_of(f, node_field(d, "value"));
    }
    return NULL;
}

static bool constant_depth(const struct function *f, struct node n, int64_t *value, int depth)
{
    n = node_strip(n);
    if (!node_ok(n) || depth > 12)
        return false;
    if (node_is(n, "number_literal"))
        return number_of(text_of(f, n), value);
    if (node_is(n, "identifier")) {
        const struct variable *v = function_variable_of(f, n);
        if (v)
            return !v->param && v->assignments == 0 && v->to_const && node_ok(v->init) && !v->array &&
                   !v->pointer && constant_depth(f, v->init, value, depth + 1);
        const char *text = file_constant(f, text_of(f, n));
        if (text)
            return number_of(text, value);
        struct node bound = template_binding(f, text_of(f, n));
        if (node_ok(bound) && !node_text_is(f->s, bound, text_of(f, n)))
            return constant_depth(f, bound, value, depth + 1);
        return false;
    }
    if (node_is(n, "sizeof_expression")) {
        struct node type = node_field(n, "type");
        *value = node_ok(type) ? ctype_size(f, text_of(f, type)) : 0;
        return *value > 0;
    }
    if (node_is(n, "binary_expression")) {
        int64_t x, y;
        if (!constant_depth(f, node_field(n, "left"), &x, depth + 1) ||
            !constant_depth(f, node_field(n, "right"), &y, depth + 1))
            return false;
        const char *op = node_op(f, n);
        if (str_eq(op, "+"))
            return !__builtin_add_overflow(x, y, value);
        if (str_eq(op, "-"))
            return !__builtin_sub_overflow(x, y, value);
        if (str_eq(op, "*"))
            return !__builtin_mul_overflow(x, y, value);
        if (y > 0 && x >= 0 && str_eq(op, "/"))
            return *value = x / y, true;
        if (y > 0 && x >= 0 && str_eq(op, "%"))
            return *value = x % y, true;
        if (y >= 0 && y < 31 && x >= 0 && x < (1LL << 31) && str_eq(op, "<<"))
            return *value = x << y, true;
    }
    return false;
}

bool constant_value(const struct function *f, struct node n, int64_t *value)
{
    return constant_depth(f, n, value, 0);
}

/* Invariance --------------------------------------------------------------------------------------------------
 */

const struct variable *pointer_root(const struct function *f, struct node pointer)
{
    for (int depth = 0; depth < 16; depth++) {
        pointer = node_strip(pointer);
        if (node_is(pointer, "identifier")) {
            const struct variable *v = function_variable_of(f, pointer);
            if (!v || v->param || v->array || !v->pointer || !node_ok(v->init) || v->assignments > 0)
                return v;
            pointer = v->init;
        } else if (node_is(pointer, "binary_expression")) {
            pointer = node_field(pointer, "left");
        } else if (node_is(pointer, "pointer_expression") || node_is(pointer, "subscript_expression")) {
            pointer = node_field(pointer, "argument");
        } else if (node_is(pointer, "call_expression")) { /* reinterpret_cast<...>(p) */
            struct node args = node_field(pointer, "arguments");
            if (!node_is(node_field(pointer, "function"), "template_function") || node_count(args) != 1)
                return NULL;
            pointer = node_child(args, 0);
        } else {
            return NULL;
        }
    }
    return NULL;
}

/* Is something reached through the same root written: an assignment, an atomic, or a call that takes its
 * address? */
static bool root_written_in(const struct function *f, const struct variable *root, struct node part)
{
    struct node target = assigned_target(part);
    if (node_is(target, "field_expression"))
        target = node_field(target, "argument");
    if (node_is(target, "subscript_expression") || node_is(target, "pointer_expression")) {
        const struct variable *to = pointer_root(f, target);
        if (!to || to == root)
            return true;
    }
    if (node_is(part, "call_expression") && !call_is_pure(f, part)) {
        struct node args = node_field(part, "arguments");
        for (uint32_t i = 0, all = node_count(args); i < all; i++) {
            struct node arg = node_strip(node_child(args, i));
            const struct variable *v = NULL;
            if (node_is(arg, "identifier"))
                v = function_variable_of(f, arg);
            if (node_is(arg, "pointer_expression") || (v && (v->pointer || v->array)) ||
                node_is(arg, "binary_expression"))
                if (pointer_root(f, arg) == root)
                    return true;
        }
    }
    for (uint32_t i = 0, all = node_count(part); i < all; i++)
        if (root_written_in(f, root, node_child(part, i)))
            return true;
    return false;
}

bool memory_written_in(const struct function *f, const char *pointer, struct node part)
{
    const struct variable *v = function_variable(f, pointer, node_start(part));
    return !v || root_written_in(f, v, part);
}

bool expression_is_invariant(const struct function *f, struct node e, struct node part)
{
    if (node_is(e, "identifier")) {
        const struct variable *v = function_variable_of(f, e);
        if (!v)
            return true; /* a constant, a builtin or a function */
        bool inside = v->from >= node_start(part) && v->from < node_end(part);
        return !inside && !variable_assigned_in(f, v, part);
    }
    if (node_is(e, "assignment_expression") || node_is(e, "update_expression") ||
        node_is(e, "lambda_expression"))
        return false;
    if (node_is(e, "call_expression") && !call_is_pure(f, e))
        return false;
    if (node_is(e, "subscript_expression") ||
        (node_is(e, "pointer_expression") && str_eq(node_op(f, e), "*"))) {
        const struct variable *root = pointer_root(f, e);
        if (!root || root_written_in(f, root, part) || (!root->to_const && calls_barrier(f, part)))
            return false;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!expression_is_invariant(f, node_child(e, i), part))
            return false;
    return true;
}

/* Polynomials -------------------------------------------------------------------------------------------------
 */

struct poly poly_number(int64_t v)
{
    struct poly p = {.ok = true};
    if (v != 0)
        p.t[p.n++] = (struct term){.by = v};
    return p;
}

struct poly poly_atom(const struct function *f, const char *atom)
{
    if (f->block_x && str_eq(atom, "blockDim.x"))
        return poly_number(f->block_x);
    struct poly p = {.ok = true, .n = 1};
    p.t[0] = (struct term){.by = 1, .n = 1, .atom = {atom}};
    return p;
}

static bool term_alike(const struct term *x, const struct term *y)
{
    if (x->n != y->n)
        return false;
    for (int i = 0; i < x->n; i++)
        if (!str_eq(x->atom[i], y->atom[i]))
            return false;
    return true;
}

struct poly poly_add(const struct function *f, struct poly x, struct poly y, int64_t by)
{
    (void)f;
    x.ok = x.ok && y.ok;
    for (int i = 0; i < y.n && x.ok; i++) {
        int j = 0;
        while (j < x.n && !term_alike(&x.t[j], &y.t[i]))
            j++;
        int64_t add;
        if (__builtin_mul_overflow(y.t[i].by, by, &add)) {
            x.ok = false;
        } else if (j < x.n) {
            if (__builtin_add_overflow(x.t[j].by, add, &x.t[j].by))
                x.ok = false;
            else if (x.t[j].by == 0)
                x.t[j] = x.t[--x.n];
        } else if (x.n == (int)ARRAY_LEN(x.t)) {
            x.ok = false;
        } else {
            x.t[x.n] = y.t[i];
            x.t[x.n++].by = add;
        }
    }
    return x;
}

struct poly poly_mul(const struct function *f, struct poly x, struct poly y)
{
    struct poly p = {.ok = x.ok && y.ok};
    for (int i = 0; i < x.n && p.ok; i++) {
        for (int j = 0; j < y.n && p.ok; j++) {
            struct term t = x.t[i];
            if (__builtin_mul_overflow(t.by, y.t[j].by, &t.by) || t.n + y.t[j].n > (int)ARRAY_LEN(t.atom)) {
                p.ok = false;
                break;
            }
            for (int k = 0; k < y.t[j].n; k++) { /* keeps them sorted */
                int at = t.n++;
                while (at > 0 && strcmp(t.atom[at - 1], y.t[j].atom[k]) > 0) {
                    t.atom[at] = t.atom[at - 1];
                    at--;
                }
                t.atom[at] = y.t[j].atom[k];
            }
            struct poly one = {.ok = true, .n = 1};
            one.t[0] = t;
            p = poly_add(f, p, one, 1);
        }
    }
    return p;
}

bool poly_same(const struct poly *x, const struct poly *y)
{
    if (!x->ok || !y->ok || x->n != y->n)
        return false;
    for (int i = 0; i < x->n; i++) {
        int j = 0;
        while (j < y->n && !(term_alike(&x->t[i], &y->t[j]) && x->t[i].by == y->t[j].by))
            j++;
        if (j == y->n)
            return false;
    }
    return true;
}

int64_t poly_coefficient(const struct poly *p, const char *atom)
{
    for (int i = 0; i < p->n; i++)
        if (p->t[i].n == 1 && str_eq(p->t[i].atom[0], atom))
            return p->t[i].by;
    return 0;
}

static struct poly poly_depth(const struct function *f, struct node e, int depth)
{
    struct poly bad = {0};
    e = node_strip(e);
    if (!node_ok(e) || depth > 16)
        return bad;
    int64_t value;
    if (constant_value(f, e, &value))
        return poly_number(value);
    if (node_is(e, "identifier")) {
        const struct variable *v = function_variable_of(f, e);
        if (v && !v->param && !v->array && !v->pointer && v->assignments == 0 && node_ok(v->init) &&
            ctype_is_integer(v->type)) {
            struct poly p = poly_depth(f, v->init, depth + 1);
            if (p.ok)
                return p;
        }
        return poly_atom(f, text_of(f, e));
    }
    if (node_is(e, "binary_expression")) {
        const char *op = node_op(f, e);
        bool add = str_eq(op, "+"), sub = str_eq(op, "-"), mul = str_eq(op, "*");
        if (add || sub || mul) {
            struct poly x = poly_depth(f, node_field(e, "left"), depth + 1);
            struct poly y = poly_depth(f, node_field(e, "right"), depth + 1);
            if (!x.ok || !y.ok)
                return bad;
            return mul ? poly_mul(f, x, y) : poly_add(f, x, y, add ? 1 : -1);
        }
    }
    if (node_is(e, "unary_expression") && str_eq(node_op(f, e), "-"))
        return poly_add(f, poly_number(0), poly_depth(f, node_field(e, "argument"), depth + 1), -1);
    return poly_atom(f, text_compact(f->a, text_of(f, e)));
}

struct poly poly_of(const struct function *f, struct node e)
{
    return poly_depth(f, e, 0);
}

/* Loops over lanes --------------------------------------------------------------------------------------------
 */

bool lane_loop_of(const struct function *f, struct node n, struct lane_loop *loop)
{
    *loop = (struct lane_loop){.loop = n, .body = node_field(n, "body"), .update = node_field(n, "update")};
    struct node declaration = node_field(n, "initializer"), condition = node_field(n, "condition");
    struct node declarator = node_field(declaration, "declarator");
    if (!node_is(declaration, "declaration") || !node_is(declarator, "init_declarator") ||
        !node_ok(loop->body) || !node_is(condition, "binary_expression") || !str_eq(node_op(f, condition), "<"))
        return false;
    loop->index = function_variable_of(f, node_field(declarator, "declarator"));
    loop->start = node_field(declarator, "value");
    loop->bound = node_field(condition, "right");
    if (!loop->index || !ctype_is_integer(loop->index->type) ||
        !node_text_is(f->s, node_field(condition, "left"), loop->index->name) ||
        variable_assigned_in(f, loop->index, loop->body))
        return false;
    if (!node_is(loop->update, "assignment_expression") || !str_eq(node_op(f, loop->update), "+=") ||
        !node_text_is(f->s, node_field(loop->update, "left"), loop->index->name))
        return false;
    loop->step = node_field(loop->update, "right");

    struct poly start = poly_of(f, loop->start), step = poly_of(f, loop->step);
    int64_t width = start.ok ? poly_coefficient(&start, "threadIdx.x") : 0;
    if (!step.ok || width < 1 || width > 64)
        return false;
    loop->width = (int)width;
    static const char *const spans[][2] = {[LANES_BLOCK] = {NULL, NULL},
                                           [LANES_GRID_X] = {"blockIdx.x", "gridDim.x"},
                                           [LANES_ROW_Y] = {"blockIdx.y", "gridDim.y"}};
    struct poly thread = poly_atom(f, "threadIdx.x"), block = poly_atom(f, "blockDim.x"),
                by = poly_number(width);
    for (int s = LANES_BLOCK; s <= LANES_ROW_Y; s++) {
        struct poly first = thread, lanes = block;
        if (spans[s][0]) {
            first = poly_add(f, poly_mul(f, poly_atom(f, spans[s][0]), block), thread, 1);
            lanes = poly_mul(f, poly_atom(f, spans[s][1]), block);
        }
        first = poly_mul(f, first, by);
        lanes = poly_mul(f, lanes, by);
        if (poly_same(&first, &start) && poly_same(&lanes, &step)) {
            loop->span = (enum lane_span)s;
            return true;
        }
    }
    return false;
}

struct lane_loop *lane_loops(const struct function *f, size_t *count)
{
    size_t n;
    struct node *all = node_find_all(f->a, f->body, "for_statement", &n);
    struct lane_loop *v = arena_array(f->a, struct lane_loop, n + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (lane_loop_of(f, all[i], &v[*count]))
            (*count)++;
    return v;
}
