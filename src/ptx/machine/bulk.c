/* cp.async.bulk and cp.reduce.async.bulk: copies of any multiple of 16 bytes that work beside the threads.
 * Those that tell an mbarrier wait in its list, the others in their warp's bulk groups. */
#include "async.h"

#include "ptx/lane/atom.h"

enum { BULK_ALIGN = 16, MOST_FLIGHTS = 1 << 18 };

/* ---- one copy ---- */

static const uint8_t *source_of(const struct flight *f)
{
    if (f->small)
        return f->value;
    if (f->taken)
        return f->taken;
    return f->from_block ? f->from_block->shared + f->from : mem_host(f->warp->launch->mem, f->from);
}

void flight_free(struct flight *f)
{
    free(f->taken);
    f->taken = NULL;
    kept_drop(&f->kept);
}

bool flight_land(struct flight *f)
{
    struct launch *l = f->warp->launch;
    const struct insn *i = f->insn;
    uint8_t *to = f->to_block ? f->to_block->shared + f->to : mem_host(l->mem, f->to);
    const uint8_t *from = source_of(f);
    if (f->kind == FLIGHT_REDUCE)
        for (uint32_t at = 0; at < f->bytes; at += i->bytes) {
            u128 old = 0, b = 0;
            memcpy(&old, to + at, i->bytes);
            memcpy(&b, from + at, i->bytes);
            old = atom_combine(i, old, b, b);
            memcpy(to + at, &old, i->bytes);
        }
    else
        memmove(to, from, f->bytes);
    if (f->kind == FLIGHT_REDUCE)
        OBSERVE(l, changed, l, to, f->bytes);
    else if (f->small)
        OBSERVE(l, flight_delivered, f, to);
    else
        OBSERVE(l, moved, l, to, from, f->bytes);
    l->progress++;
    OBSERVE(l, flight_bytes, f);
    flight_free(f);
    return true;
}

void bulk_groups_free(struct warp *w)
{
    struct bulk_groups *g = w->bulk;
    for (size_t k = 0; g && k < g->flights.n; k++)
        flight_free(&g->flights.v[k]);
    if (g)
        vec_free(&g->flights);
    free(g);
    w->bulk = NULL;
}

/* ---- its operands ---- */

static bool aligned(struct warp *w, const struct insn *i, uint32_t lane, uint64_t value, const char *what)
{
    if (value % BULK_ALIGN == 0)
        return true;
    fault(w, i, (int)lane, PTX_MISALIGNED, value, "the %s of a bulk copy, %llu, is no multiple of %d", what,
          (unsigned long long)value, BULK_ALIGN);
    return false;
}

static bool global_fits(struct warp *w, const struct insn *i, const struct flight *f, uint64_t addr,
                        enum access_kind kind)
{
    struct alloc *a = mem_find(w->launch->mem, addr);
    if (!a || f->bytes > a->size - (addr - a->addr)) {
        mem_out_of_bounds(w, i, f->lane, kind, f->bytes, addr);
        return false;
    }
    if (kind != ACCESS_LOAD && a->read_only) {
        fault(w, i, (int)f->lane, PTX_READ_ONLY_WRITTEN, addr, "a bulk copy to %s, which must not be written",
              a->name);
        return false;
    }
    mem_touch(w->launch->mem, a, addr, f->bytes);
    return true;
}

/* The block whose shared memory [addr, + bytes) is in; NULL after a finding. */
static struct block *shared_fits(const struct flight *f, uint64_t addr, uint32_t bytes, bool cluster,
                                 const char *what, uint64_t *offset)
{
    struct warp *w = f->warp;
    const struct insn *i = f->insn;
    uint32_t lane = f->lane;
    struct block *b = cluster || addr < CLUSTER_STRIDE ? cluster_block(w->block, addr, offset) : NULL;
    if (!b || *offset > w->launch->shared_bytes || bytes > w->launch->shared_bytes - *offset) {
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, addr,
              "the %s of a bulk copy: %u bytes at offset %llu of shared memory, which has %u bytes", what,
              bytes, (unsigned long long)addr, w->launch->shared_bytes);
        return NULL;
    }
    if (!cluster_reach(w, i, 1u << lane, b))
        return NULL;
    if (b->done) {
        fault(w, i, (int)lane, PTX_EXIT, addr,
              "the %s of a bulk copy is shared memory of block (%u, %u, %u), which has ended", what, b->id[0],
              b->id[1], b->id[2]);
        return NULL;
    }
    return b;
}

