/* The race detector by itself: who is ordered before whom, without a simulator around it. */
#include "test.h"

#include "sanitize/race.h"

enum { WARPS = 4 };

struct world {
    struct race *r;
    struct race_block *b[2];
    uint8_t memory[65536]; /* what peek sees */
    uint64_t addr[32];
    uint32_t values[32];
};

static void peek(void *context, bool shared, uint64_t addr, void *to, size_t size_bytes)
{
    (void)shared;
    memcpy(to, ((struct world *)context)->memory + addr, size_bytes);
}

static bool stored(void *context, uint32_t lane, uint8_t to[16])
{
    memcpy(to, &((struct world *)context)->values[lane], 4);
    return true;
}

static int set_up(void **state)
{
    struct world *w = mem_zalloc(sizeof(*w));
    w->r = race_open(peek);
    race_launch(w->r, WARPS, false);
    w->b[0] = race_block_open(w->r, 0);
    w->b[1] = race_block_open(w->r, 1);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    race_block_close(w->r, w->b[0]);
    race_block_close(w->r, w->b[1]);
    race_close(w->r);
    free(w);
    return 0;
}

static struct race_conflict last;

static void relaunch(struct world *w)
{
    race_launch(w->r, WARPS, false);
    w->b[0] = race_block_open(w->r, 0);
    w->b[1] = race_block_open(w->r, 1);
}

static bool go(struct world *w, int block, uint32_t warp, struct race_access a)
{
    a.addr = w->addr;
    a.context = w;
    if (!a.size_bytes)
        a.size_bytes = 4;
    return race_access(w->r, w->b[block], warp, &a, &last);
}

enum { SHARED = 4, STRONG = 8 }; /* beside the operation */

static struct race_access access_of(unsigned how, uint32_t mask, uint32_t pc)
{
    return (struct race_access){
        .mask = mask, .op = how & 3, .shared = how & SHARED, .strong = how & STRONG, .pc = pc};
}

/* Lane `lane` at addr. */
static bool one(struct world *w, int block, uint32_t warp, uint32_t lane, unsigned how, uint64_t addr,
                uint32_t pc)
{
    w->addr[lane] = addr;
    w->values[lane] = pc + 1; /* differs from what is there */
    struct race_access a = access_of(how, 1u << lane, pc);
    if (a.op == RACE_WRITE)
        a.stored = stored;
    return go(w, block, warp, a);
}

/* The whole warp at consecutive addresses of size bytes. */
static bool row(struct world *w, int block, uint32_t warp, unsigned how, uint64_t addr, uint32_t size,
                uint32_t pc)
{
    struct race_access a = access_of(how, ~0u, pc);
    a.size_bytes = size;
    a.consecutive = true;
    for (uint32_t l = 0; l < 32; l++)
        w->addr[l] = addr + (uint64_t)l * size;
    return go(w, block, warp, a);
}

static void test_own_program_orders(void **state)
{
    struct world *w = *state;
    for (int shared = 0; shared < 2; shared++) {
        assert_true(one(w, 0, 0, 3, RACE_WRITE | (shared ? SHARED : 0), 64, 1));
        assert_true(one(w, 0, 0, 3, RACE_READ | (shared ? SHARED : 0), 64, 2));
        assert_true(one(w, 0, 0, 3, RACE_WRITE | (shared ? SHARED : 0), 64, 3));
        assert_true(row(w, 0, 1, RACE_WRITE | (shared ? SHARED : 0), 4096, 4, 4));
        assert_true(row(w, 0, 1, RACE_READ | (shared ? SHARED : 0), 4096, 4, 5));
        assert_true(row(w, 0, 1, RACE_WRITE | (shared ? SHARED : 0), 4096, 4, 6));
    }
}

static void test_barrier_orders_a_block(void **state)
{
    struct world *w = *state;
    assert_true(row(w, 0, 0, RACE_WRITE | SHARED, 0, 4, 1));
    assert_false(row(w, 0, 1, RACE_READ | SHARED, 0, 4, 2));
    assert_int_equal(last.pc, 1);
    assert_int_equal(last.warp, 0);
    assert_true(last.wrote);
    race_barrier(w->r, w->b[0]);
    assert_true(row(w, 0, 2, RACE_READ | SHARED, 0, 4, 3));
    assert_true(row(w, 0, 3, RACE_READ | SHARED, 0, 4, 3));
    assert_false(row(w, 0, 1, RACE_WRITE | SHARED, 0, 4, 4)); /* reuse without a barrier */
    assert_false(last.wrote);
    race_barrier(w->r, w->b[0]);
    assert_true(row(w, 0, 1, RACE_WRITE | SHARED, 0, 4, 5));
}

