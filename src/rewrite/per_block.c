/* Which variables of a kernel differ between blocks that one block's threads take in step: those that a block's
 * number, memory, a call or such a variable goes into, or whose value depends on a question that does. */
#include "rewrite/per_block.h"

enum { PARTS_MOST = 16, DEEPEST = 4 };

static bool waits_within(const struct function *f, struct node n, int depth);

static bool call_waits(const struct function *f, struct node call, int depth)
{
    const char *name = call_name(f, call);
    if (node_is(node_field(call, FIELD_FUNCTION), NODE_FIELD_EXPRESSION))
        return call_meets(f, call); /* of a group: whichever it is */
    if (str_starts(name, "__syncthreads") || str_eq(name, "sync") || str_eq(name, "reduce"))
        return call_meets(f, call);
    if (is_warp_builtin(name) || depth == DEEPEST)
        return false;
    for (struct node *definition = definitions_of(f); node_ok(*definition); definition++)
        if (node_text_is(f->s, definition_name(*definition), name) &&
            waits_within(f, node_field(*definition, FIELD_BODY), depth + 1))
            return true;
    return false;
}

static bool waits_within(const struct function *f, struct node n, int depth)
{
    if (node_is(n, NODE_CALL_EXPRESSION) && call_waits(f, n, depth))
        return true;
    if (node_is(n, NODE_GNU_ASM_EXPRESSION) && strstr(text_of(f, n), "bar"))
        return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (waits_within(f, node_child(n, i), depth))
            return true;
    return false;
}

bool waits(const struct function *f, struct node n)
{
    return waits_within(f, n, 0);
}

bool variable_differs(const struct part *p, const struct variable *v)
{
    return v && (v->shared || p->differs[v->index]);
}

static bool call_differs(const struct part *p, struct node call)
{
    struct node callee = node_field(call, FIELD_FUNCTION), args = node_field(call, FIELD_ARGUMENTS);
    const char *name = call_name(p->f, call);
    if (call_is_pure_builtin(p->f, call) || str_eq(name, "tiled_partition"))
        return differs(p, args);
    if (str_eq(name, "this_thread_block"))
        return false;
    bool method = node_is(callee, NODE_FIELD_EXPRESSION);
    return !method || call_meets(p->f, call) || differs(p, node_field(callee, FIELD_ARGUMENT)) ||
           differs(p, args);
}

bool differs(const struct part *p, struct node e)
{
    const struct function *f = p->f;
    if (node_is(e, NODE_IDENTIFIER))
        return variable_differs(p, function_variable_of(f, e));
    if (node_is(e, NODE_LAMBDA_EXPRESSION) || node_is(e, NODE_GNU_ASM_EXPRESSION))
        return true;
    if (node_is_access(f, e)) { /* what blocks only read is the same for all; nobody writes it meanwhile */
        const struct variable *root = pointer_root(f, e);
        bool only_read = root && (root->to_const || (f->global && !memory_written_in(f, root->name, f->body)));
        if (!root || !root->param || !only_read)
            return true;
    }
    if (node_is(e, NODE_FIELD_EXPRESSION) && str_eq(text_compact(f->a, text_of(f, e)), p->place))
        return true;
    if (node_is(e, NODE_CALL_EXPRESSION))
        return call_differs(p, e);
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (differs(p, node_child(e, i)))
            return true;
    return false;
}

/* Is n reached, or how often, by a question whose answer differs? */
static bool is_asked_for(const struct part *p, struct node n)
{
    for (struct node up = node_parent(n); node_ok(up) && !node_same(n, p->f->body);
         n = up, up = node_parent(n)) {
        struct node condition = node_field(up, FIELD_CONDITION);
        if (node_ok(condition) && !node_same(condition, n) && differs(p, condition))
            return true;
    }
    return false;
}

/* A pointer that is moved is one variable here. Is this new? */
static bool mark(struct part *p, const struct variable *v)
{
    bool new = v && !v->shared && !p->differs[v->index];
    if (new)
        p->differs[v->index] = true;
    return new;
}

/* The variable of the function itself that n is, or is a part of, under another type too (`*(float4 *)part`);
 * what a pointer leads to is none. */
