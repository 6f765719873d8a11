#include "internal.h"

bool san_begin(struct launch *l, struct err *err)
{
    (void)l, (void)err;
    return true;
}

void san_end(struct launch *l)
{
    (void)l;
}

void san_block_begin(struct block *b)
{
    (void)b;
}

void san_block_end(struct block *b)
{
    (void)b;
}

void san_access(struct warp *w, const struct insn *i, const struct access *x)
{
    (void)w, (void)i, (void)x;
}

void san_insn(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)w, (void)i, (void)m;
}

void san_use(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)w, (void)i, (void)m;
}

void san_barrier(struct block *b, unsigned id, const uint32_t *arrived, const uint32_t *waiting)
{
    (void)b, (void)id, (void)arrived, (void)waiting;
}

void san_warp_sync(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

void san_fence(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

void san_async(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

void san_exit(struct warp *w, uint32_t mask)
{
    (void)w, (void)mask;
}

void san_grid_sync(struct launch *l)
{
    (void)l;
}