static void test_lanes_are_threads(void **state)
{
    struct world *w = *state;
    assert_true(row(w, 0, 0, RACE_WRITE | SHARED, 0, 4, 1));
    assert_false(one(w, 0, 0, 0, RACE_READ | SHARED, 4, 2));
    race_warp_sync(w->r, w->b[0], 0, ~0u, true);
    assert_true(one(w, 0, 0, 0, RACE_READ | SHARED, 8, 3));
    assert_false(one(w, 0, 0, 2, RACE_WRITE | SHARED, 8, 4)); /* lane 0 reads it */
    race_warp_sync(w->r, w->b[0], 0, 0x5, false);             /* lanes 0 and 2 */
    assert_true(one(w, 0, 0, 2, RACE_WRITE | SHARED, 8, 5));
    assert_false(one(w, 0, 0, 1, RACE_READ | SHARED, 8, 6));
}

static void test_many_readers(void **state)
{
    struct world *w = *state;
    for (uint32_t warp = 0; warp < WARPS; warp++)
        assert_true(one(w, 0, warp, 0, RACE_READ | SHARED, 0, 1));
    assert_false(one(w, 0, 3, 0, RACE_WRITE | SHARED, 0, 2)); /* the last reader itself */
    for (uint32_t l = 0; l < 32; l++)
        w->addr[l] = 128;
    assert_true(go(w, 0, 0, (struct race_access){.mask = ~0u, .op = RACE_READ, .shared = true, .pc = 3}));
    assert_false(one(w, 0, 0, 0, RACE_WRITE | SHARED, 128, 4));
    race_warp_sync(w->r, w->b[0], 0, ~0u, true);
    for (uint32_t l = 0; l < 32; l++)
        w->addr[l] = 256;
    assert_true(go(w, 0, 0, (struct race_access){.mask = ~0u, .op = RACE_READ, .shared = true, .pc = 3}));
    race_warp_sync(w->r, w->b[0], 0, ~0u, true);
    assert_true(one(w, 0, 0, 0, RACE_WRITE | SHARED, 256, 5));
    /* global: readers of two blocks */
    assert_true(one(w, 0, 0, 0, RACE_READ, 0, 6));
    assert_true(one(w, 1, 0, 0, RACE_READ, 0, 6));
    assert_false(one(w, 1, 0, 0, RACE_WRITE, 0, 7));
}

static void test_sizes_split_cells(void **state)
{
    struct world *w = *state;
    assert_true(row(w, 0, 0, RACE_WRITE, 0, 16, 1));
    assert_false(one(w, 0, 1, 0, RACE_READ, 100, 2));
    assert_true(row(w, 1, 0, RACE_WRITE, 8192, 2, 3)); /* halves side by side */
    assert_true(row(w, 0, 0, RACE_WRITE, 8192 + 64, 2, 3));
    assert_false(row(w, 0, 0, RACE_READ, 8192 + 32, 2, 4));
    assert_true(row(w, 0, 2, RACE_WRITE, 16384 - 256, 16, 5)); /* over the end of a page */
    assert_false(one(w, 0, 3, 0, RACE_READ, 16384 + 252, 6));
}

static void test_blocks_are_unordered(void **state)
{
    struct world *w = *state;
    assert_true(row(w, 0, 0, RACE_WRITE, 0, 4, 1));
    race_barrier(w->r, w->b[0]);
    race_barrier(w->r, w->b[1]);
    assert_false(row(w, 1, 0, RACE_READ, 0, 4, 2));
    assert_int_equal(last.block, 0);
    relaunch(w);
    assert_true(row(w, 1, 0, RACE_READ, 0, 4, 3));
}

static void test_same_value_is_no_race(void **state)
{
    struct world *w = *state;
    uint32_t seven = 7;
    memcpy(w->memory + 64, &seven, 4);
    w->values[0] = w->values[1] = 7;
    for (int pc = 1; pc < 3; pc++) {
        w->addr[0] = w->addr[1] = 64;
        assert_true(
            go(w, 0, (uint32_t)pc,
               (struct race_access){.mask = 3, .op = RACE_WRITE, .pc = (uint32_t)pc, .stored = stored}));
    }
    w->values[0] = 8;
    w->addr[0] = w->addr[1] = 128;
    assert_false(go(w, 0, 0, (struct race_access){.mask = 3, .op = RACE_WRITE, .stored = stored}));
    assert_int_equal(last.lane, 1);
    assert_int_equal(last.other_lane, 0);
}

