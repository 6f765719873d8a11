/* block-size: another number of threads in a block. The number may be a literal at the launches (then grids
 * that divide by it, template arguments, shared arrays and one constant of the file that repeat it change
 * along), a variable of the launcher, a constant of the file, or the most that the launcher takes (`min(d / 8,
 * 1024)`). With a setting above 1024, a block takes as many threads as its row has work for, up to setting -
 * 10000. */
#include "rewrite/block_size.h"

enum { UP_TO = 10000 };

static int threads_most(int setting)
{
    return setting > UP_TO ? setting - UP_TO : setting;
}

/* The number in the only `min(x, 1024)` that the launcher's expression is made of; no node: there is none. */
static struct node cap_of(const struct function *f, const struct launch *l, struct node e, int depth)
{
    size_t n, parts;
    struct node none = {0}, found = none, *inner, *list;
    int64_t most;

    e = node_strip(e);
    if (!node_ok(e) || depth > 8)
        return none;
    inner = named_children(f, call_is(f, e, "min") ? node_field(e, FIELD_ARGUMENTS) : e, &n);
    for (size_t i = 0; i < n && call_is(f, e, "min"); i++)
        if (node_is(inner[i], NODE_NUMBER_LITERAL) && constant_value(f, inner[i], &most) && most >= 64)
            return n == 2 && most <= 1024 ? inner[i] : none;
    if (node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_PARAMETER_DECLARATION)) {
        list = launch_dim3(f, l, e, &parts);
        inner = arena_array(f->a, struct node, parts + 1);
        for (n = 0; list && n < parts; n++)
            inner[n] = list[n];
        inner[n] = list ? none : node_field(host_declarator(f, l, e), FIELD_VALUE);
        n += node_ok(inner[n]);
    }
    for (size_t i = 0; i < n; i++) {
        struct node one = cap_of(f, l, inner[i], depth + 1);
        if (node_ok(one) && node_ok(found) && !node_same(one, found))
            return none;
        found = node_ok(one) ? one : found;
    }
    return found;
}

static bool cap_known(const struct function *f, const struct launch *l, struct block_number *d)
{
    d->f = f;
    d->host = l->host;
    d->where = CAP;
    d->name = NULL;
    d->value = cap_of(f, l, l->block, 0);
    return node_ok(d->value) && constant_value(f, d->value, &d->old);
}

/* The number behind a launch's block expression. */
static bool block_of(const struct function *f, const struct launch *l, struct block_number *d)
{
    struct node block = node_strip(l->block), e = block;
    size_t parts;
    struct node *list = launch_dim3(f, l, block, &parts);
    if (list && parts == 1)
        e = node_strip(list[0]);
    d->f = f;
    d->host = l->host;
    d->name = text_of(f, e);
    if (node_is(e, NODE_NUMBER_LITERAL)) {
        d->name = node_is(block, NODE_IDENTIFIER) ? text_of(f, block) : NULL;
        d->where = LITERAL;
        d->value = e;
        return constant_value(f, e, &d->old);
    }
    if (!node_is(e, NODE_IDENTIFIER) && !node_is(e, NODE_PARAMETER_DECLARATION))
        return false;
    d->value = node_field(host_declarator(f, l, e), FIELD_VALUE);
    d->where = VARIABLE;
    if (node_ok(d->value))
        return node_is(d->value, NODE_NUMBER_LITERAL) && constant_value(f, d->value, &d->old);
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++) {
        struct node c = *item, declarator = node_field(c, FIELD_DECLARATOR);
        d->where = CONSTANT;
        if (node_is(c, NODE_PREPROC_DEF) && node_text_is(f->s, node_field(c, FIELD_NAME), text_of(f, e))) {
            d->value = node_field(c, FIELD_VALUE);
            return node_ok(d->value) && constant_value(f, e, &d->old) &&
                   str_eq(text_compact(f->a, text_of(f, d->value)),
                          arena_printf(f->a, "%lld", (long long)d->old));
        }
        if (node_is(c, NODE_DECLARATION) &&
            node_text_is(f->s, node_field(declarator, FIELD_DECLARATOR), text_of(f, e))) {
            d->value = node_field(declarator, FIELD_VALUE);
            return node_is(d->value, NODE_NUMBER_LITERAL) && constant_value(f, d->value, &d->old);
        }
    }
    return false;
}

