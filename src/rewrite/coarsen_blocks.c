/* coarsen-blocks: a block's threads take several blocks, in step: each statement is done for all of them before
 * the next one. Loads of several rows are under way at once, and they wait at one barrier. Variables that
 * differ between blocks become arrays, shared ones too; what is the same is computed once. Each block does what
 * it did, in the same order, so results are the same to the bit. The setting is the number of blocks, which are
 * neighbours along x, y or z of the grid. */
#include "rewrite/per_block.h"

enum {
    SHARED_BYTES = 32768, /* that several blocks in step may have of dynamic shared memory */
    ALONG_Y = 100,        /* a setting is the number of blocks, and this once for neighbours along y, */
    ALONG_Z = 200,        /* or this for those along z */
};

struct step { /* what a setting says */
    int by, axis;
};

static struct step step_of(int setting)
{
    return (struct step){.by = setting % ALONG_Y, .axis = setting / ALONG_Y};
}

struct writer {
    struct in_step *w;
    const struct part *p;
    struct edits *e;
    struct err *why;
    const char *k, *result; /* names: of a block, and of what a part gives back */
    const char *bytes;      /* and of a block's dynamic shared memory, of the kernel; NULL: it has none */
    struct node *all;       /* found: what the number of blocks must not be above; no node: nothing */
    int by;
    bool *used; /* parts that are called */
};

static bool put(const struct writer *c, struct node statement);

static char *loop_head(const struct writer *c, const char *indent)
{
    return arena_printf(c->p->f->a, "#pragma unroll\n%sfor (int %s = 0; %s < %d; %s++)\n%s    ", indent, c->k,
                        c->k, c->by, c->k, indent);
}

/* The name that a variable's array has: a kernel's own parameter stays what it is. */
static const char *array_name(const struct writer *c, const struct variable *v)
{
    const struct function *f = c->p->f;
    bool param = v->index < f->n_params;
    if (v->shared && v->external)
        return fresh_local(f, arena_printf(f->a, "%s_of", v->name));
    return param && f->global ? fresh_local(f, arena_printf(f->a, "%s_of", v->name)) : v->name;
}

/* A range of the text for the block k: what is declared within it is this block's already. */
static char *for_block(const struct writer *c, size_t start, size_t end)
{
    const struct function *f = c->p->f;
    struct edits own = {.arena = f->a};
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool here = node_start(*name) >= start && node_end(*name) <= end;
        size_t declared = v ? f->variables[v->index].from : 0;
        if (here && variable_differs(c->p, v) && !(declared >= start && declared < end))
            edits_node(&own, *name, arena_printf(f->a, "%s[%s]", array_name(c, v), c->k));
    }
    for (struct node *field = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*field); field++)
        if (node_start(*field) >= start && node_end(*field) <= end &&
            str_eq(text_compact(f->a, text_of(f, *field)), c->p->place))
            edits_node(&own, *field, arena_printf(f->a, "(%s * %d + %s)", c->p->place, c->by, c->k));
    return edits_range(&own, f, start, end);
}

static char *node_for_block(const struct writer *c, struct node n)
{
    return for_block(c, node_start(n), node_end(n));
}

static struct node pragma_above(struct node statement)
{
    struct node before = node_prev(statement);
    return node_is(before, NODE_PREPROC_CALL) ? before : (struct node){0};
}

/* The statement once for each block. */
static bool repeat(const struct writer *c, struct node statement)
{
    const struct function *f = c->p->f;
    if (waits(f, statement) || leaves(f, statement))
        return err_input(c->why, "threads of one block of %s wait or leave at line %d", f->name,
                         node_line(f->s, statement));
    struct node pragma = pragma_above(statement);
    char *indent = text_indent(f, node_start(statement)), *head = loop_head(c, indent);
    int by = 4;
    if (node_ok(pragma)) { /* it is of the statement, a loop */
        size_t at = node_start(pragma), len = strcspn(f->text + at, "\n");
        head = arena_printf(f->a, "%s{\n%s\n%s        ", head, text_range(f, at, at + len), indent);
        edits_try(c->e, at, at + len, "");
        by = 8;
    }
    char *text = text_reindent(f->a, node_for_block(c, statement), by);
    return edits_node(c->e, statement,
                      arena_printf(f->a, by == 8 ? "%s%s\n%s    }" : "%s%s", head, text, indent));
}

