/* One file opened: its launcher, kernels and tunables; and the launcher run into a plan. */
#include "kernel/internal.h"

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [KT_VOID] = {"void", 0}, [KT_BOOL] = {"bool", 1}, [KT_I8] = {"i8", 1},   [KT_U8] = {"u8", 1},
    [KT_I16] = {"i16", 2},   [KT_U16] = {"u16", 2},   [KT_I32] = {"i32", 4}, [KT_U32] = {"u32", 4},
    [KT_I64] = {"i64", 8},   [KT_U64] = {"u64", 8},   [KT_F16] = {"f16", 2}, [KT_BF16] = {"bf16", 2},
    [KT_F32] = {"f32", 4},   [KT_F64] = {"f64", 8},
};

size_t kernel_type_size(enum kernel_type t)
{
    return types[t].size;
}

const char *kernel_type_name(enum kernel_type t)
{
    return types[t].name;
}

bool kernel_type_parse(const char *name, enum kernel_type *t)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].name, name) == 0) {
            *t = (enum kernel_type)i;
            return true;
        }
    }
    return false;
}

static bool is_forbidden(const char *s, size_t len)
{
    return (len >= 9 && memcmp(s, "__CUDACC_", 9) == 0) ||
           str_in_n(s, len, "__NVCC__|__DATE__|__TIME__|__TIMESTAMP__");
}

static bool tests_compiler(const struct unit *u, const struct tokens *tokens, struct err *err)
{
    for (const struct token *t = tokens->v; t < tokens->v + tokens->n; t++) {
        int line, col;

        if (t->kind != TOK_WORD || !is_forbidden(t->s, t->len))
            continue;
        unit_place(u, t->at, &line, &col);
        err_at(
            err, u->path, line, col,
            "the file tests how it is compiled (%.*s); what is judged must be what is shipped, so %s may not be "
            "used",
            (int)t->len, t->s, "__CUDACC*__, __NVCC__, __DATE__ and __TIME__");
        return true;
    }
    return false;
}

bool kernel_tests_compiler(const char *path, const char *text, size_t len, struct err *err)
{
    struct arena *a = arena_open();
    struct unit u = {.arena = a, .path = path, .text = text, .len = len, .any_words = true};
    struct trap trap = {.up = NULL};
    volatile bool found = false;

    u.trap = &trap;
    if (setjmp(trap.jump) == 0) {
        lex_text(&u);
        found = tests_compiler(&u, &u.raw, err);
        if (!found) { /* words that ## makes */
            bool own_path = false;

            macro_expand(&u);
            found = tests_compiler(&u, &u.tokens, err);
            for (size_t i = 0; i < u.tokens.n; i++)
                own_path |= is_own_path(&u.tokens.v[i]);
            if (!found && own_path) { /* in code of the device? */
                u.raw.n = u.tokens.n = u.dead.n = u.lines.n = u.comments.n = u.inclusions.n = 0;
                unit_read(&u);
                device_part(&u, a, NULL);
            }
        }
    } else if (u.asks_compiler) {
        found = true;
        if (err)
            *err = trap.err;
    }
    arena_close(a);
    return found;
}

static void interp_open(struct interp *in, struct unit *u, struct arena *a)
{
    *in = (struct interp){.unit = u, .arena = a, .marks = {.arena = a}};
}

static char closing(char open)
{
    if (open == '(')
        return ')';
    return open == '[' ? ']' : '}';
}

/* A bracket left open swallows what follows, the launcher too: then that is what is wrong. */
static void check_brackets(struct unit *u)
{
    const struct token *open[256];
    size_t depth = 0;

    for (const struct token *t = u->tokens.v; t->kind != TOK_END; t++) {
        bool opens = token_is(t, "(") || token_is(t, "[") || token_is(t, "{");
        bool closes = token_is(t, ")") || token_is(t, "]") || token_is(t, "}");

        if (opens && depth == ARRAY_LEN(open))
            return;
        if (opens)
            open[depth++] = t;
        else if (closes && depth == 0)
            fail(u, t, "this %c closes nothing", *t->s);
        else if (closes && *t->s != closing(*open[--depth]->s))
            fail(u, open[depth], "this %c is not closed where a %c comes", *open[depth]->s, *t->s);
    }
    if (depth)
        fail(u, open[depth - 1], "this %c is never closed", *open[depth - 1]->s);
}