static bool is_edited(const struct edits *edits, struct node n)
{
    for (size_t e = 0; e < edits->list.n; e++)
        if (edits->list.v[e].start == node_start(n))
            return true;
    return false;
}

/* The launch's template argument for the parameter of this name; no node when there is none. */
static struct node template_argument(const struct function *f, const struct launch *l, const char *name)
{
    size_t n, n_args;
    struct node *params = named_children(f, node_field(f->whole, FIELD_PARAMETERS), &n);
    struct node *args = node_ok(l->template_args) ? named_children(f, l->template_args, &n_args) : NULL;
    for (size_t i = 0; args && i < n && i < n_args; i++)
        if (str_has_word(text_of(f, params[i]), name))
            return args[i];
    return (struct node){0};
}

/* A template parameter that every launch gives the block's number, where that changes along: as a literal
 * beside a literal, or by the name of the constant. */
static bool is_block_parameter(const struct function *f, const struct block_number *d, struct node name)
{
    int64_t value;
    if (!node_is(f->whole, NODE_TEMPLATE_DECLARATION) || d->where == VARIABLE)
        return false;
    for (size_t l = 0; l < f->n_launches; l++) {
        struct node arg = template_argument(f, &f->launches[l], text_of(f, name));
        if (!node_is(arg, d->where == LITERAL ? NODE_NUMBER_LITERAL : NODE_IDENTIFIER) ||
            !constant_value(f, arg, &value) || value != d->old)
            return false;
    }
    return f->n_launches > 0;
}

/* Does a question around it keep the thread's number below the length: `tid < 32`, `tid < blockDim.x / 32`? */
static bool is_bounded(const struct function *f, struct node e, int64_t length)
{
    int64_t most;
    for (struct node n = e, up = node_parent(e); node_ok(up) && !node_same(n, f->body);
         n = up, up = node_parent(n)) {
        struct node condition = node_strip(node_field(up, FIELD_CONDITION)),
                    right = node_strip(node_field(condition, FIELD_RIGHT));
        if (!node_same(node_field(up, FIELD_CONSEQUENCE), n) || !node_is_binary(f, condition, "<") ||
            !poly_is_thread(f, node_field(condition, FIELD_LEFT)))
            continue;
        bool warps = node_is_binary(f, right, "/") &&
                     constant_value(f, node_field(right, FIELD_RIGHT), &most) && most == 32;
        if (warps ? length >= 32 : constant_value(f, right, &most) && most <= length)
            return true;
    }
    return false;
}

/* Shared arrays with a slot a thread must be long enough; a literal length that equals the block's grows with
 * it. */
static bool arrays_fit(const struct function *f, const struct block_number *d, int threads, struct edits *edits)
{
    for (struct node *element = nodes_of(f, f->body, NODE_SUBSCRIPT_EXPRESSION); node_ok(*element); element++) {
        const struct variable *v = function_variable_of(f, node_field(*element, FIELD_ARGUMENT));
        if (!v || !v->shared || !v->array || !node_ok(v->size) ||
            !poly_is_thread(f, subscript_index(f, *element)))
            continue;
        int64_t length;
        if (node_is(v->size, NODE_IDENTIFIER) &&
            (d->where == CONSTANT || is_constant(f, d, v->size) || is_block_parameter(f, d, v->size)))
            continue; /* what says it changes for both */
        if (!constant_value(f, v->size, &length))
            return false;
        if (length >= threads || is_bounded(f, *element, length))
            continue;
        if (!node_is(v->size, NODE_NUMBER_LITERAL) || length != d->old)
            return false;
        if (edits && !is_edited(edits, v->size))
            edits_node(edits, v->size, arena_printf(f->a, "%d", threads));
    }
    return true;
}

/* The kernel itself repeats the number, other than as an array's length. */
static bool repeats(const struct function *f, const struct block_number *d)
{
    int64_t old = d->old;
    for (struct node *x = nodes_of(f, f->body, NODE_NUMBER_LITERAL); node_ok(*x); x++) {
        int64_t v;
        if (constant_value(f, *x, &v) && !node_is(node_parent(*x), NODE_ARRAY_DECLARATOR) &&
            (v == old || (d->constant && v > 0 && v % old == 0)))
            return true;
    }
    for (struct node *step = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*step); step++) {
        int64_t v;
        struct node parent = node_parent(*step);
        bool of_template = node_is(f->whole, NODE_TEMPLATE_DECLARATION) &&
                           str_has_word(text_of(f, node_field(f->whole, FIELD_PARAMETERS)), text_of(f, *step));
        bool of_file =
            !function_variable_of(f, *step) && !of_template && !node_is(parent, NODE_ARRAY_DECLARATOR);
        if (of_file && !is_constant(f, d, *step) && constant_value(f, *step, &v) && v == old)
            return true;
    }
    return false;
}

