/* wgmma works beside the threads: until wgmma.wait_group says that it has ended, its accumulators and the
 * fragments of A in registers are nobody's, and what it reads of shared memory may not be written. Registers
 * that a thread used must be handed to it by wgmma.fence. Copies from register to register are the compiler's:
 * they count as no use, and what they copy goes on to the new place. */
#include "race.h"
#include "sanitize_internal.h"

#include "ptx/lane/wgmma.h"

struct group_read { /* of shared memory */
    uint32_t group, at, bytes, pc;
};

/* Where more than whole barriers orders: the warpgroup's products before `done` have ended, as one of its warps
 * waited to see, and they have read shared memory. The others know it once they have waited, too. */
struct group_ended {
    uint32_t done;
    uint32_t known; /* warps that have, a bit each */
    struct race_sync *told;
};

/* Groups are numbered as they are committed; 0 in `written` and `read`: none. */
struct san_group {
    bool fenced;
    uint32_t committed, products;
    const struct insn *last;
    uint8_t *touched;             /* by slot: a thread used it since the last wgmma.fence */
    uint32_t *written, *read;     /* by slot: 1 + the group that accumulates there, that has A there */
    VEC(struct group_read) reads; /* in the launch's arena, as the group is */
    uint32_t ended;               /* of the first warp, for the whole warpgroup: groups that have */
    VEC(struct group_ended) ends;
};

static struct san_group *group_of(struct warp *w)
{
    struct san_warp *sw = san_warp(w);
    size_t n = w->launch->module->n_slots + 1;
    if (!sw->group) {
        struct arena *a = san_of(w->launch)->arena;
        sw->group = arena_zalloc(a, sizeof(*sw->group));
        sw->group->touched = arena_zalloc(a, n);
        sw->group->written = arena_zalloc(a, n * sizeof(uint32_t));
        sw->group->read = arena_zalloc(a, n * sizeof(uint32_t));
    }
    w->followed = true;
    return sw->group;
}

void group_drop(struct san_group *g)
{
    for (size_t k = 0; g && k < g->ends.n; k++)
        race_sync_drop(&g->ends.v[k].told);
    if (g)
        vec_clear(&g->ends);
}

void group_begin(struct warp *w)
{
    struct san_group *g = san_warp(w)->group;
    size_t n = w->launch->module->n_slots + 1;
    group_drop(g);
    if (!g)
        return;
    memset(g->touched, 0, n);
    memset(g->written, 0, n * sizeof(*g->written));
    memset(g->read, 0, n * sizeof(*g->read));
    g->fenced = false;
    g->committed = g->products = g->ended = 0;
    vec_clear(&g->reads);
}

/* ---- registers ---- */

static bool is_register(const struct opnd *o)
{
    return (o->kind == OPND_REG || o->kind == OPND_ADDR) && !o->is_imm;
}

static void used(struct warp *w, const struct insn *i, const struct opnd *o, bool writes)
{
    struct san_group *g = san_warp(w)->group;
    for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
        used(w, i, &o->vec[e], writes);
    if (!is_register(o) || w->launch->stop)
        return;
    writes = writes && o->kind == OPND_REG;
    if (g->written[o->slot] || (writes && g->read[o->slot]))
        fault(w, i, -1, PTX_WARPGROUP, 0, "%s %s of wgmma before a wgmma.wait_group waited for it",
              writes ? "overwrites" : "reads", g->written[o->slot] ? "an accumulator" : "a fragment of A");
    g->touched[o->slot] = 1;
}

/* A copy: what is true of the source is true of the destination. */
static void copied(struct san_group *g, const struct insn *i)
{
    const struct opnd *d = &i->opnds[0], *s = &i->opnds[1];
    for (unsigned e = 0; e < matrix_reg_count(d); e++) {
        const struct opnd *to = opnd_element(d, e), *from = opnd_element(s, MIN(e, matrix_reg_count(s) - 1));
        if (!is_register(to))
            continue;
        bool known = is_register(from);
        g->touched[to->slot] = known && g->touched[from->slot];
        g->written[to->slot] = known ? g->written[from->slot] : 0;
        g->read[to->slot] = 0; /* what was copied is the product's, the copy is not */
    }
}

void group_use(struct warp *w, const struct insn *i, uint32_t m)
{
    struct san_group *g = san_warp(w)->group;
    if (!g || !m || op_table[i->op].price == PRICE_GROUP || i->op == OP_wgmma_mma || i->op == OP_call)
        return;
    if (i->op == OP_mov) {
        copied(g, i);
        return;
    }
    for (unsigned k = 0; k < i->n_opnds; k++)
        used(w, i, &i->opnds[k], insn_writes(i, k));
}

/* ---- shared memory ---- */

static struct race_bulk bulk_of(struct warp *w, const struct group_read *r)
{
    return (struct race_bulk){.home = san_block(w->block)->race,
                              .addr = r->at,
                              .bytes = r->bytes,
                              .pc = r->pc,
                              .check_proxy = true,
                              .counted = true};
}

