/* shuffle: a tree over shared memory, with a barrier a level, becomes shuffles within each warp, one shared
 * slot a warp, and shuffles again. The reduced value ends in every thread, so reads of slot 0 become that
 * variable.
 *
 * The tree must be: a[tid] = value; barrier; for (step = half; step > 0; step /= 2) { if (tid < step) combine;
 * barrier } with half of the block (or of the array, which then is as long as the block), or the other way
 * round: for (step = 1; step < block; step *= 2) { if (tid % (2 * step) == 0) combine; barrier }. The block
 * must be whole warps. As the original already needs a barrier between its last read of slot 0 and the next
 * write of the array, so it stays safe to use the array again. */
#include "rewrite/analysis.h"

struct tree {
    const struct function *f;
    struct node fill, barrier, loop; /* three statements, in this order */
    const struct variable *array;
    struct node value; /* what a thread puts in */
    const char *tid;   /* text of its index */
    const char *call;  /* fmaxf and the like; NULL: a sum */
    bool check;        /* whole warps are asserted at compile time */
    const char *size;  /* then of this */
    size_t until;      /* reads of slot 0 up to here are of this tree */
};

static bool is_slot(const struct function *f, struct node e, const struct variable *array, const char *tid,
                    const char *step)
{
    e = node_strip(e);
    if (!node_is(e, NODE_SUBSCRIPT_EXPRESSION) ||
        function_variable_of(f, node_field(e, FIELD_ARGUMENT)) != array)
        return false;
    char *index = text_compact(f->a, text_of(f, subscript_index(f, e)));
    char *want = step ? arena_printf(f->a, "%s+%s", tid, step) : arena_strdup(f->a, tid);
    char *other = step ? arena_printf(f->a, "%s+%s", step, tid) : want;
    return str_eq(index, want) || str_eq(index, other);
}

/* a[tid] += a[tid + step], a[tid] = a[tid] + a[tid + step], a[tid] = fmaxf(a[tid], a[tid + step]) */
static bool combine_of(struct tree *t, struct node statement, const char *step)
{
    static const char *const calls[] = {"fmaxf", "fminf", "fmax", "fmin", "max", "min", NULL};
    const struct function *f = t->f;
    struct node e = statement_expression(node_unbraced(f, statement));
    if (!node_is(e, NODE_ASSIGNMENT_EXPRESSION) ||
        !is_slot(f, node_field(e, FIELD_LEFT), t->array, t->tid, NULL))
        return false;
    struct node right = node_strip(node_field(e, FIELD_RIGHT));
    if (str_eq(node_op(f, e), "+="))
        return is_slot(f, right, t->array, t->tid, step);
    if (!str_eq(node_op(f, e), "="))
        return false;
    struct node x = {0}, y = {0};
    if (node_is_binary(f, right, "+")) {
        x = node_field(right, FIELD_LEFT);
        y = node_field(right, FIELD_RIGHT);
    }
    for (size_t i = 0; calls[i]; i++) {
        size_t n;
        struct node *args =
            call_is(f, right, calls[i]) ? named_children(f, node_field(right, FIELD_ARGUMENTS), &n) : NULL;
        if (args && n == 2) {
            x = args[0];
            y = args[1];
            t->call = calls[i];
        }
    }
    return node_ok(x) && ((is_slot(f, x, t->array, t->tid, NULL) && is_slot(f, y, t->array, t->tid, step)) ||
                          (is_slot(f, y, t->array, t->tid, NULL) && is_slot(f, x, t->array, t->tid, step)));
}

/* Is e half of the block, or of the array? */
static bool is_half(struct tree *t, struct node e)
{
    const struct function *f = t->f;
    e = node_strip(e);
    int64_t value, size, two;
    if (constant_value(f, e, &value) && f->block_x && value * 2 == f->block_x)
        return true;
    if (!node_is(e, NODE_BINARY_EXPRESSION))
        return constant_value(f, e, &value) && constant_value(f, t->array->size, &size) && value * 2 == size;
    const char *op = node_op(f, e);
    if (!constant_value(f, node_field(e, FIELD_RIGHT), &two) || two != (str_eq(op, ">>") ? 1 : 2) ||
        !(str_eq(op, "/") || str_eq(op, ">>")))
        return false;
    struct poly whole = poly_of(f, node_field(e, FIELD_LEFT)), block = poly_atom(f, "blockDim.x");
    struct poly length = poly_of(f, t->array->size);
    return poly_same(&whole, &block) || poly_same(&whole, &length);
}

/* Is e the block, or the array's length? */
static bool is_whole(struct tree *t, struct node e)
{
    const struct function *f = t->f;
    struct poly p = poly_of(f, e), block = poly_atom(f, "blockDim.x"), length = poly_of(f, t->array->size);
    return poly_same(&p, &block) || poly_same(&p, &length);
}