static const struct func *find_launcher(struct unit *u, const char *entry)
{
    const struct func *found = NULL;
    const char *others = "";

    for (size_t i = 0; i < u->funcs.n; i++) {
        const struct func *f = u->funcs.v[i];

        if (strcmp(f->name, entry) == 0 && !f->is_global && f->body && !f->is_device) {
            if (!f->extern_c)
                fail(u, f->at, "%s must be declared extern \"C\"", entry);
            if (found)
                fail(u, f->at, "%s is defined twice", entry);
            found = f;
        } else if (f->extern_c && f->body && strlen(others) < 200) {
            others = arena_printf(u->arena, "%s%s%s", others, *others ? ", " : "", f->name);
        }
    }
    if (!found)
        check_brackets(u);
    if (!found)
        fail(u, NULL, "no function extern \"C\" void %s(..., cudaStream_t stream) is defined%s%s%s", entry,
             *others ? " (there is: " : "", others, *others ? ")" : "");
    return found;
}

static void read_params(struct unit *u, struct arena *a, const struct func *f, struct kernel *k)
{
    struct interp in;
    VEC(struct kernel_param) params = {0};

    interp_open(&in, u, a);
    if (f->variadic || f->not_understood || f->is_template)
        fail(u, f->at, "the launcher %s must be a plain function", f->name);
    if (f->n_params == 0 || type_resolve(&in, NULL, f->params[f->n_params - 1].type)->kind != TY_STREAM)
        fail(u, f->at, "the last parameter of the launcher %s must be the stream: cudaStream_t stream",
             f->name);
    for (size_t i = 0; i + 1 < f->n_params; i++) {
        const struct param *p = &f->params[i];
        const struct type *t = type_resolve(&in, NULL, p->type), *to = t->kind == TY_POINTER ? t->to : t;
        struct kernel_param out = {.name = p->name, .pointer = t->kind == TY_POINTER, .constant = t->to_const};

        if (!*p->name)
            fail(u, p->at, "parameter %zu of the launcher has no name", i + 1);
        if (p->type->kind == TN_REFERENCE || to->kind != TY_SCALAR || (!out.pointer && to->scalar == KT_VOID) ||
            to->is_enum)
            fail(u, p->type->at,
                 "parameter %s of the launcher has type %s%s; allowed are integers, floating types, __half, "
                 "__nv_bfloat16, and pointers to them",
                 p->name, type_spell(a, t), p->type->kind == TN_REFERENCE ? " &" : "");
        out.type = to->scalar;
        for (size_t n = 0; n < params.n; n++) {
            if (strcmp(params.v[n].name, p->name) == 0)
                fail(u, p->at, "two parameters are called %s", p->name);
        }
        vec_add(a, &params, out);
    }
    if (f->result->kind != TN_AUTO) {
        const struct type *r = type_resolve(&in, NULL, f->result);

        if (r->kind != TY_SCALAR || (r->scalar != KT_VOID && r->scalar != KT_I32))
            fail(u, f->at, "the launcher %s returns %s; allowed are void, int and cudaError_t", f->name,
                 type_spell(a, r));
    }
    k->returns = f->result->kind != TN_AUTO && type_resolve(&in, NULL, f->result)->scalar != KT_VOID;
    k->params = params.v;
    k->n_params = params.n;
}

/* The function_definition around a name's place. */
static struct node definition_at(const struct source *s, size_t at, size_t len)
{
    struct node n = node_at(s, at, at + len);

    while (node_ok(n) && !node_is(n, NODE_FUNCTION_DEFINITION))
        n = node_parent(n);
    return n;
}

/* Parsed once for all plans. One that cannot be is parsed again where it is called, which then says why. */
static void parse_body(struct unit *u, struct arena *a, struct func *f)
{
    const size_t n_usings = u->usings.n;
    struct trap trap = {.up = u->trap};

    u->trap = &trap;
    if (setjmp(trap.jump) == 0)
        f->tree = parse_function_body(u, a, f);
    else
        u->usings.n = n_usings;
    u->trap = trap.up;
}