/* blockIdx.x * blockDim.x + threadIdx.x, or multiples of it, and what does not depend on the thread. */
static bool is_over_grid(const struct function *f, const struct poly *p)
{
    int64_t by = poly_coefficient(p, "threadIdx.x"), blocks = 0;
    for (const struct term *t = p->t; t < p->t + p->n; t++) {
        bool plain = t->n == 1 && str_eq(t->atom[0], "blockIdx.x");
        bool product = t->n == 2 && str_eq(t->atom[0], "blockDim.x") && str_eq(t->atom[1], "blockIdx.x");
        if (product || (plain && f->block_x && t->by % f->block_x == 0))
            blocks += product ? t->by : t->by / f->block_x;
    }
    return by != 0 && blocks == by;
}

/* A fixed number of steps of the block, behind a question for the end: more threads reach no less, and the
 * launcher may ask whether fewer are enough, by the name that changes. */
static bool in_steps(const struct function *f, const struct block_number *d, struct node subscript,
                     const struct poly *p)
{
    for (size_t l = 0; l < f->n_launches && d->threads < d->old; l++) {
        struct node asks = node_enclosing(f->launches[l].statement, NODE_IF_STATEMENT);
        struct node condition = node_field(asks, FIELD_CONDITION);
        if (d->where == LITERAL || !d->name || !node_ok(condition) ||
            !str_has_word(text_of(f, condition), d->name))
            return false;
    }
    int64_t thread = poly_coefficient(p, "threadIdx.x");
    bool steps = false;
    for (const struct term *t = p->t; t < p->t + p->n; t++) {
        bool dim = t->n > 1 && str_eq(t->atom[0], "blockDim.x");
        steps = steps || dim || (f->block_x && t->n == 1 && t->by == thread * f->block_x);
    }
    struct node question = node_enclosing(subscript, NODE_IF_STATEMENT);
    struct node condition = node_strip(node_field(question, FIELD_CONDITION));
    return steps && node_is_binary(f, condition, "<");
}

/* Are pointers from outside of a loop moved in it: is one turn another than the next? */
static bool moves_pointers(const struct function *f, struct node body)
{
    for (const struct variable *v = f->variables; v < f->variables + f->n_variables; v++)
        if (v->pointer && v->assignments && v->from < node_start(body) && variable_assigned_in(f, v, body))
            return true;
    return false;
}

/* Is the grid cut into pieces of the block, in a way that follows? Needed where the kernel indexes over the
 * grid without a loop. Elsewhere no element may belong to a thread by its number alone: fewer threads would
 * leave it out. What is left a block is of another part of the work when blocks change. */