/* Is the text, without blanks and brackets, one of these forms, in which S stands for the step and T for the
 * thread? */
static bool is_form(const struct tree *t, const char *text, const char *step, const char *const *forms)
{
    struct arena *a = t->f->a;
    struct str plain = {.arena = a};
    for (const char *p = text_compact(a, text); *p; p++)
        if (*p != '(' && *p != ')')
            str_addc(&plain, *p);
    for (; *forms; forms++) {
        struct str form = {.arena = a};
        for (const char *p = *forms; *p; p++) {
            if (*p == 'S' || *p == 'T')
                str_add(&form, *p == 'S' ? step : t->tid);
            else
                str_addc(&form, *p);
        }
        if (str_eq(str_text(&plain), str_text(&form)))
            return true;
    }
    return false;
}

/* for (step = half; step > 0; step /= 2) with tid < step, or for (step = 1; step < block; step *= 2) with every
 * second, fourth, ... thread: each thread's value goes into the total once. */
static bool steps_are_known(struct tree *t, struct node first, const char *step, struct node guard)
{
    static const char *const halves[] = {"S/=2", "S>>=1", "S=S/2", "S=S>>1", NULL},
                             *const left[] = {"S>0", "S>=1", "S", "S!=0", NULL},
                             *const below[] = {"T<S", "S>T", NULL}, *const doubles[] = {"S*=2",  "S<<=1",
                                                                                        "S=S*2", "S=S<<1",
                                                                                        "S+=S",  NULL},
                             *const nth[] = {"T%2*S==0", "T%S*2==0", "T&2*S-1==0", NULL};
    const struct function *f = t->f;
    struct node condition = node_field(t->loop, FIELD_CONDITION);
    char *goes = text_of(f, condition), *update = text_of(f, node_field(t->loop, FIELD_UPDATE)),
         *who = text_of(f, guard);
    int64_t one;
    if (is_half(t, first))
        return is_form(t, update, step, halves) && is_form(t, goes, step, left) && is_form(t, who, step, below);
    return constant_value(f, first, &one) && one == 1 && node_is_binary(f, condition, "<") &&
           node_text_is(f->s, node_field(condition, FIELD_LEFT), step) &&
           is_whole(t, node_field(condition, FIELD_RIGHT)) && is_form(t, update, step, doubles) &&
           is_form(t, who, step, nth);
}

/* A block's own memory: a shared array, or what a pointer without arguments to it stands for (`T *data =
 * SharedMemory<T>()`). */
static bool is_of_block(const struct function *f, const struct variable *v)
{
    if (!v || (v->shared && v->array))
        return v != NULL;
    struct node init = node_strip(v->init);
    if (!v->pointer || v->param || v->assignments || !node_is(init, NODE_CALL_EXPRESSION) ||
        node_count(node_field(init, FIELD_ARGUMENTS)) > 0)
        return false;
    const char *call = text_of(f, init), *again = strstr(text_of(f, f->body), call);
    return again && !strstr(again + 1, call);
}

static bool whole_warps(struct tree *t)
{
    const struct function *f = t->f;
    if (f->block_x)
        return f->block_x % 32 == 0;
    int64_t size;
    if (f->in->n_plans > 0) {
        for (size_t p = 0; p < f->in->n_plans; p++)
            for (const struct plan_step *s = f->in->plans[p].steps;
                 s < f->in->plans[p].steps + f->in->plans[p].n_steps; s++)
                if (s->kind == PLAN_LAUNCH && (s->block[0] % 32 != 0 || s->block[1] != 1 || s->block[2] != 1))
                    return false;
        return true;
    }
    if (constant_value(f, t->array->size, &size))
        return size % 32 == 0;
    t->check = node_is(f->whole, NODE_TEMPLATE_DECLARATION) && node_is(t->array->size, NODE_IDENTIFIER);
    t->size = t->check ? text_of(f, t->array->size) : NULL;
    return t->check;
}

