/* The host function around a launch, read into the launcher and the arguments of a task. The nearest function
 * whose parameters are numbers, pointers and tensors is taken; its body is written twice (wrapper_body.c), the
 * second time with what the first one learnt of tensors. Where no function can be read, the kernel's own
 * parameters make a launcher whose grid is a question. */
#include "init/wrapper.h"

#include <ctype.h>

/* A parameter of the function that is read. */
struct given {
    const struct wrapper_param *param;
    struct wrapper_type type;
    struct wrapper_tensor *tensor;
    bool member; /* of a struct that is filled of it */
};

struct reading {
    struct wrapper_reader r;
    VEC(struct given) given;
    struct str fill;      /* of structs */
    struct str vectors;   /* the launcher's parameters that vectors are made of */
    const char *instance; /* that the file makes of the function; NULL: none */
};

/* ---- parameters */

/* Is it a variable of the function's own that is given a value where it is not declared? */
static bool is_assigned(const struct wrapper_reader *r, const char *name)
{
    for (size_t i = r->f.body + 1; i + 1 < r->f.body_end; i++) {
        if (token_is(&r->v[i], name) && token_is(&r->v[i + 1], "=") && wrapper_sign(&r->v[i - 1], "; { } )"))
            return true;
    }
    return false;
}

/* `// [num_tokens, hidden_size]` behind a parameter, on its line: the names of its extents. */
static void read_comment(struct reading *d, const struct wrapper_param *p, struct wrapper_tensor *t)
{
    struct wrapper_reader *r = &d->r;
    const struct token *last = &r->v[p->end - 1];
    const struct init_file *f;
    const char *s, *end, *open;
    int line, col;

    if (last->macro)
        return;
    f = init_place(r->source, last->at, &line, &col);
    if (!f)
        return;
    s = f->text + (last->at - f->base);
    end = memchr(s, '\n', (size_t)(f->text + f->len - s));
    end = end ? end : f->text + f->len;
    open = memmem(s, (size_t)(end - s), "//", 2);
    open = open ? memchr(open, '[', (size_t)(end - open)) : NULL;
    if (!open)
        return;
    for (s = open + 1; s < end && *s != ']' && t->rank < WRAPPER_RANK;) {
        size_t len = strcspn(s, ",]\n");
        const char *from = s, *to = s + len;
        while (from < to && *from == ' ')
            from++;
        while (to > from && to[-1] == ' ')
            to--;
        char *word = arena_strndup(r->arena, from, (size_t)(to - from));
        if (str_is_name(word) && *word != '_' && !is_assigned(r, word)) {
            t->dim[t->rank] = word;
            map_put(&r->locals, word, word);
        }
        t->rank++;
        s += len + (s[len] == ',');
    }
}

static bool body_says(const struct reading *d, const char *name)
{
    for (size_t i = d->r.f.body; i < d->r.f.body_end; i++) {
        if (token_is(&d->r.v[i], name))
            return true;
    }
    return false;
}

/* Is the parameter asked for the stream and for nothing else? `ctx.stream()` */
static bool gives_stream(const struct reading *d, const char *name)
{
    const struct token *v = d->r.v;

    for (size_t i = d->r.f.body; i + 2 < d->r.f.body_end; i++) {
        if (token_is(&v[i], name) &&
            !(wrapper_sign(&v[i + 1], ". ->") && token_in(&v[i + 2], "stream|cuda_stream|getStream")))
            return false;
    }
    return true;
}

/* A parameter that is a struct: its members become parameters, and it is filled of them. */
static bool read_struct(struct reading *d, const struct given *g)
{
    struct wrapper_reader *r = &d->r;
    struct wrapper_members members = {0};
    const char *name = g->param->name;

    if (g->type.pointer || !wrapper_members(r, g->type.spelled, name, WRAPPER_SAID, &members))
        return false;
    wrapper_make_plain(r, g->type.spelled);
    str_addf(&d->fill, "    %s %s = {};\n", g->type.spelled, name);
    for (size_t i = 0; i < members.n; i++) {
        const struct wrapper_member *m = &members.v[i];
        struct wrapper_param *p = arena_new(r->arena, struct wrapper_param);
        struct given of = {.param = p, .type = m->type, .member = true};

        bool taken = wrapper_says_alone(r, m->name);
        for (size_t k = 0; k < d->given.n; k++) /* of another struct of its kind */
            taken = taken || str_eq(d->given.v[k].param->name, m->name);
        p->name = taken ? arena_printf(r->arena, "%s_%s", name, m->name) : m->name;
        str_addf(&d->fill, "    %s.%s%s = %s;\n", name, m->path, m->array ? "[0]" : "", p->name);
        wrapper_fill_member(r, &d->fill, name, m);
        if (m->guessed) {
            r->final = true;
            wrapper_ask(r, "which type has what %s.%s points to?", name, m->name);
            r->final = false;
        }
        vec_add(r->arena, &d->given, of);
    }
    return true;
}

