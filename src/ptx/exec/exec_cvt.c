/* mov, cvta, isspacep and cvt between integers, f32 and f64. */
#include "exec.h"
#include "ptx/lane/bits.h"

/* ---- mov ---- */

UNARY(mov_16, uint16_t, uint16_t, x)
UNARY(mov_32, uint32_t, uint32_t, x)
UNARY(mov_64, uint64_t, uint64_t, x)

static void mov_128(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t *d = REG(uint64_t, w, i->d);
    const uint64_t *a = REG(uint64_t, w, i->a);
    for (unsigned half = 0; half < 64; half += 32) {
        uint64_t *dh = d + half;
        const uint64_t *ah = a + half;
        EACH(uint64_t, dh, ah[l]);
    }
}

static void mov_pred(struct warp *w, const struct insn *i, uint32_t m)
{
    pred_write(w, i->d, pred_read(w, &i->opnds[1]), m);
}

static void mov_special(struct warp *w, const struct insn *i, uint32_t m)
{
    enum special s = (enum special)i->opnds[1].imm;
    unsigned shift = s == SPECIAL_clock_hi || s == SPECIAL_globaltimer_hi ? 32 : 0;
    if (shift)
        s = s == SPECIAL_clock_hi ? SPECIAL_clock64 : SPECIAL_globaltimer;
    uint64_t v = special_value(w, s, 0) >> shift;
    w->spins++;
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        if (i->opnds[0].bytes == 8)
            REG(uint64_t, w, i->d)[lane] = v;
        else
            REG(uint32_t, w, i->d)[lane] = (uint32_t)v;
    }
}

/* Plane of a register that holds part k of its bytes, as an array over lanes with a stride. */
static inline uint64_t read_part(const struct warp *w, const struct opnd *o, unsigned lane, unsigned part_bytes,
                                 unsigned k)
{
    uint64_t v = opnd_lane(w, o, lane + (o->bytes == 16 && part_bytes * k >= 8 ? 32 : 0));
    return v >> (8 * part_bytes * k % 64);
}

static void pack_2x2(struct warp *w, const struct insn *i, uint32_t m)
{
    uint32_t *d = REG(uint32_t, w, i->d);
    const uint16_t *a = REG(uint16_t, w, i->opnds[1].vec[0].off), *b = REG(uint16_t, w, i->opnds[1].vec[1].off);
    EACH(uint32_t, d, a[l] | (uint32_t)b[l] << 16);
}

static void pack_2x4(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t *d = REG(uint64_t, w, i->d);
    const uint32_t *a = REG(uint32_t, w, i->opnds[1].vec[0].off), *b = REG(uint32_t, w, i->opnds[1].vec[1].off);
    EACH(uint64_t, d, a[l] | (uint64_t)b[l] << 32);
}

static void pack_any(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *d = &i->opnds[0], *v = &i->opnds[1];
    unsigned part = d->bytes / v->n;
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t word[2] = {0};
        for (unsigned k = 0; k < v->n; k++) {
            uint64_t x = read_part(w, &v->vec[k], lane, part, 0);
            if (part < 8)
                x &= (1ull << 8 * part) - 1;
            word[part * k / 8] |= x << (8 * part * k % 64);
        }
        opnd_lane_set(w, d, lane, word[0]);
        if (d->bytes == 16)
            REG(uint64_t, w, d->off)[32 + lane] = word[1];
    }
}

static void unpack_2x2(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint32_t *a = REG(uint32_t, w, i->a);
    const struct opnd *v = i->opnds[0].vec;
    uint16_t *d0 = REG(uint16_t, w, v[0].off), *d1 = REG(uint16_t, w, v[1].off);
    EACH(uint16_t, d0, a[l]);
    EACH(uint16_t, d1, a[l] >> 16);
}

static void unpack_any(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *v = &i->opnds[0], *a = &i->opnds[1];
    unsigned part = a->bytes / v->n;
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t parts[8];
        for (unsigned k = 0; k < v->n; k++)
            parts[k] = read_part(w, a, lane, part, k);
        for (unsigned k = 0; k < v->n; k++)
            opnd_lane_set(w, &v->vec[k], lane, parts[k]);
    }
}

static bool parts_fit(const struct opnd *v, unsigned bytes)
{
    if (v->n < 2 || v->n > 8 || bytes % v->n)
        return false;
    unsigned part = MAX(bytes / v->n, 2); /* 8 bits live in registers of 16 */
    for (unsigned k = 0; k < v->n; k++)
        if ((v->vec[k].kind != OPND_REG && v->vec[k].kind != OPND_SINK) || v->vec[k].bytes != part)
            return false;
    return true;
}