static bool tree_at(struct tree *t, const struct node *three)
{
    const struct function *f = t->f;
    t->fill = three[0];
    t->barrier = three[1];
    t->loop = three[2];
    struct node e = statement_expression(t->fill);
    if (!node_is_assignment(f, e, "=") || !call_is_barrier(f, statement_expression(t->barrier)) ||
        !node_is(t->loop, NODE_FOR_STATEMENT))
        return false;
    struct node slot = node_strip(node_field(e, FIELD_LEFT));
    if (!node_is(slot, NODE_SUBSCRIPT_EXPRESSION))
        return false;
    t->array = function_variable_of(f, node_field(slot, FIELD_ARGUMENT));
    struct node index = subscript_index(f, slot);
    if (!is_of_block(f, t->array) || !node_ok(index) || !poly_is_thread(f, index))
        return false;
    t->tid = text_compact(f->a, text_of(f, index));
    t->value = node_field(e, FIELD_RIGHT);

    struct node start = node_field(node_field(t->loop, FIELD_INITIALIZER), FIELD_DECLARATOR);
    struct node name = node_field(start, FIELD_DECLARATOR);
    if (!node_is(start, NODE_INIT_DECLARATOR) || !node_is(name, NODE_IDENTIFIER))
        return false;
    char *step = text_of(f, name);
    size_t n;
    struct node *body = named_children(f, node_field(t->loop, FIELD_BODY), &n);
    if (n != 2 || !node_is(body[0], NODE_IF_STATEMENT) || !call_is_barrier(f, statement_expression(body[1])) ||
        node_ok(node_field(body[0], FIELD_ALTERNATIVE)))
        return false;
    if (!steps_are_known(t, node_field(start, FIELD_VALUE), step,
                         node_field(node_field(body[0], FIELD_CONDITION), FIELD_VALUE)))
        return false;
    int size = ctype_size(f, t->array->type);
    return combine_of(t, node_field(body[0], FIELD_CONSEQUENCE), step) && whole_warps(t) &&
           (size == 4 || size == 8 || (size == 0 && node_is(f->whole, NODE_TEMPLATE_DECLARATION)));
}

/* The function's trees in text order. */
static struct tree *trees_of(const struct function *f, size_t *count)
{
    VEC(struct tree) found = {0};
    size_t n_blocks;
    struct node *inner = node_find_all(f->a, f->body, NODE_COMPOUND_STATEMENT, &n_blocks);
    for (size_t b = 0; b <= n_blocks; b++) {
        size_t n;
        struct node *all = named_children(f, b == 0 ? f->body : inner[b - 1], &n);
        for (size_t i = 0; i + 2 < n; i++) {
            struct tree t = {.f = f};
            struct node three[3] = {all[i], all[i + 1], all[i + 2]};
            if (tree_at(&t, three))
                vec_add(f->a, &found, t);
        }
    }
    *count = found.n;
    return found.v;
}

static bool is_slot_zero(const struct function *f, struct node e)
{
    int64_t zero;
    struct node index = subscript_index(f, e);
    return node_ok(index) && constant_value(f, index, &zero) && zero == 0;
}

/* Every other use of the arrays must be a read of slot 0 after a tree. */
static bool uses_are_known(const struct function *f, struct tree *trees, size_t n, struct err *why)
{
    for (size_t i = 0; i < n; i++) {
        trees[i].until = node_end(f->body);
        for (size_t j = i + 1; j < n; j++)
            if (trees[j].array == trees[i].array) {
                trees[i].until = node_start(trees[j].fill);
                break;
            }
    }
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        bool known = !v || node_start(*name) == v->from, mine = false;
        for (size_t t = 0; t < n && !known; t++) {
            mine = mine || v == trees[t].array;
            size_t at = node_start(*name);
            struct node parent = node_parent(*name);
            bool inside = at >= node_start(trees[t].fill) && at < node_end(trees[t].loop);
            bool after = at >= node_end(trees[t].loop) && at < trees[t].until;
            bool written = node_is(node_parent(parent), NODE_ASSIGNMENT_EXPRESSION) &&
                           node_same(node_field(node_parent(parent), FIELD_LEFT), parent);
            known = v == trees[t].array && (inside || (after && node_is(parent, NODE_SUBSCRIPT_EXPRESSION) &&
                                                       is_slot_zero(f, parent) && !written));
        }
        if (!known && mine) /* of what no tree is over nothing is asked */
            return err_input(why, "%s is used in other ways at line %d", v->name, node_line(f->s, *name));
    }
    return n > 0 || err_input(why, "no tree over shared memory");
}

static bool used_after(const struct function *f, const struct variable *v, size_t at)
{
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++)
        if (node_start(*name) >= at && function_variable_of(f, *name) == v)
            return true;
    return false;
}

static const char *zero_of(const struct function *f, const char *type)
{
    if (ctype_is_integer(f, type))
        return "0";
    if (ctype_is_float(type))
        return str_eq(type, "float") ? "0.0f" : "0.0";
    return arena_printf(f->a, "%s(0)", type);
}

