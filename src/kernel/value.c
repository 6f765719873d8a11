/* Values and C++'s arithmetic on them: promotions and conversions, unsigned wrap-around; what C++ leaves
 * undefined (signed overflow, division by zero, shifts beyond the width) is an error with the numbers in it. */
#include "kernel/internal.h"

struct value value_int(const struct type *t, int64_t i)
{
    return (struct value){.type = t, .i = i};
}

struct value value_float(const struct type *t, double f)
{
    return (struct value){.type = t, .f = float_round(t, f)};
}

struct value value_null(void)
{
    return (struct value){.type = type_null, .p = {.buffer = -1}};
}

struct value value_buffer(const struct type *t, int32_t buffer, int64_t offset)
{
    return (struct value){.type = t, .p = {.buffer = buffer, .offset = offset}};
}

struct value value_plain(struct value v)
{
    return v.type->kind == TY_CONSTANT ? value_int(v.type->to, v.type->n) : v;
}

int64_t int_wrap(const struct type *t, __int128 v)
{
    switch (t->scalar) {
    case KT_BOOL:
        return v != 0;
    case KT_I8:
        return (int8_t)v;
    case KT_U8:
        return (uint8_t)v;
    case KT_I16:
        return (int16_t)v;
    case KT_U16:
        return (uint16_t)v;
    case KT_I32:
        return (int32_t)v;
    case KT_U32:
        return (uint32_t)v;
    default:
        return (int64_t)v; /* 64 bits as they are; value_wide() reads them by their sign */
    }
}

/* The number an integer value stands for. */
static __int128 wide(struct value v)
{
    return v.type->scalar == KT_U64 ? (__int128)(uint64_t)v.i : (__int128)v.i;
}

/* As a float whose last bit says whether something was lost: rounding it again gives what rounding once would.
 */
static float float_odd(double f)
{
    float x = (float)f;
    uint32_t bits;

    if ((double)x == f || isnan(x) || isinf(x))
        return x;
    memcpy(&bits, &x, sizeof(bits));
    if ((bits & 1) == 0)
        bits += fabs((double)x) < fabs(f) ? 1 : -1u;
    memcpy(&x, &bits, sizeof(bits));
    return x;
}

static double round_bf16(double f)
{
    float x = float_odd(f);
    uint32_t bits;

    if (isnan(x))
        return x;
    memcpy(&bits, &x, sizeof(bits));
    bits += 0x7fff + ((bits >> 16) & 1);
    bits &= 0xffff0000u;
    memcpy(&x, &bits, sizeof(bits));
    return (double)x;
}

static double round_f16(double f)
{
    double a = fabs(f), unit;
    int e;

    if (!isfinite(f) || f == 0)
        return f;
    frexp(a, &e);
    unit = ldexp(1.0, MAX(e, -13) - 11); /* 11 significant bits, denormals below 2^-14 */
    a = nearbyint(a / unit) * unit;
    return copysign(a > 65504.0 ? INFINITY : a, f);
}

double float_round(const struct type *t, double f)
{
    switch (t->scalar) {
    case KT_F16:
        return round_f16(f);
    case KT_BF16:
        return round_bf16(f);
    case KT_F32:
        return (double)(float)f;
    default:
        return f;
    }
}

static double as_double(struct value v)
{
    return type_is_float(v.type) ? v.f : (double)wide(v);
}

static bool is_true(struct interp *in, const struct token *at, struct value v)
{
    v = value_plain(v);
    switch (v.type->kind) {
    case TY_SCALAR:
        if (v.type->scalar == KT_VOID)
            break;
        return type_is_float(v.type) ? v.f != 0 : v.i != 0;
    case TY_POINTER:
        return v.p.host || v.p.buffer != -1;
    case TY_NULL:
        return false;
    case TY_KERNEL:
        return v.kernel != NULL;
    case TY_STRING:
        return true;
    default:
        break;
    }
    fail(in->unit, at, "%s is not a condition", type_spell(in->arena, v.type));
}

bool truth(struct interp *in, const struct token *at, struct value v)
{
    return marks_decide(&in->marks, at, is_true(in, at, v));
}

int64_t to_integer(struct interp *in, const struct token *at, struct value v, const char *what)
{
    v = value_plain(v);
    if (!type_is_integer(v.type))
        fail(in->unit, at, "%s must be an integer, not %s", what, type_spell(in->arena, v.type));
    if (v.type->scalar == KT_U64 && v.i < 0)
        fail(in->unit, at, "%s is %llu", what, (unsigned long long)v.i);
    return v.i;
}

