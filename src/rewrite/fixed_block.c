/* fixed-block: a kernel that every launch gives the same constant number of threads says that number instead of
 * blockDim.x: an index needs one multiplication by a constant then, and the launch's geometry, which lies in
 * another line of the constant bank than the arguments, is not fetched. */
#include "rewrite/analysis.h"

/* Every launch's block is this number, written down, and the kernel asks for it. */
static bool is_fixed(const struct function *f)
{
    if (f->block_x < 32 || !str_has_word(text_of(f, f->body), "blockDim.x") || !function_may_be_copied(f))
        return false;
    for (size_t l = 0; l < f->n_launches; l++) { /* other workloads may take another block */
        int64_t value;
        if (!launch_block_constant(f, &f->launches[l], &value) || value != f->block_x)
            return false;
    }
    return f->n_launches > 0;
}

static void fixed_find(struct function *f, struct site_list *found)
{
    if (is_fixed(f))
        site_add(found, f, f->definition, 0,
                 "an index waits for blockDim.x, which is fetched from memory; the number is known",
                 "%lld threads", (long long)f->block_x);
}

static bool fixed_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    struct arena *a = f->a;
    (void)site;
    if (!is_fixed(f))
        return err_input(why_not, "launches of %s differ in their blocks", f->name);
    /* A constant of the file keeps its name, so that kernel and launch stay together. */
    struct node block = node_strip(f->launches[0].block);
    int64_t of_file;
    const char *number = node_is(block, NODE_IDENTIFIER) && constant_value(f, block, &of_file) &&
                                 !node_is(f->whole, NODE_TEMPLATE_DECLARATION)
                             ? text_of(f, block)
                             : arena_printf(a, "%lld", (long long)f->block_x);
    for (size_t l = 1; l < f->n_launches; l++)
        if (!node_text_is(f->s, node_strip(f->launches[l].block), number))
            number = arena_printf(a, "%lld", (long long)f->block_x);
    for (size_t k = 0; k < f->n_variables; k++) /* a local that hides it, or one of the launcher */
        if (str_eq(f->variables[k].name, number))
            number = arena_printf(a, "%lld", (long long)f->block_x);
    for (struct node *field = nodes_of(f, f->body, NODE_FIELD_EXPRESSION); node_ok(*field); field++)
        if (node_text_is(f->s, *field, "blockDim.x"))
            edits_node(edits, *field, number);
    return true;
}

const struct transform transform_fixed_block = {
    .name = "fixed-block",
    .summary = "say the number of threads in a block where every launch has the same",
    .helps = "launch latency",
    .find = fixed_find,
    .apply = fixed_apply,
};
