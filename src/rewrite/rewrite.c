#include "rewrite/rewrite.h"

extern const struct transform transform_vectorise, transform_split_row, transform_uncap_grid, transform_shuffle,
    transform_hoist, transform_restrict, transform_unroll, transform_coarsen_threads, transform_tune,
    transform_fast_math, transform_launch_bounds, transform_specialise, transform_block_size,
    transform_register_cache, transform_cache_hints, transform_index32, transform_simplify,
    transform_drop_grid_stride, transform_fixed_block, transform_tile, transform_fuse;

const struct transform *const transform_all[] = {
    &transform_fuse,           &transform_tile,
    &transform_vectorise,      &transform_split_row,
    &transform_uncap_grid,     &transform_shuffle,
    &transform_block_size,     &transform_drop_grid_stride,
    &transform_register_cache, &transform_hoist,
    &transform_simplify,       &transform_index32,
    &transform_cache_hints,    &transform_restrict,
    &transform_unroll,         &transform_coarsen_threads,
    &transform_fast_math,      &transform_launch_bounds,
    &transform_fixed_block,    &transform_specialise,
    &transform_tune,           NULL,
};

const struct transform *transform_find(const char *name)
{
    for (size_t i = 0; transform_all[i]; i++)
        if (str_eq(transform_all[i]->name, name) || str_eq(transform_all[i]->alias, name))
            return transform_all[i];
    return NULL;
}

const char *transform_old_name(const char *name)
{
    const struct transform *t = transform_find(name);

    return t && t->alias ? t->alias : name;
}