static bool grid_follows(const struct function *f, const struct block_number *d)
{
    size_t n, n_loops;
    struct node *all = node_find_all(f->a, f->body, NODE_SUBSCRIPT_EXPRESSION, &n);
    bool over_grid = false, by_block = false;
    struct lane_loop *loops = lane_loops(f, &n_loops);
    bool cut = false;
    for (size_t i = 0; i < n_loops; i++) {
        over_grid = over_grid || loops[i].span == LANES_GRID_X;
        cut = cut || (loops[i].span == LANES_GRID_X && moves_pointers(f, loops[i].body));
    }
    cut = cut || !over_grid; /* the grid's loops take any grid */
    for (size_t l = 0; l < f->n_launches && cut; l++)
        if (launch_grid_cuts(f, &f->launches[l]))
            return false;
    for (size_t i = 0; i < f->n_variables && cut; i++) {
        struct poly p = node_ok(f->variables[i].init) && !f->variables[i].pointer
                            ? poly_of(f, f->variables[i].init)
                            : (struct poly){0};
        over_grid = over_grid || (p.ok && is_over_grid(f, &p));
    }
    for (size_t i = 0; i < n; i++) {
        const struct variable *root = pointer_root(f, node_field(all[i], FIELD_ARGUMENT));
        struct poly p = poly_of(f, subscript_index(f, all[i]));
        if (!p.ok || !root || root->shared || (root->array && !root->param))
            continue;
        bool over = is_over_grid(f, &p);
        over_grid = over_grid || over;
        if (!over && poly_coefficient(&p, "threadIdx.x") != 0 && !in_steps(f, d, all[i], &p))
            return false;
        bool thread = poly_says(&p, "threadIdx"), block = poly_says(&p, "blockIdx");
        bool part = poly_coefficient(&p, "threadIdx.x") == 0; /* a warp's row and the like */
        over_grid = over_grid || (part && thread && block);
        struct node parent = node_parent(all[i]);
        bool stored =
            node_is(parent, NODE_ASSIGNMENT_EXPRESSION) && node_same(node_field(parent, FIELD_LEFT), all[i]);
        by_block = by_block || (stored && !thread && block);
    }
    bool whole;
    if (!over_grid && d->where != VARIABLE && takes_tiles(f, d, &whole))
        return whole && tiles_follow(f, d);
    if (!over_grid) /* threads that nobody counts: the kernel is made for so many */
        return n_loops > 0 || str_has_word(text_of(f, f->body), "blockDim.x");
    if (by_block)
        return false;
    if (!cut)
        return true;
    if (!node_has(f, f->body, NODE_IF_STATEMENT) &&
        n_loops == 0) /* nobody asks for the end: larger blocks would go past it */
        return false;
    struct edits seen = {.arena = f->a};
    if (d->where == LITERAL && !grid_follow(f, d, &seen))
        return false;
    for (size_t l = 0; l < f->n_launches && seen.list.n == 0; l++)
        if (!d->name || !host_follows(f, &f->launches[l], f->launches[l].grid, d->name, 0))
            return false;
    return true;
}

/* Does inline assembly, here or in a function of the file that is called, deal with threads in groups, as
 * barriers with a count and products of a warp or warpgroup do? Then the kernel is made for so many. seen: the
 * functions that were read. */
static bool assembly_in(const struct function *f, struct node n, node_list *seen)
{
    static const char *const words[] = {"bar", "wgmma", "mma.sync", "ldmatrix", "setmaxnreg"};
    if (node_is(n, NODE_GNU_ASM_EXPRESSION)) {
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (strstr(text_of(f, n), words[i]))
                return true;
        return false;
    }
    const char *name = node_is(n, NODE_CALL_EXPRESSION) ? call_name(f, n) : NULL;
    for (struct node one; name && node_ok(one = definition_unseen(f, name, seen));)
        if (assembly_in(f, node_field(one, FIELD_BODY), seen))
            return true;
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (assembly_in(f, node_child(n, i), seen))
            return true;
    return false;
}

static bool assembly_counts(const struct function *f)
{
    node_list seen = {0};
    return strstr(f->text, "asm") && assembly_in(f, f->body, &seen);
}

/* A launcher that takes at most so many threads takes fewer where there is less work, and the kernel bears it:
 * its loops ask how many they are, or there are as many more blocks. Nobody else knows the number. */
static bool cap_is_free(const struct function *f, const struct block_number *d)
{
    size_t said = 0;
    int64_t value;
    bool loops = false;
    for (struct node *x = nodes_of(f, d->host, NODE_NUMBER_LITERAL); node_ok(*x); x++)
        said += constant_value(f, *x, &value) && value == d->old;
    for (struct node *x = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*x); x++)
        loops = true;
    loops = loops && str_has_word(text_of(f, f->body), "blockDim");
    for (size_t l = 0; l < f->n_launches && !loops; l++)
        if (!node_same(cap_of(f, &f->launches[l], f->launches[l].grid, 0), d->value))
            return false;
    return said == 1;
}

bool block_takes(const struct function *f, const struct launch *l, const struct block_number *d)
{
    struct block_number other = {0};
    if (!(d->where == CAP ? cap_known : block_of)(f, l, &other))
        return false;
    if (d->where == LITERAL)
        return other.where == LITERAL && other.old == d->old && node_same(other.host, d->host);
    return node_same(other.value, d->value);
}