/* Buffers are told apart by addresses no alignment test can tell from real ones: multiples of 2^40. */
static uint64_t buffer_base(struct interp *in, int32_t buffer)
{
    if (buffer == -1)
        return 0;
    if (buffer >= 0)
        return in->buffer_addr ? in->buffer_addr[buffer] : (uint64_t)(buffer + 1) << 40;
    return (uint64_t)(-2 - buffer + 1) << 40 | 1ull << 56;
}

uint64_t pointer_address(struct interp *in, const struct token *at, struct pointer p)
{
    if (p.host)
        fail(in->unit, at, "the address of a host variable has no number here");
    return buffer_base(in, p.buffer) + (uint64_t)p.offset;
}

static struct value to_pointer(struct interp *in, const struct token *at, struct value v, const struct type *to,
                               bool explicit_)
{
    bool same;

    switch (v.type->kind) {
    case TY_NULL:
        return value_buffer(to, -1, 0);
    case TY_SCALAR:
        if (!type_is_integer(v.type))
            break;
        if (v.literal_zero)
            return value_buffer(to, -1, 0);
        if (!explicit_)
            fail(in->unit, at, "an integer does not become %s without a cast", type_spell(in->arena, to));
        if (!v.origin)
            fail(in->unit, at,
                 "a pointer made of a number that did not come from a pointer; use the arguments' pointers");
        return value_buffer(to, v.origin - ORIGIN_BASE,
                            (int64_t)((uint64_t)v.i - buffer_base(in, v.origin - ORIGIN_BASE)));
    case TY_KERNEL:
        if (to->to == type_void) /* (const void *)kernel, as the runtime's calls want it */
            return v;
        break;
    case TY_STRING:
        return v;
    case TY_POINTER:
        same = type_same(v.type->to, to->to) || to->to == type_void;
        if (!explicit_ && !same)
            fail(in->unit, at, "%s does not become %s without a cast", type_spell(in->arena, v.type),
                 type_spell(in->arena, to));
        if (!explicit_ && v.type->to_const && !to->to_const)
            fail(in->unit, at, "%s does not become %s: that drops the const", type_spell(in->arena, v.type),
                 type_spell(in->arena, to));
        if (v.p.host && !same && to->to != type_void && v.type->to != type_void &&
            !((v.type->to->kind == TY_POINTER || v.type->to->kind == TY_KERNEL) &&
              to->to->kind == TY_POINTER)) /* (void **)&p of cudaMallocAsync, cudaGetDriverEntryPoint */
            fail(in->unit, at, "the address of a %s as %s; a launcher reads variables as what they are",
                 type_spell(in->arena, v.type->to), type_spell(in->arena, to));
        v.type = to;
        return v;
    case TY_ARRAY:
        break;
    default:
        break;
    }
    fail(in->unit, at, "%s does not become %s", type_spell(in->arena, v.type), type_spell(in->arena, to));
}

static struct value to_scalar(struct interp *in, const struct token *at, struct value v, const struct type *to,
                              bool explicit_)
{
    struct value r = {.type = to};

    if (to->scalar == KT_VOID)
        return r;
    if (v.type->kind == TY_POINTER || v.type->kind == TY_NULL) {
        if (to->scalar == KT_BOOL)
            return value_int(to, truth(in, at, v));
        if (explicit_ && type_is_integer(to) && to->size == 8) {
            r.i = (int64_t)pointer_address(in, at, v.p);
            r.origin = v.p.buffer + ORIGIN_BASE;
            return r;
        }
        fail(in->unit, at, "a pointer does not become %s; alignment tests use (uintptr_t)pointer", to->name);
    }
    if (!type_is_arithmetic(v.type))
        fail(in->unit, at, "%s does not become %s", type_spell(in->arena, v.type), to->name);
    if (v.type->scoped && !explicit_ && strcmp(v.type->name, to->name) != 0)
        fail(in->unit, at, "%s does not become %s without a cast", v.type->name, to->name);
    if (to->is_enum && !explicit_ && strcmp(v.type->name, to->name) != 0)
        fail(in->unit, at, "%s does not become %s without a cast", v.type->name, to->name);
    if (type_is_float(to))
        return value_float(to, to->scalar == KT_F32 && !type_is_float(v.type) ? (double)(float)wide(v)
                                                                              : as_double(v));
    if (type_is_float(v.type)) {
        double whole = trunc(v.f);
        int bits = (int)to->size * 8 - type_is_signed(to);

        if (to->scalar == KT_BOOL)
            return value_int(to, v.f != 0);
        if (!(whole < ldexp(1, bits)) || !(whole >= (type_is_signed(to) ? -ldexp(1, bits) : 0)))
            fail(in->unit, at, "%g does not fit %s", v.f, to->name);
        return value_int(to, int_wrap(to, (__int128)whole));
    }
    r.i = int_wrap(to, wide(v));
    r.origin = to->size == 8 ? v.origin : 0;
    return r;
}

