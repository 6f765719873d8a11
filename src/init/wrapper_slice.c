/* A launch without the function around it: where that cannot be read, the sizes of the launch are looked for by
 * themselves. */
#include "init/wrapper.h"

void wrapper_clear_task(struct init_task *t)
{
    t->launcher = NULL;
    t->args.n = t->dims.n = t->domain.n = t->bounds.n = t->workloads.n = t->questions.n = t->notes.n = 0;
}

/* ---- a launch and the statements that its sizes come from */

struct range {
    size_t first, last;
};

struct slice {
    struct wrapper_reader *r;
    const char *owner;      /* the class that the function is of; NULL: none */
    size_t launch;          /* the <<< */
    VEC(struct range) used; /* statements, in no order */
    struct map seen;        /* words that were looked up */
    struct map given;       /* parameters of the launcher: name to C type */
    bool lost;
};

static void need_words(struct slice *s, size_t first, size_t last);

/* The `;` of the statement at i. */
static size_t statement_end(const struct wrapper_reader *r, size_t i)
{
    while (i < r->f.body_end && !token_is(&r->v[i], ";"))
        i = wrapper_sign(&r->v[i], "( [ {") ? wrapper_skip(r->v, r->f.body_end, i) : i + 1;
    return i;
}

static size_t statement_begin(const struct wrapper_reader *r, size_t i)
{
    while (i > r->f.body + 1 && !wrapper_sign(&r->v[i - 1], "; { }"))
        i--;
    return i;
}

static void use(struct slice *s, size_t first, size_t last)
{
    for (size_t i = 0; i < s->used.n; i++) {
        if (s->used.v[i].first == first)
            return;
    }
    vec_add(s->r->arena, &s->used, ((struct range){first, last}));
}

/* Does the value ask something that a launcher has not: a tensor, the user's input, memory? */
static bool is_foreign(const struct wrapper_reader *r, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        if (wrapper_sign(&r->v[i], "-> argv argc atoi new malloc getCmdLineArgumentInt") ||
            (token_is(&r->v[i], ".") && !wrapper_sign(&r->v[i + 1], "x y z")))
            return true;
    }
    return false;
}

static bool names_stream(const struct wrapper_reader *r, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        if (token_in(&r->v[i], "getCurrentCUDAStream|getDefaultCUDAStream|getStreamFromPool"))
            return true;
    }
    return false;
}

/* The integer type that the function itself declares the variable with; NULL: none. */
static const char *declared_type(const struct slice *s, const char *name)
{
    const struct wrapper_reader *r = s->r;

    for (size_t i = r->f.body + 1; i < s->launch; i++) {
        if (token_is(&r->v[i], name) && token_in(&r->v[i - 1], "int|int64_t|int32_t|size_t|uint32_t|uint64_t"))
            return token_text(r->arena, &r->v[i - 1]);
    }
    return NULL;
}

static bool is_integer(const char *type)
{
    return *type == 'i' || *type == 'u';
}

/* The integer's type as a parameter of the function; NULL: it is none. */
static const char *parameter_type(const struct slice *s, const char *name)
{
    struct wrapper_reader *r = s->r;

    for (size_t i = 0; i < r->f.n_list; i++) {
        const struct wrapper_param *p = &r->f.list[i];
        const struct wrapper_type k = wrapper_type_of(r, r->v, p->first, p->last);
        if (str_eq(p->name, name))
            return k.type && !k.pointer && k.lanes == 1 && is_integer(k.type) ? k.spelled : NULL;
    }
    return NULL;
}

/* What a kernel's parameter gets may be of another type where the launcher reckons with it. */
static void give(struct slice *s, const char *name, const char *spelled)
{
    const char *type = wrapper_type_name(s->r, spelled, NULL);
    const char *own = type && is_integer(type) ? parameter_type(s, name) : NULL;

    if (!own && str_in(spelled, "int64_t|uint64_t|size_t|long"))
        own = declared_type(s, name);
    if (!map_has(&s->given, name))
        map_put(&s->given, name, (void *)(own ? own : spelled));
}

/* The `,` or `;` behind the first name of a declaration of several; 0: the statement is no such. */
static size_t first_declarator(struct wrapper_reader *r, size_t first, size_t last)
{
    size_t i = first;

    while (i < last && (r->v[i].kind == TOK_WORD || wrapper_sign(&r->v[i], ":: * &")))
        i++;
    return i > first + 1 && i < last && wrapper_sign(&r->v[i], ", =") ? i : 0;
}

