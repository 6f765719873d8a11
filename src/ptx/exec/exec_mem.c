/* ld, st and hints. The usual forms (global or shared, a register as wide as the element, all lanes in one
 * allocation) take a fast path; everything else goes through mem_lanes(). */
#include "ptx/machine/async.h"
#include "exec.h"

/* ---- addresses ---- */

/* Is addr[l] == addr[0] + l * bytes for all lanes? */
static inline bool is_linear(const uint64_t addr[32], uint64_t bytes)
{
    uint64_t bad = 0;
    LANES bad |= addr[l] ^ (addr[0] + l * bytes);
    return !bad;
}

/* The same, of the registers themselves. */
static inline bool is_linear32(const uint32_t *r, uint32_t bytes)
{
    uint32_t bad = 0;
    LANES bad |= r[l] ^ (r[0] + l * bytes);
    return !bad;
}

static unsigned flags_of(const struct insn *i)
{
    static const struct {
        enum mod mod;
        unsigned flag;
    } map[] = {{MOD_volatile, ACCESS_VOLATILE},
               {MOD_relaxed, ACCESS_RELAXED},
               {MOD_acquire, ACCESS_ACQUIRE},
               {MOD_release, ACCESS_RELEASE},
               {MOD_nc, ACCESS_NC},
               {MOD_sys, ACCESS_SYSTEM},
               {MOD_gpu, ACCESS_GPU},
               {MOD_cta, ACCESS_CTA},
               {MOD_mmio, ACCESS_RELAXED | ACCESS_SYSTEM}};
    unsigned flags = 0;
    for (size_t k = 0; k < ARRAY_LEN(map); k++)
        if (insn_has(i, map[k].mod))
            flags |= map[k].flag;
    return flags;
}

enum { ACCESS_STRONG = ACCESS_VOLATILE | ACCESS_RELAXED | ACCESS_ACQUIRE };

static inline void spin_count(struct warp *w, const struct insn *i)
{
    if (!(i->extra & ACCESS_STRONG))
        return;
    w->spins++;
    warp_give_way(w, i);
}

/* ---- the careful form: any width of register, any space ---- */

static uint64_t extend(uint64_t v, unsigned bytes, bool is_signed)
{
    if (!is_signed || bytes >= 8)
        return v;
    unsigned shift = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(v << shift) >> shift);
}

static void load_lane(struct warp *w, const struct insn *i, unsigned lane, const uint8_t *host)
{
    bool is_signed = type_signed((enum type)i->type);
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *o = opnd_element(&i->opnds[0], k);
        uint64_t v = 0;
        if (i->bytes == 16) {
            memcpy(&REG(uint64_t, w, o->off)[lane], host + 16 * k, 8);
            memcpy(&REG(uint64_t, w, o->off)[32 + lane], host + 16 * k + 8, 8);
            continue;
        }
        memcpy(&v, host + (size_t)k * i->bytes, i->bytes);
        opnd_lane_set(w, o, lane, extend(v, i->bytes, is_signed));
    }
}

static void store_lane(struct warp *w, const struct insn *i, unsigned lane, uint8_t *host)
{
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *o = opnd_element(&i->opnds[1], k);
        if (i->bytes == 16) {
            memcpy(host + 16 * k, &REG(uint64_t, w, o->off)[lane], 8);
            memcpy(host + 16 * k + 8, &REG(uint64_t, w, o->off)[32 + lane], 8);
            continue;
        }
        uint64_t v = opnd_lane(w, o, lane);
        memcpy(host + (size_t)k * i->bytes, &v, i->bytes);
    }
}

static void load_any(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t addr[32];
    uint8_t *host[32];
    lane_addresses(w, i->a, (uint64_t)i->imm, i->opnds[1].bytes == 8, addr);
    spin_count(w, i);
    if (!mem_lanes(w, i, access_of(i, m, ACCESS_LOAD, i->extra, (uint32_t)i->bytes * i->vec, addr), host))
        return;
    if (i->extra & ACCESS_STRONG)
        OBSERVE(w->launch, taken, w, m, host);
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        load_lane(w, i, lane, host[lane]);
    }
}

static void store_any(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t addr[32];
    uint8_t *host[32];
    lane_addresses(w, i->d, (uint64_t)i->imm, i->opnds[0].bytes == 8, addr);
    if (!mem_lanes(w, i, access_of(i, m, ACCESS_STORE, i->extra, (uint32_t)i->bytes * i->vec, addr), host))
        return;
    w->launch->progress++;
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        store_lane(w, i, lane, host[lane]);
    }
}

/* ---- parameters ---- */