/* When its bytes will be there. */
static float ready_at(struct warp *w, const struct insn *i, const struct flight *f)
{
    const struct ptx_observer_calls *clock = clock_of(w);
    struct ptx_mem *m = w->launch->mem;
    if (!clock || f->timed)
        return f->ready;
    if (!f->bytes)
        return clock->now(w);
    if (f->small)
        return clock->bulk(w, i, NULL, 0, f->bytes, ACCESS_STORE);
    if (!f->from_block)
        return clock->bulk(w, i, mem_find(m, f->from), f->from, f->bytes, ACCESS_LOAD);
    if (!f->to_block)
        return clock->bulk(w, i, mem_find(m, f->to), f->to, f->bytes,
                           f->kind == FLIGHT_REDUCE ? ACCESS_ATOMIC : ACCESS_STORE);
    return clock->bulk(w, i, NULL, 0, f->bytes, ACCESS_LOAD);
}

/* ---- instructions ---- */

/* Nobody waits for so many: a loop that never ends would take all memory. */
static bool too_many(struct warp *w, const struct insn *i, uint32_t lane, size_t n)
{
    if (n < MOST_FLIGHTS)
        return false;
    fault(w, i, (int)lane, PTX_LOOP, 0, "%zu bulk copies are under way and not waited for", n);
    return true;
}

/* Towards an mbarrier, or with multicast towards one at the same place of each block in the mask. */
bool flight_to_mbarrier(const struct flight *begun, uint64_t dst)
{
    struct flight f = *begun;
    struct warp *w = f.warp;
    const struct insn *i = f.insn;
    uint64_t bar_addr = (uint32_t)opnd_address(w, &i->opnds[3], f.lane), bar_offset;
    bool cluster = !insn_has(i, MOD_shared_cta) || insn_has(i, MOD_shared_cluster);
    f.to_block = shared_fits(&f, dst, f.bytes, cluster, "destination", &f.to);
    if (!f.to_block || (!insn_has(i, MOD_tensor) && !aligned(w, i, f.lane, f.to, "destination")))
        return false;
    if (!f.small && !f.from_block && !global_fits(w, i, &f, f.from, ACCESS_LOAD))
        return false;
    struct block *bar_block = shared_fits(&f, bar_addr, 8, cluster, "mbarrier", &bar_offset);
    if (!bar_block)
        return false;
    bool multicast = insn_has(i, MOD_multicast);
    uint32_t ranks = multicast ? (uint32_t)opnd_lane(w, &i->opnds[4], f.lane) & 0xffff : 1u << f.to_block->rank;
    if (!multicast && bar_block != f.to_block) {
        fault(w, i, (int)f.lane, PTX_MBARRIER, bar_addr,
              "a bulk copy into one block's shared memory that tells an mbarrier of another");
        return false;
    }
    f.ready = ready_at(w, i, &f);
    for (; ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(ranks);
        if (rank >= w->block->cluster->n) {
            fault(w, i, (int)f.lane, PTX_OUT_OF_BOUNDS, dst, "a multicast to block %u of a cluster that has %u",
                  rank, w->block->cluster->n);
            return false;
        }
        f.to_block = w->block->cluster->blocks[rank];
        if (!shared_fits(&f, f.to_block == w->block ? f.to : (rank + 1) * CLUSTER_STRIDE + f.to, f.bytes, true,
                         "destination", &f.to))
            return false;
        struct mbar *bar = mbar_use(w, i, f.lane, f.to_block, bar_offset);
        if (!bar || too_many(w, i, f.lane, bar->flights.n))
            return false;
        OBSERVE(w->launch, flight_begin, &f);
        if (w->launch->stop)
            return false;
        vec_push(&bar->flights, f);
        w->launch->progress++;
    }
    return true;
}