/* A variable of the function: its declaration, and what is assigned to it before the launch. */
static bool need_local(struct slice *s, const char *word)
{
    struct wrapper_reader *r = s->r;
    bool declared = false;

    for (size_t i = r->f.body + 1; i < s->launch; i++) {
        size_t first, last;
        struct wrapper_type k;

        if (!token_is(&r->v[i], word) || wrapper_sign(&r->v[i - 1], ". -> ::"))
            continue;
        first = statement_begin(r, i);
        if (i == first + 1 && token_is(&r->v[first], "using") && token_is(&r->v[i + 1], "=")) {
            last = statement_end(r, i);
            use(s, first, last);
            need_words(s, i + 2, last);
            return true;
        }
        last = statement_end(r, i);
        if (last > s->launch)
            break;
        if (!declared && wrapper_sign(&r->v[i + 1], ", ; =") && wrapper_sign(&r->v[i - 1], ",") &&
            first_declarator(r, first, last)) {
            declared = true;
            use(s, first, last);
            need_words(s, first_declarator(r, first, last), last);
        } else if (i > first && !declared &&
                   (r->v[i - 1].kind == TOK_WORD || wrapper_sign(&r->v[i - 1], "* & >")) &&
                   wrapper_sign(&r->v[i + 1], "= ( { ; ,") &&
                   !token_in(&r->v[first], "return|if|for|while|else|using")) {
            k = wrapper_type_of(r, r->v, first, i);
            declared = true;
            if (k.stream || names_stream(r, i + 1, last))
                return true; /* the launch has the launcher's */
            if (k.pointer)
                return false;
            if (is_foreign(r, i + 1, last)) {
                s->lost = s->lost || (!k.type && !str_eq(k.spelled, "auto"));
                give(s, word, k.type ? k.spelled : "int64_t");
                return true;
            }
            use(s, first, last);
            need_words(s, i + 1, last);
        } else if (declared && token_is(&r->v[i - 1], "&") && wrapper_sign(&r->v[i - 2], "( ,")) {
            use(s, first, last); /* a call gives it its value */
            need_words(s, first, last);
        } else if (declared && i == first &&
                   (token_is(&r->v[i + 1], "=") ||
                    (token_is(&r->v[i + 1], ".") && token_is(&r->v[i + 3], "=")))) {
            /* within a branch or a loop it is not known whether it is done */
            for (size_t k2 = r->f.body + 1; k2 < i; k2++) {
                size_t behind = token_is(&r->v[k2], "{") ? wrapper_skip(r->v, r->f.body_end, k2) : 0;
                s->lost = s->lost || (behind > i && behind <= s->launch);
            }
            use(s, first, last);
            need_words(s, i + 1, last);
        }
    }
    return declared;
}

static void need_word(struct slice *s, const struct token *t)
{
    struct wrapper_reader *r = s->r;
    const char *word = token_text(r->arena, t);

    if (map_has(&s->seen, word) || map_has(&s->given, word))
        return;
    map_put(&s->seen, word, (void *)word);
    for (size_t i = 0; i < r->f.n_list; i++) {
        const struct wrapper_param *p = &r->f.list[i];
        struct wrapper_type k;
        if (!str_eq(p->name, word))
            continue;
        k = wrapper_type_of(r, r->v, p->first, p->last);
        if (k.type && !k.pointer)
            give(s, word, k.spelled);
        else
            s->lost = s->lost || !k.stream;
        return;
    }
    if (need_local(s, word))
        return;
    struct wrapper_members members = {0};
    struct wrapper_type k;
    if (s->owner)
        wrapper_members(r, s->owner, NULL, WRAPPER_OWN, &members);
    for (size_t i = 0; i < members.n; i++) {
        if (str_eq(members.v[i].name, word) && members.v[i].type.type && !members.v[i].type.pointer)
            give(s, word, members.v[i].type.spelled);
    }
    if (wrapper_variable(r, word, &k)) /* else a constant, a type or a function of the file */
        give(s, word, k.spelled);
}

static void need_words(struct slice *s, size_t first, size_t last)
{
    struct wrapper_reader *r = s->r;

    for (size_t i = first; i < last; i++) {
        bool member = i > first && wrapper_sign(&r->v[i - 1], ". -> ::");
        if (r->v[i].kind == TOK_WORD && !member && !wrapper_sign(&r->v[i + 1], "::"))
            need_word(s, &r->v[i]);
    }
}