/* ld.param of a kernel: the same for all lanes. */
static void load_entry_param(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t at = (uint64_t)i->imm, bytes = (uint64_t)i->bytes * i->vec;
    if (at > w->launch->entry->param_bytes || bytes > w->launch->entry->param_bytes - at) {
        fault(w, i, __builtin_ctz(m), PTX_OUT_OF_BOUNDS, at,
              "a read of %llu bytes at offset %lld of the kernel's parameters, which have %u",
              (unsigned long long)bytes, (long long)at, w->launch->entry->param_bytes);
        return;
    }
    const unsigned first = (unsigned)__builtin_ctz(m);
    load_lane(w, i, first, w->launch->params + at);
    for (unsigned k = 0; k < i->vec && i->bytes < 16; k++) { /* the others as the first */
        const struct opnd *o = opnd_element(&i->opnds[0], k);
        const uint64_t v = opnd_lane(w, o, first);
        if (o->bytes == 2) {
            EACH(uint16_t, REG(uint16_t, w, o->off), v);
        } else if (o->bytes == 4) {
            EACH(uint32_t, REG(uint32_t, w, o->off), v);
        } else {
            EACH(uint64_t, REG(uint64_t, w, o->off), v);
        }
    }
    for (uint32_t rest = i->bytes < 16 ? 0 : m & (m - 1); rest; rest &= rest - 1)
        load_lane(w, i, (unsigned)__builtin_ctz(rest), w->launch->params + at);
}

#define LOAD_PARAM(name, T)                                            \
    static void name(struct warp *w, const struct insn *i, uint32_t m) \
    {                                                                  \
        T v, *d = REG(T, w, i->d);                                     \
        memcpy(&v, w->launch->params + i->imm, sizeof(T));             \
        EACH(T, d, v);                                                 \
    }
LOAD_PARAM(load_entry_param_4, uint32_t)
LOAD_PARAM(load_entry_param_8, uint64_t)

/* Parameters of functions lie in the register file, [32 lanes][i->extra bytes]; i->imm is where the accessed
 * bytes of lane 0 are. */
static void load_func_param(struct warp *w, const struct insn *i, uint32_t m)
{
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        load_lane(w, i, lane, w->regs + i->imm + (size_t)lane * i->extra);
    }
}

static void store_func_param(struct warp *w, const struct insn *i, uint32_t m)
{
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        store_lane(w, i, lane, w->regs + i->imm + (size_t)lane * i->extra);
    }
}

/* ---- fast forms ---- */

/* By value, so that a fast form never writes an access to memory. */
static bool observe(struct warp *w, const struct insn *i, struct access x, bool linear, struct alloc *a)
{
    x.linear = linear;
    x.alloc = a;
    observe_access(w, i, &x);
    return !w->launch->stop;
}

enum shape { CAREFUL, RUN, SPREAD };

/* May the fast form take it: all lanes inside one allocation (the one last met here) or inside shared memory,
 * and aligned? RUN: lane l's bytes are at addr[0] + l * bytes. SPREAD: anywhere; addr of lanes outside m is
 * then some other lane's, so that all can be read. *base + addr[l] is the host address. CAREFUL when not, or
 * when a finding ended the launch. */
static inline enum shape shape_of(struct warp *w, const struct insn *i, const struct access x,
                                  uint64_t addr[32], uintptr_t *base)
{
    uint32_t m = x.mask, bytes = x.bytes;
    struct launch *launch = w->launch;
    struct alloc *a = NULL;
    bool run = m == ~0u && is_linear(addr, bytes);
    uint64_t low = addr[0], high = addr[31], start = 0, size = launch->shared_bytes, odd = addr[0];
    *base = (uintptr_t)w->block->shared;
    if (!run) {
        uint64_t any = addr[__builtin_ctz(m)];
        low = high = any;
        odd = 0;
        LANES addr[l] = m >> l & 1 ? addr[l] : any;
        LANES odd |= addr[l];
        LANES low = addr[l] < low ? addr[l] : low;
        LANES high = addr[l] > high ? addr[l] : high;
    }
    if (x.space == SPACE_GLOBAL) {
        a = launch->last_alloc[i->self];
        if (!a || (x.kind != ACCESS_LOAD && a->read_only))
            return CAREFUL;
        start = a->addr;
        size = a->size;
        *base = (uintptr_t)launch->mem->host - MEM_BASE;
    }
    if (low > high || low < start || high - start >= size || bytes > size - (high - start) ||
        (odd & (bytes - 1)))
        return CAREFUL;
    if (a && a->present) {
        if (run || (low - MEM_BASE) / MEM_PAGE == (high + bytes - 1 - MEM_BASE) / MEM_PAGE)
            mem_touch(launch->mem, a, low, high - low + bytes);
        else
            for (unsigned lane = 0; lane < 32; lane++)
                mem_touch(launch->mem, a, addr[lane], bytes);
    }
    if (launch->watched && !observe(w, i, x, run, a))
        return CAREFUL;
    return run ? RUN : SPREAD;
}

