/* atom and red. Lanes act one after the other, lowest first. */
#include "ptx/machine/async.h"
#include "exec.h"

#include "ptx/lane/atom.h"

static u128 read_value(const struct warp *w, const struct opnd *o, unsigned lane)
{
    u128 high = o->bytes == 16 ? REG(uint64_t, w, o->off)[32 + lane] : 0;
    return opnd_lane(w, o, lane) | high << 64;
}

static void write_value(struct warp *w, const struct opnd *o, unsigned lane, u128 v)
{
    opnd_lane_set(w, o, lane, (uint64_t)v);
    if (o->bytes == 16)
        REG(uint64_t, w, o->off)[32 + lane] = (uint64_t)(v >> 64);
}

static unsigned flags_of(const struct insn *i)
{
    unsigned flags = 0;
    flags |= insn_has(i, MOD_relaxed) ? ACCESS_RELAXED : 0;
    flags |= insn_has(i, MOD_acquire) || insn_has(i, MOD_acq_rel) || insn_has(i, MOD_sc) ? ACCESS_ACQUIRE : 0;
    flags |= insn_has(i, MOD_release) || insn_has(i, MOD_acq_rel) || insn_has(i, MOD_sc) ? ACCESS_RELEASE : 0;
    if (insn_has(i, MOD_cta))
        return flags | ACCESS_CTA;
    return flags | (insn_has(i, MOD_sys) ? ACCESS_SYSTEM : ACCESS_GPU);
}

/* Of work that blocks take by turns, this one's: struct ptx_queue. */
static bool takes_turns(const struct warp *w, const struct insn *i)
{
    return w->launch->options->queue && i->op == OP_atom && (enum mod)i->extra == MOD_add &&
           i->space != SPACE_SHARED && (i->bytes == 4 || i->bytes == 8) && i->type != TYPE_F32 &&
           i->type != TYPE_F64 && i->type != TYPE_F16X2 && i->type != TYPE_BF16X2;
}

/* The result of a warp's addition to a counter: what it finds there, or what it gets in its turn. */
static u128 queue_take(struct ptx_queue *q, const struct warp *w, uint8_t *at, uint32_t bytes, u128 old,
                       u128 each)
{
    uint32_t index = w->index % 32, bit = 1u << index;
    struct ptx_queue_word *word = NULL;

    for (size_t k = 0; k < q->n && !word; k++)
        word = q->words[k].at == at ? &q->words[k] : NULL;
    if (!word && q->n < ARRAY_LEN(q->words)) {
        word = &q->words[q->n++];
        *word = (struct ptx_queue_word){.at = at, .bytes = bytes};
        memcpy(&word->value, at, bytes);
    }
    if (!word)
        return old;
    if (!q->blocks || !(word->askers & bit)) {
        word->askers |= bit;
        return old;
    }
    u128 turn = (u128)word->took[index]++ * (unsigned)__builtin_popcount(word->askers) +
                (unsigned)__builtin_popcount(word->askers & (bit - 1));
    return word->value + each * (turn * q->blocks + w->block->linear);
}

/* An atomic that changes nothing may be led to what was there before, as a load may. */
static inline void lead(struct warp *w, const struct insn *i, uint32_t m, uint8_t *host[32])
{
    if (i->op == OP_atom && w->launch->watched)
        OBSERVE(w->launch, taken, w, m, host);
    if (w->launch->options->leaps)
        warp_leap_adds(w, i, m, host);
}

static void atom(struct warp *w, const struct insn *i, uint32_t m)
{
    bool red = i->op == OP_red;
    const struct opnd *addr_o = &i->opnds[red ? 0 : 1], *b = addr_o + 1,
                      *c = (enum mod)i->extra == MOD_cas ? b + 1 : b;
    uint64_t addr[32];
    uint8_t *host[32];
    lane_addresses(w, addr_o->off, (uint64_t)i->imm, addr_o->bytes == 8, addr);
    if (!mem_lanes(w, i, access_of(i, m, ACCESS_ATOMIC, flags_of(i), (uint32_t)i->bytes * i->vec, addr), host))
        return;
    lead(w, i, m, host);
    bool changed = false, turns = takes_turns(w, i);
    u128 out[4][32];
    for (uint32_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (unsigned k = 0; k < i->vec; k++) {
            uint8_t *at = host[l] + (size_t)k * i->bytes;
            u128 old = 0;
            memcpy(&old, at, i->bytes);
            u128 now = atom_combine(i, old, read_value(w, opnd_element(b, k), l),
                                    read_value(w, opnd_element(c, k), l));
            if (turns) {
                u128 each = now - old;
                old = queue_take(w->launch->options->queue, w, at, i->bytes, old, each);
                now = old + each;
            }
            changed |= memcmp(at, &now, i->bytes) != 0;
            memcpy(at, &now, i->bytes);
            out[k][l] = old;
        }
    }
    if (changed)
        w->launch->progress++;
    w->spins += !red;
    if (!red)
        warp_give_way(w, i);
    for (uint32_t left = red ? 0 : m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (unsigned k = 0; k < i->vec; k++)
            write_value(w, opnd_element(&i->opnds[0], k), l, out[k][l]);
    }
}