static void read_begin(struct warp *w, const struct insn *i, struct group_read r)
{
    struct race_conflict c = {0};
    struct race_bulk x = bulk_of(w, &r);
    if (!r.bytes || w->launch->stop)
        return;
    if (!race_bulk_begin(san_of(w->launch)->race, x.home, w->index, &x, &c))
        san_report_conflict(w, i, SPACE_SHARED, "wgmma's read", &c);
    vec_add(san_of(w->launch)->arena, &san_warp(w)->group->reads, r);
}

/* Chunks that lie together are one read, in whatever order a swizzle gives them. */
static void reads_begin(struct warp *w, const struct insn *i, unsigned operand)
{
    enum { CHUNKS = (256 << 10) / WGMMA_CHUNK }; /* that a descriptor can begin at */
    uint64_t marks[CHUNKS / 64] = {0};
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    struct group_read r = {.group = san_warp(w)->group->committed, .pc = i->self};
    uint32_t low = CHUNKS, high = 0;
    unsigned line, depth;
    for (unsigned q = 0; q < s.n; q++) {
        uint32_t at = wgmma_chunk(&s, q, &line, &depth) / WGMMA_CHUNK;
        BUG_IF(at >= CHUNKS);
        marks[at / 64] |= (uint64_t)1 << at % 64;
        low = MIN(low, at / 64);
        high = MAX(high, at / 64 + 1);
    }
    for (uint32_t k = low; k < high; k++)
        for (uint64_t left = marks[k]; left;) {
            unsigned from = (unsigned)__builtin_ctzll(left);
            uint64_t behind = ~(left >> from); /* its lowest bit: where they no longer lie together */
            unsigned n = behind ? (unsigned)__builtin_ctzll(behind) : 64;
            uint32_t at = (k * 64 + from) * WGMMA_CHUNK;
            if (!r.bytes || at != r.at + r.bytes) {
                read_begin(w, i, r);
                r.at = at;
                r.bytes = 0;
            }
            r.bytes += n * WGMMA_CHUNK;
            left = from + n < 64 ? left >> (from + n) << (from + n) : 0;
        }
    read_begin(w, i, r);
}

/* ---- the instructions ---- */

static void begin_product(struct warp *w, const struct insn *i)
{
    struct san_group *g = group_of(w);
    g->products++;
    g->last = i;
    if (!g->fenced) {
        fault(w, i, -1, PTX_WARPGROUP, 0, "no wgmma.fence stands before the first wgmma.mma_async");
        return;
    }
    for (unsigned operand = 0; operand <= 1; operand++) {
        const struct opnd *o = &i->opnds[operand];
        for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++) {
            uint32_t slot = o->vec[e].slot;
            if (o->vec[e].kind != OPND_REG || o->vec[e].is_imm)
                continue;
            if (g->touched[slot]) {
                fault(
                    w, i, -1, PTX_WARPGROUP, 0,
                    "a thread used %s since the last wgmma.fence: one must stand between that and wgmma.mma_async",
                    operand ? "a fragment of A" : "an accumulator");
                return;
            }
            *(operand ? &g->read[slot] : &g->written[slot]) = g->committed + 1;
        }
    }
    for (unsigned operand = 1; operand <= 2; operand++)
        if (wgmma_in_shared(i, operand) && san_of(w->launch)->race &&
            (san_of(w->launch)->checks & SANITIZE_RACE_SHARED))
            reads_begin(w, i, operand);
}

/* The warp's reads of groups before `done` have ended: `id` has made them. */
static void reads_end(struct warp *w, uint32_t done, uint32_t id)
{
    struct san_group *g = san_warp(w)->group;
    size_t left = 0;
    for (size_t k = 0; g && k < g->reads.n; k++) {
        struct group_read r = g->reads.v[k];
        struct race_bulk x = bulk_of(w, &r);
        if (r.group >= done)
            g->reads.v[left++] = r;
        else
            race_bulk_end(san_of(w->launch)->race, w->index, &x, id);
    }
    if (g)
        g->reads.n = left;
}

/* A product is one operation of the warpgroup: when one of its warps sees that it has ended, all that it reads
 * of shared memory has been read, whichever warp's rows it is for. So any thread that has waited may give the
 * memory away, as CUTLASS's pipelines do by one thread of a warpgroup. */
static void warpgroup_waited(struct warp *w, uint32_t done, uint32_t mask)
{
    struct race *r = san_of(w->launch)->race;
    struct race_block *b = san_block(w->block)->race;
    struct warp *first = &w->block->warps[w->index / 4 * 4];
    struct san_group *g = group_of(first);
    size_t left = 0;
    if (done > g->ended) {
        struct group_ended e = {.done = g->ended = done};
        uint32_t id = race_agent(r, b, &e.told, 31 - w->index / 4); /* mbarriers are numbered from 0 */
        race_sync_flip(e.told);
        for (uint32_t k = 0; k < 4; k++)
            reads_end(&first[k], done, id);
        vec_add(san_of(w->launch)->arena, &g->ends, e);
    }
    for (size_t k = 0; k < g->ends.n; k++) {
        struct group_ended *e = &g->ends.v[k];
        uint32_t bit = 1u << w->index % 4;
        if (e->done <= done && !(e->known & bit)) {
            race_sync_wait(r, e->told, b, w->index, mask);
            e->known |= bit;
        }
        if (e->known == 15)
            race_sync_drop(&e->told);
        else
            g->ends.v[left++] = *e;
    }
    g->ends.n = left;
}