/* Is what a part's declaration calls by this type, where it is called so, the given type? */
static bool same_type(const struct writer *c, const struct part *g, struct node call, const char *there,
                      const char *here)
{
    const struct function *f = c->p->f;
    struct node callee = node_field(call, FIELD_FUNCTION);
    size_t position, n;
    while (node_is(callee, NODE_QUALIFIED_IDENTIFIER))
        callee = node_field(callee, FIELD_NAME);
    if (!ctype_is_parameter(g->f, there, &position))
        return str_eq(ctype_alias(g->f, there), ctype_alias(f, ctype_bound(f, here)));
    if (!node_is(callee, NODE_TEMPLATE_FUNCTION))
        return true; /* told by the arguments, which are arrays of this type */
    struct node *args = named_children(f, node_field(callee, FIELD_ARGUMENTS), &n);
    return position >= n || str_eq(text_of(f, args[position]), here) ||
           str_eq(text_of(f, args[position]), ctype_bound(f, here));
}

static const char *return_type(const struct part *g)
{
    struct node declarator = node_field(g->f->definition, FIELD_DECLARATOR);
    return node_is(declarator, NODE_FUNCTION_DECLARATOR)
               ? text_of(g->f, node_field(g->f->definition, FIELD_TYPE))
               : "";
}

/* The call of a part, its arguments for all blocks; what it gives back goes to the target (no node: nothing).
 */
static char *part_call(const struct writer *c, struct node call, const struct variable *target,
                       const char *name)
{
    const struct function *f = c->p->f;
    const struct part *g = called_part(c->w, c->p, call);
    size_t n;
    struct node *args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n);
    bool nothing = str_eq(return_type(g), "void");
    if (n != g->f->n_params || nothing != !name ||
        (name && !same_type(c, g, call, return_type(g), target ? target->type : return_type(c->p))))
        return NULL;
    struct node callee = node_field(call, FIELD_FUNCTION), word = callee_name(callee);
    struct str b = {.arena = f->a}, before = {.arena = f->a};
    const char *indent = text_indent(f, node_start(call));
    str_addf(&b, "%s%s%s(%s", text_range(f, node_start(callee), node_start(word)), g->copy,
             text_range(f, node_end(word), node_end(callee)), name ? name : "");
    const char *type = name && target ? target->type : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct variable *v = function_variable_of(f, args[i]), *param = &g->f->variables[i];
        str_add(&b, i > 0 || name ? ", " : "");
        if (!variable_differs(g, param)) {
            str_add(&b, text_of(f, args[i]));
            continue;
        }
        bool whole = v && variable_differs(c->p, v) && !v->shared && !v->array && v->pointer == param->pointer;
        const char *own = whole ? v->type : expression_type(f, args[i]);
        if (!own || !same_type(c, g, call, param->type, own) || (type && !str_eq(type, own)) ||
            (!whole && param->pointer))
            return NULL;
        type = own;
        if (whole) {
            str_add(&b, array_name(c, v));
            continue;
        }
        const char *given = fresh_local(f, arena_printf(f->a, "given_%u", (unsigned)node_start(args[i])));
        str_addf(&before, "%s %s[%d];\n%s%s%s[%s] = %s;\n%s", own, given, c->by, indent, loop_head(c, indent),
                 given, c->k, node_for_block(c, args[i]), indent);
        str_add(&b, given);
    }
    c->used[g - c->w->parts] = true;
    return arena_printf(f->a, "%s%s);", str_text(&before), str_text(&b));
}

/* Likewise, also where a question that is the same for all blocks chooses between two calls; NULL: it is no
 * call of a part. */