/* Every kernel of the same host function whose launches carry this number. */
static bool all_take(const struct block_number *d, struct edits *edits, struct err *why)
{
    const struct transform_input *in = d->f->in;
    struct arena *a = d->f->a;
    for (size_t k = 0; k < in->kernel->n_functions; k++) {
        struct function *f = function_open(in, a, in->kernel->functions[k].definition);
        bool mine = false;
        for (size_t l = 0; f && l < f->n_launches; l++)
            mine = mine || block_takes(f, &f->launches[l], d);
        if (!mine)
            continue;
        f->block_x = d->old;
        if (assembly_counts(f))
            return err_input(why, "inline assembly of %s is for a number of threads", f->name);
        if (d->where != CONSTANT && repeats(f, d))
            return err_input(why, "%s writes the number of threads down", f->name);
        if (!arrays_fit(f, d, d->threads, edits))
            return err_input(why, "a shared array of %s is too short for %d threads", f->name, d->threads);
        if (!(d->where == CAP ? cap_is_free : grid_follows)(f, d))
            return err_input(why, "the grid of %s does not follow the block", f->name);
        struct node bound = launch_bound(f);
        int64_t most;
        bool said = node_ok(bound) && !is_constant(f, d, bound);
        if (said && !constant_value(f, bound, &most))
            return err_input(why, "the launch bounds of %s are not known", f->name);
        if (said && most != d->threads && (most < d->threads || most == d->old)) {
            if (!node_is(bound, NODE_NUMBER_LITERAL))
                return err_input(why, "the launch bounds of %s are below %d", f->name, d->threads);
            if (edits)
                edits_node(edits, bound, arena_printf(a, "%d", d->threads));
        }
        for (size_t l = 0; edits && d->where == LITERAL && l < f->n_launches; l++) {
            struct block_number other = {0};
            if (!block_takes(f, &f->launches[l], d) || !block_of(f, &f->launches[l], &other))
                continue;
            if (!is_edited(edits, other.value)) /* two launches may share a dim3 */
                edits_node(edits, other.value, arena_printf(a, "%d", d->threads));
            size_t n_args = 0;
            struct node *args = node_ok(f->launches[l].template_args)
                                    ? named_children(f, f->launches[l].template_args, &n_args)
                                    : NULL;
            for (size_t i = 0; i < n_args; i++) { /* a template parameter that repeats the block */
                int64_t v;
                if (node_is(args[i], NODE_NUMBER_LITERAL) && constant_value(f, args[i], &v) && v == d->old)
                    edits_node(edits, args[i], arena_printf(a, "%d", d->threads));
            }
        }
    }
    if (edits && d->where == LITERAL)
        grid_follow(d->f, d, edits);
    return true;
}

/* The one constant by which the kernels of a literal block say its number, where nobody else says it: it
 * changes along. */
static void constant_of(struct block_number *d)
{
    const struct function *f = d->f;
    struct block_number found = *d;
    for (struct node *item = file_items(f, NULL); node_ok(*item); item++) {
        const char *name = NULL;
        struct node value = defined_as(f, *item, d->old, &name);
        if (!node_ok(value) || !str_has_word(text_of(f, f->whole), name))
            continue;
        if (found.constant)
            return;
        found.constant = name;
        found.constant_value = value;
    }
    if (!found.constant)
        return;
    size_t said = 1, n;
    struct function **all = functions_open(f->in, f->a, &n);
    for (size_t i = 0; i < n; i++) {
        bool takes_it = all[i]->global && all[i]->n_launches > 0;
        for (size_t l = 0; l < all[i]->n_launches; l++)
            takes_it = takes_it && block_takes(all[i], &all[i]->launches[l], d);
        if (takes_it)
            said += times_said(text_of(f, all[i]->whole), found.constant);
    }
    said += times_said(text_of(f, d->host), found.constant);
    if (said == times_said(f->text, found.constant))
        *d = found;
}

/* Does a block take several rows along its y? One of a single row would leave them out. */
static bool has_rows(const struct function *f)
{
    const char *body = text_of(f, f->body);
    bool rows = str_has_word(body, "threadIdx.y") && !str_has_word(body, "blockDim.y");

    for (const struct variable *v = f->variables; v < f->variables + f->n_variables && !rows; v++) {
        struct poly p = node_ok(v->init) && !v->pointer ? poly_of(f, v->init) : (struct poly){0};
        rows = p.ok && poly_says(&p, "blockIdx") && poly_says(&p, "threadIdx.y");
    }
    return rows;
}

/* A block as long as the row's work: only where threads share a row and nothing depends on how many they are.
 */