static struct value to_dim3(struct interp *in, const struct token *at, struct value v)
{
    struct value r = {.type = type_dim3, .dim = {1, 1, 1}};

    if (v.type->kind == TY_LIST) {
        if (v.n_items > 3)
            fail(in->unit, at, "a dim3 has three members, not %zu", v.n_items);
        for (size_t i = 0; i < v.n_items; i++)
            r.dim[i] = (uint32_t)(v.strict ? convert_same(in, at, v.items[i], type_uint)
                                           : convert(in, at, v.items[i], type_uint, false))
                           .i;
        return r;
    }
    r.dim[0] = (uint32_t)convert(in, at, v, type_uint, false).i;
    return r;
}

struct value convert(struct interp *in, const struct token *at, struct value v, const struct type *to,
                     bool explicit_)
{
    if (v.type == to || (v.type->kind != TY_LIST && v.type->kind != TY_SCALAR && type_same(v.type, to)))
        return v;
    v = value_plain(v);
    if (v.type->kind == TY_LIST && to->kind == TY_RECORD)
        return record_value(in, at, to, v);
    if (v.type->kind == TY_LIST && !v.n_items && to->kind == TY_PROPERTIES)
        return (struct value){.type = to};
    if (v.type->kind == TY_LIST && to->kind != TY_DIM3 && to->kind != TY_LIST) {
        if (v.n_items > 1 || to->kind == TY_ARRAY)
            fail(in->unit, at, "a list in braces does not become %s", type_spell(in->arena, to));
        if (v.n_items == 1)
            return v.strict && !(explicit_ && to->is_enum) ? convert_same(in, at, v.items[0], to)
                                                           : convert(in, at, v.items[0], to, explicit_);
        return to->kind == TY_POINTER ? value_buffer(to, -1, 0)
                                      : convert(in, at, value_int(type_int, 0), to, true);
    }
    switch (to->kind) {
    case TY_SCALAR:
        return to_scalar(in, at, v, to, explicit_);
    case TY_POINTER:
        return to_pointer(in, at, v, to, explicit_);
    case TY_DIM3:
        return to_dim3(in, at, v);
    case TY_STREAM:
        if (v.type->kind == TY_NULL || v.literal_zero)
            return (struct value){.type = to, .stream = 0};
        break;
    case TY_KERNEL:
        if (v.type->kind == TY_NULL || v.literal_zero)
            return (struct value){.type = to}; /* no kernel yet; a launch of it is refused */
        if (explicit_ && v.type->kind == TY_POINTER && v.type->to == type_void && !v.p.host && v.p.buffer == -1)
            return (struct value){.type = to}; /* a void * that no function was stored in */
        break;
    case TY_STRING:
        if (v.type->kind == TY_NULL)
            return (struct value){.type = to, .text = ""};
        break;
    default:
        break;
    }
    fail(in->unit, at, "%s does not become %s", type_spell(in->arena, v.type), type_spell(in->arena, to));
}

static bool half_float(const struct type *t)
{
    return t->scalar == KT_F16 || t->scalar == KT_BF16;
}

struct value convert_same(struct interp *in, const struct token *at, struct value v, const struct type *to)
{
    const struct value from = value_plain(v), out = convert(in, at, v, to, false);
    bool same = true;