static char *value_call(const struct writer *c, struct node value, const struct variable *target,
                        const char *name)
{
    const struct function *f = c->p->f;
    struct node e = node_strip(value), asks = node_field(e, FIELD_CONDITION);
    if (called_part(c->w, c->p, e))
        return part_call(c, e, target, name);
    if (!node_is(e, NODE_CONDITIONAL_EXPRESSION) || differs(c->p, asks))
        return NULL;
    char *yes = value_call(c, node_field(e, FIELD_CONSEQUENCE), target, name),
         *no = value_call(c, node_field(e, FIELD_ALTERNATIVE), target, name),
         *indent = text_indent(f, node_start(e));
    return yes && no ? arena_printf(f->a, "if (%s) {\n%s    %s\n%s} else {\n%s    %s\n%s}", text_of(f, asks),
                                    indent, yes, indent, indent, no, indent)
                     : NULL;
}

/* One declared variable, and its first value for each block. */
static bool put_variable(const struct writer *c, const struct variable *v, const char *indent, struct str *b)
{
    const struct function *f = c->p->f;
    struct node init = v->init;
    if (!variable_differs(c->p, v)) {
        str_addf(b, "%s%s", variable_type_text(f, v), v->name);
        str_addf(b, node_ok(init) ? " = %s;" : ";", node_ok(init) ? text_of(f, init) : "");
        return !v->array;
    }
    str_add(b, variable_array_text(f, v, c->by));
    if (!node_ok(init)) {
        str_add(b, ";");
        return true;
    }
    if (v->array) {
        str_add(b, " = {};");
        return str_in(text_compact(f->a, text_of(f, init)), "{}|{0}|{0.f}|{0.0f}|{0.0}");
    }
    if (node_is(init, NODE_INITIALIZER_LIST) || node_is(init, NODE_ARGUMENT_LIST) || !variable_is_plain(f, v))
        return false;
    str_addf(b, ";\n%s", indent);
    char *called = value_call(c, init, v, v->name);
    if (called)
        str_add(b, called);
    else
        str_addf(b, "%s%s[%s] = %s;", loop_head(c, indent), v->name, c->k, node_for_block(c, init));
    return called || !waits(f, init);
}

static bool put_declaration(const struct writer *c, struct node d)
{
    const struct function *f = c->p->f;
    const char *indent = text_indent(f, node_start(d));
    struct str b = {.arena = f->a};
    bool any = false, shared = false;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (!node_same(v->statement, d))
            continue;
        any = any || variable_differs(c->p, v);
        shared = shared || v->shared;
        if (v->external) { /* dynamic: the launcher says how much is a block's */
            const char *of = array_name(c, v);
            edits_at(c->e, node_end(d),
                     arena_printf(f->a,
                                  "\n%s%s *%s[%d];\n%s%s%s[%s] = reinterpret_cast<%s *>(reinterpret_cast<char "
                                  "*>(%s) + %s * %s);",
                                  indent, v->type, of, c->by, indent, loop_head(c, indent), of, c->k, v->type,
                                  v->name, c->k, c->bytes));
        } else if (v->shared)
            edits_at(c->e, node_end(v->id), arena_printf(f->a, "[%d]", c->by));
    }
    if (!any && waits(f, d))
        return err_input(c->why, "line %d", node_line(f->s, d));
    if (!any || shared)
        return true;
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        if (!node_same(v->statement, d))
            continue;
        str_add(&b, b.len ? arena_printf(f->a, "\n%s", indent) : "");
        if (!put_variable(c, v, indent, &b) || strchr(text_range(f, node_start(d), v->from), '&'))
            return err_input(c->why, "%s of %s at line %d has no copy for each block", v->name, f->name,
                             node_line(f->s, d));
    }
    return edits_node(c->e, d, str_text(&b));
}

/* A statement for itself, in braces where it had none. */
static bool put_body(const struct writer *c, struct node body)
{
    const struct function *f = c->p->f;
    size_t n;
    if (node_is(body, NODE_COMPOUND_STATEMENT)) {
        struct node *all = named_children(f, body, &n);
        for (size_t i = 0; i < n; i++)
            if (!put(c, all[i]))
                return false;
        return true;
    }
    struct edits own = {.arena = f->a};
    struct writer inner = *c;
    inner.e = &own;
    if (!put(&inner, body) || own.clash)
        return false;
    if (own.list.n == 0)
        return true;
    char *text = edits_range(&own, f, node_start(body), node_end(body));
    size_t from = node_start(body); /* the brace stands on the line of the question */
    while (from > 0 && strchr(" \n", f->text[from - 1]))
        from--;
    return edits_try(c->e, from, node_end(body),
                     arena_printf(f->a, " {\n%s%s\n%s}", text_indent(f, node_start(body)), text,
                                  text_indent(f, node_start(node_parent(body)))));
}