/* The frequent ones, without the detour over 128 bits. */
#define FAST(name, T, expr)                                                                       \
    static void name(struct warp *w, const struct insn *i, uint32_t m)                            \
    {                                                                                             \
        bool red = i->op == OP_red;                                                               \
        if (takes_turns(w, i)) {                                                                  \
            atom(w, i, m);                                                                        \
            return;                                                                               \
        }                                                                                         \
        const struct opnd *o = &i->opnds[red ? 0 : 1];                                            \
        const T *b = REG(T, w, o[1].off);                                                         \
        uint64_t addr[32];                                                                        \
        uint8_t *host[32];                                                                        \
        T out[32];                                                                                \
        lane_addresses(w, o->off, (uint64_t)i->imm, o->bytes == 8, addr);                         \
        if (!mem_lanes(w, i, access_of(i, m, ACCESS_ATOMIC, flags_of(i), sizeof(T), addr), host)) \
            return;                                                                               \
        lead(w, i, m, host);                                                                      \
        bool changed = false;                                                                     \
        for (uint32_t left = m; left; left &= left - 1) {                                         \
            unsigned l = (unsigned)__builtin_ctz(left);                                           \
            T *at = (T *)host[l], x = *at, y = b[l];                                              \
            *at = (expr);                                                                         \
            changed |= memcmp(at, &x, sizeof(T)) != 0;                                            \
            out[l] = x;                                                                           \
        }                                                                                         \
        w->launch->progress += changed;                                                           \
        if (red)                                                                                  \
            return;                                                                               \
        w->spins++;                                                                               \
        warp_give_way(w, i);                                                                      \
        T *d = REG(T, w, i->d);                                                                   \
        EACH(T, d, out[l]);                                                                       \
    }
FAST(add_32, uint32_t, x + y)
FAST(add_64, uint64_t, x + y)
FAST(add_f32, float, ({
         float r_ = x + y;
         r_ == r_ ? r_ : f32_of(F32_NAN);
     }))
FAST(min_u32, uint32_t, x < y ? x : y)
FAST(min_s32, int32_t, x < y ? x : y)
FAST(max_u32, uint32_t, x > y ? x : y)
FAST(max_s32, int32_t, x > y ? x : y)
FAST(exch_32, uint32_t, y)

static exec_fn *fast_form(const struct insn *i, int op)
{
    bool is_signed = type_signed((enum type)i->type);
    if (i->vec > 1 || (i->op == OP_atom && i->opnds[0].kind != OPND_REG))
        return NULL;
    if (i->type == TYPE_F32)
        return add_f32;
    if (i->type == TYPE_F64)
        return NULL;
    if (i->bytes == 8)
        return op == (int)MOD_add ? add_64 : NULL;
    if (i->bytes != 4 || i->type == TYPE_F16X2 || i->type == TYPE_BF16X2)
        return NULL;
    switch (op) {
    case MOD_add:
        return add_32;
    case MOD_min:
        return is_signed ? min_s32 : min_u32;
    case MOD_max:
        return is_signed ? max_s32 : max_u32;
    case MOD_exch:
        return exch_32;
    default:
        return NULL;
    }
}

static bool value_fits(const struct insn *i, const struct opnd *o)
{
    if ((o->kind == OPND_VEC ? o->n : 1) != i->vec)
        return false;
    for (unsigned k = 0; k < i->vec; k++) {
        const struct opnd *e = opnd_element(o, k);
        if ((e->kind != OPND_REG && e->kind != OPND_SINK) || e->bytes != i->bytes)
            return false;
    }
    return true;
}

exec_fn *ISA(select_atom)(struct insn *i)
{
    if (i->op == OP_red && insn_has(i, MOD_complete_tx_bytes))
        return store_async_select(i);
    static const enum mod ops[] = {MOD_exch, MOD_cas, MOD_add, MOD_min, MOD_max,
                                   MOD_inc,  MOD_dec, MOD_and, MOD_or,  MOD_xor};
    int op = -1;
    for (size_t k = 0; k < ARRAY_LEN(ops) && op < 0; k++)
        if (insn_has(i, ops[k]))
            op = (int)ops[k];
    bool red = i->op == OP_red, is_add = op == (int)MOD_add,
         is_extreme = op == (int)MOD_min || op == (int)MOD_max;
    unsigned first = red ? 1 : 2, need = first + (op == (int)MOD_cas ? 2 : 1);
    bool is_float = i->type == TYPE_F32 || i->type == TYPE_F64;
    bool is_half =
        i->type == TYPE_F16 || i->type == TYPE_F16X2 || i->type == TYPE_BF16 || i->type == TYPE_BF16X2;
    bool small = !is_half && (i->bytes < 4 || i->bytes > 8);
    if (op < 0 || i->n_opnds < need || i->n_opnds > need + 1u || i->bytes < 2 || i->vec > 4 ||
        insn_has(i, MOD_async))
        return NULL;
    if ((is_float && !is_add) || (is_half && !is_add && !is_extreme) ||
        (small && op != (int)MOD_cas && op != (int)MOD_exch))
        return NULL;
    if (i->vec > 1 && !is_half && i->type != TYPE_F32)
        return NULL;
    const struct opnd *addr = &i->opnds[first - 1];
    if (addr->ref_kind == REF_FUNC_PARAM || addr->ref_kind == REF_ENTRY_PARAM ||
        (uint32_t)i->bytes * i->vec > 16)
        return NULL;
    for (unsigned k = 0; k < need; k++)
        if (k != first - 1 && !value_fits(i, &i->opnds[k]))
            return NULL;
    i->extra = (uint16_t)op;
    exec_fn *fast = fast_form(i, op);
    return fast ? fast : atom;
}