static void tree_edit(const struct tree *t, struct edits *edits, int number)
{
    const struct function *f = t->f;
    struct arena *a = f->a;
    const char *indent = text_indent(f, node_start(t->fill)), *type = t->array->type, *array = t->array->name;
    const struct variable *v = function_variable_of(f, t->value);
    const char *name = v ? v->name : NULL;
    struct str b = {0};
    if (!v || v->array || v->pointer || !str_eq(v->type, type) || v->to_const ||
        used_after(f, v, node_end(t->loop)) || (v->param && f->global)) {
        name = fresh_local(f, number ? arena_printf(a, "total_%d", number + 1) : "total");
        str_addf(&b, "%s %s = %s;\n%s", type, name, text_of(f, t->value), indent);
    }
    const char *tid = t->tid, *warps = t->check ? arena_printf(a, "%s / 32", t->size) : "blockDim.x / 32";
    const char *step = fresh_local(f, "distance");
    char *combine = t->call ? arena_printf(a, "%s = %s(%s, __shfl_xor_sync(0xffffffffu, %s, %s));", name,
                                           t->call, name, name, step)
                            : arena_printf(a, "%s += __shfl_xor_sync(0xffffffffu, %s, %s);", name, name, step);
    char *within = arena_printf(a, "#pragma unroll\n%sfor (int %s = 16; %s > 0; %s /= 2)\n%s    %s\n", indent,
                                step, step, step, indent, combine);
    if (t->check)
        str_addf(&b, "static_assert(%s %% 32 == 0, \"whole warps\");\n%s", t->size, indent);
    str_addf(&b, "// Within a warp by shuffles; one slot a warp goes through shared memory.\n%s", within);
    str_addf(&b, "%sif (%s %% 32 == 0)\n%s    %s[%s / 32] = %s;\n%s__syncthreads();\n", indent, tid, indent,
             array, tid, name, indent);
    if (t->call)
        str_addf(&b, "%s%s = %s[%s %% 32 < %s ? %s %% 32 : 0];\n", indent, name, array, tid, warps, tid);
    else
        str_addf(&b, "%s%s = %s %% 32 < %s ? %s[%s %% 32] : %s;\n", indent, name, tid, warps, array, tid,
                 zero_of(f, type));
    within[strlen(within) - 1] = '\0';
    str_add(&b, within);
    edits_try(edits, node_start(t->fill), node_end(t->loop), str_text(&b));
    str_free(&b);

    for (struct node *read = nodes_of(f, f->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*read); read++)
        if (node_start(*read) >= node_end(t->loop) && node_start(*read) < t->until &&
            function_variable_of(f, node_field(*read, FIELD_ARGUMENT)) == t->array)
            edits_node(edits, *read, name);
}

typedef VEC(const struct function *) function_list;

/* All functions of the file that have trees, and how many trees. */
static size_t trees_in_file(const struct transform_input *in, struct arena *a, function_list *with)
{
    size_t n_all, n_trees = 0;
    struct function **all = functions_open(in, a, &n_all);
    for (size_t i = 0; i < n_all; i++) {
        size_t n;
        struct tree *trees = trees_of(all[i], &n);
        if (n == 0 || !uses_are_known(all[i], trees, n, NULL))
            continue;
        vec_add(a, with, all[i]);
        n_trees += n;
    }
    return n_trees;
}

static void shuffle_find(const struct transform_input *in, struct site_list *found)
{
    function_list with = {0};
    size_t n = trees_in_file(in, found->arena, &with), of_first;
    if (n > 0)
        site_add(
            found, with.v[0], trees_of(with.v[0], &of_first)[0].loop, 0,
            "each level of the tree is a barrier for the whole block; warps reduce by shuffles without one",
            "%zu tree%s over shared memory", n, n > 1 ? "s" : "");
}

static bool shuffle_apply(const struct function *first, const struct transform_site *site, struct edits *edits,
                          struct err *why_not)
{
    function_list with = {0};
    (void)site;
    trees_in_file(first->in, first->a, &with);
    for (size_t fn = 0; fn < with.n; fn++) {
        const struct function *f = with.v[fn];
        size_t n;
        struct tree *trees = trees_of(f, &n);
        if (!uses_are_known(f, trees, n, why_not))
            return false;
        for (size_t i = 0; i < n; i++) {
            bool again = false; /* one slot a warp is enough from now on: said once an array */
            for (size_t j = 0; j < i; j++)
                again = again || trees[j].array == trees[i].array;
            if (!again && node_ok(trees[i].array->size))
                edits_node(edits, trees[i].array->size, "32");
            tree_edit(&trees[i], edits, (int)i);
        }
    }
    return true;
}

const struct transform transform_shuffle = {
    .name = "shuffle",
    .summary = "reduce over the block by warp shuffles instead of a tree of barriers over shared memory",
    .helps = "sync latency issue",
    .find_in_file = shuffle_find,
    .apply = shuffle_apply,
};