static bool put_expression(const struct writer *c, struct node statement)
{
    const struct function *f = c->p->f;
    struct node e = statement_expression(statement), target = assigned_target(e), call = node_strip(e);
    const struct variable *v = function_variable_of(f, target);
    bool assigns = node_is_assignment(f, e, "=");
    if (node_is(call, NODE_CALL_EXPRESSION) &&
        (call_is_barrier(f, call) || str_eq(call_name(f, call), "__syncwarp") || group_method(f, call, "sync")))
        return true;
    if (v && !variable_differs(c->p, v) && !waits(f, statement))
        return true;
    if (!assigns || (v && variable_differs(c->p, v) && !v->shared && !v->array)) {
        char *text =
            value_call(c, assigns ? node_field(e, FIELD_RIGHT) : call, v, assigns ? array_name(c, v) : NULL);
        if (text)
            return edits_node(c->e, statement, text);
    }
    return repeat(c, statement);
}

/* `block >= blocks`: no block asks where the launcher knows that there are not more. */
static bool is_end(const struct writer *c, struct node question)
{
    const struct function *f = c->p->f;
    question = node_strip(question);
    if (!node_is_binary(f, question, ">=") || differs(c->p, node_field(question, FIELD_RIGHT)))
        return false;
    struct poly left = poly_of(f, node_field(question, FIELD_LEFT)), block = poly_atom(f, c->p->place);
    return poly_same(&left, &block);
}

/* `if (block >= blocks) return;`, or among other questions whose answers are the same for all blocks. */
static bool asks_for_end(const struct writer *c, struct node statement)
{
    const struct function *f = c->p->f;
    struct node condition = node_strip(node_field(statement, FIELD_CONDITION)), end = condition, other = {0},
                then = node_unbraced(f, node_field(statement, FIELD_CONSEQUENCE));
    if (!f->global || !node_is(then, NODE_RETURN_STATEMENT) || node_ok(*c->all) ||
        !node_same(node_parent(statement), f->body) || node_ok(node_field(statement, FIELD_ALTERNATIVE)))
        return false;
    if (node_is_binary(f, condition, "||")) {
        bool first = is_end(c, node_field(condition, FIELD_LEFT));
        end = node_field(condition, first ? FIELD_LEFT : FIELD_RIGHT);
        other = node_field(condition, first ? FIELD_RIGHT : FIELD_LEFT);
    }
    if (!is_end(c, end) || (node_ok(other) && differs(c->p, other)))
        return false;
    *c->all = node_field(node_strip(end), FIELD_RIGHT);
    return node_ok(other) ? edits_node(c->e, condition, text_of(f, other)) : edits_node(c->e, statement, "");
}

static bool put_if(const struct writer *c, struct node statement)
{
    struct node other = node_field(statement, FIELD_ALTERNATIVE);
    if (asks_for_end(c, statement))
        return true;
    if (differs(c->p, node_field(statement, FIELD_CONDITION)))
        return repeat(c, statement);
    if (node_is(other, NODE_ELSE_CLAUSE))
        other = node_child(other, 0);
    return put_body(c, node_field(statement, FIELD_CONSEQUENCE)) && (!node_ok(other) || put_body(c, other));
}

static bool put_loop(const struct writer *c, struct node statement)
{
    const struct part *p = c->p;
    struct node body = node_field(statement, FIELD_BODY), first = node_field(statement, FIELD_INITIALIZER);
    bool own = differs(p, first) || differs(p, node_field(statement, FIELD_CONDITION)) ||
               differs(p, node_field(statement, FIELD_UPDATE)) || leaves_by_block(p, body);
    for (size_t i = 0; i < p->f->n_variables; i++)
        own = own || (node_same(p->f->variables[i].statement, first) && p->differs[i]);
    return own ? repeat(c, statement) : put_body(c, body);
}