/* The launch of the kernel in the function; 0: none that names it. */
static size_t find_launch(const struct wrapper_reader *r, const char *kernel, size_t *name)
{
    for (size_t i = r->f.body + 1; i < r->f.body_end; i++) {
        size_t behind = i + 1, end;
        if (!token_is(&r->v[i], kernel))
            continue;
        end = token_is(&r->v[behind], "<") ? wrapper_angle(r->v, r->f.body_end, behind) : 0;
        behind = end ? end + 1 : behind;
        if (token_is(&r->v[behind], "<<<")) {
            *name = i;
            return behind;
        }
    }
    return 0;
}

/* Does the file declare the name, as something other than a number that a program chose? */
static bool is_fixed(const struct wrapper_reader *r, const char *name)
{
    const struct init_names *found = init_named(r->source, name);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        if (d->kind != INIT_VARIABLE || d->is_device || !str_eq(r->f.name, "main"))
            return true;
    }
    return false;
}

/* Arguments of the launch beside the kernel's parameters. `call` gets their text. */
static void read_arguments(struct slice *s, size_t open, struct str *params, struct str *call)
{
    struct wrapper_reader *r = s->r;
    size_t close = wrapper_skip(r->v, r->f.body_end, open) - 1, item = open + 1;

    for (size_t i = 0; i < r->kernel.n_list && item < close; i++) {
        const struct wrapper_param *p = &r->kernel.list[i];
        struct wrapper_type k = wrapper_type_of(r, r->kernel_tokens.v, p->first, p->last);
        size_t end = wrapper_item(r->v, item, close);

        str_add(call, i ? ", " : "");
        if (!k.type) {
            s->lost = true;
        } else if (k.pointer) {
            struct init_arg a = {.name = p->name, .type = k.type};
            const char *element = wrapper_spelled(k.type), *c = k.constant ? "const " : "";

            const bool other = k.lanes > 1 || wrapper_is_bits(k.spelled);
            wrapper_add_param(params, "%s%s *%s", c, other && element ? element : k.spelled, p->name);
            if (other)
                str_addf(call, "reinterpret_cast<%s%s *>(%s)", c, k.spelled, p->name);
            else
                str_add(call, p->name);
            wrapper_buffer(r, &a, k.constant);
            vec_add(r->arena, &r->task->args, a);
        } else if (k.lanes > 1 && !str_in(k.type, "f16|bf16") && end == item + 1) {
            str_add(call, wrapper_give_vector(r, p->name, &k, params));
        } else {
            if (end == item + 1 && r->v[item].kind == TOK_WORD &&
                !token_in(&r->v[item], "true|false|NULL|nullptr") &&
                !is_fixed(r, token_text(r->arena, &r->v[item])))
                give(s, token_text(r->arena, &r->v[item]), k.spelled);
            else
                need_words(s, item, end);
            str_add(call, wrapper_expr(r, item, end));
        }
        item = end + 1;
    }
}

/* What `using T = float;` ahead of the launch says of the name; NULL: nothing. */
static const char *used_type(const struct slice *s, const char *name)
{
    const struct wrapper_reader *r = s->r;

    for (size_t i = r->f.body + 1; i + 3 < s->launch; i++) {
        if (token_is(&r->v[i], "using") && token_is(&r->v[i + 1], name) && token_is(&r->v[i + 2], "="))
            return wrapper_text(r->arena, r->v, i + 3, statement_end(r, i));
    }
    return NULL;
}

/* Types of template parameters: those of the instance that was asked for, or that the launch says, else float.
 */
static void choose_types(struct slice *s, size_t name)
{
    struct wrapper_reader *r = s->r;
    const size_t close = token_is(&r->v[name + 1], "<") ? wrapper_angle(r->v, r->f.body_end, name + 1) : 0;
    const char *list = close ? wrapper_text(r->arena, r->v, name + 2, close) : "";

    for (size_t i = 0; i < r->kernel.n_tparams; i++) {
        const char *type = wrapper_instance_arg(r, i), *said = wrapper_listed(r->arena, list, i);
        if (!type && said && used_type(s, said))
            said = used_type(s, said);
        if (!type && said && wrapper_type_name(r, said, NULL))
            type = said;
        if (r->kernel.tparams[i].is_type)
            map_put(&r->alias, r->kernel.tparams[i].name,
                    (void *)(type ? type : wrapper_default_type(r->kernel.tparams[i].name)));
    }
    for (size_t i = 0; i < r->f.n_tparams; i++) {
        const struct wrapper_tparam *p = &r->f.tparams[i];
        s->lost = s->lost || !p->is_type;
        if (!map_has(&r->alias, p->name))
            map_put(&r->alias, p->name, (void *)wrapper_default_type(p->name));
        str_addf(&r->head, "    using %s = %s;\n", p->name, (const char *)map_get(&r->alias, p->name));
    }
}