/* The last block reads what the others wrote: right with a fence before the ticket, a race without it. */
static bool ticket(struct world *w, bool fence, bool block_scope, bool fence_before_barrier)
{
    one(w, 0, 1, 5, RACE_WRITE, 4096, 1);
    if (fence && fence_before_barrier)
        race_fence(w->r, w->b[0], 1, 1u << 5, false, block_scope);
    race_barrier(w->r, w->b[0]);
    if (fence && !fence_before_barrier)
        race_fence(w->r, w->b[0], 0, 1, false, block_scope);
    assert_true(one(w, 0, 0, 0, RACE_ATOMIC | STRONG, 8192, 2));
    assert_true(one(w, 1, 2, 7, RACE_ATOMIC | STRONG, 8192, 2));
    race_barrier(w->r, w->b[1]);
    return one(w, 1, 3, 9, RACE_READ, 4096, 3);
}

static void test_ticket(void **state)
{
    struct world *w = *state;
    assert_true(ticket(w, true, false, false));
    relaunch(w);
    assert_true(ticket(w, true, false, true));
    relaunch(w);
    assert_false(ticket(w, false, false, false));
    relaunch(w);
    assert_false(ticket(w, true, true, false)); /* __threadfence_block does not reach the other block */
}

static void test_ticket_of_three(void **state)
{
    struct world *w = *state;
    struct race_block *third = race_block_open(w->r, 2);
    one(w, 0, 0, 0, RACE_WRITE, 0, 1);
    race_fence(w->r, w->b[0], 0, 1, false, false);
    one(w, 0, 0, 0, RACE_ATOMIC | STRONG, 8192, 2);
    one(w, 1, 0, 0, RACE_WRITE, 64, 1);
    race_fence(w->r, w->b[1], 0, 1, false, false);
    one(w, 1, 0, 0, RACE_ATOMIC | STRONG, 8192, 2);
    struct race_block *second = w->b[1];
    w->b[1] = third;
    assert_true(one(w, 1, 0, 0, RACE_ATOMIC | STRONG, 8192, 2));
    assert_true(one(w, 1, 0, 0, RACE_READ, 0, 3));
    assert_true(one(w, 1, 0, 0, RACE_READ, 64, 3));
    assert_false(one(w, 1, 0, 1, RACE_READ, 64, 4)); /* another lane knows nothing */
    w->b[1] = second;
    race_block_close(w->r, third);
}

static void test_volatile_flag_between_warps(void **state)
{
    struct world *w = *state;
    assert_true(one(w, 0, 0, 0, RACE_WRITE | SHARED, 0, 1));
    race_fence(w->r, w->b[0], 0, 1, false, true);
    assert_true(one(w, 0, 0, 0, RACE_WRITE | SHARED | STRONG, 64, 2));
    assert_true(one(w, 0, 1, 0, RACE_READ | SHARED | STRONG, 64, 3));
    assert_true(one(w, 0, 1, 0, RACE_READ | SHARED, 0, 4));
    assert_false(one(w, 0, 2, 0, RACE_READ | SHARED, 64, 5)); /* a plain read of the flag */
    race_barrier(w->r, w->b[0]);
    assert_true(one(w, 0, 0, 0, RACE_WRITE | SHARED, 0, 6));
    assert_true(one(w, 0, 0, 0, RACE_WRITE | SHARED | STRONG, 64, 7)); /* no fence */
    assert_true(one(w, 0, 1, 0, RACE_READ | SHARED | STRONG, 64, 8));
    assert_false(one(w, 0, 1, 0, RACE_READ | SHARED, 0, 9));
}