static bool put(const struct writer *c, struct node statement)
{
    const struct function *f = c->p->f;
    size_t n;
    switch (node_kind(statement)) {
    case NODE_COMPOUND_STATEMENT:
        return put_body(c, statement);
    case NODE_DECLARATION:
        return put_declaration(c, statement);
    case NODE_EXPRESSION_STATEMENT:
        return node_count(statement) == 0 || put_expression(c, statement);
    case NODE_IF_STATEMENT:
        return put_if(c, statement);
    case NODE_FOR_STATEMENT:
    case NODE_WHILE_STATEMENT:
    case NODE_DO_STATEMENT:
        return put_loop(c, statement);
    case NODE_RETURN_STATEMENT: {
        struct node value = node_count(statement) ? node_child(statement, 0) : (struct node){0};
        if (!node_ok(value))
            return true;
        node_find_all(f->a, f->body, NODE_RETURN_STATEMENT, &n);
        if (n > 1 || !node_same(node_parent(statement), f->body))
            return err_input(c->why, "%s gives back values at several places", f->name);
        char *called = value_call(c, value, NULL, c->result);
        if (!called && waits(f, value))
            return err_input(c->why, "%s waits as it ends", f->name);
        char *head = loop_head(c, text_indent(f, node_start(statement)));
        return edits_node(
            c->e, statement,
            called ? called
                   : arena_printf(f->a, "%s%s[%s] = %s;", head, c->result, c->k, node_for_block(c, value)));
    }
    case NODE_PREPROC_CALL:
    case NODE_BREAK_STATEMENT:
    case NODE_CONTINUE_STATEMENT:
    case NODE_STATIC_ASSERT_DECLARATION:
    case NODE_ALIAS_DECLARATION:
    case NODE_USING_DECLARATION:
    case NODE_COMMENT:
        return true;
    default:
        return err_input(c->why, "line %d of %s", node_line(f->s, statement), f->name);
    }
}

/* Parameters that differ: arrays of the caller, or, of the kernel, arrays that begin as the parameter. */
static bool put_parameters(const struct writer *c)
{
    const struct function *f = c->p->f;
    struct str head = {.arena = f->a};
    const char **params = arena_array(f->a, const char *, f->n_params + 2);
    size_t n = 0;
    bool nothing = str_eq(return_type(c->p), "void");
    if (!f->global && !nothing)
        params[n++] = arena_printf(f->a, "%s (&%s)[%d]", return_type(c->p), c->result, c->by);
    for (size_t i = 0; i < f->n_params; i++) {
        const struct variable *v = &f->variables[i];
        char *text = text_of(f, v->statement);
        params[n++] = text;
        if (!variable_differs(c->p, v))
            continue;
        if (v->array || strchr(text, '&') || strchr(text, '=') || !variable_is_plain(f, v))
            return err_input(c->why, "%s of %s has no copy for each block", v->name, f->name);
        bool written = v->assignments > 0;
        for (size_t k = f->n_params; k < f->n_variables; k++)
            written = written || f->variables[k].index == i;
        const char *given =
            written || f->global ? fresh_local(f, arena_printf(f->a, "%s_given", v->name)) : v->name;
        const char *from = f->global ? v->name : arena_printf(f->a, "%s[%s]", given, c->k);
        if (!f->global)
            params[n - 1] = arena_printf(f->a, "%s(&%s)[%d]", variable_type_text(f, v), given, c->by);
        if (f->global || written)
            str_addf(&head, "\n    %s%s[%d];\n    %s%s[%s] = %s;", variable_type_text(f, v), array_name(c, v),
                     c->by, loop_head(c, "    "), array_name(c, v), c->k, from);
    }
    if (str_text(&head)[0])
        edits_at(c->e, node_start(f->body) + 1, str_text(&head));
    if (f->global && c->bytes) {
        params[n++] = arena_printf(f->a, "unsigned int %s", c->bytes);
        edits_parameters(c->e, f, params, n, (int)(strlen(c->p->copy) - strlen(f->name)));
    }
    if (f->global)
        return true;
    if (f->n_params == 0)
        return nothing;
    edits_parameters(c->e, f, params, n, (int)(strlen(c->p->copy) - strlen(f->name)));
    if (!nothing)
        edits_node(c->e, node_field(f->definition, FIELD_TYPE), "void");
    return true;
}