static void open_unit(struct unit *u, struct arena *a, struct kernel *k)
{
    VEC(struct kernel_function) functions = {0};
    const struct func *f;
    int col;

    unit_read(u);
    f = find_launcher(u, k->entry);
    read_params(u, a, f, k);
    u->parse_work = 0;
    for (size_t i = 0; i < u->funcs.n; i++) {
        struct func *g = u->funcs.v[i];

        if (g == f) /* brackets that do not match are said now, not at the first plan */
            g->tree = parse_function_body(u, a, g);
        else if (g->body && !g->is_global && (g->is_host || !g->is_device))
            parse_body(u, a, g);
    }
    k->launcher = definition_at(k->source, f->at->at, f->at->len);
    for (size_t i = 0; i < u->funcs.n + u->written_for.n; i++) {
        const struct func *g = i < u->funcs.n ? u->funcs.v[i] : u->written_for.v[i - u->funcs.n];
        struct kernel_function out = {
            .name = g->name, .qualified = g->qualified, .is_template = g->is_template};

        if (!g->is_global && i < u->funcs.n)
            continue;
        unit_place(u, g->at->at, &out.line, &col);
        out.definition = definition_at(k->source, g->at->at, g->at->len);
        vec_add(a, &functions, out);
    }
    k->functions = functions.v;
    k->n_functions = functions.n;
    tunables_read(u, &k->tunables, &k->n_tunables);
    struct kernel_header *headers = arena_array(a, struct kernel_header, u->n_headers + 1);
    k->device_text = device_part(u, a, headers);
    k->device_headers = headers;
    k->n_headers = u->n_headers;
}

bool kernel_open(struct kernel **out, struct arena *a, const char *path, const char *text, size_t len,
                 const char *entry, struct err *err)
{
    return kernel_open_file(out, a, &(struct kernel_file){path, text, len, entry, NULL, 0, NULL, 0}, err);
}

bool kernel_open_file(struct kernel **out, struct arena *a, const struct kernel_file *f, struct err *err)
{
    struct kernel_header *copies = arena_array(a, struct kernel_header, f->n_headers + 1);
    struct kernel *k = arena_new(a, struct kernel);
    struct unit *u = arena_new(a, struct unit);
    struct trap trap = {.up = NULL};

    k->path = arena_strdup(a, f->path);
    k->text = arena_strndup(a, f->text, f->len);
    k->len = f->len;
    k->entry = arena_strdup(a, f->entry);
    if (!source_open(&k->source, f->path, f->text, f->len, err))
        return false;
    *u = (struct unit){.arena = a, .path = k->path, .text = k->text, .len = f->len, .trap = &trap};
    for (size_t i = 0; i < f->n_headers; i++) {
        copies[i] =
            (struct kernel_header){arena_strdup(a, f->headers[i].name),
                                   arena_strndup(a, f->headers[i].text, f->headers[i].len), f->headers[i].len};
    }
    u->headers = copies;
    u->n_headers = f->n_headers;
    u->flags = f->flags;
    u->n_flags = f->n_flags;
    k->unit = u;
    if (kernel_tests_compiler(k->path, k->text, f->len, err)) {
        kernel_close(k);
        return false;
    }
    if (setjmp(trap.jump)) {
        kernel_close(k);
        if (err)
            *err = trap.err;
        return false;
    }
    open_unit(u, a, k);
    u->trap = NULL;
    *out = k;
    return true;
}

void kernel_close(struct kernel *k)
{
    if (!k)
        return;
    source_close(k->source);
    k->source = NULL;
}

static const struct type *param_type(struct interp *in, const struct func *f, size_t i)
{
    return type_resolve(in, NULL, f->params[i].type);
}

static struct value param_value(const struct type *t, const struct kernel_value *v)
{
    if (t->kind == TY_POINTER)
        return value_buffer(t, v->p.buffer, v->p.offset_bytes);
    return type_is_float(t) ? value_float(t, v->f) : value_int(t, int_wrap(t, v->i));
}