static void test_fence_of_a_warp_is_each_lanes_own(void **state)
{
    struct world *w = *state;
    for (int sync = 0; sync < 2; sync++) {
        relaunch(w);
        assert_true(row(w, 0, 0, RACE_WRITE, 0, 4, 1));
        race_fence(w->r, w->b[0], 0, ~0u, true, false);
        if (sync)
            race_warp_sync(w->r, w->b[0], 0, ~0u, true);
        assert_true(one(w, 0, 0, 0, RACE_WRITE | STRONG, 4096, 2));
        assert_true(one(w, 1, 0, 0, RACE_READ | STRONG, 4096, 3));
        race_fence(w->r, w->b[1], 0, 1, false, false);
        assert_true(one(w, 1, 0, 0, RACE_READ, 0, 4));
        assert_int_equal(one(w, 1, 0, 0, RACE_READ, 4, 4), sync);
    }
}

static void test_release_and_acquire(void **state)
{
    struct world *w = *state;
    one(w, 0, 0, 0, RACE_WRITE, 0, 1);
    w->addr[0] = 512;
    assert_true(
        go(w, 0, 0, (struct race_access){.mask = 1, .op = RACE_WRITE, .strong = true, .release = true}));
    one(w, 0, 0, 0, RACE_WRITE, 64, 2); /* after the release */
    w->addr[0] = 512;
    assert_true(go(w, 1, 0,
                   (struct race_access){.mask = 1, .op = RACE_READ, .strong = true, .acquire = true, .pc = 3}));
    assert_true(one(w, 1, 0, 0, RACE_READ, 0, 4));
    assert_false(one(w, 1, 0, 0, RACE_READ, 64, 5));
}

/* What a load that is no acquire tells counts from a fence or a barrier on; an atomic's at once. */
static void test_reader_needs_a_fence(void **state)
{
    struct world *w = *state;
    for (int how = 0; how < 4; how++) {
        relaunch(w);
        one(w, 0, 0, 0, RACE_WRITE, 0, 1);
        race_fence(w->r, w->b[0], 0, 1, false, false);
        one(w, 0, 0, 0, RACE_WRITE | STRONG, 512, 2);
        one(w, 1, 0, 0, how == 3 ? RACE_ATOMIC | STRONG : RACE_READ | STRONG, 512, 3);
        if (how == 1)
            race_fence(w->r, w->b[1], 0, 1, false, false);
        else if (how == 2)
            race_barrier(w->r, w->b[1]);
        assert_int_equal(one(w, 1, 0, 0, RACE_READ, 0, 4), how > 0);
    }
}

/* A volatile read of lane 0 of block 1: the value that it finds. */
static uint32_t found(struct world *w, uint64_t addr)
{
    uint32_t mask = 0, now;
    uint8_t before[32][16];
    struct race_access a = {
        .mask = 1, .op = RACE_READ, .strong = true, .earlier_mask = &mask, .earlier = before, .pc = 9};
    w->addr[0] = addr;
    assert_true(go(w, 1, 0, a));
    memcpy(&now, mask ? before[0] : w->memory + addr, 4);
    return now;
}

static void write_now(struct world *w, uint64_t addr, uint32_t value)
{
    assert_true(one(w, 0, 0, 0, RACE_WRITE | STRONG, addr, 1));
    memcpy(w->memory + addr, &value, 4);
}

/* Value, then flag, with or without a fence on either side: what may the reader find of the value? */
static void test_reads_find_what_was_before(void **state)
{
    struct world *w = *state;
    for (int fences = 0; fences < 4; fences++) {
        memset(w->memory, 0, sizeof(w->memory));
        relaunch(w);
        w->r->stale = true;
        write_now(w, 0, 5);
        if (fences & 1)
            race_fence(w->r, w->b[0], 0, 1, false, false);
        write_now(w, 512, 1);
        assert_int_equal(found(w, 512), 0); /* once */
        assert_int_equal(found(w, 512), 1);
        if (fences & 2)
            race_fence(w->r, w->b[1], 0, 1, false, false);
        assert_int_equal(found(w, 0), fences == 3 ? 5 : 0);
        assert_int_equal(found(w, 0), 5);
        assert_int_equal(w->r->given.v[w->r->given.n - 1].told, fences == 1);
        assert_true(w->r->given.v[0].again);
    }
}

static void test_named_barrier(void **state)
{
    struct world *w = *state;
    const uint32_t live[WARPS] = {~0u, ~0u, ~0u, ~0u}, two[WARPS] = {~0u, ~0u}, second[WARPS] = {0, ~0u};
    row(w, 0, 0, RACE_WRITE | SHARED, 0, 4, 1);
    race_barrier_some(w->r, w->b[0], two, second, live); /* warp 0 arrives, warp 1 waits */
    assert_true(row(w, 0, 1, RACE_READ | SHARED, 0, 4, 2));
    assert_false(row(w, 0, 2, RACE_READ | SHARED, 0, 4, 3));
    assert_false(row(w, 0, 0, RACE_WRITE | SHARED, 0, 4, 4)); /* warp 0 did not wait for the readers */
}