    if (type_is_arithmetic(from.type) && type_is_arithmetic(to) && !half_float(to) && !half_float(from.type)) {
        if (type_is_integer(to))
            same = type_is_integer(from.type) && wide(out) == wide(from);
        else if (type_is_integer(from.type)) /* 2^63 and what lies above would overflow wide() */
            same = fabs(out.f) < 0x1p63 ? (__int128)out.f == wide(from) : out.f == as_double(from);
        else
            same = isinf(out.f) == isinf(from.f);
    } else if (from.type->kind == TY_POINTER && type_is_arithmetic(to)) {
        same = false;
    }
    if (!same)
        fail(in->unit, at, "a value that %s does not hold, in braces or as a template's argument; write a cast",
             type_spell(in->arena, to));
    return out;
}

const struct type *type_promote(const struct type *t)
{
    if (t->is_enum && t->promoted)
        return t->promoted;
    return t->is_enum || (type_is_integer(t) && t->rank < type_int->rank) ? type_int : t;
}

const struct type *arithmetic_type(const struct type *a, const struct type *b)
{
    if (type_is_float(a) || type_is_float(b)) {
        if (!type_is_float(a))
            return b;
        if (!type_is_float(b))
            return a;
        if (a->scalar != b->scalar && a->size == 2 && b->size == 2)
            return type_float;
        return a->size >= b->size ? a : b;
    }
    a = type_promote(a);
    b = type_promote(b);
    if (a == b || type_is_signed(a) == type_is_signed(b))
        return a->rank >= b->rank ? a : b;
    const struct type *s = type_is_signed(a) ? a : b, *u = type_is_signed(a) ? b : a;
    if (u->rank >= s->rank)
        return u;
    if (s->size > u->size)
        return s;
    return s->rank == type_long->rank ? type_ulong : type_ulonglong;
}

static const char *const op_signs[] = {
    [OP_ADD] = "+",  [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_REM] = "%", [OP_SHL] = "<<",
    [OP_SHR] = ">>", [OP_AND] = "&", [OP_OR] = "|",  [OP_XOR] = "^", [OP_EQ] = "==", [OP_NE] = "!=",
    [OP_LT] = "<",   [OP_LE] = "<=", [OP_GT] = ">",  [OP_GE] = ">=",
};

static bool is_comparison(enum op op)
{
    return op >= OP_EQ && op <= OP_GE;
}

