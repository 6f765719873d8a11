/* launch-bounds: say how many threads a block has, so that the compiler may use the registers that leaves. */
#include "rewrite/analysis.h"

static bool has_bounds(const struct function *f)
{
    return strstr(text_range(f, node_start(f->definition), node_start(f->id)), "__launch_bounds__") != NULL;
}

static void bounds_find(struct function *f, struct site_list *found)
{
    bool same = f->block_x >= 32 && !has_bounds(f);
    for (size_t l = 0; same && l < f->n_launches; l++) { /* other workloads may take another block */
        int64_t value;
        same = constant_value(f, f->launches[l].block, &value) && value == f->block_x;
    }
    if (same)
        site_add(found, f, f->definition, (int)f->block_x,
                 "the compiler otherwise plans registers for blocks of 1024 threads", "%d threads",
                 (int)f->block_x);
}

static bool bounds_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    if (has_bounds(f))
        return err_input(why_not, "%s has launch bounds already", f->name);
    /* The name goes to a line of its own, and the parameters stay aligned below it. */
    size_t id = node_start(f->id);
    int left = (int)(id - str_line_start(f->text, id)) - 4;
    size_t gap = id - (f->text[id - 1] == ' '); /* the space before the name */
    edits_try(edits, gap, id,
              arena_printf(f->a, "%s__launch_bounds__(%d)\n    ", gap < id ? " " : "", site->setting));
    for (size_t at = node_end(f->id); left > 0 && at < node_start(f->body); at++) {
        size_t spaces = strspn(f->text + at + 1, " ");
        if (f->text[at] == '\n' && spaces > (size_t)left)
            edits_try(edits, at + 1, at + 1 + (size_t)left, "");
    }
    return true;
}

const struct transform transform_launch_bounds = {
    .name = "launch-bounds",
    .summary = "tell the compiler the number of threads in a block",
    .helps = "latency issue",
    .find = bounds_find,
    .apply = bounds_apply,
};