static void test_cp_async(void **state)
{
    struct world *w = *state;
    for (int wait = 0; wait < 2; wait++) {
        for (int barrier = 0; barrier < 2; barrier++) {
            race_barrier(w->r, w->b[0]);
            for (uint32_t l = 0; l < 32; l++)
                w->addr[l] = 16 * l;
            struct race_access a = {.mask = ~0u,
                                    .size_bytes = 16,
                                    .op = RACE_WRITE,
                                    .shared = true,
                                    .consecutive = true,
                                    .async = true,
                                    .pc = 1};
            assert_true(go(w, 0, 0, a));
            race_async_commit(w->b[0], 0, ~0u);
            if (wait)
                race_async_wait(w->r, w->b[0], 0, ~0u, 0);
            if (barrier)
                race_barrier(w->r, w->b[0]);
            assert_int_equal(row(w, 0, 0, RACE_READ | SHARED, 0, 16, 2), wait); /* the thread itself */
            assert_int_equal(row(w, 0, 1, RACE_READ | SHARED, 0, 16, 3), wait && barrier);
            race_async_wait(w->r, w->b[0], 0, ~0u, 0);
        }
    }
}

static void test_cp_async_groups(void **state)
{
    struct world *w = *state;
    for (uint32_t stage = 0; stage < 2; stage++) {
        for (uint32_t l = 0; l < 32; l++)
            w->addr[l] = 512 * stage + 16 * l;
        assert_true(go(w, 0, 0,
                       (struct race_access){.mask = ~0u,
                                            .size_bytes = 16,
                                            .op = RACE_WRITE,
                                            .shared = true,
                                            .consecutive = true,
                                            .async = true,
                                            .pc = 1}));
        race_async_commit(w->b[0], 0, ~0u);
    }
    race_async_wait(w->r, w->b[0], 0, ~0u, 1);
    race_barrier(w->r, w->b[0]);
    assert_true(row(w, 0, 1, RACE_READ | SHARED, 0, 16, 2));
    assert_false(row(w, 0, 1, RACE_READ | SHARED, 512, 16, 2));
    assert_true(last.was_async);
}

static void test_nc(void **state)
{
    struct world *w = *state;
    for (int order = 0; order < 2; order++) {
        w->addr[0] = 64 + 64 * (uint64_t)order;
        struct race_access nc = {.mask = 1, .op = RACE_READ, .nc = true, .pc = 1};
        struct race_access st = {.mask = 1, .op = RACE_WRITE, .pc = 2};
        assert_true(go(w, 0, 0, order ? nc : st));
        assert_false(go(w, 0, 0, order ? st : nc)); /* by the same thread even */
        assert_true(last.nc);
    }
}

static void test_atomics(void **state)
{
    struct world *w = *state;
    for (uint32_t warp = 0; warp < WARPS; warp++)
        for (int block = 0; block < 2; block++)
            assert_true(one(w, block, warp, 1, RACE_ATOMIC | STRONG, 0, 1));
    assert_true(one(w, 1, 0, 1, RACE_READ | STRONG, 0, 2));
    assert_false(one(w, 1, 3, 1, RACE_READ, 0, 3)); /* plain, though its own atomic was the last */
    for (uint32_t warp = 0; warp < WARPS; warp++)
        assert_true(one(w, 0, warp, 1, RACE_ATOMIC | SHARED | STRONG, 0, 1));
    race_barrier(w->r, w->b[0]);
    assert_true(one(w, 0, 0, 1, RACE_READ | SHARED, 0, 3));
}

/* ---- 32 lanes side by side are judged like 32 lanes ---- */

enum { FIRST_LAP = 400, MEMORY = 3 * RACE_PAGE, SIZES = 5 };

static struct race_access drawn_access(struct rng *rng, struct world *w)
{
    static const enum race_op ops[] = {RACE_READ, RACE_READ, RACE_READ, RACE_WRITE, RACE_WRITE, RACE_ATOMIC};
    struct race_access a = {.mask = ~0u, .op = ops[rng_below(rng, ARRAY_LEN(ops))]};
    bool row = rng_below(rng, 8) != 0, usual = rng_below(rng, 4) != 0;
    uint32_t size = usual || a.op == RACE_ATOMIC ? 4 : 1u << rng_below(rng, SIZES);
    uint64_t from = rng_below(rng, (MEMORY - 32 * size) / size) * size;