/* ---- addresses ---- */

static void cvta(struct warp *w, const struct insn *i, uint32_t m)
{
    uint64_t *d = REG(uint64_t, w, i->d), base = (uint64_t)i->imm;
    const uint64_t *a = REG(uint64_t, w, i->a);
    EACH(uint64_t, d, a[l] + base);
}

static uint64_t window_of(enum space s)
{
    switch (s) {
    case SPACE_SHARED:
        return SHARED_WINDOW;
    case SPACE_LOCAL:
        return LOCAL_WINDOW;
    default:
        return s == SPACE_PARAM ? PARAM_WINDOW : 0;
    }
}

static void isspacep(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint64_t *a = REG(uint64_t, w, i->a);
    uint64_t base = window_of((enum space)i->space);
    uint64_t size =
        i->space == SPACE_SHARED && !insn_has(i, MOD_shared_cluster) ? CLUSTER_STRIDE : WINDOW_BYTES;
    uint32_t r = 0;
    for (unsigned l = 0; l < 32; l++) {
        bool in_window = false;
        for (int s = SPACE_SHARED; s <= SPACE_PARAM; s++)
            in_window |= window_of((enum space)s) && a[l] - window_of((enum space)s) < WINDOW_BYTES;
        bool yes = base ? a[l] - base < size : !in_window;
        if (i->space == SPACE_CONST || (yes && !base && i->space == SPACE_GLOBAL)) {
            const struct alloc *al = mem_find(w->launch->mem, a[l]);
            bool is_const = al && al->is_module && al->read_only;
            yes = i->space == SPACE_CONST ? is_const : !is_const;
        }
        r |= yes ? 1u << l : 0;
    }
    pred_write(w, i->d, r, m);
}

exec_fn *ISA(select_mov)(struct insn *i)
{
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1];
    if (i->op == OP_cvta) {
        if (d->bytes != 8 || a->bytes != 8)
            return NULL;
        uint64_t base = window_of((enum space)i->space);
        i->imm = (int64_t)(insn_has(i, MOD_to) ? -base : base);
        return cvta;
    }
    if (i->op == OP_isspacep)
        return d->bytes || a->bytes != 8 || !i->space ? NULL : isspacep;
    if (a->kind == OPND_REG && a->ref_kind == REF_SPECIAL &&
        (a->imm == SPECIAL_clock || a->imm == SPECIAL_clock_hi || a->imm == SPECIAL_clock64 ||
         (a->imm >= SPECIAL_globaltimer && a->imm <= SPECIAL_globaltimer_hi)))
        return d->kind == OPND_REG && (d->bytes == 4 || d->bytes == 8) ? mov_special : NULL;
    if (d->kind == OPND_VEC) {
        if (a->kind != OPND_REG || !parts_fit(d, a->bytes))
            return NULL;
        return a->bytes == 4 && d->n == 2 ? unpack_2x2 : unpack_any;
    }
    if (a->kind == OPND_VEC) {
        if (d->kind != OPND_REG || !parts_fit(a, d->bytes))
            return NULL;
        return a->n == 2 && d->bytes <= 8 ? of_width(d->bytes, pack_any, pack_2x2, pack_2x4) : pack_any;
    }
    if (d->kind != OPND_REG || a->kind != OPND_REG || d->bytes != a->bytes)
        return NULL;
    if (d->bytes == 0)
        return mov_pred;
    return d->bytes > 8 ? mov_128 : of_width(d->bytes, mov_16, mov_32, mov_64);
}

/* ---- cvt ---- */