/* Does the launch stand in a case of a switch? It is for that value alone. */
static bool in_case(const struct wrapper_reader *r, size_t launch)
{
    for (size_t i = r->f.body; i < launch; i++) {
        size_t open = i + 1;
        bool of_types = false;

        if (!token_is(&r->v[i], "switch") || !token_is(&r->v[open], "("))
            continue;
        open = wrapper_skip(r->v, r->f.body_end, open);
        for (size_t k = i; k < MIN(open + 8, launch); k++)
            of_types = of_types || token_in(&r->v[k], "scalar_type|ScalarType|dtype");
        if (of_types)
            continue;
        if (open < launch && wrapper_skip(r->v, r->f.body_end, open) > launch)
            return true;
    }
    return false;
}

/* A switch over types that is left out names the type: it is the one that the kernel's parameters have. */
static void name_switched(const struct slice *s, const char *statements, struct str *text)
{
    static const char *const names[] = {"scalar_t", "DType"};
    struct wrapper_reader *r = s->r;
    const char *type = NULL;

    for (size_t i = 0; i < r->kernel.n_tparams && !type; i++)
        type = r->kernel.tparams[i].is_type ? map_get(&r->alias, r->kernel.tparams[i].name) : NULL;
    for (size_t i = 0; type && i < ARRAY_LEN(names); i++) {
        const char *made = arena_printf(r->arena, "using %s =", names[i]);
        if (str_has_word(statements, names[i]) && !strstr(statements, made) &&
            !strstr(str_text(&r->head), made) && !init_named(r->source, names[i]))
            str_addf(text, "    %s %s;\n", made, type);
    }
}

/* `TRY(cudaGetDevice(&device))` at [first, last), which nobody defines: the call alone. */
static bool is_checked_call(const struct wrapper_reader *r, size_t first, size_t last)
{
    const char *word = token_text(r->arena, &r->v[first]);

    return last > first + 3 && r->v[first].kind == TOK_WORD && token_is(&r->v[first + 1], "(") &&
           str_starts(token_text(r->arena, &r->v[first + 2]), "cuda") && !str_starts(word, "cuda") &&
           wrapper_skip(r->v, last, first + 1) == last && !init_named(r->source, word) &&
           !map_has(&r->source->macro_names, word);
}

/* What the template's arguments, the grid, the block and the shared bytes of the launch at [name, close) say;
 * its stream is the launcher's. */
static void need_launch(struct slice *s, size_t name, size_t close)
{
    const struct wrapper_reader *r = s->r;
    size_t item = s->launch + 1;

    for (int i = 0; i < 3 && item < close; i++)
        item = wrapper_item(r->v, item, close) + 1;
    for (size_t i = item; i < close; i++)
        map_put(&s->seen, token_text(r->arena, &r->v[i]), (void *)"");
    need_words(s, name + 1, MIN(item, close));
}

static bool has_tparam(const struct wrapper_function *f, const char *name)
{
    bool has = false;

    for (size_t i = 0; i < f->n_tparams; i++)
        has = has || str_eq(f->tparams[i].name, name);
    return has;
}

/* Names that the launch gives the kernel's template and nobody declares, as those of a switch that is left out
 * or of a lambda's template: types are those of the kernel's parameters, numbers are guessed. */
static void name_given(struct slice *s, size_t name)
{
    struct wrapper_reader *r = s->r;
    const size_t close =
        token_is(&r->v[name + 1], "<") ? wrapper_angle(r->v, r->f.body_end, name + 1) : name + 1;

    for (size_t i = name + 2, end, which = 0; i < close && which < r->kernel.n_tparams; i = end + 1, which++) {
        const struct wrapper_tparam *p = &r->kernel.tparams[which];
        const char *word = token_text(r->arena, &r->v[i]);
        end = wrapper_item(r->v, i, close);
        if (end != i + 1 || r->v[i].kind != TOK_WORD || token_in(&r->v[i], "true|false") ||
            has_tparam(&r->f, word) || (!str_eq(word, p->name) && wrapper_type_name(r, word, NULL)) ||
            map_has(&s->given, word) || map_has(&r->source->macro_names, word) || init_named(r->source, word) ||
            need_local(s, word))
            continue;
        const char *value = p->is_type ? map_get(&r->alias, p->name) : wrapper_guessed_value(r, p);
        if (p->is_type)
            str_addf(&r->head, "    using %s = %s;\n", word, value);
        else
            str_addf(&r->head, "    constexpr %s %s = %s;\n", p->type, word, value);
        map_put(&r->alias, word, (void *)value);
    }
}