/* A macro that says a variable's name would say the array's. */
static bool macros_name(const struct part *p)
{
    for (struct node *item = file_items(p->f, NULL); node_ok(*item); item++)
        for (size_t v = 0; v < p->f->n_variables && node_is_directive(*item); v++)
            if (p->differs[v] && !node_is(*item, NODE_PREPROC_IF) && !node_is(*item, NODE_PREPROC_IFDEF) &&
                !node_ok(node_field(*item, FIELD_PARAMETERS)) &&
                str_has_word(text_of(p->f, *item), p->f->variables[v].name))
                return true;
    return false;
}

static const char *const suffixes[] = {"", "y", "z"};

struct coarse {        /* made */
    const char *name;  /* of the kernel's copy */
    const char *bytes; /* the copy takes a block's dynamic shared memory; NULL: there is none */
    struct node all;   /* there must not be more blocks; no node: it does not matter */
};

/* All copies, put into the file. */
static bool copies(const struct function *f, struct step step, struct edits *edits, struct coarse *made,
                   struct err *why)
{
    struct in_step w;
    struct arena *a = f->a;
    const int by = step.by;
    if (!in_step_open(&w, f, step.axis, why))
        return false;
    bool *used = arena_array(a, bool, w.n + 1), *done = arena_array(a, bool, w.n + 1);
    used[0] = true;
    *made = (struct coarse){0};
    for (size_t i = 0; i < f->n_variables; i++)
        if (f->variables[i].external)
            made->bytes = fresh_local(f, "block_bytes");
    for (size_t i = 0; i < w.n; i++)
        w.parts[i].copy =
            fresh_name(f, arena_printf(a, "%s_by%d%s", w.parts[i].f->name, by, suffixes[step.axis]));
    for (size_t i = 0; i < w.n; i++) {
        const struct function *g = w.parts[i].f;
        if (!used[i] || done[i])
            continue;
        struct edits inside = {.arena = a};
        struct writer c = {.w = &w,
                           .p = &w.parts[i],
                           .e = &inside,
                           .why = why,
                           .by = by,
                           .used = used,
                           .bytes = made->bytes,
                           .all = &made->all};
        c.k = fresh_local(g, "k");
        c.result = fresh_local(g, "result");
        if (macros_name(c.p))
            return err_input(why, "a macro names a variable of %s", g->name);
        if (!put_parameters(&c) || !put_body(&c, g->body) ||
            !edits_copy(edits, &inside, g, c.p->copy, arena_printf(a, "for %d blocks in step", by), why))
            return false;
        done[i] = true;
        i = (size_t)-1; /* one that was passed over may be called now */
    }
    made->name = w.parts[0].copy;
    return true;
}

/* So many blocks, at least, that every SM has some to work on all the same; neighbours along y and z share what
 * they read, which pays for one. */
static int64_t blocks_least(const struct function *f, struct step step)
{
    const int64_t of_an_sm = step.axis ? 1 : 2;

    return f->in->limits ? step.by * of_an_sm * f->in->limits->sm_count : 0;
}

static bool pays(const struct function *f, struct step step)
{
    const uint32_t by = (uint32_t)step.by;
    bool many = f->in->n_plans == 0;
    for (const struct plan_step *s = NULL; (s = planned_launch(f, s));) {
        if (s->cooperative || s->cluster[0] > 1)
            return false;
        many = many || (s->grid[step.axis] % by == 0 &&
                        (int64_t)s->grid[0] * s->grid[1] * s->grid[2] >= blocks_least(f, step));
    }
    return many;
}