static inline uint64_t extend(uint64_t v, unsigned bytes, bool is_signed)
{
    if (bytes >= 8)
        return v;
    unsigned shift = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static double integral(const struct insn *i, double x)
{
    if (insn_has(i, MOD_rzi))
        return trunc(x);
    if (insn_has(i, MOD_rmi))
        return floor(x);
    if (insn_has(i, MOD_rpi))
        return ceil(x);
    return insn_has(i, MOD_rni) ? rint(x) : x;
}

/* Out of range gives the nearest end. NaN gives 0, or the top bit when 64 bits or an f64 are involved. */
static uint64_t float_to_int(const struct insn *i, double x)
{
    unsigned bits = 8u * type_bytes[i->types[0]];
    if (x != x)
        return i->types[1] == TYPE_F64 || bits == 64 ? 1ull << (bits - 1) : 0;
    return integer_of(integral(i, x), i->types[0]);
}

static uint64_t int_to_int(const struct insn *i, uint64_t v)
{
    if (!insn_has(i, MOD_sat))
        return v;
    return clamp_integer(type_signed((enum type)i->types[1]) ? (__int128)(int64_t)v : (__int128)v, i->types[0]);
}

static void cvt_any(struct warp *w, const struct insn *i, uint32_t m)
{
    enum type to = (enum type)i->types[0], from = (enum type)i->types[1];
    bool to_float = to == TYPE_F32 || to == TYPE_F64, from_float = from == TYPE_F32 || from == TYPE_F64,
         ftz = insn_has(i, MOD_ftz), sat = insn_has(i, MOD_sat);
    int old = fegetround(), mode = rounding_mode(i);
    for (; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t v = extend(read_part(w, &i->opnds[1], lane, 8, 0), type_bytes[from], type_signed(from)), r;
        double x = 0;
        if (from == TYPE_F32)
            x = ftz ? f32_flush(f32_of((uint32_t)v)) : f32_of((uint32_t)v);
        else if (from == TYPE_F64)
            x = f64_of(v);
        if (!to_float) {
            r = from_float ? float_to_int(i, x) : int_to_int(i, v);
        } else {
            volatile float f = 0;
            volatile double y = 0, in = from_float ? integral(i, x) : 0;
            volatile int64_t si = (int64_t)v;
            volatile uint64_t ui = v;
            fesetround(mode);
            if (from_float && to == TYPE_F32)
                f = (float)in;
            else if (from_float)
                y = in;
            else if (to == TYPE_F32)
                f = type_signed(from) ? (float)si : (float)ui;
            else
                y = type_signed(from) ? (double)si : (double)ui;
            fesetround(old);
            if (to == TYPE_F32) {
                float g = ftz ? f32_flush(f) : f;
                r = bits_f32(f32_canon(sat ? f32_saturate(g) : g));
            } else {
                r = bits_f64(sat ? f64_saturate(y) : y);
            }
        }
        if (!to_float)
            r = extend(r, type_bytes[to], type_signed(to));
        opnd_lane_set(w, &i->opnds[0], lane, r);
    }
}

/* The common ones, as wide as their registers. */
UNARY(cvt_f32_s32, float, int32_t, (float)x)
UNARY(cvt_f32_u32, float, uint32_t, (float)x)
UNARY(cvt_f64_s32, double, int32_t, (double)x)
UNARY(cvt_f64_u32, double, uint32_t, (double)x)
UNARY(cvt_s64_s32, int64_t, int32_t, x)
UNARY(cvt_u64_u32, uint64_t, uint32_t, x)
UNARY(cvt_b32_b64, uint32_t, uint64_t, (uint32_t)x)
UNARY(cvt_u32_u16, uint32_t, uint16_t, x)
UNARY(cvt_s32_s16, int32_t, int16_t, x)
UNARY(cvt_b16_b32, uint16_t, uint32_t, (uint16_t)x)
UNARY(cvt_u16_u8, uint16_t, uint16_t, (uint8_t)x)
UNARY(cvt_s16_s8, int16_t, int16_t, (int8_t)x)
UNARY(cvt_u32_u8_32, uint32_t, uint32_t, (uint8_t)x)
UNARY(cvt_f64_f32, double, float, (double)x)
static inline int32_t s32_of(float x) /* towards zero */
{
    if (!(x < 0x1p31f))
        return x != x ? 0 : INT32_MAX;
    return x < -0x1p31f ? INT32_MIN : (int32_t)x;
}
UNARY(cvt_rzi_s32_f32, int32_t, float, s32_of(x))
UNARY(cvt_rni_s32_f32, int32_t, float, s32_of(__builtin_rintf(x)))

UNARY(cvt_sat_f32, float, float, f32_saturate(x))
UNARY(cvt_rni_f32, float, float, f32_canon(__builtin_rintf(x)))
UNARY(cvt_rzi_f32, float, float, f32_canon(__builtin_truncf(x)))
UNARY(cvt_rmi_f32, float, float, f32_canon(__builtin_floorf(x)))
UNARY(cvt_rpi_f32, float, float, f32_canon(__builtin_ceilf(x)))
UNARY(cvt_rn_f32_f64, float, double, f32_canon((float)x))
UNARY(cvt_rzi_u32_f32, uint32_t, float, ({
          uint32_t most_ = x >= 0x1p32f ? UINT32_MAX : 0;
          x > 0 && x < 0x1p32f ? (uint32_t)x : most_;
      }))

static bool plain(enum type t)
{
    return (t >= TYPE_U8 && t <= TYPE_S64) || t == TYPE_F32 || t == TYPE_F64;
}

exec_fn *ISA(select_cvt)(struct insn *i)
{
    const struct opnd *d = &i->opnds[0], *a = &i->opnds[1];
    enum type to = (enum type)i->types[0], from = (enum type)i->types[1];
    if (i->n_types != 2 || !plain(to) || !plain(from) || insn_has(i, MOD_pack))
        return ISA(select_cvt_half)(i);
    if (i->n_opnds != 2 || (d->kind != OPND_REG && d->kind != OPND_SINK) || a->kind != OPND_REG ||
        d->bytes < type_bytes[to] || a->bytes < type_bytes[from] || d->bytes > 8 || a->bytes > 8)
        return NULL;
    bool to_float = to == TYPE_F32 || to == TYPE_F64;
    if (to_float && d->bytes != type_bytes[to])
        return NULL;
    bool exact = d->bytes == type_bytes[to] && a->bytes == type_bytes[from],
         odd = insn_has(i, MOD_sat) || insn_has(i, MOD_ftz);
    bool nearest = rounding_mode(i) == FE_TONEAREST;
    if (exact && to == TYPE_F32 && from == TYPE_F32 && !insn_has(i, MOD_ftz)) {
        bool sat = insn_has(i, MOD_sat), rounds = insn_has(i, MOD_rni) || insn_has(i, MOD_rzi) ||
                                                  insn_has(i, MOD_rmi) || insn_has(i, MOD_rpi);
        if (sat != rounds)
            return BY_MOD(i, {MOD_sat, cvt_sat_f32}, {MOD_rni, cvt_rni_f32}, {MOD_rzi, cvt_rzi_f32},
                          {MOD_rmi, cvt_rmi_f32}, {MOD_rpi, cvt_rpi_f32});
    }
    if (exact && !insn_has(i, MOD_sat) &&
        from == TYPE_F32) { /* .ftz does not show: subnormals become 0 anyway */
        if (to == TYPE_S32 && (insn_has(i, MOD_rni) || insn_has(i, MOD_rzi)))
            return insn_has(i, MOD_rni) ? cvt_rni_s32_f32 : cvt_rzi_s32_f32;
        if (to == TYPE_U32 && insn_has(i, MOD_rzi))
            return cvt_rzi_u32_f32;
    }
    if (exact && !odd) {
        if (nearest && to == TYPE_F32 && from == TYPE_F64)
            return cvt_rn_f32_f64;
        if (nearest && to == TYPE_F32 && (from == TYPE_S32 || from == TYPE_U32))
            return from == TYPE_S32 ? cvt_f32_s32 : cvt_f32_u32;
        if (nearest && to == TYPE_F64 && (from == TYPE_S32 || from == TYPE_U32))
            return from == TYPE_S32 ? cvt_f64_s32 : cvt_f64_u32;
        if (to == TYPE_F64 && from == TYPE_F32)
            return cvt_f64_f32;
        if (!to_float && from == TYPE_S32 && type_bytes[to] == 8)
            return cvt_s64_s32;
        if (!to_float && from == TYPE_U32 && type_bytes[to] == 8)
            return cvt_u64_u32;
        if (!to_float && (from == TYPE_U64 || from == TYPE_S64) && type_bytes[to] == 4)
            return cvt_b32_b64;
        if (!to_float && from == TYPE_U16 && type_bytes[to] == 4)
            return cvt_u32_u16;
        if (!to_float && from == TYPE_S16 && type_bytes[to] == 4)
            return cvt_s32_s16;
        if (!to_float && (from == TYPE_U32 || from == TYPE_S32) && type_bytes[to] == 2)
            return cvt_b16_b32;
    }
    if (!odd && a->bytes == 2 && d->bytes == 2 && from == TYPE_U8 && !to_float)
        return to == TYPE_S8 ? cvt_s16_s8 : cvt_u16_u8;
    if (!odd && a->bytes == 2 && d->bytes == 2 && from == TYPE_S8 && (to == TYPE_S16 || to == TYPE_S8))
        return cvt_s16_s8;
    if (!odd && a->bytes == 4 && d->bytes == 4 && from == TYPE_U8 && type_bytes[to] == 4 && !to_float)
        return cvt_u32_u8_32;
    return cvt_any;
}
