#include "rewrite/rewrite.h"

extern const struct rewrite_ops rewrite_vectorise, rewrite_split_rows, rewrite_raise_grid, rewrite_shuffle,
    rewrite_hoist, rewrite_restrict, rewrite_unroll, rewrite_items, rewrite_tune, rewrite_fast_math,
    rewrite_launch_bounds, rewrite_specialise, rewrite_block, rewrite_keep, rewrite_hints, rewrite_narrow,
    rewrite_simplify, rewrite_once, rewrite_fixed_block, rewrite_tile, rewrite_fuse;

const struct rewrite_ops *const rewrite_all[] = {
    &rewrite_fuse,        &rewrite_tile,
    &rewrite_vectorise,   &rewrite_split_rows,
    &rewrite_raise_grid,  &rewrite_shuffle,
    &rewrite_block,       &rewrite_once,
    &rewrite_keep,        &rewrite_hoist,
    &rewrite_simplify,    &rewrite_narrow,
    &rewrite_hints,       &rewrite_restrict,
    &rewrite_unroll,      &rewrite_items,
    &rewrite_fast_math,   &rewrite_launch_bounds,
    &rewrite_fixed_block, &rewrite_specialise,
    &rewrite_tune,        NULL,
};

const struct rewrite_ops *rewrite_find(const char *name)
{
    for (size_t i = 0; rewrite_all[i]; i++)
        if (str_eq(rewrite_all[i]->name, name))
            return rewrite_all[i];
    return NULL;
}
