/* launch-bounds: say how many threads a block has, so that the compiler may use the registers that leaves. */
#include "rewrite/analysis.h"

static bool has_bounds(const struct function *f)
{
    return strstr(text_range(f, node_start(f->definition), node_start(f->id)), "__launch_bounds__") != NULL;
}

static size_t bounds_find(const struct transform_input *in, struct arena *a,
                          const struct transform_site **sites)
{
    VEC(struct transform_site) found = {0};
    for (size_t i = 0; i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        if (!f || f->block_x < 32 || has_bounds(f))
            continue;
        for (size_t l = 0; l < f->n_launches; l++) { /* other workloads may take another block */
            int64_t value;
            if (!constant_value(f, f->launches[l].block, &value) || value != f->block_x)
                f->block_x = 0;
        }
        if (!f->block_x)
            continue;
        struct transform_site site = {.transform = "launch-bounds",
                                      .line = node_line(f->s, f->definition),
                                      .setting = (int)f->block_x,
                                      .detail = f};
        site.where = arena_printf(a, "%s, line %d: %d threads", f->name, site.line, site.setting);
        site.why = "the compiler otherwise plans registers for blocks of 1024 threads";
        vec_add(a, &found, site);
    }
    *sites = found.v;
    return found.n;
}

static bool bounds_apply(const struct transform_input *in, const struct transform_site *site, struct arena *a,
                         char **text, struct err *why_not)
{
    (void)in;
    const struct function *f = site->detail;
    struct edits edits = {.arena = a};
    if (has_bounds(f))
        return err_input(why_not, "%s has launch bounds already", f->name);
    /* The name goes to a line of its own, and the parameters stay aligned below it. */
    size_t id = node_start(f->id);
    int left = (int)(id - line_start(f->text, id)) - 4;
    size_t gap = id - (f->text[id - 1] == ' '); /* the space before the name */
    edits_try(&edits, gap, id,
              arena_printf(a, "%s__launch_bounds__(%d)\n    ", gap < id ? " " : "", site->setting));
    for (size_t at = node_end(f->id); left > 0 && at < node_start(f->body); at++) {
        size_t spaces = strspn(f->text + at + 1, " ");
        if (f->text[at] == '\n' && spaces > (size_t)left)
            edits_try(&edits, at + 1, at + 1 + (size_t)left, "");
    }
    return edits_done(&edits, f, text, why_not);
}

const struct transform transform_launch_bounds = {
    .name = "launch-bounds",
    .summary = "tell the compiler the number of threads in a block",
    .helps = "latency issue",
    .find = bounds_find,
    .apply = bounds_apply,
};