static struct bulk_groups *groups_of(struct warp *w)
{
    if (!w->bulk)
        w->bulk = mem_zalloc(sizeof(*w->bulk));
    return w->bulk;
}

bool flight_to_group(const struct flight *begun, uint64_t dst)
{
    struct flight f = *begun;
    struct warp *w = f.warp;
    f.to = dst;
    f.from_block = shared_fits(&f, (uint32_t)f.from, f.bytes, false, "source", &f.from);
    if (!f.from_block ||
        !global_fits(w, f.insn, &f, dst, f.kind == FLIGHT_REDUCE ? ACCESS_ATOMIC : ACCESS_STORE))
        return false;
    struct bulk_groups *g = groups_of(w);
    if (too_many(w, f.insn, f.lane, g->flights.n))
        return false;
    f.group = g->committed[f.lane];
    f.ready = ready_at(w, f.insn, &f);
    OBSERVE(w->launch, flight_begin, &f);
    vec_push(&g->flights, f);
    return !w->launch->stop;
}

static bool same_operand(struct warp *w, const struct opnd *o, uint32_t x, uint32_t y)
{
    bool same = true;
    if (o->kind == OPND_ADDR)
        return opnd_address(w, o, x) == opnd_address(w, o, y);
    for (unsigned k = 0; o->kind == OPND_VEC && k < o->n; k++)
        same &= opnd_lane(w, &o->vec[k], x) == opnd_lane(w, &o->vec[k], y);
    return same && (o->kind != OPND_REG || opnd_lane(w, o, x) == opnd_lane(w, o, y));
}

uint32_t bulk_distinct(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t distinct = 0;
    if (!insn_has(i, MOD_bulk_group) || insn_has(i, MOD_reduce))
        return m;
    for (; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        bool new = true;
        for (uint32_t others = distinct; others && new; others &= others - 1) {
            bool same = true;
            for (unsigned k = 0; k < i->n_opnds && same; k++)
                same = same_operand(w, &i->opnds[k], lane, (uint32_t)__builtin_ctz(others));
            new = !same;
        }
        distinct |= (uint32_t) new << lane;
    }
    return distinct;
}

static bool copy_lane(struct warp *w, const struct insn *i, uint32_t lane)
{
    uint64_t dst = opnd_address(w, &i->opnds[0], lane), src = opnd_address(w, &i->opnds[1], lane);
    struct flight f = {.kind = insn_has(i, MOD_reduce) ? FLIGHT_REDUCE : FLIGHT_COPY,
                       .insn = i,
                       .warp = w,
                       .lane = lane,
                       .bytes = (uint32_t)opnd_lane(w, &i->opnds[2], lane),
                       .from = src};
    bool to_group = insn_has(i, MOD_bulk_group), from_global = !to_group && insn_has(i, MOD_global);
    if (!aligned(w, i, lane, f.bytes, "size") || !aligned(w, i, lane, src, "source"))
        return false;
    if (!from_global && !to_group) {
        f.from_block = shared_fits(&f, (uint32_t)src, f.bytes, false, "source", &f.from);
        if (!f.from_block)
            return false;
    }
    if (!to_group)
        return flight_to_mbarrier(&f, (uint32_t)dst);
    return aligned(w, i, lane, dst, "destination") && flight_to_group(&f, dst);
}

static void copy(struct warp *w, const struct insn *i, uint32_t m)
{
    for (m = bulk_distinct(w, i, m); m; m &= m - 1)
        if (!copy_lane(w, i, (uint32_t)__builtin_ctz(m)))
            return;
}

static void prefetch(struct warp *w, const struct insn *i, uint32_t m)
{
    for (; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t src = opnd_address(w, &i->opnds[0], lane);
        struct flight f = {.lane = lane, .bytes = (uint32_t)opnd_lane(w, &i->opnds[1], lane)};
        if (!aligned(w, i, lane, f.bytes, "size") || !aligned(w, i, lane, src, "source") ||
            !global_fits(w, i, &f, src, ACCESS_LOAD))
            return;
    }
}

