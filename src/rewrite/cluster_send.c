/* What cluster-row needs where threads leave something for each other in shared memory and all meet behind it
 * (`if (lane == 0) part[warp] = x; __syncthreads(); ... part[i] ...`): each value goes to every block of the
 * cluster by st.async, which counts its bytes at that block's mbarrier, and a block waits for its own.
 *
 * Legal where every shared variable is stored once, by a known number of threads, right before the barrier
 * behind which it is read: nothing is stored twice at one place, so that no barrier need keep readers and
 * writers apart. A function that meets so has other memory for each of its calls, and is called outside loops.
 * Barriers also order the memory of the device: what one statement writes there no later one reads. */
#include "rewrite/cluster_send.h"

enum { POSTS_MOST = 8 };

struct post { /* one meeting */
    const struct function *f;
    struct node first, barrier;  /* statements: the first question, and where all meet */
    node_list stores;            /* assignments to shared variables, */
    int64_t threads[POSTS_MOST]; /* each by so many threads of the row */
};

struct called { /* of a function that has posts */
    struct node call;
    const struct function *g;
    int meeting; /* its first one's number there */
};

struct sends {
    const struct regroup *r;
    VEC(struct post) posts;
    VEC(struct called) calls;
    int n;
    struct node first;
};

/* By how many threads a question is answered with yes; 0: not known. */
static int64_t threads_asked(const struct function *f, struct node condition, int64_t threads)
{
    struct node e = node_strip(condition), x = node_field(e, FIELD_LEFT), zero = node_field(e, FIELD_RIGHT);
    int64_t value = 0;

    if (node_is(e, NODE_UNARY_EXPRESSION) && str_eq(node_op(f, e), "!"))
        x = node_field(e, FIELD_ARGUMENT);
    else if (!node_is_binary(f, e, "==") || !constant_value(f, zero, &value) || value != 0)
        return 0;
    struct poly p = poly_of(f, x), lane = poly_atom(f, POLY_LANE);
    if (poly_same(&p, &lane))
        return threads / 32;
    return poly_is_thread(f, x) ? 1 : 0;
}

static const struct variable *shared_target(const struct function *f, struct node e)
{
    struct node left = node_is_assignment(f, e, "=") ? node_strip(node_field(e, FIELD_LEFT)) : (struct node){0};
    if (node_is(left, NODE_SUBSCRIPT_EXPRESSION))
        left = node_field(left, FIELD_ARGUMENT);
    const struct variable *v = function_variable_of(f, left);
    return v && v->shared && !v->external ? v : NULL;
}

/* `if (lane == 0) part[warp] = x;`, several of them too; they join the post. */
static bool question_joins(const struct function *f, struct node statement, int64_t threads, struct post *p)
{
    struct node body = node_field(statement, FIELD_CONSEQUENCE);
    size_t n = 1;
    struct node *all = node_is(body, NODE_COMPOUND_STATEMENT) ? named_children(f, body, &n) : &body;
    int64_t asked = node_is(statement, NODE_IF_STATEMENT) && !node_ok(node_field(statement, FIELD_ALTERNATIVE))
                        ? threads_asked(f, node_field(statement, FIELD_CONDITION), threads)
                        : 0;
    if (!asked || n == 0 || p->stores.n + n > POSTS_MOST)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct node e = statement_expression(all[i]);
        if (!shared_target(f, e) || node_has_effect(f, node_field(e, FIELD_RIGHT)))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        p->threads[p->stores.n] = asked;
        vec_add(f->a, &p->stores, statement_expression(all[i]));
    }
    p->first = statement;
    return true;
}

static struct node statement_before(struct node n)
{
    do
        n = node_prev(n);
    while (node_is(n, NODE_COMMENT));
    return n;
}

static bool in_loop(struct node n)
{
    while (node_ok(n) && !node_is_loop(n) && !node_is(n, NODE_LAMBDA_EXPRESSION))
        n = node_parent(n);
    return node_ok(n);
}

/* What stands at the place is read, where the name is said? */
static bool is_read(const struct function *f, struct node name, const struct variable *v)
{
    struct node e = name, up = node_parent(e);
    if (v->array) {
        if (!node_is(up, NODE_SUBSCRIPT_EXPRESSION) || !node_same(node_field(up, FIELD_ARGUMENT), e))
            return false;
        e = up;
        up = node_parent(e);
    }
    return !node_is_address(f, up) && !node_is(up, NODE_UPDATE_EXPRESSION) &&
           !(node_is(up, NODE_ASSIGNMENT_EXPRESSION) && node_same(node_field(up, FIELD_LEFT), e)) &&
           !node_is(node_parent(up), NODE_REFERENCE_DECLARATOR);
}

/* 4 or 8 bytes, which st.async sends: as declared, or where a template's parameter is the type, as all calls
 * give it. */
