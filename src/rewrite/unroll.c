/* unroll: a loop over lanes takes several turns at once, so that their loads are under way together. */
#include "rewrite/analysis.h"

static bool takes(const struct function *f, const struct lane_loop *l)
{
    return node_is(node_parent(l->loop), NODE_COMPOUND_STATEMENT) &&
           !node_is(node_prev(l->loop), NODE_PREPROC_CALL) && !calls_barrier(f, l->body);
}

static void unroll_find(struct function *f, struct site_list *found)
{
    static const int own[] = {2, 4, 8};
    size_t n, first = 0;
    struct lane_loop *loops = lane_loops(f, &n);
    while (first < n && !takes(f, &loops[first]))
        first++;
    for (const int *times = settings_to_try(f, found, own, ARRAY_LEN(own)); *times != NO_SETTING && first < n;
         times++)
        site_add(found, f, loops[first].loop, *times, "the loads of several turns are then in flight together",
                 "%d turns at once", *times);
}

static bool unroll_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                         struct err *why_not)
{
    size_t n;
    struct lane_loop *loops = lane_loops(f, &n);
    for (size_t i = 0; i < n; i++)
        if (takes(f, &loops[i]))
            edits_at(edits, str_line_start(f->text, node_start(loops[i].loop)),
                     arena_printf(f->a, "#pragma unroll %d\n", site->setting));
    return edits->list.n > 0 || err_input(why_not, "no loop in steps of the block without a pragma");
}

const struct transform transform_unroll = {
    .name = "unroll",
    .summary = "unroll loops in steps of the block, so that several loads are in flight",
    .helps = "latency issue",
    .parameters = {{"turns", 1, 0, 6, {2, 3, 4, 6, 8, 16}}},
    .find = unroll_find,
    .apply = unroll_apply,
};