static bool row_fits(const struct function *f, char **bound, int *width)
{
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    *bound = NULL;
    *width = 0;
    for (size_t i = 0; i < n; i++) {
        if (loops[i].span != LANES_BLOCK || !str_has_word(text_of(f, loops[i].step), "blockDim.x"))
            return false;
        char *one = f->n_launches ? launch_expression(f, &f->launches[0], loops[i].bound) : NULL;
        if (one && !*bound) {
            *bound = one;
            *width = loops[i].width;
        }
    }
    struct node shared =
        f->n_launches ? f->launches[0].shared : (struct node){0}; /* as long as the block needs */
    if (has_rows(f) && block_threads(f, 1) != 1)
        return false;
    return *bound && f->n_launches == 1 && (!node_ok(shared) || node_text_is(f->s, shared, "0")) &&
           !str_has_word(text_of(f, f->body), "gridDim.y") && !assembly_counts(f) &&
           arrays_fit(f, &(struct block_number){.where = LITERAL}, 1024, NULL);
}

/* The launcher's `min(x, 1024)`: another number in its place, or no more threads than leave the last round
 * full. */
static void cap_sites(const struct block_number *d, const int *settings, struct site_list *found)
{
    struct arena *a = d->f->a;
    for (const int *s = settings; *s != NO_SETTING; s++) {
        struct block_number one = *d;
        bool even = *s > UP_TO, other = settings[0] > UP_TO ? even : !even;
        one.threads = threads_most(*s);
        if (!other || (!even && one.threads == d->old) || !all_take(&one, NULL, NULL))
            continue;
        one.threads = *s;
        site_add(found, d->f, d->value, *s,
                 even ? "in the last round of a row all threads have work, and more blocks fit an SM"
                      : "smaller blocks fill the SMs more evenly and meet sooner",
                 even ? "rounds of equal length of at most %d threads" : "at most %d threads", threads_most(*s))
            ->detail = arena_copy(a, &one, sizeof(one));
    }
}

/* min(x, 1024): as many threads as make the same number of rounds, in whole warps. */
static void cap_apply(const struct block_number *d, struct edits *edits)
{
    const struct function *f = d->f;
    struct arena *a = f->a;
    struct node call = node_enclosing(d->value, NODE_CALL_EXPRESSION);
    size_t n;
    struct node *args = named_children(f, node_field(call, FIELD_ARGUMENTS), &n);
    struct node work = node_same(args[0], d->value) ? args[1] : args[0];
    const char *x = text_of(f, work), *old = text_of(f, d->value), *suffix = old + strspn(old, "0123456789");
    int most = threads_most(d->threads);

    if (d->threads <= UP_TO) {
        edits_node(edits, d->value, arena_printf(a, "%d%s", most, suffix));
        return;
    }
    if (!node_is(work, NODE_IDENTIFIER))
        x = arena_printf(a, "(%s)", x);
    char *rounds = arena_printf(a, "((%s + %d) / %d)", x, most - 1, most);
    edits_node(edits, call,
               arena_printf(a, "(%s <= %d ? %s : ((%s + %s - 1) / %s + 31) / 32 * 32)", x, most, x, x, rounds,
                            rounds));
}

