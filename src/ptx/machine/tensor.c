/* Tensor copies: cp.async.bulk.tensor, whose addresses follow from a tensor map and the box's first
 * coordinates. A copy is cut into pieces that lie together on both sides; each is a bulk copy (bulk.c). What
 * lies outside of the tensor is zeros in shared memory, and is not written in global memory. */
#include "async.h"

#include "base/tensor_map.h"

enum { CHUNK = 16, INNER_ALIGN = 16, SHARED_ALIGN = 128 };

/* A kernel may have put its bytes there itself. */
static bool map_sound(const struct tensor_map *m)
{
    bool sound = m->mark == TENSOR_MAP_MARK && tensor_type_bytes(m->type) &&
                 m->swizzle <= TENSOR_SWIZZLE_128B && m->rank >= 1 && m->rank <= TENSOR_RANK_MAX;
    for (unsigned d = 0; sound && d < m->rank; d++)
        sound = m->box[d] && m->box[d] <= 256 && m->dims[d] <= 1ull << 32;
    return sound;
}

static bool map_read(struct warp *w, const struct insn *i, uint32_t lane, const struct opnd *o,
                     struct tensor_map *to)
{
    const struct launch *l = w->launch;
    uint64_t at = opnd_address(w, o, lane), param = at - PARAM_WINDOW;
    struct alloc *a = mem_find(l->mem, at);
    if (at % 64) {
        fault(w, i, (int)lane, PTX_MISALIGNED, at, "the address of a tensor map, %llx, is no multiple of 64",
              (unsigned long long)at);
        return false;
    }
    if (param < l->entry->param_bytes && sizeof(*to) <= l->entry->param_bytes - param) {
        memcpy(to, l->params + param, sizeof(*to));
    } else if (a && sizeof(*to) <= a->size - (at - a->addr)) {
        mem_touch(l->mem, a, at, sizeof(*to));
        memcpy(to, mem_host(l->mem, at), sizeof(*to));
    } else {
        mem_out_of_bounds(w, i, lane, ACCESS_LOAD, sizeof(*to), at);
        return false;
    }
    if (map_sound(to) && to->rank == i->opnds[i->extra].n)
        return true;
    if (map_sound(to))
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at, "%s with a tensor map of %u dimensions", i->text,
              to->rank);
    else
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, at,
              "%s with a tensor map that cuTensorMapEncodeTiled did not make", i->text);
    return false;
}

struct tensor_copy {
    struct warp *w;
    const struct insn *i;
    uint32_t lane;
    struct tensor_map map;
    int64_t first[TENSOR_RANK_MAX];
    uint64_t shared; /* where the box begins */
    bool load;
    uint32_t moved; /* bytes of the box up to here that are in the tensor */
    float ready;    /* when those are there */
};

/* A row's bytes go together, however the box cuts them into pieces, and behind those before them. */
static void time_row(struct tensor_copy *t, uint64_t global, uint32_t bytes)
{
    const struct ptx_observer_calls *clock = clock_of(t->w);
    enum access_kind kind = t->load ? ACCESS_LOAD : ACCESS_STORE;
    if (!clock)
        return;
    t->moved += bytes;
    float row = bytes ? clock->bulk(t->w, t->i, mem_find(t->w->launch->mem, global), global, bytes, kind) : 0,
          all = clock->bulk(t->w, t->i, NULL, 0, t->moved, kind);
    t->ready = MAX(t->ready, MAX(row, all));
}

/* A piece of `bytes` that lies together: `at` in the box, `global` NULL-like (0) when it is outside of the
 * tensor. */
static bool piece(const struct tensor_copy *t, uint64_t at, uint64_t global, uint32_t bytes)
{
    struct flight f = {.kind = FLIGHT_COPY,
                       .insn = t->i,
                       .warp = t->w,
                       .lane = t->lane,
                       .bytes = bytes,
                       .ready = t->ready,
                       .timed = true};
    unsigned rows = t->map.swizzle ? (1u << t->map.swizzle) - 1 : 0;
    uint64_t shared = t->shared + at;
    shared ^= (shared >> 7 & rows) << 4;
    if (t->load) {
        f.from = global;
        f.small = !global;
        return flight_to_mbarrier(&f, shared);
    }
    f.from = shared;
    return !global || flight_to_group(&f, global);
}

/* A row of the box along dimension 0, `at` its place in the box. */
static bool row(struct tensor_copy *t, uint64_t at, uint64_t global, bool inside)
{
    uint32_t size = tensor_type_bytes(t->map.type), bytes = t->map.box[0] * size;
    int64_t before = CLAMP(-t->first[0], (int64_t)0, (int64_t)t->map.box[0]);
    int64_t end = CLAMP((int64_t)t->map.dims[0] - t->first[0], before, (int64_t)t->map.box[0]);
    uint32_t low = inside ? (uint32_t)before * size : bytes, high = inside ? (uint32_t)end * size : bytes;
    time_row(t, global + low, high - low);
    for (uint32_t k = 0; k < bytes;) {
        bool in = k >= low && k < high;
        uint32_t stop = bytes;
        if (in || k < low)
            stop = in ? high : low;
        if (t->map.swizzle || !in) /* a piece of zeros is no larger */
            stop = MIN(stop, (k / CHUNK + 1) * CHUNK);
        if (!piece(t, at + k, in ? global + k : 0, stop - k))
            return false;
        k = stop;
    }
    return true;
}