static const struct variable *own_variable(const struct function *f, struct node n)
{
    bool element = false;
    const struct variable *array = node_is_access(f, node_strip(n)) ? pointer_root(f, n) : NULL;
    if (array && array->array && !array->param)
        return array;
    for (n = node_strip(n); node_is(n, NODE_FIELD_EXPRESSION) || node_is(n, NODE_SUBSCRIPT_EXPRESSION);
         n = node_strip(node_field(n, FIELD_ARGUMENT)))
        element = element || node_is(n, NODE_SUBSCRIPT_EXPRESSION);
    const struct variable *v = function_variable_of(f, n);
    return v && element && v->pointer && !v->array ? NULL : v;
}

/* What an argument's variable becomes where the call may write it. */
static bool mark_written(struct part *p, struct node call)
{
    size_t n;
    bool new = false;
    struct node *args = named_children(p->f, node_field(call, FIELD_ARGUMENTS), &n);
    const struct function *g = function_only(p->f, call_name(p->f, call));
    if (call_is_pure_builtin(p->f, call) || is_warp_builtin(call_name(p->f, call)) ||
        call_is_barrier(p->f, call))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct variable *v = own_variable(p->f, args[i]);
        bool by_value = g && i < g->n_params && !strchr(text_of(g, g->variables[i].statement), '&');
        if (v && !v->to_const && !v->pointer && !by_value)
            new = mark(p, v) || new;
    }
    return new;
}

bool leaves(const struct function *f, struct node n)
{
    static const enum node_kind kinds[] = {NODE_RETURN_STATEMENT, NODE_BREAK_STATEMENT,
                                           NODE_CONTINUE_STATEMENT};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        if (node_is(n, kinds[k]))
            return true;
        for (struct node *x = nodes_of(f, n, kinds[k]); node_ok(*x); x++) {
            bool within = false;
            for (struct node up = *x; !within && !node_same(up, n);) {
                up = node_parent(up);
                within = node_is_loop(up);
            }
            if (!within || k == 0)
                return true;
        }
    }
    return false;
}

bool leaves_by_block(const struct part *p, struct node loop)
{
    for (struct node *question = nodes_of(p->f, loop, NODE_IF_STATEMENT); node_ok(*question); question++)
        if (leaves(p->f, *question) && differs(p, node_field(*question, FIELD_CONDITION)))
            return true;
    return false;
}

/* All that a part of the function assigns. */
static bool mark_assigned(struct part *p, struct node n)
{
    struct node target = assigned_target(n);
    bool new = node_ok(target) && mark(p, own_variable(p->f, target));
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        new = mark_assigned(p, node_child(n, i)) || new;
    return new;
}

static bool spread_in(struct part *p, struct node n)
{
    const struct function *f = p->f;
    bool new = false;
    struct node target = assigned_target(n);
    const struct variable *v = node_ok(target) ? own_variable(f, target) : NULL;
    if (v && (differs(p, node_field(n, FIELD_RIGHT)) || is_asked_for(p, n)))
        new = mark(p, v);
    if (node_is_address(f, n))
        new = mark(p, own_variable(f, node_field(n, FIELD_ARGUMENT))) || new;
    if (node_is_loop(n) && leaves_by_block(p, n))
        new = mark_assigned(p, n) || new;
    if (node_is(n, NODE_CALL_EXPRESSION))
        new = mark_written(p, n) || new;
    if (node_is(n, NODE_REFERENCE_DECLARATOR)) /* another name for it */
        new = mark(p, own_variable(f, node_field(node_parent(n), FIELD_VALUE))) || new;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        new = spread_in(p, node_child(n, i)) || new;
    return new;
}

const struct part *called_part(const struct in_step *w, const struct part *caller, struct node call)
{
    const char *name = node_is(call, NODE_CALL_EXPRESSION) ? call_name(caller->f, call) : "";
    for (size_t i = 1; i < w->n; i++)
        if (str_eq(w->parts[i].f->name, name))
            return &w->parts[i];
    return NULL;
}