/* less, equal, greater as -1, 0, 1; not comparable (NAN) as 2 */
static bool compared(enum op op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order == -1;
    case OP_LE:
        return order == -1 || order == 0;
    case OP_GT:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

static int order_of(__int128 a, __int128 b)
{
    return (a > b) - (a < b);
}

static struct value pointer_binary(struct interp *in, const struct token *at, enum op op, struct value a,
                                   struct value b)
{
    bool pa = a.type->kind == TY_POINTER, pb = b.type->kind == TY_POINTER;

    if (pa && pb && (is_comparison(op) || op == OP_SUB)) {
        bool same_base = a.p.host == b.p.host && (a.p.host || a.p.buffer == b.p.buffer);
        int64_t pos_a = a.p.host ? a.p.index : a.p.offset, pos_b = b.p.host ? b.p.index : b.p.offset;

        if (op == OP_EQ || op == OP_NE)
            return value_int(type_bool, (same_base && pos_a == pos_b) == (op == OP_EQ));
        if (!same_base)
            fail(in->unit, at, "`%s` between pointers into different buffers", op_signs[op]);
        if (op != OP_SUB)
            return value_int(type_bool, compared(op, order_of(pos_a, pos_b)));
        if (a.p.host)
            return value_int(type_long, pos_a - pos_b);
        if (a.type->to->size == 0 || !type_same(a.type->to, b.type->to) || (pos_a - pos_b) % a.type->to->size)
            fail(in->unit, at, "the difference of these pointers has no meaning");
        return value_int(type_long, (pos_a - pos_b) / a.type->to->size);
    }
    if ((op == OP_EQ || op == OP_NE) && (pa ? b : a).type->kind != TY_POINTER) {
        struct value other = pa ? b : a;

        if (other.type->kind != TY_NULL && !other.literal_zero)
            fail(in->unit, at, "a pointer compares with pointers and nullptr only");
        return value_int(type_bool, truth(in, at, pa ? a : b) == (op == OP_NE));
    }
    if ((op == OP_ADD && pa != pb) || (op == OP_SUB && pa)) {
        struct value p = pa ? a : b, n = pa ? b : a;
        __int128 by;

        if (!type_is_integer(n.type))
            fail(in->unit, at, "a pointer moves by an integer, not by %s", type_spell(in->arena, n.type));
        by = op == OP_SUB ? -wide(n) : wide(n);
        if (p.p.host) {
            if (p.type->to == type_void)
                fail(in->unit, at, "arithmetic on a void pointer");
            by += p.p.index;
            if (by < 0 || by > p.p.count)
                fail(in->unit, at, "a pointer beyond the ends of its array");
            p.p.index = (int64_t)by;
            return p;
        }
        if (p.type->to->size == 0)
            fail(in->unit, at, "arithmetic on %s, whose elements have no known size",
                 type_spell(in->arena, p.type));
        if (p.p.buffer == -1 && by != 0)
            fail(in->unit, at, "an offset to a null pointer");
        by = by * p.type->to->size + p.p.offset;
        if (by < -((__int128)1 << 62) || by > (__int128)1 << 62)
            fail(in->unit, at, "the pointer's offset overflows");
        p.p.offset = (int64_t)by;
        return p;
    }
    fail(in->unit, at, "`%s` between %s and %s is not understood; alignment tests use (uintptr_t)pointer",
         op_signs[op], type_spell(in->arena, a.type), type_spell(in->arena, b.type));
}

static struct value float_binary(struct interp *in, const struct token *at, enum op op, const struct type *t,
                                 struct value a, struct value b)
{
    double x = convert(in, at, a, t, true).f, y = convert(in, at, b, t, true).f;

    if (is_comparison(op))
        return value_int(type_bool, compared(op, isnan(x) || isnan(y) ? 2 : (x > y) - (x < y)));
    switch (op) {
    case OP_ADD:
        return value_float(t, x + y);
    case OP_SUB:
        return value_float(t, x - y);
    case OP_MUL:
        return value_float(t, x * y);
    case OP_DIV:
        return value_float(t, x / y);
    default:
        fail(in->unit, at, "`%s` does not take %s", op_signs[op], t->name);
    }
}

static struct value int_binary(struct interp *in, const struct token *at, enum op op, const struct type *t,
                               struct value a, struct value b)
{
    bool is_shift = op == OP_SHL || op == OP_SHR;
    __int128 x, y, r = 0;
    struct value v = {.type = t};

    a.i = int_wrap(t, wide(a));
    a.type = t;
    if (!is_shift) {
        b.i = int_wrap(t, wide(b));
        b.type = t;
    }
    x = wide(a);
    y = wide(b);
    if (is_comparison(op))
        return value_int(type_bool, compared(op, order_of(x, y)));
    if (is_shift && (y < 0 || y >= t->size * 8))
        fail(in->unit, at, "a shift of %s by %lld", t->name, (long long)y);
    if ((op == OP_DIV || op == OP_REM) && y == 0)
        fail(in->unit, at, "division by zero: %lld %s 0", (long long)x, op_signs[op]);
    if (op == OP_REM && y == -1 && (__int128)int_wrap(t, -x) != -x && type_is_signed(t))
        fail(in->unit, at, "%lld %% -1 overflows %s", (long long)x, t->name);
    switch (op) {
    case OP_ADD:
        r = x + y;
        break;
    case OP_SUB:
        r = x - y;
        break;
    case OP_MUL: /* 64 x 64 bits fit 128 but for two huge unsigned ones, which wrap alike */
        r = (__int128)((unsigned __int128)x * (unsigned __int128)y);
        break;
    case OP_DIV:
        r = x / y;
        break;
    case OP_REM:
        r = x % y;
        break;
    case OP_SHL:
        r = (__int128)((unsigned __int128)x << (int)y);
        break;
    case OP_SHR:
        r = x >> (int)y;
        break;
    case OP_AND:
        r = x & y;
        break;
    case OP_OR:
        r = x | y;
        break;
    case OP_XOR:
        r = x ^ y;
        break;
    default:
        BUG("operator %d", op);
    }
    v.i = int_wrap(t, r);
    if (type_is_signed(t) && (__int128)v.i != r && op != OP_SHL)
        fail(in->unit, at, "%lld %s %lld overflows %s; compute in a wider type, such as (int64_t)a * b",
             (long long)x, op_signs[op], (long long)y, t->name);
    /* (uintptr_t)p + 15 & ~15 is still an address in p's buffer */
    if (t->size == 8 && (a.origin != 0) != (b.origin != 0) && op != OP_REM && op != OP_DIV && op != OP_MUL)
        v.origin = a.origin ? a.origin : b.origin;
    return v;
}

/* An operator of the file's own may be what this means. */
static void refuse_operator(struct interp *in, const struct token *at, const struct type *t)
{
    if (t->declared && (t->is_enum ? in->unit->operators_own : in->unit->operators))
        fail(in->unit, at, "an operator on %s, in a file that defines operators; name a function instead",
             t->name);
}

static struct value noted(struct interp *in, const struct token *at, struct value v)
{
    marks_result(&in->marks, at, v.i == 0);
    return v;
}

struct value binary(struct interp *in, const struct token *at, enum op op, struct value a, struct value b)
{
    const struct type *t;

    a = value_plain(a);
    b = value_plain(b);
    refuse_operator(in, at, a.type);
    refuse_operator(in, at, b.type);
    if (a.type->kind == TY_KERNEL && b.type->kind == TY_KERNEL && (op == OP_EQ || op == OP_NE))
        fail(in->unit, at, "kernels do not compare; compare what chose them");
    if (((a.type->kind == TY_KERNEL && b.type->kind == TY_NULL) ||
         (a.type->kind == TY_NULL && b.type->kind == TY_KERNEL)) &&
        (op == OP_EQ || op == OP_NE)) {
        bool null = !(a.type->kind == TY_KERNEL ? a : b).kernel;
        return value_int(type_bool, null == (op == OP_EQ));
    }
    if (a.type->kind == TY_NULL && b.type->kind == TY_NULL && is_comparison(op))
        return value_int(type_bool, op == OP_EQ || op == OP_LE || op == OP_GE);
    if (a.type->kind == TY_POINTER || b.type->kind == TY_POINTER)
        return pointer_binary(in, at, op, a, b);
    if (!type_is_arithmetic(a.type) || !type_is_arithmetic(b.type))
        fail(in->unit, at, "`%s` between %s and %s is not understood", op_signs[op],
             type_spell(in->arena, a.type), type_spell(in->arena, b.type));
    if (op == OP_SHL || op == OP_SHR) {
        if (type_is_float(a.type) || type_is_float(b.type))
            fail(in->unit, at, "`%s` takes integers", op_signs[op]);
        return noted(in, at, int_binary(in, at, op, type_promote(a.type), a, b));
    }
    t = arithmetic_type(a.type, b.type);
    if (type_is_float(t) && (a.type->size == 2 || b.type->size == 2) && !type_same(a.type, b.type) &&
        (half_float(a.type) || half_float(b.type)))
        fail(in->unit, at, "`%s` between %s and %s; cast one of them", op_signs[op], a.type->name,
             b.type->name);
    if (!type_is_float(t) &&
        (is_comparison(op) || op == OP_REM || op == OP_DIV || op == OP_XOR || op == OP_AND || op == OP_SUB))
        marks_operands(&in->marks, at,
                       (struct plan_number){.compares = is_comparison(op),
                                            .orders = is_comparison(op) && op != OP_EQ && op != OP_NE},
                       (int64_t)a.i, (int64_t)b.i);
    return type_is_float(t) ? float_binary(in, at, op, t, a, b)
                            : noted(in, at, int_binary(in, at, op, t, a, b));
}

struct value unary(struct interp *in, const struct token *at, enum op op, struct value a)
{
    a = value_plain(a);
    refuse_operator(in, at, a.type);
    if (op == OP_NOT)
        return value_int(type_bool, !truth(in, at, a));
    if (op == OP_PLUS && a.type->kind == TY_POINTER)
        return a;
    if (!type_is_arithmetic(a.type))
        fail(in->unit, at, "%s has no sign and no bits", type_spell(in->arena, a.type));
    if (type_is_float(a.type)) {
        if (op == OP_INV)
            fail(in->unit, at, "`~` takes an integer");
        return value_float(a.type, op == OP_NEG ? -a.f : a.f);
    }
    const struct type *t = type_promote(a.type);
    struct value v = {.type = t, .i = int_wrap(t, wide(a))};
    if (op == OP_NEG && type_is_signed(t) && (__int128)int_wrap(t, -(__int128)v.i) != -(__int128)v.i)
        fail(in->unit, at, "-(%lld) overflows %s", (long long)v.i, t->name);
    if (op == OP_NEG)
        v.i = int_wrap(t, -wide(v));
    else if (op == OP_INV)
        v.i = int_wrap(t, ~wide(v));
    return v;
}