static void waited(struct warp *w, uint32_t keep, uint32_t mask)
{
    struct san_group *g = group_of(w);
    struct race *r = san_of(w->launch)->race;
    uint32_t done = g->committed > keep ? g->committed - keep : 0;
    for (uint32_t k = 0; k < w->launch->module->n_slots; k++) {
        g->written[k] = g->written[k] > done ? g->written[k] : 0;
        g->read[k] = g->read[k] > done ? g->read[k] : 0;
    }
    if (r && r->crossed)
        warpgroup_waited(w, done, mask);
    else if (r) /* whole barriers alone order: one lane is as good as all */
        reads_end(w, done, race_thread(r, san_block(w->block)->race, w->index, 0));
}

void san_warpgroup(struct warp *w, const struct insn *i, uint32_t m)
{
    struct san_group *g = group_of(w);
    switch (i->op) {
    case OP_wgmma_fence:
        g->fenced = true;
        memset(g->touched, 0, w->launch->module->n_slots);
        return;
    case OP_wgmma_commit:
        g->committed++;
        return;
    case OP_wgmma_wait:
        waited(w, (uint32_t)i->opnds[0].imm, m);
        return;
    default:
        begin_product(w, i);
    }
}

void group_end(struct block *b)
{
    for (uint32_t k = 0; k + 4 <= b->n_warps; k += 4)
        for (uint32_t j = k + 1; j < k + 4; j++) {
            const struct san_group *one = san_warp(&b->warps[k])->group, *other = san_warp(&b->warps[j])->group;
            uint32_t n = one ? one->products : 0, m = other ? other->products : 0;
            if (n == m || b->launch->stop)
                continue;
            fault(
                &b->warps[n > m ? k : j], n > m ? one->last : other->last, -1, PTX_WARPGROUP, 0,
                "warp %u of the block executed %u wgmma.mma_async and warp %u %u: all four warps of a warpgroup must "
                "execute each",
                k, n, j, m);
        }
}

/* ---- undefined values: a line of A or B with one makes its row or column of D undefined ---- */

static void undef_lines(const struct warp *w, const struct insn *i, unsigned operand,
                        uint8_t lines[WGMMA_N_MAX])
{
    struct wgmma_source s = wgmma_source_of(w, i, operand);
    const uint8_t *bits = san_block(w->block)->shared;
    unsigned line, depth;
    for (unsigned q = 0; q < s.n; q++) {
        uint32_t missing = bits_missing(bits, wgmma_chunk(&s, q, &line, &depth), WGMMA_CHUNK);
        for (unsigned e = 0; e < 8 && missing; e++)
            if (!s.x.transposed || missing >> 2 * e & 3)
                lines[line + (s.x.transposed ? e : 0)] = 1;
    }
}

static void undef_rows(const struct warp *w, const struct insn *i, uint8_t rows[16])
{
    struct fragment f = mma_fragment(i, 1);
    unsigned each = (unsigned)f.pieces * f.run / fragment_regs(&f), row, column;
    for (unsigned r = 0; r < fragment_regs(&f); r++)
        for (unsigned l = 0; l < 32; l++) {
            fragment_place(&f, l, r * each, &row, &column);
            rows[row] |= opnd_undef(w, &i->opnds[1].vec[r], (int)l) != 0;
        }
}

void group_undef(struct warp *w, const struct insn *i)
{
    struct fragment f = mma_fragment(i, 0);
    unsigned each = (unsigned)f.pieces * f.run / fragment_regs(&f), row, column;
    uint8_t rows[WGMMA_N_MAX] = {0}, columns[WGMMA_N_MAX] = {0};
    bool adds = wgmma_adds(w, i);
    if (wgmma_in_shared(i, 1))
        undef_lines(w, i, 1, rows);
    else
        undef_rows(w, i, rows);
    undef_lines(w, i, 2, columns);
    /* What is defined changes nothing of D, which is C. */
    bool any = memchr(rows, 1, sizeof(rows)) || memchr(columns, 1, sizeof(columns));
    if (!any && adds)
        return;
    for (unsigned r = 0; r < fragment_regs(&f); r++) {
        uint8_t bytes[32];
        for (unsigned l = 0; l < 32; l++) {
            bytes[l] = adds ? opnd_undef(w, &i->opnds[3].vec[r], (int)l) : 0;
            for (unsigned e = 0; e < each; e++) {
                fragment_place(&f, l, r * each + e, &row, &column);
                if (rows[row] || columns[column])
                    bytes[l] |= (uint8_t)((1u << 4 / each) - 1) << e * 4 / each;
            }
        }
        undef_set(w, i->opnds[0].vec[r].slot, ~0u, bytes);
    }
}