static void commit(struct warp *w, const struct insn *i, uint32_t m)
{
    struct bulk_groups *g = groups_of(w);
    (void)i;
    for (; m; m &= m - 1)
        g->committed[__builtin_ctz(m)]++;
}

static void wait(struct warp *w, const struct insn *i, uint32_t m)
{
    struct launch *l = w->launch;
    struct bulk_groups *g = groups_of(w);
    int64_t keep = i->opnds[0].imm;
    size_t left = 0;
    for (size_t k = 0; k < g->flights.n; k++) {
        struct flight f = g->flights.v[k];
        bool waited = (m >> f.lane & 1) && (int64_t)f.group < (int64_t)g->committed[f.lane] - keep;
        if (waited && !f.taken) {
            OBSERVE(l, flight_read, &f);
            if (insn_has(i, MOD_read)) {
                f.taken = mem_alloc(MAX(f.bytes, 1u));
                memcpy(f.taken, f.from_block->shared + f.from, f.bytes);
                OBSERVE(l, moved, l, f.taken, f.from_block->shared + f.from, f.bytes);
            }
        }
        if (!waited || insn_has(i, MOD_read)) {
            g->flights.v[left++] = f;
            continue;
        }
        flight_land(&f);
        OBSERVE(l, flight_end, &f, NULL, NULL);
        OBSERVE(l, until, w, f.ready, true);
    }
    g->flights.n = left;
}

/* ---- st.async, red.async ---- */

static void store_async(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t bytes = (uint32_t)i->bytes * i->vec;
    const struct opnd *v = &i->opnds[1];
    for (; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t base = i->space == SPACE_SHARED ? 0 : SHARED_WINDOW, bar_offset;
        uint64_t to = opnd_address(w, &i->opnds[0], lane) - base,
                 bar_at = opnd_address(w, &i->opnds[2], lane) - base;
        struct flight f = {.kind = i->op == OP_red ? FLIGHT_REDUCE : FLIGHT_COPY,
                           .insn = i,
                           .warp = w,
                           .lane = lane,
                           .bytes = bytes,
                           .small = true};
        if (to % bytes || bar_at % 8) {
            fault(w, i, (int)lane, PTX_MISALIGNED, to,
                  "an asynchronous store of %u bytes to %llu, which is not aligned", bytes,
                  (unsigned long long)to);
            return;
        }
        f.to_block = shared_fits(&f, to, bytes, true, "destination", &f.to);
        struct block *b = f.to_block ? shared_fits(&f, bar_at, 8, true, "mbarrier", &bar_offset) : NULL;
        if (!b)
            return;
        if (b != f.to_block) {
            fault(w, i, (int)lane, PTX_MBARRIER, bar_at,
                  "an asynchronous store into one block's shared memory that tells an mbarrier of another");
            return;
        }
        for (unsigned k = 0; k < i->vec; k++) {
            const struct opnd *o = opnd_element(v, k);
            uint64_t x = opnd_lane(w, o, lane);
            memcpy(f.value + (size_t)k * i->bytes, &x, i->bytes);
        }
        struct mbar *bar = mbar_use(w, i, lane, b, bar_offset);
        if (!bar || too_many(w, i, lane, bar->flights.n))
            return;
        f.ready = ready_at(w, i, &f);
        OBSERVE(w->launch, flight_begin, &f);
        if (w->launch->stop)
            return;
        for (unsigned k = 0; k < i->vec; k++)
            OBSERVE(w->launch, flight_posted, &f, k * i->bytes, opnd_element(v, k));
        vec_push(&bar->flights, f);
        w->launch->progress++;
    }
}

/* ---- forms ---- */