#define ACCESS_HERE(k, s, n)                                                                \
    {                                                                                       \
        .kind = (k), .space = (s), .flags = i->extra, .mask = m, .bytes = (n), .addr = addr \
    }

/* Element type T, N elements a lane. */
#define LOAD(name, space, wide, T, N)                                             \
    static void name(struct warp *w, const struct insn *i, uint32_t m)            \
    {                                                                             \
        uint64_t addr[32];                                                        \
        uint8_t *host[32];                                                        \
        uintptr_t base;                                                           \
        lane_addresses(w, i->a, (uint64_t)i->imm, wide, addr);                    \
        spin_count(w, i);                                                         \
        const struct access x = ACCESS_HERE(ACCESS_LOAD, space, sizeof(T) * (N)); \
        enum shape shape = shape_of(w, i, x, addr, &base);                        \
        if (__builtin_expect(w->launch->stop, 0))                                 \
            return;                                                               \
        if (shape == RUN) {                                                       \
            const T *from = (const T *)(base + addr[0]);                          \
            for (unsigned k = 0; k < (N); k++) {                                  \
                T *d = REG(T, w, (N) == 1 ? i->d : i->opnds[0].vec[k].off);       \
                LANES d[l] = from[l * (N) + k];                                   \
            }                                                                     \
            return;                                                               \
        }                                                                         \
        if (shape == SPREAD) {                                                    \
            for (unsigned k = 0; k < (N); k++) {                                  \
                T *d = REG(T, w, (N) == 1 ? i->d : i->opnds[0].vec[k].off);       \
                uintptr_t from = base + k * sizeof(T);                            \
                EACH(T, d, *(const T *)(from + addr[l]));                         \
            }                                                                     \
            return;                                                               \
        }                                                                         \
        if (!mem_lanes(w, i, x, host))                                            \
            return;                                                               \
        for (uint32_t left = m; left; left &= left - 1) {                         \
            unsigned lane = (unsigned)__builtin_ctz(left);                        \
            const T *h = (const T *)host[lane];                                   \
            for (unsigned k = 0; k < (N); k++)                                    \
                REG(T, w, (N) == 1 ? i->d : i->opnds[0].vec[k].off)[lane] = h[k]; \
        }                                                                         \
    }

#define STORE(name, space, wide, T, N)                                                  \
    static void name(struct warp *w, const struct insn *i, uint32_t m)                  \
    {                                                                                   \
        uint64_t addr[32];                                                              \
        uint8_t *host[32];                                                              \
        uintptr_t base;                                                                 \
        lane_addresses(w, i->d, (uint64_t)i->imm, wide, addr);                          \
        const struct access x = ACCESS_HERE(ACCESS_STORE, space, sizeof(T) * (N));      \
        enum shape shape = shape_of(w, i, x, addr, &base);                              \
        if (__builtin_expect(w->launch->stop, 0))                                       \
            return;                                                                     \
        w->launch->progress++;                                                          \
        if (shape == RUN) {                                                             \
            T *to = (T *)(base + addr[0]);                                              \
            for (unsigned k = 0; k < (N); k++) {                                        \
                const T *s = REG(T, w, (N) == 1 ? i->a : i->opnds[1].vec[k].off);       \
                LANES to[l * (N) + k] = s[l];                                           \
            }                                                                           \
            return;                                                                     \
        }                                                                               \
        if (shape == CAREFUL && !mem_lanes(w, i, x, host))                              \
            return;                                                                     \
        for (uint32_t left = m; left; left &= left - 1) {                               \
            unsigned lane = (unsigned)__builtin_ctz(left);                              \
            T *h = (T *)(shape == CAREFUL ? (uintptr_t)host[lane] : base + addr[lane]); \
            for (unsigned k = 0; k < (N); k++)                                          \
                h[k] = REG(T, w, (N) == 1 ? i->a : i->opnds[1].vec[k].off)[lane];       \
        }                                                                               \
    }