static bool can_be_sent(const struct regroup *r, const struct function *f, const struct variable *v)
{
    int size = ctype_size(f, v->type);
    if (size || f == r->f)
        return size == 4 || size == 8;
    const struct variable *given = NULL;
    for (size_t i = 0; i < f->n_params && !given; i++)
        if (str_eq(f->variables[i].type, v->type) && !f->variables[i].pointer)
            given = &f->variables[i];
    for (struct node *call = nodes_of(r->f, r->f->body, NODE_CALL_EXPRESSION); given && node_ok(*call);
         call++) {
        if (!str_eq(call_name(r->f, *call), f->name))
            continue;
        struct node args = node_field(*call, FIELD_ARGUMENTS);
        const char *type = given->index < node_count(args)
                               ? expression_type(r->f, node_child(args, (uint32_t)given->index))
                               : NULL;
        size = type ? ctype_size(r->f, type) : 0;
        if (size != 4 && size != 8)
            return false;
    }
    return size > 0;
}

/* Each shared variable is stored in one post, and read behind its barrier. */
static bool memory_is_posted(const struct sends *s, const struct function *f)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++) {
        const struct post *of = NULL;
        struct node store = {0};
        if (!v->shared)
            continue;
        for (const struct post *p = s->posts.v; p < s->posts.v + s->posts.n; p++)
            for (size_t i = 0; p->f == f && i < p->stores.n; i++) {
                if (shared_target(f, p->stores.v[i]) != v)
                    continue;
                if (of)
                    return false;
                of = p;
                store = p->stores.v[i];
            }
        if (!of || !can_be_sent(s->r, f, v))
            return false;
        for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
            bool target = node_within(*name, node_field(store, FIELD_LEFT));
            if (function_variable_of(f, *name) == v && node_start(*name) != v->from && !target &&
                (node_start(*name) < node_end(of->barrier) || !is_read(f, *name, v)))
                return false;
        }
    }
    return true;
}

/* Does the function meet only by posts? They join. */
static bool posts_join(struct sends *s, const struct function *f, struct err *why)
{
    const char *body = text_of(f, f->body);
    if (strstr(body, "atomic") || strstr(body, "volatile") || strstr(body, "__threadfence"))
        return err_input(why, "threads of %s meet in other ways", f->name);
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        if (!call_is_barrier(f, *call))
            continue;
        struct post p = {.f = f, .barrier = node_parent(*call)};
        if (!node_is(p.barrier, NODE_EXPRESSION_STATEMENT) || in_loop(p.barrier) ||
            !node_same(node_parent(p.barrier), f->body))
            return err_input(why, "threads of %s meet in a loop, or under a question", f->name);
        struct node before = statement_before(p.barrier);
        while (question_joins(f, before, s->r->f->block_x, &p))
            before = statement_before(before);
        if (p.stores.n > 0)
            vec_add(f->a, &s->posts, p);
    }
    return memory_is_posted(s, f) || err_input(why, "shared memory of %s is not left for all once", f->name);
}

static int posts_of(const struct sends *s, const struct function *f)
{
    int n = 0;
    for (size_t i = 0; i < s->posts.n; i++)
        n += s->posts.v[i].f == f;
    return n;
}

static bool needs_group(const struct function *f)
{
    const char *body = text_of(f, f->body);
    return str_has_word(body, "__shared__") || str_has_word(body, "__syncthreads");
}

/* Nobody reads what another thread of the row wrote to the device's memory before they met. */
static bool memory_is_apart(const struct function *f)
{
    size_t n;
    struct node *all = named_children(f, f->body, &n);
    for (const struct variable *v = f->variables; v < f->variables + f->n_params; v++) {
        bool written = false;
        if (!v->pointer || v->to_const)
            continue;
        for (size_t i = 0; i < n; i++) {
            for (struct node *name = names_in(f, all[i]); written && node_ok(*name); name++) {
                const struct variable *of = function_variable_of(f, *name);
                struct node up = node_parent(*name), call = node_enclosing(*name, NODE_CALL_EXPRESSION);
                if (!of || !of->pointer || node_start(*name) == of->from || pointer_root(f, *name) != v)
                    continue;
                bool set = node_is(up, NODE_SUBSCRIPT_EXPRESSION) &&
                           node_is_assignment(f, node_parent(up), "=") &&
                           node_same(node_field(node_parent(up), FIELD_LEFT), up);
                if (!set && !str_starts(call_name(f, call), "packed_store"))
                    return false;
            }
            written = written || memory_written_in(f, v->name, all[i]);
        }
    }
    return true;
}

