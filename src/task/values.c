/* What buffers hold: element i is a pure function of the argument, the seed and i, so that a buffer of 800 MB
 * can be filled page by page, and only the pages that are touched. */
#include "internal.h"

static uint16_t to_bf16(double v)
{
    float f = (float)v;
    uint32_t bits = bits_f32(f);

    if (isnan(v))
        return (uint16_t)(bits >> 16 | 0x40);
    /* To odd first, so that the second rounding decides on what the first one lost. */
    if ((double)f != v)
        bits = (bits - (fabs((double)f) > fabs(v))) | 1;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* By their bits: what the compiler calls for a _Float16 takes ten times as long. */
static double from_f16(uint16_t h)
{
    uint64_t sign = (uint64_t)(h & 0x8000) << 48, mag = h & 0x7fff;
    uint64_t finite = bits_f64(f64_of(mag << 42) * 0x1p1008); /* exact, of subnormals too */

    return f64_of(sign | (mag >= 0x7c00 ? mag << 42 | 0x7ffull << 52 : finite));
}

static uint16_t to_f16(double v)
{
    uint64_t bits = bits_f64(v), mag = bits & ~(1ull << 63), r;

    if (isnan(v))
        r = 0x7e00 | (mag >> 42 & 0x3ff);
    else if (fabs(v) >= 65520)
        r = 0x7c00;
    else if (fabs(v) < 0x1p-14) /* the sum's last bit is 2^-24: the addition rounds */
        r = bits_f64(fabs(v) + 0x1p28) - bits_f64(0x1p28);
    else
        r = (mag + (1ull << 41) - 1 + (mag >> 42 & 1) - (1008ull << 52)) >> 42;
    return (uint16_t)(r | (bits >> 48 & 0x8000));
}

#define TYPES(X)                             \
    X(KT_I8, int8_t, INT8_MIN, INT8_MAX)     \
    X(KT_U8, uint8_t, 0, UINT8_MAX)          \
    X(KT_I16, int16_t, INT16_MIN, INT16_MAX) \
    X(KT_U16, uint16_t, 0, UINT16_MAX)       \
    X(KT_I32, int32_t, INT32_MIN, INT32_MAX) \
    X(KT_U32, uint32_t, 0, UINT32_MAX)       \
    X(KT_I64, int64_t, INT64_MIN, INT64_MAX) \
    X(KT_U64, uint64_t, 0, UINT64_MAX)

double task_to_double(enum kernel_type type, const void *element)
{
    uint16_t half;

    switch (type) {
#define CASE(kt, ctype, low, high)      \
    case kt: {                          \
        ctype v;                        \
        memcpy(&v, element, sizeof(v)); \
        return (double)v;               \
    }
        TYPES(CASE)
#undef CASE
    case KT_BOOL:
        return *(const unsigned char *)element != 0;
    case KT_F16:
        memcpy(&half, element, sizeof(half));
        return from_f16(half);
    case KT_BF16:
        memcpy(&half, element, sizeof(half));
        return (double)f32_of((uint32_t)half << 16);
    case KT_F32: {
        float v;
        memcpy(&v, element, sizeof(v));
        return (double)v;
    }
    case KT_F64: {
        double v;
        memcpy(&v, element, sizeof(v));
        return v;
    }
    case KT_VOID:
        break;
    }
    BUG("no number of type %d", (int)type);
}

void task_from_double(enum kernel_type type, double v, void *element)
{
    switch (type) {
#define CASE(kt, ctype, low, high)      \
    case kt: {                          \
        double r = rint(v);             \
        ctype x = 0;                    \
        if (r >= (double)(high))        \
            x = (high);                 \
        else if (r > (double)(low))     \
            x = (ctype)r;               \
        else if (!isnan(r))             \
            x = (low);                  \
        memcpy(element, &x, sizeof(x)); \
        return;                         \
    }
        TYPES(CASE)
#undef CASE
    case KT_BOOL:
        *(unsigned char *)element = v != 0;
        return;
    case KT_F16: {
        uint16_t x = to_f16(v);
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_BF16: {
        uint16_t x = to_bf16(v);
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_F32: {
        float x = (float)v;
        memcpy(element, &x, sizeof(x));
        return;
    }
    case KT_F64:
        memcpy(element, &v, sizeof(v));
        return;
    case KT_VOID:
        break;
    }
    BUG("no number of type %d", (int)type);
}

static bool integer(enum kernel_type t)
{
    return t != KT_F16 && t != KT_BF16 && t != KT_F32 && t != KT_F64;
}

/* Scales at which products of three stay normal numbers in f32, and at which f16 reaches its ends. */
static double large_scale(enum kernel_type t)
{
    if (t == KT_F16)
        return 1024;
    return integer(t) ? 1000 : 1e10;
}

static double tiny_scale(enum kernel_type t)
{
    return t == KT_F16 ? 0x1p-16 : 1e-12;
}

/* ---- wild values ---- */

static struct place place_of(int64_t i, int64_t row_length)
{
    return (struct place){i / row_length, i % row_length, row_length};
}

static void place_next(struct place *at)
{
    if (++at->column == at->length) {
        at->column = 0;
        at->row++;
    }
}

bool task_type_signed(enum kernel_type t)
{
    return t == KT_I8 || t == KT_I16 || t == KT_I32 || t == KT_I64;
}

static unsigned integer_width(const struct task_arg *arg, unsigned rung)
{
    static const unsigned eighths[N_RUNGS] = {8, 6, 4, 3};

    return arg->type == KT_BOOL ? 1 : eighths[rung] * (unsigned)kernel_type_size(arg->type);
}

static uint64_t any_bits(const struct task_arg *arg, unsigned width, uint64_t bits)
{
    return task_type_signed(arg->type) ? (uint64_t)((int64_t)bits >> (64 - width)) : bits >> (64 - width);
}

/* An integer of any size, its bits: the ends of the range, and numbers of all lengths, as often the longest as
 * all others together. Not through a double, which has no 64 bits. sorted: the larger, the larger bits are. */
static uint64_t any_integer(const struct task_arg *arg, unsigned rung, uint64_t bits, bool sorted)
{
    unsigned width = integer_width(arg, rung);
    bool sign = task_type_signed(arg->type);
    uint64_t lowest = sign ? (uint64_t)-1 << (width - 1) : 0, highest = ~(uint64_t)0 >> (64 - width + sign);
    uint64_t pick = rng_mix(bits ^ 0x72616e67);

    if (sorted && bits == UINT64_MAX)
        return highest;
    if (sorted)
        return lowest + values_below(bits, highest - lowest);
    switch (pick % 16) {
    case 0:
        return lowest;
    case 1:
        return highest;
    case 2:
        return 0;
    case 3:
        return sign ? (uint64_t)-1 : highest - 1;
    }
    if (pick & 1)
        width = 1 + (unsigned)((pick >> 8) % width);
    return any_bits(arg, width, bits);
}

/* A normal number times a power of two, one of so many from the highest down. */
static double normal_below(uint64_t bits, int highest, int n)
{
    return ldexp(rng_normal_of(bits), highest - (int)(rng_mix(bits) % (unsigned)n));
}

static double element(const struct task_arg *arg, const struct task_values *v, int64_t low, int64_t high,
                      uint64_t bits)
{
    switch (v->kind) {
    case VALUE_NORMAL:
        return ldexp(rng_normal_of(bits), v->power);
    case VALUE_ALIKE:
    case VALUE_NEARLY:
        return rng_normal_of(bits);
    case VALUE_UNIFORM:
        return v->low + (v->high - v->low) * rng_unit_of(bits);
    case VALUE_ZEROS:
        return bits & 1 ? 0.0 : -0.0;
    case VALUE_ONES:
        return 1;
    case VALUE_LARGE:
        return rng_normal_of(bits) * large_scale(arg->type);
    case VALUE_TINY:
        return rng_normal_of(bits) * tiny_scale(arg->type);
    case VALUE_MIXED:
        return ldexp(rng_normal_of(bits), (int)(rng_mix(bits) % 17) - 8);
    case VALUE_INDEX:
        return (double)(int64_t)((uint64_t)low + values_below(bits, (uint64_t)high - (uint64_t)low));
    case VALUE_CONSTANT:
        return v->constant;
    case VALUE_RANGE:
    case VALUE_INTEGERS:
        return values_small(arg->type, bits);
    case VALUE_FAINT:
        if (arg->type == KT_F16)
            return normal_below(bits, -4, 16);
        return arg->type == KT_F64 ? normal_below(bits, -511, 520) : normal_below(bits, -60, 72);
    case VALUE_DIM:
        if (arg->type == KT_F16)
            return normal_below(bits, -7, 3);
        return arg->type == KT_F64 ? normal_below(bits, -510, 6) : normal_below(bits, -62, 3);
    case VALUE_HUGE:
    case VALUE_CANCELLING:
    case VALUE_DISTINCT:
    case VALUE_PERMUTATION:
    case VALUE_SORTED:
    case VALUE_OFFSETS:
        break; /* more than its bits decide */
    }
    BUG("no kind of values %d", (int)v->kind);
}

/* The sum of a row is about a 256th of what half of it comes to. */
static double cancelling(uint64_t own, int64_t i, int64_t row_length)
{
    int64_t half = row_length / 2, column = i % row_length;
    double v = rng_normal_of(rng_hash(own, (uint64_t)i));

    if (column < half)
        return v;
    if (column == 2 * half)
        return v / 256;
    return -rng_normal_of(rng_hash(own, (uint64_t)(i - half))) * (1 + v / 256);
}

void values_range(const struct task_values *v, const int64_t *dims, int64_t *low, int64_t *high)
{
    *low = (int64_t)v->low;
    *high = (int64_t)v->high;
    if (v->low_expr && !dim_eval(v->low_expr, dims, low))
        *low = 0;
    if ((v->kind == VALUE_SORTED || v->kind == VALUE_INDEX) &&
        (!v->high_expr || !dim_eval(v->high_expr, dims, high) || *high <= *low))
        *high = *low + 1; /* an empty range has no right content; the domain should exclude it */
    if ((v->kind == VALUE_DISTINCT || v->kind == VALUE_OFFSETS) && !dim_eval(v->high_expr, dims, high))
        *high = *low;
}

enum pattern {
    RISING,
    FALLING,
    ONE_VALUE,
    ALL_BUT_ONE,
    SPARSE,
    ZEROS_FIRST,
    ZEROS_LAST,
    NEARLY_ALIKE,
    ENDS,
    NEARLY_SORTED, /* but for one element */
    TWO_SWAPPED,   /* of a sorted row, neighbours */
    PERMUTED,      /* of two rows the second is the first one, turned */
    STEP_APART,    /* one value, but an element that is the next one of its type */
    LATE,        /* of two rows the second is the first one, but for its highest and its lowest near its end */
    BESIDE_ENDS, /* the ends of the range and what is next to them */
    UPPER,       /* the upper part of the range */
    ALIASES,     /* neighbours whose lower bits are the same */
    FRONT, /* the front says nothing of the rest: small there and large behind it, or the other way round */
    RUNS,  /* rows of runs that rise, or are zero, whose ends lie at multiples of a power of two */
    PLAIN, /* one number, but for a few elements of every second row behind its front; of a single row, too */
    SYMMETRIC, /* rows and columns the same, but for a few elements */
    PARTS,     /* every part of a row has a pattern of its own */
    NEAR_ENDS, /* all at one end of the range, or next to it */
    BLOCKS,    /* zeros in most of the blocks of a few rows by a few columns */
    HALVES,    /* the second half of a row has what the first one has, turned, or in its order */
};
_Static_assert((int)BESIDE_ENDS == (int)N_PATTERNS + (int)N_NEAR, "the near ones follow the ends");
_Static_assert((int)UPPER == (int)TURN_UPPER && (int)ALIASES == (int)TURN_ALIASES &&
                   (int)FRONT == (int)TURN_FRONT && (int)PLAIN == (int)TURN_PLAIN &&
                   (int)SYMMETRIC == (int)TURN_SYMMETRIC && (int)PARTS == (int)TURN_PARTS &&
                   (int)NEAR_ENDS == (int)TURN_NEAR_ENDS && (int)BLOCKS == (int)TURN_BLOCKS &&
                   (int)RUNS == (int)TURN_RUNS && (int)HALVES == (int)TURN_HALVES,
               "and those that stand alone these");
_Static_assert((int)ENDS == (int)N_PATTERNS, "the ends are drawn by themselves");

enum {
    LARGE_SCALE = 100,
    SHORT_STEPS = 32,
    INDEX_ROWS = 16 /* that a single row is taken for */,
    NOT_PLAIN = 3,
    SYMMETRIC_ROWS = 61, /* one in so many has an element that is not its mirror's */
    PART = 2048,         /* elements, of which a row has at least so many parts: */
    LEAST_PARTS = 4,
    BLOCK = 8 /* rows, and columns */
};

struct drawn { /* what an element is made of */
    uint64_t bits;
    bool sorted;      /* of a larger element they are larger */
    bool zero, alias; /* alias: of the element beside it */
    int step;         /* to a neighbour of it in its type: 1 or -1 */
    bool large;       /* a normal number many times as large, */
    int sign;         /* that it has whatever its bits say: 1 or -1; 0: they say it */
    bool curt;        /* or with few digits: a sum of many is exact, and no order of it has luck */
    bool plain;       /* the constant */
};

/* Of a row that is like the others but for one element. */
static uint64_t nearly_alike(uint64_t own, struct place at)
{
    uint64_t place = rng_hash(own ^ 0x726f77, (uint64_t)at.row) % (uint64_t)at.length;

    return rng_hash(own,
                    (uint64_t)(at.column == (int64_t)place ? at.row * at.length : 0) + (uint64_t)at.column);
}

static bool is_plain(const struct task_arg *arg, uint64_t own, struct place at)
{
    int64_t front = at.length / 8;
    bool plain = true;

    for (uint64_t k = 0; k < NOT_PLAIN && (arg->n_shape == 1 || at.row & 1); k++)
        plain &=
            at.column != front + (int64_t)(rng_hash(own ^ k, (uint64_t)at.row) % (uint64_t)(at.length - front));
    return plain;
}

/* Of a matrix an element that is its mirror's, or not. */
static uint64_t symmetric(uint64_t own, struct place at)
{
    uint64_t row = (uint64_t)at.row, column = (uint64_t)at.column, length = (uint64_t)at.length;
    bool own_value = row % SYMMETRIC_ROWS == 1 && column == rng_hash(own ^ 0x73796d6d, row) % length;

    return own_value ? rng_hash(own ^ 0x6f776e, row)
                     : rng_hash(own, MIN(row, column) * length + MAX(row, column));
}

/* The part of a row that an element lies in, as a row. */
static struct place part_of(struct place at)
{
    int64_t length = MAX(MIN((int64_t)PART, at.length / LEAST_PARTS), (int64_t)1),
            parts = (at.length + length - 1) / length;

    return (struct place){at.row * parts + at.column / length, at.column % length, length};
}

static struct drawn rising(uint64_t own, uint64_t row, uint64_t column, uint64_t length)
{
    uint64_t bits = rng_hash(own, row * length + column);

    return (struct drawn){.bits = (uint64_t)(((unsigned __int128)column << 64 | bits) / length),
                          .sorted = true};
}

/* Who compares neighbours within a vector, a warp or a block only sees a sorted row; who looks for zeros in a
 * block only forgets what stands in front of it. Two rows of each length. */
static struct drawn in_runs(uint64_t own, uint64_t row, uint64_t column, uint64_t length)
{
    static const uint64_t lengths[] = {32, 128, 4, 256, 64, 8, 512, 1024};
    uint64_t run = lengths[row / 2 % ARRAY_LEN(lengths)];
    struct drawn d = {.bits = rng_hash(own, row * length + column)};

    if (row & 1)
        d.zero = column / run & 1;
    else
        d = rising(own, rng_hash(row, column / run), column % run, run);
    return d;
}

/* What the pattern of its row makes of an element. */
static struct drawn patterned(const struct task_arg *arg, const struct task_values *v, uint64_t own,
                              struct place at)
{
    if (v->turn == TURN_PARTS)
        at = part_of(at);
    uint64_t row = (uint64_t)at.row, column = (uint64_t)at.column, length = (uint64_t)at.length;
    uint64_t bits = rng_hash(own, row * length + column), of_row = rng_hash(own ^ 0x726f77, row);
    uint64_t place = of_row % length, late; /* of what is special in the row */
    struct drawn d = {.bits = bits};
    bool large, front;
    bool single = arg->n_shape == 1 && v->kind == VALUE_INDEX;
    /* Neighbours have one, so that they may be told by each other. */
    enum pattern pattern = (row / 2 + v->turn + hash_text(arg->name)) % N_PATTERNS;

    if (v->turn == TURN_PARTS && row / 2 % 2)
        pattern = NEARLY_SORTED + row / 4 % N_NEAR;
    else if (v->turn == TURN_PARTS)
        pattern = row / 4 % N_PATTERNS;
    else if (v->turn == N_PATTERNS)
        pattern = ENDS;
    else if (v->turn >= TURN_UPPER)
        pattern = (enum pattern)v->turn;
    else if (v->turn > N_PATTERNS)
        pattern = NEARLY_SORTED + (row / 2 + v->turn - N_PATTERNS - 1 + hash_text(arg->name)) % N_NEAR;
    switch (pattern) {
    case RISING:
    case FALLING:
        d = rising(own, row, column, length);
        if (pattern == FALLING)
            d.bits = ~d.bits;
        break;
    case NEARLY_SORTED:
        d = rising(own, row, column, length);
        if (column == place)
            d.bits = rng_mix(bits);
        break;
    case TWO_SWAPPED:
        if (place + 1 < length && (column == place || column == place + 1))
            column = 2 * place + 1 - column;
        d = rising(own, row, column, length);
        break;
    case PERMUTED:
        d.bits = rng_hash(own, (row & ~1ull) * length + (column + (row & 1 ? place : 0)) % length);
        break;
    case STEP_APART:
        d.bits = rng_hash(own ^ 0x73746570, row / 2);
        d.curt = true;
        d.step = row & 1 && column == place;
        break;
    case LATE:
        late = length - 1 - place % (length / 32 + 1);
        d.sorted = row & 1 && (column == late || column + 1 == late);
        d.bits = d.sorted ? 0 - (uint64_t)(column == late) : rng_hash(own, (row & ~1ull) * length + column);
        break;
    case BESIDE_ENDS:
        d.sorted = true;
        d.bits = bits & 1 ? UINT64_MAX : 0;
        d.step = (rng_mix(bits) & 1) * (bits & 1 ? -1 : 1);
        break;
    case ONE_VALUE:
        d.curt = true;
        d.bits = of_row;
        break;
    case ALL_BUT_ONE:
        d.curt = column != place;
        d.bits = column == place ? bits : of_row;
        break;
    case SPARSE:
        d.zero = rng_mix(bits) % 16 != 0;
        break;
    case ZEROS_FIRST:
        d.zero = column < place;
        break;
    case ZEROS_LAST:
        d.zero = column >= place;
        break;
    case NEARLY_ALIKE: /* to the other rows of this pattern */
        d.bits = nearly_alike(own, at);
        break;
    case ALIASES:
        d.alias = true;
        break;
    case UPPER:
        d.sorted = true;
        d.bits = ~(bits >> 3);
        break;
    case FRONT:
        front = column < length / 2 + place / 4;
        large = front == ((arg->n_shape == 1 ? rng_hash(own, row) : row) & 1);
        if (arg->n_shape == 1 || row & 2) /* and a sum of the front is no better a guess */
            d.sign = rng_hash(own ^ 0x7369676e, 2 * row + front) & 1 ? 1 : -1;
        d.sorted = v->kind != VALUE_NORMAL;
        d.large = large && !d.sorted;
        if (d.sorted)
            d.bits = large ? ~(bits >> 3) : bits >> 3;
        break;
    case PLAIN:
        d.plain = is_plain(arg, own, at);
        break;
    case SYMMETRIC:
        d.bits = symmetric(own, at);
        break;
    case PARTS:
        break; /* is made of the others */
    case ENDS: /* of the range, in turn; a single row of indices has both */
        d.sorted = true;
        d.bits = (single ? column + 1 : row) & 1 ? UINT64_MAX : 0;
        break;
    case RUNS:
        d = in_runs(own, row, column, length);
        break;
    case NEAR_ENDS: /* so that sums are as large as they can be, but no round numbers */
        d.sorted = true;
        d.bits = row & 1 ? UINT64_MAX : 0;
        d.step = (rng_mix(bits) % 4 == 0) * (row & 1 ? -1 : 1);
        break;
    case HALVES: /* sums of both and their bits put together are the same, and the row is no palindrome */
        if (column >= length - length / 2)
            column = (column - (length - length / 2) + (row & 1 ? 0 : 1 + place / 2)) % (length / 2);
        d.bits = rng_hash(own, row * length + column);
        break;
    case BLOCKS: /* who looks at a part of a tile of these knows nothing of the tile */
        d.zero = rng_hash(rng_hash(own ^ 0x626c6f63, row / BLOCK), column / BLOCK) % 4 != 0;
        break;
    }
    return d;
}

/* Zero, or what the callers' promise allows. */
static double nearest_to_zero(const struct task_values *v, int64_t low, int64_t high)
{
    if (v->kind == VALUE_INDEX)
        return (double)MIN(MAX(low, (int64_t)0), high - 1);
    if (v->kind == VALUE_UNIFORM)
        return v->peaked ? 0 : fmin(fmax(v->low, 0), v->high);
    return v->kind == VALUE_CONSTANT ? v->constant : 0;
}

/* So many lower bits may two numbers of a span have in common: 16 of them every other time, else any number
 * from 8 on; 0: it has no such two. */
static unsigned alias_bits(uint64_t span, uint64_t pick)
{
    unsigned most = 0;

    while (most < 62 && span > (2ull << most) + 1)
        most++;
    if (most < 8)
        return 0;
    return most >= 16 && pick & 1 ? 16 : 8 + (unsigned)((pick >> 1) % (most - 7));
}

/* Neighbours have the same lower half of their bits, or some of them, as far as the range goes. */
static uint64_t alias_of(const struct task_arg *arg, const struct task_values *v, const int64_t *range,
                         uint64_t own, int64_t i)
{
    uint64_t shared = rng_hash(own ^ 0x616c6961, (uint64_t)i / 2), bits = rng_hash(own, (uint64_t)i);
    uint64_t span = (uint64_t)range[1] - (uint64_t)range[0], step, mask;
    unsigned width = integer_width(arg, v->rung);

    if (v->kind == VALUE_RANGE) {
        mask = ((uint64_t)1 << width / 2) - 1;
        return (any_bits(arg, width, bits) & ~mask) | (shared & mask);
    }
    step = 1ull << alias_bits(span, rng_mix(shared));
    shared %= MAX(MIN(step, span - step), (uint64_t)1);
    return (uint64_t)range[0] + shared + step * values_below(bits, (span - shared + step - 1) / step);
}

/* A NaN has no sign that means anything: it may have either. */
static double any_sign(double v, uint64_t bits)
{
    bool negative = bits >> 17 & 1;

    if (isnan(v))
        return copysign(v, negative ? -1 : 1);
    return v;
}

/* The floating number that follows in its type, away from zero; the lower bytes come first. */
static void next_number(void *p, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, p, size);
    bits++;
    memcpy(p, &bits, size);
}

/* The share of an element that is left: none, next to none, or, of half of them, all. */
static double sprinkled(enum kernel_type t, uint64_t own, int64_t i)
{
    uint64_t pick = rng_hash(own ^ 0x7370726b, (uint64_t)i);

    if (pick & 1)
        return 1;
    return pick & 2 ? 0 : tiny_scale(t);
}

static bool is_tied(const struct task_arg *arg, struct place at)
{
    return arg->n_shape > 1 ? at.row % 2 == 0 : at.column < at.length / 2;
}

static bool is_peak(uint64_t own, struct place at)
{
    return at.column == (int64_t)(rng_hash(own ^ 0x7065616b, (uint64_t)at.row) % (uint64_t)at.length);
}

/* What is left of the elements of a row. */
static double faint(enum kernel_type type, int64_t row)
{
    static const int bits[] = {28, 12, 60};
    int few = bits[row % (int64_t)ARRAY_LEN(bits)];

    return ldexp(1, -(type == KT_F16 ? few / 6 : few));
}

static void fill(const struct task_arg *arg, const struct task_values *values, const int64_t *dims,
                 uint64_t seed, int64_t first, int64_t n, void *to)
{
    size_t size = kernel_type_size(arg->type);
    uint64_t own = rng_mix(seed) ^ hash_text(arg->name);
    int64_t range[2], row_length = 1, slice = task_slice(arg, dims);
    struct place at;
    char *p = to;

    values_range(values, dims, &range[0], &range[1]);
    if (values_plain(arg, values, range, own, first, n, to))
        return;
    if (arg->n_shape == 0 || !dim_eval(arg->shape[arg->n_shape - 1], dims, &row_length) || row_length < 1)
        row_length = 1;
    if (values->patterned && values->kind == VALUE_INDEX && arg->n_shape == 1)
        row_length = MAX(row_length / INDEX_ROWS, (int64_t)8); /* the patterns share them out */
    if (values->kind == VALUE_HUGE && values->turn == TURN_DEEP && arg->n_shape == 1)
        row_length = MAX(row_length / INDEX_ROWS, (int64_t)2); /* in every way, too */
    at = place_of(first, row_length);
    for (int64_t i = first; i < first + n; i++, p += size, place_next(&at)) {
        if (task_value_ordered(values->kind)) {
            int64_t whole = ordered_value(values, range, own, at);
            memcpy(p, &whole, size); /* the lower bytes come first */
            continue;
        }
        bool alike = values->kind == VALUE_ALIKE && at.column < row_length - MAX(row_length / 8, (int64_t)1);
        uint64_t of = values->tied && is_tied(arg, at) ? rng_mix(seed) : own;
        struct drawn d = {.bits = rng_hash(of, (uint64_t)(alike ? at.column : i))};
        double v;
        if (values->kind == VALUE_NEARLY)
            d.bits = nearly_alike(own, at);
        if (values->patterned)
            d = patterned(arg, values, own, at);
        if (d.alias && integer(arg->type) && arg->type != KT_BOOL &&
            (values->kind == VALUE_INDEX || values->kind == VALUE_RANGE)) {
            uint64_t whole = alias_of(arg, values, range, own, i);
            memcpy(p, &whole, size); /* the lower bytes come first */
            continue;
        }
        if (d.plain) {
            task_from_double(arg->type, values->constant, p);
            continue;
        }
        if (values->kind == VALUE_RANGE && integer(arg->type)) {
            uint64_t whole = d.zero ? 0 : any_integer(arg, values->rung, d.bits, d.sorted);
            whole += (uint64_t)(int64_t)d.step;
            memcpy(p, &whole, size); /* the lower bytes come first */
            continue;
        }
        if (values->n_special && rng_unit_of(rng_mix(d.bits ^ 0x5bd1e995)) < values->special_share)
            v = any_sign(values->special[rng_mix(d.bits) % values->n_special], d.bits);
        else if (values->outdone && huge_outdoing(own, at))
            v = any_sign(values->special[0], d.bits);
        else if (values->outdone && at.column < row_length * 3 / 4 && d.bits & 1)
            v = huge_largest(arg->type);
        else if (d.zero || (values->peaked && is_peak(own, at)))
            v = nearest_to_zero(values, range[0], range[1]);
        else if (values->kind == VALUE_CANCELLING)
            v = cancelling(own, i, row_length);
        else if (values->kind == VALUE_HUGE)
            v = huge_value(arg, values, own, values->turn >= TURN_DEEP ? at : place_of(i, slice), d.bits);
        else if (values->kind == VALUE_NORMAL && d.sorted)
            v = 10 * rng_unit_of(d.bits) - 4; /* no row whose sum is next to nothing */
        else
            v = element(arg, values, range[0], range[1], d.bits) * (d.large ? LARGE_SCALE : 1);
        if (d.sign && values->kind == VALUE_NORMAL)
            v = copysign(v, d.sign);
        if (d.curt && values->kind == VALUE_NORMAL)
            v = rint(v * SHORT_STEPS) / SHORT_STEPS;
        if (values->sprinkled)
            v *= sprinkled(arg->type, own, i);
        if (values->faint)
            v *= faint(arg->type, at.row);
        if (d.step && values->kind == VALUE_INDEX)
            v = fmin(fmax(v + d.step, (double)range[0]), (double)(range[1] - 1));
        task_from_double(arg->type, v, p);
        if (d.step && values->kind == VALUE_NORMAL && !integer(arg->type) && v != 0 && isfinite(v))
            next_number(p, size);
    }
}

void task_fill(const struct task_arg *arg, const struct task_values *values, const int64_t *dims, uint64_t seed,
               int64_t first, int64_t n, void *to)
{
    size_t size = kernel_type_size(arg->type), from = (size_t)first * size;

    fill(arg, values, dims, seed, first, n, to);
    if (values->stored && from < values->stored_bytes)
        memcpy(to, values->stored + from, MIN((size_t)n * size, values->stored_bytes - from));
}