#define FORMS(KIND, kind, space, suffix, wide)            \
    KIND(kind##_##suffix##_2x1, space, wide, uint16_t, 1) \
    KIND(kind##_##suffix##_2x2, space, wide, uint16_t, 2) \
    KIND(kind##_##suffix##_2x4, space, wide, uint16_t, 4) \
    KIND(kind##_##suffix##_4x1, space, wide, uint32_t, 1) \
    KIND(kind##_##suffix##_4x2, space, wide, uint32_t, 2) \
    KIND(kind##_##suffix##_4x4, space, wide, uint32_t, 4) \
    KIND(kind##_##suffix##_8x1, space, wide, uint64_t, 1) \
    KIND(kind##_##suffix##_8x2, space, wide, uint64_t, 2)

FORMS(LOAD, load, SPACE_GLOBAL, global, true)
FORMS(LOAD, load, SPACE_SHARED, shared64, true)
FORMS(LOAD, load, SPACE_SHARED, shared32, false)
FORMS(STORE, store, SPACE_GLOBAL, global, true)
FORMS(STORE, store, SPACE_SHARED, shared64, true)
FORMS(STORE, store, SPACE_SHARED, shared32, false)

#define ROW(kind, suffix)                                                          \
    {                                                                              \
        {kind##_##suffix##_2x1, kind##_##suffix##_2x2, kind##_##suffix##_2x4},     \
            {kind##_##suffix##_4x1, kind##_##suffix##_4x2, kind##_##suffix##_4x4}, \
        {                                                                          \
            kind##_##suffix##_8x1, kind##_##suffix##_8x2, NULL                     \
        }                                                                          \
    }
static exec_fn *const fast_loads[3][3][3] = {ROW(load, global), ROW(load, shared32), ROW(load, shared64)};
static exec_fn *const fast_stores[3][3][3] = {ROW(store, global), ROW(store, shared32), ROW(store, shared64)};

/* The value operand: as many elements as the form says, each of a register that can hold one. */
static bool value_fits(const struct insn *i, const struct opnd *o, bool *exact)
{
    *exact = true;
    if ((o->kind == OPND_VEC ? o->n : 1) != i->vec)
        return false;
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *e = opnd_element(o, k);
        if ((e->kind != OPND_REG && e->kind != OPND_SINK) || e->bytes < MAX(i->bytes, 2) ||
            (e->bytes == 16) != (i->bytes == 16))
            return false;
        *exact &= e->bytes == i->bytes;
    }
    return true;
}

exec_fn *ISA(select_mem)(struct insn *i)
{
    if (i->op == OP_st && insn_has(i, MOD_complete_tx_bytes))
        return store_async_select(i);
    bool load = i->op != OP_st;
    const struct opnd *addr = &i->opnds[load ? 1 : 0], *value = &i->opnds[load ? 0 : 1];
    bool exact;
    if (!i->bytes || (uint32_t)i->bytes * i->vec > 32 || insn_has(i, MOD_async) ||
        !value_fits(i, value, &exact))
        return NULL;
    if (i->space == SPACE_PARAM) {
        uint32_t bytes = (uint32_t)i->bytes * i->vec;
        if (addr->ref_kind == REF_FUNC_PARAM) {
            const struct param *p = addr->ref;
            if (addr->imm < 0 || addr->imm > p->bytes || bytes > p->bytes - addr->imm)
                return NULL;
            return load ? load_func_param : store_func_param;
        }
        if (!load)
            return NULL;
        if (addr->is_imm) {
            const struct param *p = addr->ref_kind == REF_ENTRY_PARAM ? addr->ref : NULL;
            bool inside = p && addr->imm >= 0 && addr->imm <= p->bytes && bytes <= p->bytes - addr->imm;
            i->extra = 0;
            if (inside && exact && value->kind == OPND_REG && (i->bytes == 4 || i->bytes == 8))
                return i->bytes == 4 ? load_entry_param_4 : load_entry_param_8;
            return load_entry_param;
        }
        i->extra = 0;
        return load_any;
    }
    if (addr->ref_kind == REF_FUNC_PARAM || (!load && i->space == SPACE_CONST))
        return NULL;
    i->extra = (uint16_t)flags_of(i);
    bool wide = addr->bytes == 8, shared = i->space == SPACE_SHARED;
    exec_fn *fast = NULL;
    if (exact && (shared || (i->space == SPACE_GLOBAL && wide)) && i->bytes >= 2 && i->bytes <= 8 &&
        i->vec <= 4 && (value->kind == OPND_VEC) == (i->vec > 1)) {
        int space = shared ? 1 + wide : 0, size = __builtin_ctz(i->bytes) - 1, count = __builtin_ctz(i->vec);
        if (!load || !(i->extra & ACCESS_STRONG))
            fast = load ? fast_loads[space][size][count] : fast_stores[space][size][count];
    }
    if (fast)
        return fast;
    return load ? load_any : store_any;
}

/* Hints change nothing that a program can see. */
static void nothing(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)w, (void)i, (void)m;
}

exec_fn *ISA(select_nothing)(struct insn *i)
{
    return i->op == OP_discard ? NULL : nothing;
}
