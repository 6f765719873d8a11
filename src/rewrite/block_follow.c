/* What follows the number of a block's threads: constants of the file, and grids that are made of it. */
#include "rewrite/block_size.h"

/* The value of a constant that the file defines as this number, and its name; no node when it defines none. */
struct node defined_as(const struct function *f, struct node item, int64_t number, const char **name)
{
    struct node declarator = node_field(item, FIELD_DECLARATOR), value = {0};
    if (node_is(item, NODE_PREPROC_DEF)) {
        *name = text_of(f, node_field(item, FIELD_NAME));
        value = node_field(item, FIELD_VALUE);
    } else if (node_is(item, NODE_DECLARATION) && node_is(declarator, NODE_INIT_DECLARATOR) &&
               (str_has_word(text_of(f, item), "const") || str_has_word(text_of(f, item), "constexpr"))) {
        *name = text_of(f, node_field(declarator, FIELD_DECLARATOR));
        value = node_field(declarator, FIELD_VALUE);
    }
    bool same = node_ok(value) &&
                str_eq(text_compact(f->a, text_of(f, value)), arena_printf(f->a, "%lld", (long long)number));
    return same ? value : (struct node){0};
}

size_t times_said(const char *text, const char *word)
{
    size_t n = 0, len = strlen(word);
    bool begins = true;
    for (const char *p = text; *p;) {
        const char *behind = text_behind_literal(text, p);
        if (behind != p) {
            p = behind;
            begins = true;
            continue;
        }
        n += begins && strncmp(p, word, len) == 0 && !str_in_word(p[len]);
        begins = !str_in_word(*p++);
    }
    return n;
}

bool is_constant(const struct function *f, const struct block_number *d, struct node e)
{
    const char *name = d->where == CONSTANT ? d->name : d->constant;
    return name && str_eq(text_of(f, e), name);
}

/* The number that makes a division by `by` round up: 127 of `x + 127`, 128 of `x + 128 - 1`; *less: what stands
 * behind it is missing. No node: it does not. */
static struct node rounds_up(const struct function *f, struct node dividend, int64_t by, int *less)
{
    int64_t value;
    *less = 1;
    if (node_is_binary(f, dividend, "-") && constant_value(f, node_field(dividend, FIELD_RIGHT), &value) &&
        value == 1) {
        *less = 0;
        dividend = node_strip(node_field(dividend, FIELD_LEFT));
    }
    struct node add = node_strip(node_field(dividend, FIELD_RIGHT));
    bool up = node_is_binary(f, dividend, "+") && node_is(add, NODE_NUMBER_LITERAL) &&
              constant_value(f, add, &value) && value == by - *less;
    return up ? add : (struct node){0};
}

/* The second number of `x / 128 + (x % 128 != 0)`, where that is what the division is part of; no node: it is
 * not.
 */
static struct node rest_counts(const struct function *f, struct node division, int64_t by)
{
    struct node sum = node_parent(division), other = node_strip(node_field(sum, FIELD_RIGHT));
    int64_t value;
    if (!node_is_binary(f, sum, "+") || !node_same(node_field(sum, FIELD_LEFT), division))
        return (struct node){0};
    struct node asked =
        node_is(other, NODE_CONDITIONAL_EXPRESSION) ? node_strip(node_field(other, FIELD_CONDITION)) : other;
    struct node rest = node_strip(node_field(asked, FIELD_LEFT)),
                number = node_strip(node_field(rest, FIELD_RIGHT));
    const char *counts = text_compact(f->a, text_of(f, asked)),
               *behind = text_compact(f->a, text_of(f, other)) + strlen(counts);
    bool more = str_ends(counts, "!=0") || str_ends(counts, ">0"), known = more && node_same(asked, other);
    known = known || (more && str_eq(behind, "?1:0")) || (str_ends(counts, "==0") && str_eq(behind, "?0:1"));
    known = known && node_is_binary(f, rest, "%") && node_is(number, NODE_NUMBER_LITERAL) &&
            constant_value(f, number, &value) && value == by &&
            str_eq(text_of(f, node_field(rest, FIELD_LEFT)), text_of(f, node_field(division, FIELD_LEFT)));
    return known ? number : (struct node){0};
}

/* Is it a launch whose block does not take the number, so that its grid stays? */
static bool launches_another(const struct function *f, const struct block_number *d, struct node call)
{
    const struct kernel *kernel = f->in->kernel;
    for (size_t k = 0; k < kernel->n_functions; k++) { /* those that no workload runs, too */
        const struct function *one = function_open(f->in, f->a, kernel->functions[k].definition);
        for (size_t l = 0; one && l < one->n_launches; l++)
            if (node_same(one->launches[l].call, call))
                return !block_takes(one, &one->launches[l], d);
    }
    return node_ok(node_child_of(call, NODE_KERNEL_CALL_SYNTAX));
}

/* Does it stand in such a launch? */
static bool is_of_another(const struct function *f, const struct block_number *d, struct node e)
{
    struct node call = node_enclosing(e, NODE_CALL_EXPRESSION);
    while (node_ok(call) && !node_ok(node_child_of(call, NODE_KERNEL_CALL_SYNTAX)))
        call = node_enclosing(call, NODE_CALL_EXPRESSION);
    return node_ok(call) && launches_another(f, d, call);
}