/* What is no parameter and has no value of its own: members of the class that the function is of, and variables
 * that a program sets. They become parameters. */
static void read_surroundings(struct reading *d, const char *owner)
{
    struct wrapper_reader *r = &d->r;
    struct wrapper_members members = {0};

    if (owner)
        wrapper_members(r, owner, NULL, WRAPPER_OWN, &members);
    for (size_t i = r->f.body; i < r->f.body_end; i++) {
        struct wrapper_member v = {.name = token_text(r->arena, &r->v[i])};
        if (r->v[i].kind == TOK_WORD && wrapper_says_alone(r, v.name) && wrapper_variable(r, v.name, &v.type))
            vec_add(r->arena, &members, v);
    }
    for (size_t i = 0; i < members.n; i++) {
        struct wrapper_param *p = arena_new(r->arena, struct wrapper_param);
        struct given of = {.param = p, .type = members.v[i].type};
        bool there = false;

        p->name = members.v[i].name;
        for (size_t k = 0; k < d->given.n; k++)
            there = there || str_eq(d->given.v[k].param->name, p->name);
        if (!there && of.type.type)
            vec_add(r->arena, &d->given, of);
    }
}

/* Also one that bindings of another language hand over as a number or an address. */
static bool is_stream(struct wrapper_reader *r, const struct wrapper_param *p)
{
    const struct wrapper_type type = wrapper_type_of(r, r->v, p->first, p->last);

    return (type.stream && !type.pointer) || (str_in(p->name, "stream|cuda_stream|stream_ptr") &&
                                              (!type.pointer || str_eq(type.spelled, "void")));
}

static void read_params(struct reading *d)
{
    struct wrapper_reader *r = &d->r;

    for (size_t i = 0; i < r->f.n_list; i++) {
        const struct wrapper_param *p = &r->f.list[i];
        struct given g = {.param = p, .type = wrapper_type_of(r, r->v, p->first, p->last)};

        if (!*p->name || !body_says(d, p->name) || (!g.type.type && gives_stream(d, p->name)))
            continue;
        if (is_stream(r, p)) {
            vec_add(r->arena, &r->streams, p->name);
            continue;
        }
        if (g.type.tensor && read_struct(d, &g)) /* a plain one that is called so */
            continue;
        if (g.type.tensor && !g.type.pointer) {
            g.tensor = wrapper_tensor_add(r, p->name);
            g.tensor->optional = g.type.optional;
            read_comment(d, p, g.tensor);
        } else if (g.type.pointer && !g.type.type && str_eq(g.type.spelled, "void")) {
            const char *spelled = wrapper_cast_of(r, r->v, r->f.body + 4, r->f.body_end, p->name);
            if (!spelled) /* the kernel has it under the same name, mostly */
                spelled = wrapper_cast_of(r, r->kernel_tokens.v, MIN(4, r->kernel_tokens.n), r->kernel_tokens.n,
                                          p->name);
            g.type.spelled = spelled ? spelled : "uint8_t";
            g.type.type = wrapper_type_name(r, g.type.spelled, &g.type.lanes);
        }
        if (!g.tensor && !g.type.type && !g.type.pointer && wrapper_is_enum(r, g.type.spelled)) {
            const char *first = wrapper_enum_value(r, g.type.spelled);
            str_addf(&d->r.head, "    const %s %s = %s;\n", g.type.spelled, p->name,
                     wrapper_launched_case(r, p->name, first));
            r->final = true;
            wrapper_ask(r, "which %s do callers pass as %s?", g.type.spelled, p->name);
            r->final = false;
            continue;
        }
        if (!g.tensor && g.type.type && !g.type.pointer && g.type.lanes > 1 &&
            !str_in(g.type.type, "f16|bf16")) {
            r->final = true;
            str_addf(&d->r.head, "    const %s %s = %s;\n", g.type.spelled, p->name,
                     wrapper_give_vector(r, p->name, &g.type, &d->vectors));
            r->final = false;
            continue;
        }
        if (!g.tensor && !g.type.type && read_struct(d, &g))
            continue;
        if (!g.tensor && !g.type.type && !g.type.pointer && wrapper_is_tag(r, g.type.spelled)) {
            str_addf(&d->r.head, "    const auto %s = %s{};\n", p->name, g.type.spelled);
            continue;
        }
        if (!g.tensor && !g.type.type) {
            r->final = true;
            wrapper_lost(r, "its parameter %s has the type %s", p->name,
                         wrapper_text(r->arena, r->v, p->first, p->last));
            r->final = false;
        }
        vec_add(r->arena, &d->given, g);
    }
}