static void run(struct interp *in, const struct kernel *k, const struct kernel_value *args)
{
    const struct func *f = find_launcher(in->unit, k->entry);
    struct value *values = arena_array(in->arena, struct value, f->n_params);
    struct place *places = arena_array(in->arena, struct place, f->n_params);
    struct value result;

    for (size_t i = 0; i < f->n_params; i++) {
        places[i].member = -1;
        if (i + 1 == f->n_params)
            values[i] = (struct value){.type = type_stream, .stream = 1};
        else
            values[i] = param_value(param_type(in, f, i), &args[i]);
    }
    result = call_func(in, f->at, f, NULL, values, places, f->n_params);
    if (type_is_integer(result.type) && result.i != 0)
        fail(in->unit, f->at, "%s returns the error %lld for these arguments", k->entry, (long long)result.i);
    for (size_t i = 0; i < in->freed.n; i++) {
        if (!in->freed.v[i])
            fail(in->unit, f->at, "workspace %zu of %s is not freed: cudaFreeAsync is missing", i + 1,
                 k->entry);
    }
}

static bool value_same(const struct kernel_value *x, const struct kernel_value *y)
{
    if (x->type != y->type || x->pointer != y->pointer || x->struct_bytes != y->struct_bytes ||
        x->n_members != y->n_members)
        return false;
    for (size_t i = 0; i < x->n_members; i++)
        if (x->members[i].offset != y->members[i].offset ||
            !value_same(&x->members[i].value, &y->members[i].value))
            return false;
    if (x->struct_bytes)
        return true;
    return x->pointer ? x->p.buffer == y->p.buffer && x->p.offset_bytes == y->p.offset_bytes : x->i == y->i;
}

static bool step_same(const struct plan_step *x, const struct plan_step *y)
{
    if (x->kind != y->kind || x->n_args != y->n_args)
        return false;
    if (x->kind != PLAN_LAUNCH)
        return (!x->kernel || str_eq(x->kernel, y->kernel)) && value_same(&x->to, &y->to) &&
               (x->kind == PLAN_MEMSET || value_same(&x->from, &y->from)) && x->byte == y->byte &&
               x->size_bytes == y->size_bytes;
    for (size_t i = 0; i < x->n_args; i++)
        if (!value_same(&x->args[i], &y->args[i]))
            return false;
    return !strcmp(x->kernel, y->kernel) && !memcmp(x->grid, y->grid, sizeof(x->grid)) &&
           !memcmp(x->block, y->block, sizeof(x->block)) &&
           !memcmp(x->cluster, y->cluster, sizeof(x->cluster)) && x->shared_bytes == y->shared_bytes &&
           x->cooperative == y->cooperative && x->programmatic == y->programmatic;
}

bool plan_same(const struct plan *x, const struct plan *y)
{
    bool same = x->n_steps == y->n_steps && x->n_workspaces == y->n_workspaces;

    for (size_t i = 0; same && i < x->n_steps; i++)
        same = step_same(&x->steps[i], &y->steps[i]);
    for (size_t i = 0; same && i < x->n_workspaces; i++)
        same = x->workspace_bytes[i] == y->workspace_bytes[i];
    return same;
}

/* The first call finds nothing kept, a later one what an earlier one kept: both must give this plan. */
static void check_kept(const struct interp *in, const struct kernel *k, const struct kernel_value *args)
{
    struct interp *later = arena_new(in->arena, struct interp);
    struct plan plans[2] = {{.steps = in->plan.v, .n_steps = in->plan.n}, {0}};

    interp_open(later, in->unit, in->arena);
    later->limits = in->limits;
    later->buffer_addr = in->buffer_addr;
    later->keeps = true;
    run(later, k, args);
    plans[0].workspace_bytes = in->workspaces.v;
    plans[0].n_workspaces = in->workspaces.n;
    plans[1] = (struct plan){.steps = later->plan.v,
                             .n_steps = later->plan.n,
                             .workspace_bytes = later->workspaces.v,
                             .n_workspaces = later->workspaces.n};
    if (!plan_same(&plans[0], &plans[1]))
        fail(in->unit, find_launcher(in->unit, k->entry)->at,
             "what an earlier call keeps changes what %s launches", k->entry);
}