/* Is such a launch's shape made of what the division is the value of? */
static bool another_takes(const struct function *f, const struct block_number *d, struct node division)
{
    struct node declarator = node_enclosing(division, NODE_INIT_DECLARATOR);
    const char *name = node_ok(declarator) ? text_of(f, node_field(declarator, FIELD_DECLARATOR)) : NULL;
    for (struct node *call = nodes_of(f, d->host, NODE_CALL_EXPRESSION); node_ok(*call) && name; call++) {
        struct node syntax = node_child_of(*call, NODE_KERNEL_CALL_SYNTAX);
        size_t n = 0;
        struct node *shape = launches_another(f, d, *call) ? named_children(f, syntax, &n) : NULL;
        for (size_t i = 0; i < n && i < 2; i++)
            if (host_follows(f, &f->launches[0], shape[i], name, 0))
                return true;
    }
    return false;
}

/* `(x + 127) / 128` and `x / 128 + (x % 128 != 0)` in the host function: both numbers follow. */
bool grid_follow(const struct function *f, const struct block_number *d, struct edits *edits)
{
    for (struct node *e = nodes_of(f, d->host, NODE_BINARY_EXPRESSION); node_ok(*e); e++) {
        struct node right = node_strip(node_field(*e, FIELD_RIGHT)), add;
        int64_t by;
        int less;
        if (!str_eq(node_op(f, *e), "/") || !node_is(right, NODE_NUMBER_LITERAL) ||
            !constant_value(f, right, &by) || by % d->old != 0 || is_of_another(f, d, *e))
            continue;
        add = rounds_up(f, node_strip(node_field(*e, FIELD_LEFT)), by, &less);
        if (!node_ok(add)) {
            add = rest_counts(f, *e, by);
            less = 0;
        }
        if (!node_ok(add))
            continue;
        if (another_takes(f, d, *e))
            return false;
        by = by / d->old * d->threads;
        edits_node(edits, add, arena_printf(f->a, "%lld", (long long)by - less));
        edits_node(edits, right, arena_printf(f->a, "%lld", (long long)by));
    }
    return true;
}

/* Does the launcher's expression follow the number: does it, or what it is made of, mention its name? */
bool host_follows(const struct function *f, const struct launch *l, struct node e, const char *name, int depth)
{
    size_t n, parts;
    if (!node_ok(e) || str_has_word(text_of(f, e), name) || depth > 4)
        return node_ok(e) && depth <= 4;
    struct node *names = node_find_all(f->a, e, NODE_IDENTIFIER, &n);
    if (node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_PARAMETER_DECLARATION))
        names = &e, n = 1;
    for (size_t i = 0; i < n; i++) {
        struct node *list = launch_dim3(f, l, names[i], &parts);
        for (size_t k = 0; list && k < parts; k++)
            if (host_follows(f, l, list[k], name, depth + 1))
                return true;
        if (host_follows(f, l, node_field(host_declarator(f, l, names[i]), FIELD_VALUE), name, depth + 1))
            return true;
    }
    return false;
}

/* By how many elements a sum grows with each block of the grid, for a block of so many threads; 0: not known.
 */
static int64_t elements_each(const struct poly *p, const char *counter, int64_t threads)
{
    int64_t each = 0;
    for (const struct term *t = p->t; p->ok && t < p->t + p->n; t++) {
        bool alone = t->n == 1 && str_eq(t->atom[0], counter), dim = false;
        for (int i = 0; t->n == 2 && i < 2; i++)
            dim = dim || (str_eq(t->atom[i], counter) && str_eq(t->atom[1 - i], "blockDim.x"));
        if (!alone && !dim)
            return 0;
        each += dim ? t->by * threads : t->by;
    }
    return each;
}

/* Does the kernel take tiles of the block, of whose elements no thread says which are its own, as CUB's loads
 * have them? *whole: it asks for its block for nothing else. */
bool takes_tiles(const struct function *f, const struct block_number *d, bool *whole)
{
    bool tiles = false;
    *whole = true;
    for (struct node *name = nodes_of(f, f->body, NODE_IDENTIFIER); node_ok(*name); name++) {
        struct node e = node_parent(*name);
        if (!node_text_is(f->s, *name, "blockIdx"))
            continue;
        while (node_is_binary(f, node_parent(e), "*") || node_is(node_parent(e), NODE_PARENTHESIZED_EXPRESSION))
            e = node_parent(e);
        struct poly p = poly_of(f, e);
        int64_t each = elements_each(&p, "blockIdx.x", d->old);
        bool tile = each > 0 && each % d->old == 0;
        tiles = tiles || tile;
        *whole = *whole && tile;
    }
    return tiles;
}

/* Then: does the grid follow, or a loop go on with the next tiles of any grid? */
bool tiles_follow(const struct function *f, const struct block_number *d)
{
    struct edits seen = {.arena = f->a};
    for (struct node *s = nodes_of(f, f->body, NODE_FOR_STATEMENT); node_ok(*s); s++) {
        struct node update = node_field(*s, FIELD_UPDATE),
                    start = node_field(node_field(*s, FIELD_INITIALIZER), FIELD_DECLARATOR);
        struct poly from = poly_of(f, node_field(start, FIELD_VALUE)),
                    step = poly_of(f, node_field(update, FIELD_RIGHT));
        int64_t each = elements_each(&from, "blockIdx.x", d->old);
        if (node_is_assignment(f, update, "+=") && each > 0 &&
            each == elements_each(&step, "gridDim.x", d->old))
            return true;
    }
    grid_follow(f, d, &seen);
    bool named = d->where == CONSTANT;
    for (size_t l = 0; l < f->n_launches; l++)
        named = named && host_follows(f, &f->launches[l], f->launches[l].grid, d->name, 0);
    return (named || (d->where == LITERAL && seen.list.n > 0)) && !str_has_word(text_of(f, f->body), "gridDim");
}