/* What calls give to the parts' parameters. */
static bool spread_to(struct in_step *w, struct part *p)
{
    size_t n_args;
    bool new = false;
    for (struct node *call = nodes_of(p->f, p->f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        struct part *g = (struct part *)called_part(w, p, *call);
        struct node *args = g ? named_children(p->f, node_field(*call, FIELD_ARGUMENTS), &n_args) : NULL;
        for (size_t k = 0; g && k < n_args && k < g->f->n_params; k++)
            if (differs(p, args[k]))
                new = mark(g, &g->f->variables[k]) || new;
    }
    return new;
}

static void spread(struct in_step *w)
{
    for (bool more = true; more;) {
        more = false;
        for (struct part *p = w->parts; p < w->parts + w->n; p++) {
            for (size_t v = 0; v < p->f->n_variables; v++) {
                const struct variable *x = &p->f->variables[v];
                if (node_ok(x->init) && !p->differs[v] && differs(p, x->init))
                    more = mark(p, x) || more;
            }
            more = spread_in(p, p->f->body) || more;
            more = spread_to(w, p) || more;
        }
    }
}

/* What only one block, as it was, can mean, or what makes blocks wait for each other. */
static const char *foreign_word(const char *body)
{
    static const char *const words[] = {"volatile", "__threadfence", "atomicCAS",    "atomicExch", "atomicInc",
                                        "goto",     "this_grid",     "this_cluster", "pipeline",   "barrier",
                                        "cub",      "gridDim",       "typedef",      "alignas",    "__align__",
                                        "switch",   "asm",           "try"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_has_word(body, words[i]))
            return words[i];
    return NULL;
}

static bool collect(struct in_step *w, const struct function *f, struct err *why)
{
    struct arena *a = f->a;
    const char *foreign = foreign_word(text_of(f, f->body));
    if (foreign)
        return err_input(why, "%s has %s", f->name, foreign);
    if (node_has_error(f->definition))
        return err_input(why, "%s is not understood", f->name);
    for (size_t i = 0; i < f->n_variables; i++)
        if ((f->variables[i].external && w->n > 0) || str_eq(f->variables[i].type, "auto"))
            return err_input(why, "%s of %s is not understood", f->variables[i].name, f->name);
    struct part *p = &w->parts[w->n++];
    *p = (struct part){.f = f, .place = w->place, .differs = arena_array(a, bool, f->n_variables + 1)};
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        const char *name = call_name(f, *call);
        const struct function *g = function_only(f, name);
        if (!g && waits(f, *call) && !call_is_barrier(f, *call))
            return err_input(why, "%s calls %s", f->name, name);
        if (!g || called_part(w, p, *call) || !call_meets(f, *call))
            continue;
        size_t before = w->n;
        bool known = !function_is_specialised(f, name) && w->n < PARTS_MOST && collect(w, g, why);
        if (!known && waits(f, *call))
            return why && why->kind ? false : err_input(why, "%s calls %s", f->name, name);
        if (!known) /* what only lanes of a warp do, each block does on its own */
            w->n = before;
    }
    return true;
}

/* Is something read at a place that is the same for all blocks, and another one for each thread or turn? What
 * is one place for all threads costs next to nothing. */
static bool reads_in_common(const struct part *p, struct node n)
{
    const struct function *f = p->f;
    struct reached r;
    if (element_reached(f, n, &r) && !node_ok(r.value) && !differs(p, n) &&
        !node_ok(assigned_target(node_parent(n)))) {
        struct poly at = node_ok(r.index) ? poly_of(f, r.index) : poly_number(0);
        const struct variable *v = function_variable_of(f, r.pointer);
        for (; v && v->base; v = v->base)
            at = poly_add(f, at, poly_of(f, v->init), 1);
        for (int i = 0; i < at.n; i++)
            for (int k = 0; k < at.t[i].n; k++)
                if (str_starts(at.t[i].atom[k], "threadIdx") || str_eq(at.t[i].atom[k], POLY_LANE))
                    return true;
    }
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (reads_in_common(p, node_child(n, i)))
            return true;
    return false;
}

bool in_step_open(struct in_step *w, const struct function *kernel, int axis, struct err *why)
{
    static const char *const places[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
    struct arena *a = kernel->a;
    *w = (struct in_step){
        .kernel = kernel, .place = places[axis], .parts = arena_array(a, struct part, PARTS_MOST)};
    bool waits = calls_barrier(kernel, kernel->body);
    if (!waits && axis == 0)
        return err_input(why, "threads of %s do not wait for each other", kernel->name);
    if (!strstr(text_compact(a, text_of(kernel, kernel->body)), w->place))
        return err_input(why, "%s has no blocks along that way", kernel->name);
    if (macros_ask_for_place(kernel))
        return err_input(why, "a macro asks for its thread");
    if (!collect(w, kernel, why))
        return false;
    spread(w);
    if (!waits && !reads_in_common(&w->parts[0], kernel->body))
        return err_input(why, "blocks of %s have nothing in common", kernel->name);
    return true;
}