/* The kernel's calls of functions that meet: each once, one after the other. */
static bool calls_join(struct sends *s, struct err *why)
{
    const struct function *f = s->r->f;
    s->n = posts_of(s, f);
    for (size_t k = 0; k < s->r->n; k++) {
        const struct function *from = s->r->functions[k];
        for (struct node *call = nodes_of(from, from->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
            const struct function *g = NULL;
            for (size_t c = 1; c < s->r->n; c++)
                if (str_eq(s->r->functions[c]->name, call_name(from, *call)) && posts_of(s, s->r->functions[c]))
                    g = s->r->functions[c];
            if (!g)
                continue;
            struct node at = *call, statement = node_statement(at);
            for (; !node_same(at, statement); at = node_parent(at))
                if (node_is_asked(from, at))
                    return err_input(why, "%s is called under a question", g->name);
            if (from != f || !node_same(node_parent(statement), f->body) || node_is_loop(statement) ||
                node_is(statement, NODE_IF_STATEMENT))
                return err_input(why, "%s is called in a loop, or under a question", g->name);
            struct called c = {.call = *call, .g = g, .meeting = s->n};
            s->n += posts_of(s, g);
            vec_add(f->a, &s->calls, c);
        }
    }
    if (s->n == 0 || s->n > POSTS_MOST)
        return err_input(why, "threads of %s do not meet so, or too often", f->name);
    return memory_is_apart(f) || err_input(why, "what %s writes is read again", f->name);
}

const struct sends *sends_of(const struct regroup *r, struct err *why)
{
    struct sends *s = arena_new(r->f->a, struct sends);
    *s = (struct sends){.r = r};
    for (size_t k = 0; k < r->n; k++) {
        const struct function *g = r->functions[k];
        if (!needs_group(g))
            continue;
        if (!posts_join(s, g, why))
            return NULL;
        if (k > 0 && posts_of(s, g) == 0) {
            err_input(why, "%s leaves nothing for all", g->name);
            return NULL;
        }
    }
    if (!calls_join(s, why))
        return NULL;
    size_t n;
    struct node *all = named_children(r->f, r->f->body, &n);
    for (size_t i = n; i-- > 0;) {
        for (const struct called *c = s->calls.v; c < s->calls.v + s->calls.n; c++)
            if (node_within(c->call, all[i]))
                s->first = all[i];
        for (const struct post *p = s->posts.v; p < s->posts.v + s->posts.n; p++)
            if (p->f == r->f && node_within(p->stores.v[p->stores.n - 1], all[i]))
                s->first = all[i];
    }
    return s;
}

int sends_count(const struct sends *s)
{
    return s->n;
}

struct node sends_first(const struct sends *s)
{
    return s->first;
}

static void post_edit(const struct post *p, const char *meeting, int blocks, struct edits *inside)
{
    const struct function *f = p->f;
    const char *bytes = "", *indent = text_indent(f, node_start(p->first));
    for (size_t i = 0; i < p->stores.n; i++) {
        struct node e = p->stores.v[i], left = node_field(e, FIELD_LEFT), right = node_field(e, FIELD_RIGHT);
        const struct variable *v = shared_target(f, e);
        bytes = arena_printf(f->a, "%s%s%lld * sizeof(%s%s)", bytes, *bytes ? " + " : "",
                             (long long)p->threads[i], v->name, v->array ? "[0]" : "");
        edits_at(inside, node_start(e), arena_printf(f->a, "cluster_send<%d>(%s, &", blocks, meeting));
        edits_try(inside, node_end(left), node_start(right), ", ");
        edits_at(inside, node_end(e), ")");
    }
    edits_at(inside, node_start(p->first),
             arena_printf(f->a, "cluster_expect(%s, %s);\n%s", meeting, bytes, indent));
    edits_node(inside, p->barrier, arena_printf(f->a, "cluster_meet(%s);", meeting));
}

void sends_edit(const struct sends *s, const struct function *f, int blocks, struct edits *inside)
{
    bool kernel = f == s->r->f;
    const char *of_call = fresh_local(f, "MEETING");
    int number = 0;
    for (const struct post *p = s->posts.v; p < s->posts.v + s->posts.n; p++) {
        if (p->f != f)
            continue;
        const char *meeting = kernel || number ? arena_printf(f->a, "%d", number) : of_call;
        if (!kernel && number)
            meeting = arena_printf(f->a, "%s + %d", of_call, number);
        post_edit(p, meeting, blocks, inside);
        number++;
    }
    for (struct node *call = nodes_of(f, f->body, NODE_CALL_EXPRESSION); node_ok(*call); call++) {
        bool met = false;
        for (const struct post *p = s->posts.v; p < s->posts.v + s->posts.n; p++)
            met = met || (p->f == f && node_within(*call, p->barrier));
        if (call_is_barrier(f, *call) && !met)
            edits_remove(inside, f, node_parent(*call));
    }
    for (const struct called *c = s->calls.v; kernel && c < s->calls.v + s->calls.n; c++) {
        struct node callee = node_field(c->call, FIELD_FUNCTION);
        if (node_is(callee, NODE_TEMPLATE_FUNCTION))
            edits_at(inside, node_start(node_field(callee, FIELD_ARGUMENTS)) + 1,
                     arena_printf(f->a, "%d, ", c->meeting));
        else
            edits_at(inside, node_end(callee), arena_printf(f->a, "<%d>", c->meeting));
    }
    if (kernel || number == 0)
        return;
    if (node_is(f->whole, NODE_TEMPLATE_DECLARATION))
        edits_at(inside, node_start(node_field(f->whole, FIELD_PARAMETERS)) + 1,
                 arena_printf(f->a, "int %s, ", of_call));
    else
        edits_at(inside, node_start(f->whole), arena_printf(f->a, "template <int %s>\n", of_call));
}