/* ---- arguments of the task */

static const char *shape_of(struct reading *d, const struct wrapper_tensor *t)
{
    struct str out = {0};

    for (int i = 0; i < t->rank; i++) {
        const char *over = t->dim[i] ? wrapper_over_dims(&d->r, t->dim[i]) : NULL;
        bool is_dim = false;
        for (size_t k = 0; k < d->r.dims.n; k++)
            is_dim = is_dim || (over && str_has_word(over, d->r.dims.v[k].name));
        if (!over || (isalpha((unsigned char)*over) && !is_dim)) {
            str_free(&out);
            return NULL;
        }
        str_addf(&out, "%s%s", i ? ", " : "", over);
    }
    return out.s ? str_take(&out, d->r.arena) : NULL;
}

static void tensor_arg(struct reading *d, const struct wrapper_tensor *t, struct str *list)
{
    const char *made = t->returned ? "out" : "scratch", *spelled;
    struct init_arg a = {.name = t->name, .role = t->made ? made : NULL};

    a.type = wrapper_type_name(&d->r, t->spelled ? t->spelled : d->r.chosen, NULL);
    if (!a.type) {
        a.type = "f32";
        wrapper_ask(&d->r, "which type has %s?", t->name);
    }
    a.shape = shape_of(d, t);
    if (t->zeroed && t->returned)
        a.role = "out";
    if (t->drawn) {
        a.role = "in";
        a.values = *t->drawn ? t->drawn : NULL;
    }
    spelled = wrapper_spelled(a.type);
    wrapper_add_param(list, "%s *%s", spelled ? spelled : t->spelled, t->name);
    wrapper_buffer(&d->r, &a, false);
    if (t->optional)
        wrapper_note(&d->r, "%s is always given here; calls without it are another task", t->name);
    vec_add(d->r.arena, &d->r.task->args, a);
}

/* Parameters of the launcher, and the arguments of the task beside them. */
static char *signature(struct reading *d)
{
    struct wrapper_reader *r = &d->r;
    struct str list = {0};
    const char *body = str_text(&r->out);

    str_add(&list, str_text(&d->vectors));

    for (size_t i = 0; i < d->given.n; i++) {
        const struct given *g = &d->given.v[i];
        struct init_arg a = {.name = g->param->name, .type = g->type.type};
        if (g->tensor) {
            if (g->tensor->used)
                tensor_arg(d, g->tensor, &list);
            continue;
        }
        if (!g->member && !str_has_word(body, a.name))
            continue;
        /* a kernel of `T *` that is handed a `const float *` is the one of float */
        bool constant = g->type.constant && (!g->type.pointer || wrapper_kernel_constant(r, a.name) != 0);
        if (g->type.pointer && (g->type.lanes > 1 || wrapper_is_bits(g->type.spelled))) {
            const char *element = wrapper_spelled(a.type), *c = g->type.constant ? "const " : "";
            wrapper_add_param(&list, "%s%s *%s_", c, element ? element : "unsigned", a.name);
            str_addf(&d->r.head, "    auto %s = reinterpret_cast<%s%s *>(%s_);\n", a.name, c, g->type.spelled,
                     a.name);
        } else
            wrapper_add_param(&list, "%s%s %s%s", constant ? "const " : "", g->type.spelled,
                              g->type.pointer ? "*" : "", a.name);
        if (!g->type.pointer) {
            wrapper_scalar(&d->r, &a);
        } else {
            if (g->type.lanes > 1)
                a.align = 16;
            wrapper_buffer(&d->r, &a, g->type.constant);
        }
        vec_add(r->arena, &r->task->args, a);
    }
    for (size_t i = 0; i < r->tensors.n; i++) {
        if (r->tensors.v[i]->made)
            tensor_arg(d, r->tensors.v[i], &list);
    }
    for (size_t i = 0; i < r->dims.n; i++) {
        struct init_arg a = {.name = r->dims.v[i].name, .value = r->dims.v[i].name};
        a.type = wrapper_type_name(r, r->dims.v[i].spelled, NULL);
        wrapper_add_param(&list, "%s %s", r->dims.v[i].spelled, a.name);
        vec_add(r->arena, &r->task->dims, a.name);
        vec_add(r->arena, &r->task->args, a);
    }
    str_add(&list, "cudaStream_t stream");
    return str_take(&list, r->arena);
}