bool kernel_plan(struct plan *plan, struct arena *a, const struct kernel *k, const struct kernel_value *args,
                 const uint64_t *buffer_addr, const struct kernel_limits *limits, struct err *err)
{
    struct unit u = *k->unit; /* shared and read-only but for the trap, so that threads may plan at once */
    struct trap trap = {.up = NULL};
    struct interp *in = arena_new(a, struct interp);
    VEC(const char *) kernels = {0};

    u.trap = &trap;
    u.arena = a;
    u.parse_work = 0;
    u.usings.cap = u.usings.n; /* those of a body that is parsed again are added to a copy */
    interp_open(in, &u, a);
    in->limits = limits;
    in->buffer_addr = buffer_addr;
    if (setjmp(trap.jump)) {
        if (err)
            *err = trap.err;
        return false;
    }
    run(in, k, args);
    if (in->n_kept)
        check_kept(in, k, args);
    for (size_t i = 0; i < in->plan.n; i++) {
        const char *name = in->plan.v[i].kernel;
        size_t at = 0;

        if (in->plan.v[i].kind != PLAN_LAUNCH)
            continue;
        while (at < kernels.n && strcmp(kernels.v[at], name) != 0)
            at++;
        if (at == kernels.n)
            vec_add(a, &kernels, name);
        marks_add(&in->marks, hash_text(name));
    }
    *plan = (struct plan){.steps = in->plan.v,
                          .n_steps = in->plan.n,
                          .workspace_bytes = in->workspaces.v,
                          .n_workspaces = in->workspaces.n,
                          .kernels = kernels.v,
                          .n_kernels = kernels.n,
                          .marks = in->marks.list.v,
                          .asked = in->asked,
                          .n_marks = in->marks.list.n,
                          .results = in->marks.results.v,
                          .n_results = in->marks.results.n,
                          .numbers = in->marks.numbers.v,
                          .n_numbers = in->marks.numbers.n,
                          .interpreted = in->steps};
    return true;
}

static const struct kernel_function *kernel_of(const struct kernel *k, const struct func *f)
{
    for (size_t i = 0; i < k->n_functions; i++) {
        if (strcmp(k->functions[i].qualified, f->qualified) == 0)
            return &k->functions[i];
    }
    return NULL;
}

/* The namespace of the function that the byte stands in. */
static const char *scope_at(const struct unit *u, size_t at)
{
    const struct func *in = NULL;

    for (size_t i = 0; i < u->funcs.n; i++) {
        const struct func *f = u->funcs.v[i];

        if (!f->at->foreign && f->at->at <= at && (!in || f->at->at > in->at->at))
            in = f;
    }
    return in ? in->scope : "";
}

const struct kernel_function *kernel_meant(const struct kernel *k, const char *name, size_t at)
{
    const struct unit *u = k->unit;
    const struct token *t = u->tokens.v;
    const struct func *found[2];
    const struct kernel_function *only = NULL;
    bool global = strncmp(name, "::", 2) == 0;
    const char *simple = strrchr(name, ':') ? strrchr(name, ':') + 1 : name;

    while (t->kind != TOK_END && (t->foreign || t->at < at))
        t++;
    const struct name_use use = {name + (global ? 2 : 0), scope_at(u, at), global ? LOOK_GLOBAL : LOOK_HERE, t};
    size_t n = funcs_find(u, use, true, found, ARRAY_LEN(found));
    if (n)
        return n == 1 ? kernel_of(k, found[0]) : NULL;
    /* through a using of a function that was not read: the only one of that name */
    for (size_t i = 0; i < k->n_functions; i++) {
        if (strcmp(k->functions[i].name, simple) != 0)
            continue;
        if (only)
            return NULL;
        only = &k->functions[i];
    }
    return only;
}

bool plan_launches(const struct plan_step *step, const char *qualified)
{
    size_t len = strlen(qualified);

    return step->kind == PLAN_LAUNCH && strncmp(step->kernel, qualified, len) == 0 &&
           (step->kernel[len] == '\0' || step->kernel[len] == '<');
}

char *kernel_with_tunable(struct arena *a, const struct kernel *k, size_t i, const char *value)
{
    const struct kernel_tunable *t = &k->tunables[i];

    BUG_IF(i >= k->n_tunables);
    return arena_printf(a, "%.*s%s%s", (int)t->value_start, k->text, value, k->text + t->value_end);
}