/* Is it, or has it, such a copy? */
static bool is_coarse(const struct function *f, int axis)
{
    static const int all[] = {2, 4, 8};
    const char *end = strrchr(f->name, '_');
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        const char *of = arena_printf(f->a, "_by%d%s", all[i], suffixes[axis]);
        bool named = end && str_eq(end, of);
        if (function_only(f, arena_printf(f->a, "%s%s", f->name, of)) ||
            (named && function_only(f, arena_strndup(f->a, f->name, (size_t)(end - f->name)))))
            return true;
    }
    return false;
}

/* The grid's three numbers as the launcher writes them; false where the one along the axis is not seen. */
static bool grid_parts(const struct function *f, const struct launch *l, int axis, const char *part[3])
{
    char *x, *y;
    size_t n = 0;
    if (!launch_grid_x(f, l, &x) || (axis > 0 && !launch_grid_y(f, l, &y)))
        return false;
    part[0] = x;
    part[1] = part[2] = "1";
    if (axis == 0)
        return true;
    part[1] = y;
    size_t len = strlen(y);
    bool named = node_is(l->grid, NODE_IDENTIFIER) && len > 2 && str_eq(y + len - 2, ".y");
    struct node *list = launch_dim3(f, l, l->grid, &n);
    if (named)
        part[2] = arena_printf(f->a, "%.*s.z", (int)(len - 2), y);
    else if (list && n > 2)
        part[2] = text_of(f, list[2]);
    return named || (list && n > (size_t)axis);
}

/* Is the launch one that the copy can take the place of? */
static bool launch_fits(const struct function *f, const struct launch *l, int axis, const struct coarse *made,
                        bool pointer)
{
    const char *part[3];
    bool dynamic = node_ok(l->shared) && !node_text_is(f->s, l->shared, "0");
    if (dynamic != (made->bytes != NULL) || !grid_parts(f, l, axis, part) || (pointer && axis > 0))
        return false;
    if (pointer)
        return !dynamic && !node_ok(made->all);
    return l->n_args == f->n_params && l->n_args > 0 &&
           (!node_ok(made->all) || launch_expression(f, l, made->all));
}

static bool can(const struct function *f, struct step step, struct edits *edits, struct coarse *made,
                struct pointer_launch *pointer, struct err *why)
{
    bool direct = f->n_launches > 0 && !function_is_named_elsewhere(f);
    if (!direct && (f->n_launches > 0 || !launch_by_pointer(f, pointer)))
        return err_input(why, "%s is used other than by launches", f->name);
    if (is_coarse(f, step.axis))
        return err_input(why, "%s takes several blocks already", f->name);
    if (!pays(f, step))
        return err_input(why, "%s has few blocks", f->name);
    if (!copies(f, step, edits, made, why))
        return false;
    bool fits = direct || launch_fits(f, &pointer->launch, step.axis, made, true);
    for (size_t l = 0; l < f->n_launches && fits; l++)
        fits = launch_fits(f, &f->launches[l], step.axis, made, false);
    return fits || err_input(why, "a launch of %s is not understood", f->name);
}

static void blocks_find(struct function *f, struct site_list *found)
{
    static const int own[] = {4, 2, ALONG_Y + 4, ALONG_Y + 2, ALONG_Z + 8, ALONG_Z + 4, ALONG_Z + 2};
    for (const int *by = settings_to_try(f, found, own, ARRAY_LEN(own)); *by != NO_SETTING; by++) {
        struct edits edits = {.arena = f->a};
        struct coarse made;
        struct pointer_launch pointer;
        const struct step step = step_of(*by);
        if (can(f, step, &edits, &made, &pointer, NULL) && !edits.clash)
            site_add(found, f, f->definition, *by,
                     "a thread has little under way before it waits for others; several blocks in step have "
                     "more, wait together, and read once what they share",
                     "%d blocks in step along %c", step.by, 'x' + step.axis);
    }
}

/* When the copy is taken: whole groups of blocks, and enough of them. */
static char *blocks_guard(const struct function *f, const char *const part[3], struct step step)
{
    int64_t least = blocks_least(f, step);
    const char *x = part[step.axis], *all = x;
    for (int i = 0; i < 3 && step.axis > 0; i++)
        if (i != step.axis && !str_eq(part[i], "1"))
            all = arena_printf(f->a, "%s * %s", all, part[i]);
    return least > 0 ? arena_printf(f->a, "%s %% %d == 0 && %s >= %lld", x, step.by, all, (long long)least)
                     : arena_printf(f->a, "%s %% %d == 0", x, step.by);
}