/* Vector casts of a pointer in the kernel say how it must be aligned; 256 bytes is the default and enough, so
 * only callers that promise less have to say it. */

static void learn_scalars(struct reading *d)
{
    for (size_t i = 0; i < d->given.n; i++) {
        const struct given *g = &d->given.v[i];
        if (!g->tensor && !g->type.pointer && g->type.type && wrapper_is_size(g->param->name, g->type.type))
            map_put(&d->r.locals, g->param->name, (void *)g->param->name);
    }
}

static void write_out(struct reading *d)
{
    struct wrapper_reader *r = &d->r;

    vec_clear(&r->dims);
    str_clear(&r->out);
    r->uses_properties = r->divides = false;
    wrapper_body(r);
}

/* Conditions of numbers that are no sizes are no task's. */
static void keep_domain(struct init_task *t, struct arena *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->domain.n; i++) {
        bool of_dims = true;
        for (const char *p = t->domain.v[i]; *p;) {
            size_t len = str_word(p);
            bool is_dim = !len || isdigit((unsigned char)*p) || p[len] == '(';
            for (size_t k = 0; k < t->dims.n && !is_dim; k++)
                is_dim = str_eq(arena_strndup(a, p, len), t->dims.v[k]);
            of_dims = of_dims && is_dim;
            p += len ? len : 1;
        }
        if (of_dims)
            t->domain.v[kept++] = t->domain.v[i];
    }
    t->domain.n = kept;
}

void wrapper_add_helpers(const struct wrapper_reader *r, struct str *to)
{
    if (r->divides)
        str_add(
            to,
            "template <typename T>\nstatic constexpr T ceil_div(T a, T b)\n{\n    return (a + b - 1) / b;\n}\n\n");
    if (r->uses_gcd)
        str_add(to,
                "static constexpr long common_divisor(long a, long b)\n{\n    while (b) {\n"
                "        long rest = a % b;\n        a = b;\n        b = rest;\n    }\n    return a;\n}\n\n");
}

void wrapper_add_scope(struct str *to, const struct init_source *s, const struct init_decl *kernel,
                       const struct init_decl *host)
{
    const char *scope = init_scope(s, host->scope);

    if (str_eq(host->scope, kernel->scope))
        return;
    if (*scope) /* of which nothing may be left */
        str_addf(to, "namespace %.*s {\n}\n", (int)strlen(scope) - 2, scope);
    wrapper_add_using(to, s->arena, scope);
}