/* cp.reduce: operations and types as the manual's tables say. */
static bool reduce_fits(struct insn *i)
{
    static const struct {
        enum mod op;
        bool half, real, wide; /* besides 32-bit integers: f16 and bf16; f32 and f64; 64-bit integers */
    } ops[] = {{MOD_add, true, true, true},    {MOD_min, true, false, true},   {MOD_max, true, false, true},
               {MOD_inc, false, false, false}, {MOD_dec, false, false, false}, {MOD_and, false, false, true},
               {MOD_or, false, false, true},   {MOD_xor, false, false, true}};
    bool half = i->type == TYPE_F16 || i->type == TYPE_BF16, real = i->type == TYPE_F32 || i->type == TYPE_F64;
    for (size_t k = 0; k < ARRAY_LEN(ops); k++)
        if (insn_has(i, ops[k].op)) {
            i->extra = (uint16_t)ops[k].op;
            if (half || real)
                return half ? ops[k].half : ops[k].real;
            return i->bytes == 4 || (i->bytes == 8 && ops[k].wide);
        }
    return false;
}

exec_fn *store_async_select(struct insn *i)
{
    const struct opnd *o = i->opnds;
    bool vector = i->n_opnds > 1 && o[1].kind == OPND_VEC;
    if (i->n_opnds != 3 || o[0].kind != OPND_ADDR || o[2].kind != OPND_ADDR || i->n_types != 1 ||
        (i->space && !insn_has(i, MOD_shared_cluster)) || (i->bytes != 4 && i->bytes != 8) ||
        i->bytes * i->vec > 16 || (i->space != SPACE_SHARED && (o[0].bytes != 8 || o[2].bytes != 8)))
        return NULL;
    if ((vector ? o[1].n : 1) != i->vec)
        return NULL;
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *e = vector ? &o[1].vec[k] : &o[1];
        if (e->kind != OPND_REG || e->bytes != i->bytes)
            return NULL;
    }
    if (i->op == OP_red && (vector || i->type == TYPE_F32 || i->type == TYPE_F64 || !reduce_fits(i)))
        return NULL;
    return store_async;
}

exec_fn *bulk_select(struct insn *i)
{
    const struct opnd *o = i->opnds;
    unsigned n = i->n_opnds, addresses = 0;
    if (insn_has(i, MOD_tensor))
        return tensor_select(i);
    if (insn_has(i, MOD_tensormap) || insn_has(i, MOD_cta))
        return NULL;
    if (insn_has(i, MOD_commit_group))
        return n == 0 ? commit : NULL;
    if (insn_has(i, MOD_wait_group))
        return n == 1 && o[0].kind == OPND_REG && o[0].is_imm ? wait : NULL;
    for (unsigned k = 0; k < n; k++) {
        if ((o[k].kind != OPND_REG && o[k].kind != OPND_ADDR) || (o[k].kind == OPND_REG && !o[k].bytes) ||
            o[k].ref_kind == REF_ENTRY_PARAM || o[k].ref_kind == REF_FUNC_PARAM)
            return NULL;
        addresses |= (unsigned)(o[k].kind == OPND_ADDR) << k;
    }
    if (insn_has(i, MOD_prefetch))
        return insn_has(i, MOD_L2) && insn_has(i, MOD_global) && n >= 2 && addresses == 1 ? prefetch : NULL;
    if (insn_has(i, MOD_reduce) ? !reduce_fits(i) : i->n_types != 0)
        return NULL;
    unsigned hint = insn_has(i, MOD_l2_cache_hint);
    if (insn_has(i, MOD_bulk_group)) /* global <- shared::cta */
        return addresses == 3 && n == 3 + hint && insn_has(i, MOD_global) && insn_has(i, MOD_shared_cta) ? copy
                                                                                                         : NULL;
    return insn_has(i, MOD_complete_tx_bytes) && addresses == 11 &&
                   n == 4 + hint + insn_has(i, MOD_multicast) &&
                   (insn_has(i, MOD_shared_cluster) || insn_has(i, MOD_shared_cta)) &&
                   insn_has(i, MOD_global) + (insn_has(i, MOD_shared_cluster) && insn_has(i, MOD_shared_cta)) ==
                       1
               ? copy
               : NULL;
}