static void pointer_apply(const struct function *f, const struct pointer_launch *p, const char *name, int by,
                          struct edits *edits)
{
    struct arena *a = f->a;
    char *in_step = fresh_name(f, "in_step"), *indent = text_indent(f, node_start(p->declared));
    const char *part[3] = {"1", "1", "1"};
    grid_parts(f, &p->launch, 0, part);
    const char *x = part[0];
    edits_at(edits, node_start(p->declared),
             arena_printf(a, "// Several blocks in step, where there are many.\n%sconst bool %s = %s;\n%s",
                          indent, in_step, blocks_guard(f, part, (struct step){.by = by}), indent));
    for (size_t i = 0; i < p->n; i++) {
        const char *old = text_of(f, p->values[i]), *at = strstr(old, f->name);
        edits_node(edits, p->values[i],
                   arena_printf(a, "%s ? %.*s%s%s : %s", in_step, (int)(at - old), old, name,
                                at + strlen(f->name), old));
    }
    edits_node(edits, p->launch.grid, arena_printf(a, "%s ? %s / %d : %s", in_step, x, by, x));
}

static void launch_apply(const struct function *f, const struct launch *l, const struct coarse *made,
                         struct step step, struct edits *edits)
{
    struct arena *a = f->a;
    struct edits call = {.arena = a};
    const char *part[3] = {"1", "1", "1"};
    const int by = step.by;
    grid_parts(f, l, step.axis, part); /* launch_fits has seen it */
    char *guard = blocks_guard(f, part, step);
    if (node_ok(made->all))
        guard = arena_printf(a, "%s && %s <= %s", guard, part[step.axis], launch_expression(f, l, made->all));
    part[step.axis] = arena_printf(a, "%s / %d", part[step.axis], by);
    edits_node(&call, l->name, made->name);
    edits_node(&call, l->grid,
               step.axis ? arena_printf(a, "dim3(%s, %s, %s)", part[0], part[1], part[2])
                         : launch_grid_with(f, l, part[0], NULL));
    if (made->bytes) {
        char *bytes = arena_printf(a, "((%s) + 15) / 16 * 16", text_of(f, l->shared));
        guard = arena_printf(a, "%s && %s <= %d", guard, bytes, SHARED_BYTES / by);
        edits_node(&call, l->shared, arena_printf(a, "%s * %d", bytes, by));
        edits_at(&call, node_end(l->args[l->n_args - 1]), arena_printf(a, ", %s", bytes));
    }
    edits_guard_launch(edits, f, l, "Several blocks in step, where there are many.", guard,
                       edits_range(&call, f, node_start(l->statement), node_end(l->statement)));
}

static bool blocks_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    struct coarse made;
    struct pointer_launch pointer;
    const struct step step = step_of(site->setting);
    if (!can(f, step, edits, &made, &pointer, why_not))
        return false;
    if (f->n_launches == 0)
        pointer_apply(f, &pointer, made.name, step.by, edits);
    for (size_t l = 0; l < f->n_launches; l++)
        launch_apply(f, &f->launches[l], &made, step, edits);
    return true;
}

static const char *blocks_words(struct arena *a, int setting)
{
    const struct step step = step_of(setting);
    return step.axis ? arena_printf(a, "%d along %c", step.by, 'x' + step.axis) : NULL;
}

const struct transform transform_coarsen_blocks = {
    .name = "coarsen-blocks",
    .summary =
        "the threads of a block do the work of several blocks in step, with more loads under way at once",
    .helps = "latency sync dram issue",
    .parameters = {{"blocks", 1, ALONG_Y, 3, {2, 4, 8}}, {"along", ALONG_Y, 0, 3, {0, 1, 2}}},
    .setting_words = blocks_words,
    .find = blocks_find,
    .apply = blocks_apply,
};