static bool read_host(struct init_task *t, const struct init_wrapped *w, const struct init_decl *host,
                      const char **why)
{
    struct init_source *s = w->source;
    struct reading d = {.r = {.arena = s->arena, .source = s, .task = t, .in = w}};
    struct wrapper_reader *r = &d.r;
    struct tokens list = wrapper_launches(s, host, w->kernel->name);
    struct str text = {0};

    r->v = arena_array(s->arena, struct token, list.n + 1);
    r->n = wrapper_strip(r->v, list.v, list.n);
    d.r.kernel_tokens = init_expand(s, w->kernel->first, w->kernel->end);
    wrapper_scan(&d.r.kernel, s->arena, d.r.kernel_tokens.v, d.r.kernel_tokens.n);
    if (!wrapper_scan(&r->f, s->arena, r->v, r->n)) {
        *why = "it has no body";
        return false;
    }
    r->chosen = wrapper_instance_arg(&d.r, 0);
    if (r->chosen && !wrapper_type_name(r, r->chosen, NULL))
        r->chosen = NULL;
    wrapper_clear_task(t);
    r->final = true;
    if (r->f.n_tparams)
        d.instance = wrapper_file_instance(r, r->f.name);
    for (size_t i = 0; i < r->f.n_tparams; i++)
        wrapper_choose_tparam(r, i, d.instance);
    r->final = false;
    read_params(&d);
    read_surroundings(&d, host->owner);
    learn_scalars(&d);
    write_out(&d);
    for (size_t i = 0; i < r->tensors.n; i++) {
        struct wrapper_tensor *x = r->tensors.v[i];
        if (x->like && x->like->rank > x->rank) {
            x->rank = x->like->rank;
            memcpy(x->dim, x->like->dim, sizeof(x->dim));
        }
    }
    for (size_t i = 0; i < r->tensors.n; i++) { /* a variable of that name means something else */
        for (int k = 0; k < r->tensors.v[i]->rank; k++) {
            const char *dim = r->tensors.v[i]->dim[k];
            if (dim && map_has(&r->clash, dim))
                r->tensors.v[i]->dim[k] = arena_printf(s->arena, "%s_dim", dim);
        }
    }
    for (size_t i = 0; i < r->tensors.n; i++) {
        for (int k = 0; k < r->tensors.v[i]->rank; k++) {
            const char *dim = r->tensors.v[i]->dim[k];
            if (dim && isalpha((unsigned char)*dim) && !strpbrk(dim, " *+-/()"))
                map_put(&r->locals, dim, (void *)dim);
        }
    }
    vec_clear(&r->streams);
    for (size_t i = 0; i < r->f.n_list; i++) {
        if (is_stream(r, &r->f.list[i]))
            vec_add(r->arena, &r->streams, r->f.list[i].name);
    }
    r->final = true;
    write_out(&d);
    if (str_eq(host->name, "main"))
        wrapper_lost(r, "it is the program");
    if (strstr(str_text(&r->out), "cudaMemcpyHostToDevice") ||
        strstr(str_text(&r->out), "cudaMemcpyDeviceToHost"))
        wrapper_lost(r, "it copies from or to the host");
    if (!strstr(str_text(&r->out), "<<<") && !strstr(str_text(&r->out), "cudaLaunch"))
        wrapper_lost(r, "no launch is left of it");
    if (!r->why) {
        char *params = signature(&d);
        keep_domain(t, s->arena);
        wrapper_add_helpers(r, &text);
        wrapper_add_using(&text, s->arena, init_scope(s, w->kernel->scope));
        wrapper_add_scope(&text, s, w->kernel, host);
        str_addf(&text, "extern \"C\" void %s(%s)\n{\n%s%s", t->entry, params, str_text(&d.r.head),
                 str_text(&d.fill));
        if (r->uses_properties)
            str_add(&text, "    cudaDeviceProp properties;\n    cudaGetDeviceProperties(&properties, 0);\n");
        str_addf(&text, "%s}\n", str_text(&r->out));
        t->launcher = str_take(&text, s->arena);
    }
    *why = r->why;
    str_free(&d.r.head);
    str_free(&d.fill);
    str_free(&d.vectors);
    str_free(&r->out);
    map_free(&r->alias);
    map_free(&r->locals);
    map_free(&r->named);
    map_free(&r->clash);
    map_free(&r->shown);
    return !*why;
}

/* Does it launch several kernels, one after the other? */
static bool is_chain(const struct init_wrapped *w, const struct init_decl *host)
{
    struct tokens list = wrapper_launches(w->source, host, w->kernel->name);
    size_t launches = 0, depth = 0;
    bool branch = false; /* of an `if` without braces */

    for (size_t i = 0; i < list.n; i++) {
        if (depth == 1 && token_is(&list.v[i], "("))
            i = wrapper_skip(list.v, list.n, i) - 1;
        depth += token_is(&list.v[i], "{");
        depth -= token_is(&list.v[i], "}") && depth;
        branch = (branch || token_in(&list.v[i], "if|else")) && !wrapper_sign(&list.v[i], "; }");
        launches += depth == 1 && !branch && token_is(&list.v[i], "<<<");
    }
    return launches > 1;
}

void init_wrapper(struct init_task *t, const struct init_wrapped *w)
{
    struct str reasons = {0};

    for (size_t i = 0; i < w->n_hosts && !w->sliced; i++) {
        const char *why = NULL;
        if (is_chain(w, w->hosts[i]) && wrapper_slice(t, w, w->hosts[i])) {
            str_free(&reasons);
            return;
        }
        if (read_host(t, w, w->hosts[i], &why)) {
            str_free(&reasons);
            return;
        }
        str_addf(&reasons, "%s%s: %s", reasons.len ? "; " : "", w->hosts[i]->name, why);
    }
    bool slices = w->n_hosts > 0 && !wrapper_is_composed(w);
    for (size_t i = 0; i < w->n_hosts && slices; i++) {
        if (wrapper_slice(t, w, w->hosts[i])) {
            if (reasons.len)
                vec_add(w->source->arena, &t->notes,
                        arena_printf(w->source->arena, "not read whole: %s", reasons.s));
            str_free(&reasons);
            return;
        }
    }
    wrapper_clear_task(t);
    wrapper_declared(t, w);
    vec_add(w->source->arena, &t->notes,
            reasons.len
                ? arena_printf(w->source->arena, "no function that launches it can be read (%s)", reasons.s)
                : arena_strdup(w->source->arena, "no function of these files launches it"));
    str_free(&reasons);
}