static bool box(struct tensor_copy *t)
{
    const struct tensor_map *m = &t->map;
    uint32_t bytes = m->box[0] * tensor_type_bytes(m->type);
    uint64_t rows = 1;
    for (unsigned d = 1; d < m->rank; d++)
        rows *= m->box[d];
    for (uint64_t k = 0; k < rows; k++) {
        uint64_t global = m->addr + (uint64_t)t->first[0] * tensor_type_bytes(m->type);
        bool inside = true;
        uint64_t rest = k;
        for (unsigned d = 1; d < m->rank; d++) {
            int64_t x = t->first[d] + (int64_t)(rest % m->box[d]);
            rest /= m->box[d];
            inside &= x >= 0 && x < (int64_t)m->dims[d];
            global += (uint64_t)x * m->strides[d - 1];
        }
        if (!row(t, k * bytes, global, inside))
            return false;
    }
    return true;
}

static bool begin(struct warp *w, const struct insn *i, uint32_t lane, struct tensor_copy *t)
{
    unsigned at = i->extra; /* of the coordinates; the map stands before them */
    *t = (struct tensor_copy){.w = w, .i = i, .lane = lane};
    if (!map_read(w, i, lane, &i->opnds[at - 1u], &t->map))
        return false;
    for (unsigned d = 0; d < t->map.rank; d++)
        t->first[d] = (int32_t)opnd_lane(w, &i->opnds[at].vec[d], lane);
    return true;
}

static void copy(struct warp *w, const struct insn *i, uint32_t m)
{
    for (m = bulk_distinct(w, i, m); m; m &= m - 1) {
        struct tensor_copy t;
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!begin(w, i, lane, &t))
            return;
        t.load = i->extra == 2;
        t.shared = (uint32_t)opnd_address(w, &i->opnds[t.load ? 0 : 2], lane);
        if (t.shared % SHARED_ALIGN) {
            fault(w, i, (int)lane, PTX_MISALIGNED, t.shared,
                  "the shared memory of a tensor copy, at %llu, is no multiple of %d",
                  (unsigned long long)t.shared, SHARED_ALIGN);
            return;
        }
        uint32_t inner = t.map.box[0] * tensor_type_bytes(t.map.type);
        if (t.map.swizzle && inner != 16u << t.map.swizzle) {
            fault_unsupported(w, i, "a swizzled box whose rows are not as wide as the swizzle");
            return;
        }
        if (!box(&t))
            return;
    }
}

static void prefetch(struct warp *w, const struct insn *i, uint32_t m)
{
    struct tensor_copy t;
    for (; m && begin(w, i, (uint32_t)__builtin_ctz(m), &t); m &= m - 1)
        ;
}

static bool coordinates_fit(const struct insn *i, unsigned at)
{
    static const enum mod ranks[] = {MOD_1d, MOD_2d, MOD_3d, MOD_4d, MOD_5d};
    const struct opnd *o = &i->opnds[at];
    if (i->n_opnds <= at || o->kind != OPND_VEC || !o->n || o->n > TENSOR_RANK_MAX ||
        !insn_has(i, ranks[o->n - 1]))
        return false;
    for (unsigned d = 0; d < o->n; d++)
        if (o->vec[d].kind != OPND_REG || o->vec[d].bytes != 4)
            return false;
    return i->opnds[at - 1].kind == OPND_ADDR && i->opnds[at - 1].bytes == 8;
}

exec_fn *tensor_select(struct insn *i)
{
    const struct opnd *o = i->opnds;
    unsigned hint = insn_has(i, MOD_l2_cache_hint), n = i->n_opnds;
    bool load = insn_has(i, MOD_complete_tx_bytes), ahead = insn_has(i, MOD_prefetch);
    i->extra = load ? 2 : 1;
    if (insn_has(i, MOD_reduce) || insn_has(i, MOD_cta) || !insn_has(i, MOD_global) || i->n_types ||
        !coordinates_fit(i, i->extra))
        return NULL;
    if (ahead)
        return n == 2 + hint && insn_has(i, MOD_L2) ? prefetch : NULL;
    if (load)
        return n == 4 + hint + insn_has(i, MOD_multicast) && o[0].kind == OPND_ADDR && o[3].kind == OPND_ADDR &&
                       (insn_has(i, MOD_shared_cluster) || insn_has(i, MOD_shared_cta))
                   ? copy
                   : NULL;
    return n == 3 + hint && o[2].kind == OPND_ADDR && insn_has(i, MOD_bulk_group) && insn_has(i, MOD_shared_cta)
               ? copy
               : NULL;
}