    if (usual) /* so that many meet */
        from = rng_below(rng, 12) * 32 * size + rng_below(rng, 2) * 12;
    a.size_bytes = size;
    a.consecutive = row;
    a.nc = a.op == RACE_READ && rng_below(rng, 16) == 0;
    a.strong = rng_below(rng, 24) == 0;
    a.pc = (uint32_t)rng_below(rng, 50);
    a.stored = size == 4 && a.op == RACE_WRITE ? stored : NULL;
    for (uint32_t l = 0; l < 32; l++) {
        w->addr[l] = from + (row ? l : rng_below(rng, 32)) * size;
        w->values[l] = (uint32_t)rng_below(rng, 3);
    }
    if (!row)
        a.mask = (uint32_t)rng_next(rng) | 1;
    return a;
}

static void order_something(struct rng *rng, struct world *w)
{
    int block = (int)rng_below(rng, 2);
    uint32_t warp = (uint32_t)rng_below(rng, WARPS), mask = (uint32_t)rng_next(rng);

    switch (rng_below(rng, 40)) {
    case 0:
        race_warp_sync(w->r, w->b[block], warp, mask, false);
        break;
    case 1:
        race_fence(w->r, w->b[block], warp, ~0u, true, false);
        break;
    case 2:
        relaunch(w);
        break;
    default:
        race_barrier(w->r, w->b[block]);
    }
}

static void test_rows_are_lanes(void **state)
{
    struct world *w[2] = {*state, mem_zalloc(sizeof(struct world))};
    struct sanitize_waste waste[2][64] = {0};
    struct rng rng = {5};
    size_t found = 0;

    w[1]->r = race_open(peek);
    relaunch(w[1]);
    for (int lap = 0; lap < 60 * FIRST_LAP; lap++) {
        const struct rng now = rng;
        struct race_conflict its[2];
        bool fine[2];
        for (int k = 0; k < 2; k++) {
            rng = now;
            w[k]->r->waste = waste[k];
            if (lap % 7 == 0)
                order_something(&rng, w[k]);
            struct race_access a = drawn_access(&rng, w[k]);
            bool row = a.consecutive;
            a.consecutive = row && k == 0;
            int block = (int)rng_below(&rng, 2);
            memset(&last, 0, sizeof(last));
            fine[k] = go(w[k], block, (uint32_t)rng_below(&rng, WARPS), a);
            its[k] = last;
            for (uint32_t l = 0; a.stored && l < 32; l++)
                if (a.mask >> l & 1)
                    memcpy(w[k]->memory + w[k]->addr[l], &w[k]->values[l], 4);
        }
        assert_int_equal(fine[0], fine[1]);
        assert_int_equal(its[0].lane, its[1].lane); /* of several earlier ones either may be named */
        assert_int_equal(its[0].addr, its[1].addr);
        assert_int_equal(its[0].nc, its[1].nc);
        assert_int_equal(its[0].wrote, its[1].wrote);
        found += !fine[0];
        if (!fine[0])
            for (int k = 0; k < 2; k++)
                relaunch(w[k]);
    }
    assert_memory_equal(waste[0], waste[1], sizeof(waste[0]));
    assert_true(found > FIRST_LAP && found < 30 * FIRST_LAP);
    assert_true(waste[0][3].again > 0);
    tear_down((void *[]){w[1]});
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_own_program_orders),
        CASE(test_barrier_orders_a_block),
        CASE(test_lanes_are_threads),
        CASE(test_many_readers),
        CASE(test_sizes_split_cells),
        CASE(test_blocks_are_unordered),
        CASE(test_same_value_is_no_race),
        CASE(test_ticket),
        CASE(test_ticket_of_three),
        CASE(test_volatile_flag_between_warps),
        CASE(test_fence_of_a_warp_is_each_lanes_own),
        CASE(test_reader_needs_a_fence),
        CASE(test_reads_find_what_was_before),
        CASE(test_release_and_acquire),
        CASE(test_named_barrier),
        CASE(test_cp_async),
        CASE(test_cp_async_groups),
        CASE(test_nc),
        CASE(test_atomics),
        CASE(test_rows_are_lanes),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