/* Writes the launcher and the arguments; false: what the launch needs is not found. */
static bool write_slice(struct slice *s, size_t name, const struct init_wrapped *w,
                        const struct init_decl *host)
{
    struct wrapper_reader *r = s->r;
    struct str params = {0}, call = {0}, text = {0}, statements = {.arena = r->arena};
    size_t close = s->launch, from = 0;

    while (close < r->f.body_end && !token_is(&r->v[close], ">>>"))
        close++;
    choose_types(s, name);
    read_arguments(s, close + 1, &params, &call);
    need_launch(s, name, close);
    name_given(s, name);
    for (size_t i = 0; i < s->given.n; i++) {
        struct init_arg a = {.name = arena_strdup(r->arena, s->given.entries[i].key)};
        const char *spelled = s->given.entries[i].value;
        a.type = wrapper_type_name(r, spelled, NULL);
        wrapper_add_param(&params, "%s %s", spelled, a.name);
        wrapper_scalar(r, &a);
        vec_add(r->arena, &r->task->args, a);
    }
    for (size_t n = 0; n < s->used.n; n++) { /* in the file's order */
        const struct range *next = NULL;
        for (size_t i = 0; i < s->used.n; i++) {
            const struct range *x = &s->used.v[i];
            if (x->first >= from && (!next || x->first < next->first))
                next = x;
        }
        size_t first = next->first;
        from = first + 1;
        bool known = false;
        for (size_t i = 0; i < s->given.n; i++) /* what became a parameter is declared already */
            for (size_t k = first; k < next->last; k++)
                known = known || (k + 1 < next->last && token_is(&r->v[k], s->given.entries[i].key) &&
                                  token_is(&r->v[k + 1], "=") && k > first);
        size_t last = next->last;
        if (is_checked_call(r, first, last)) {
            first += 2;
            last--;
        }
        if (!known)
            str_addf(&statements, "    %s;\n", wrapper_expr(r, first, last));
    }
    str_addf(&statements, "    %s(%s);\n", wrapper_expr(r, name, close + 1), str_text(&call));
    wrapper_add_helpers(r, &text);
    wrapper_add_using(&text, r->arena, init_scope(r->source, w->kernel->scope));
    wrapper_add_scope(&text, r->source, w->kernel, host);
    str_addf(&text, "extern \"C\" void %s(%scudaStream_t stream)\n{\n%s", r->task->entry, str_text(&params),
             str_text(&r->head));
    name_switched(s, str_text(&statements), &text);
    str_addf(&text, "%s}\n", str_text(&statements));
    r->task->launcher = str_take(&text, r->arena);
    str_free(&params);
    str_free(&call);
    return !s->lost;
}

bool wrapper_slice(struct init_task *t, const struct init_wrapped *w, const struct init_decl *host)
{
    struct init_source *s = w->source;
    struct wrapper_reader r = {.arena = s->arena, .source = s, .task = t, .final = true, .in = w};
    struct tokens list = wrapper_launches(s, host, w->kernel->name);
    struct slice slice = {.r = &r, .owner = host->owner};
    size_t name = 0;
    bool ok;

    wrapper_clear_task(t);
    r.v = list.v;
    r.n = list.n;
    r.kernel_tokens = init_expand(s, w->kernel->first, w->kernel->end);
    ok = wrapper_scan(&r.kernel, s->arena, r.kernel_tokens.v, r.kernel_tokens.n) &&
         wrapper_scan(&r.f, s->arena, r.v, r.n) &&
         (slice.launch = find_launch(&r, w->kernel->name, &name)) != 0 && !in_case(&r, slice.launch) &&
         write_slice(&slice, name, w, host) && !r.why;
    if (ok)
        wrapper_note(&r, "of %s only the launch of %s and its sizes were read", host->name, w->kernel->name);
    str_free(&r.head);
    map_free(&r.alias);
    map_free(&slice.seen);
    map_free(&slice.given);
    map_free(&r.shown);
    return ok;
}