static void block_find(struct function *f, struct site_list *found)
{
    static const int own[] = {512, 1024, 256, 128, 64}, own_most[] = {UP_TO + 256, UP_TO + 512, UP_TO + 1024};
    const int *all = settings_to_try(f, found, own, ARRAY_LEN(own)),
              *all_most = settings_to_try(f, found, own_most, ARRAY_LEN(own_most));
    static const int own_even[] = {UP_TO + 1024, UP_TO + 512, UP_TO + 256};
    const int *all_even = settings_to_try(f, found, own_even, ARRAY_LEN(own_even));
    for (size_t l = 0; l < f->n_launches; l++) {
        struct block_number one = {0};
        char *bound;
        int width;
        bool known = block_of(f, &f->launches[l], &one) && one.old >= 32;
        if (known && one.where == LITERAL)
            constant_of(&one);
        known = known || (!row_fits(f, &bound, &width) && cap_known(f, &f->launches[l], &one));
        if (!known && strstr(text_of(f, host_value(f, &f->launches[l], f->launches[l].block)), "/ 32 * 32"))
            continue; /* it is a row's block already */
        if (!known)
            one = (struct block_number){.f = f}; /* it is worked out: a row's block may stand for it */
        bool seen = false;
        for (size_t s = 0; s < found->list.n; s++) {
            const struct block_number *d = found->list.v[s].detail;
            seen = seen || !known || node_same(d->value, one.value) ||
                   (one.where == LITERAL && d->where == LITERAL && node_same(d->host, one.host) &&
                    d->old == one.old);
        }
        if (known && one.where == CAP && !seen) {
            cap_sites(&one, all_even, found);
            cap_sites(&one, all, found);
            continue;
        }
        for (const int *threads = all; *threads != NO_SETTING && known && !seen; threads++) {
            if (*threads > UP_TO)
                continue;
            one.threads = *threads;
            if (*threads == one.old || !all_take(&one, NULL, NULL))
                continue;
            site_add(found, f, one.value, *threads,
                     *threads > one.old ? "more threads share a row and hide each other's waiting"
                                        : "smaller blocks fill the SMs more evenly and meet sooner",
                     "%d threads instead of %lld", *threads, (long long)one.old)
                ->detail = arena_copy(f->a, &one, sizeof(one));
        }
        for (const int *most = all_most;
             *most != NO_SETTING && (!known || !repeats(f, &(struct block_number){.old = one.old})) &&
             row_fits(f, &bound, &width);
             most++) {
            if (*most < UP_TO)
                continue;
            one.threads = *most;
            site_add(found, f, known ? one.value : f->launches[l].block, one.threads,
                     "long rows get many threads, short rows no idle ones",
                     "as many threads as a row has work for, up to %d", *most - UP_TO)
                ->detail = arena_copy(f->a, &one, sizeof(one));
        }
    }
}

/* A launch with as many threads as the row has work for. */
static bool row_apply(const struct function *f, int most, struct edits *edits, struct err *why_not)
{
    struct arena *a = f->a;
    char *bound, *name = fresh_name(f, "threads");
    int width;
    if (!row_fits(f, &bound, &width))
        return err_input(why_not, "rows of %s are not shared by the threads of a block", f->name);
    const struct launch *l = &f->launches[0];
    char *indent = text_indent(f, node_start(l->statement));
    char *count = width == 1 ? bound : arena_printf(a, "%s / %d", bound, width);
    char *call = text_wrap(a, launch_text(f, l, NULL, NULL, name), launch_column(f, l));
    edits_launch(edits, f, l,
                 arena_printf(a,
                              "// As many threads as a row has work for, in whole warps.\n"
                              "%sconst int %s = %s >= %d ? %d : ((int)(%s) + 31) / 32 * 32;\n%s%s",
                              indent, name, bound, most * width, most, count, indent, call));
    /* a bound that the compiler was told must not be exceeded */
    struct node told = launch_bound(f);
    int64_t limit;
    if (constant_value(f, told, &limit) && limit < most)
        edits_node(edits, told, arena_printf(a, "%d", most));
    return true;
}

static bool block_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    const struct block_number *d = site->detail;
    if (d->where == CAP) {
        struct block_number plain = *d;
        plain.threads = threads_most(d->threads);
        if (!all_take(&plain, edits, why_not))
            return false;
        cap_apply(d, edits);
        return true;
    }
    if (d->threads > UP_TO)
        return row_apply(f, d->threads - UP_TO, edits, why_not);
    if (!all_take(d, edits, why_not))
        return false;
    bool spaced = d->where == CONSTANT && text_of(f, d->value)[0] == ' ';
    if (d->constant)
        edits_node(edits, d->constant_value,
                   arena_printf(f->a, text_of(f, d->constant_value)[0] == ' ' ? " %d" : "%d", d->threads));
    if (d->where != LITERAL)
        edits_node(edits, d->value, arena_printf(f->a, spaced ? " %d" : "%d", d->threads));
    return true;
}

static const char *block_words(struct arena *a, int setting)
{
    return setting > UP_TO ? arena_printf(a, "up to %d", setting - UP_TO) : NULL;
}

const struct transform transform_block_size = {
    .name = "block-size",
    .summary = "launch with another number of threads in a block, or as many as a row has work for",
    .helps = "latency dram sync launch issue",
    .chooses = "block",
    .parameters =
        {{"threads", 1, UP_TO, 15, {64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024}},
         {"by row", UP_TO, 0, 2, {0, 1}}},
    .threads = threads_most,
    .setting_words = block_words,
    .later = UP_TO + 1024,
    .find = block_find,
    .apply = block_apply,
};
