/* Values that their place alone decides, small integers and indices: large buffers are filled with them, page
 * after page, so that a hash draws several. */
#include "internal.h"

uint64_t values_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)bits * n) >> 64);
}

enum { SMALL_INTEGERS = 17 };

double values_small(enum kernel_type t, uint64_t bits)
{
    if (t == KT_U8)
        return (double)(bits & 255);
    if (t == KT_I8)
        return (double)(bits & 255) - 128;
    if (t == KT_BOOL)
        return (double)(bits & 1);
    return (double)(bits % SMALL_INTEGERS) - (t == KT_U16 || t == KT_U32 || t == KT_U64 ? 0 : 8);
}

/* Small integers that their bits alone decide: each byte of a hash chooses one of a table of 256. */
enum { BYTES = 8, SMALLS = 256 };

static inline size_t byte_of(uint64_t own, int64_t i)
{
    return rng_hash(own, (uint64_t)i / BYTES) >> 8 * ((uint64_t)i % BYTES) & 255;
}

static inline void fill_small(const uint64_t *table, size_t size, uint64_t own, int64_t first, int64_t n,
                              char *to)
{
    int64_t i = first, end = first + n;

    for (; i < end && i % BYTES; i++, to += size)
        memcpy(to, &table[byte_of(own, i)], size); /* the lower bytes come first */
    for (; i + BYTES <= end; i += BYTES, to += BYTES * size) {
        uint64_t hash = rng_hash(own, (uint64_t)i / BYTES);
        for (size_t k = 0; k < BYTES; k++, hash >>= 8)
            memcpy(to + k * size, &table[hash & 255], size);
    }
    for (; i < end; i++, to += size)
        memcpy(to, &table[byte_of(own, i)], size);
}

/* A byte is its own small integer, a signed one with the highest bit turned. */
static void fill_bytes(uint64_t turned, uint64_t own, int64_t first, int64_t n, char *to)
{
    int64_t i = first, end = first + n;

    for (; i < end && i % BYTES; i++)
        *to++ = (char)(byte_of(own, i) ^ (turned & 255));
    for (; i + BYTES <= end; i += BYTES, to += BYTES) {
        uint64_t hash = rng_hash(own, (uint64_t)i / BYTES) ^ turned;
        memcpy(to, &hash, BYTES); /* the lower bytes come first */
    }
    for (; i < end; i++)
        *to++ = (char)(byte_of(own, i) ^ (turned & 255));
}

/* Low, and up to `span` more: of few, a hash draws four. */
enum { QUARTERS = 4, FEW_NUMBERS = 1 << 12 };

static inline uint64_t few_of(uint64_t hash, uint64_t k, uint64_t span)
{
    return (hash >> 16 * k & 0xffff) * span >> 16;
}

/* Whole fours have a loop of their own: it is most of what large buffers cost. */
static inline void fill_few(uint64_t low, uint64_t span, size_t size, uint64_t own, int64_t first, int64_t n,
                            char *to)
{
    int64_t i = first, end = first + n;

    while (i < end) {
        uint64_t hash = rng_hash(own, (uint64_t)i / QUARTERS), v;
        if (i % QUARTERS == 0 && end - i >= QUARTERS) {
            for (uint64_t k = 0; k < QUARTERS; k++, to += size) {
                v = low + few_of(hash, k, span);
                memcpy(to, &v, size); /* the lower bytes come first */
            }
            i += QUARTERS;
            continue;
        }
        v = low + few_of(hash, (uint64_t)i++ % QUARTERS, span);
        memcpy(to, &v, size);
        to += size;
    }
}

static inline void fill_range(const int64_t *range, size_t size, uint64_t own, int64_t first, int64_t n,
                              char *to)
{
    uint64_t low = (uint64_t)range[0], span = (uint64_t)range[1] - low;

    if (span <= FEW_NUMBERS) {
        fill_few(low, span, size, own, first, n, to);
        return;
    }
    for (int64_t i = first; i < first + n; i++, to += size) {
        uint64_t v = low + values_below(rng_hash(own, (uint64_t)i), span);
        memcpy(to, &v, size); /* the lower bytes come first */
    }
}

/* Does an integer type hold all of [low, high), and a double, through which other values go? */
static bool holds_range(enum kernel_type t, int64_t low, int64_t high)
{
    unsigned bits = MIN(8 * (unsigned)kernel_type_size(t), 54u) - task_type_signed(t);
    int64_t most = ((int64_t)1 << bits) - 1;

    return low >= (task_type_signed(t) ? -most - 1 : 0) && high - 1 <= most;
}

/* The numbers of a type, made when they are first asked for: pages are filled by the thousand. */
static const uint64_t *smalls_of(enum kernel_type t)
{
    static uint64_t tables[KT_F64 + 1][SMALLS];
    static bool made[KT_F64 + 1];

    for (uint64_t i = 0; !made[t] && i < SMALLS; i++)
        task_from_double(t, values_small(t, i), &tables[t][i]);
    made[t] = true;
    return tables[t];
}

static void fill_smalls(enum kernel_type t, uint64_t own, int64_t first, int64_t n, char *to)
{
    size_t size = kernel_type_size(t);

    if (size == 1)
        fill_bytes(t == KT_I8 ? 0x8080808080808080 : 0, own, first, n, to);
    else if (size == 2)
        fill_small(smalls_of(t), 2, own, first, n, to);
    else if (size == 4)
        fill_small(smalls_of(t), 4, own, first, n, to);
    else
        fill_small(smalls_of(t), 8, own, first, n, to);
}

bool values_plain(const struct task_arg *arg, const struct task_values *v, const int64_t *range, uint64_t own,
                  int64_t first, int64_t n, char *to)
{
    enum kernel_type t = arg->type;

    if (v->patterned || v->sprinkled || v->tied || v->faint || v->n_special || t == KT_BOOL)
        return false;
    if (v->kind == VALUE_INTEGERS) {
        fill_smalls(t, own, first, n, to);
        return true;
    }
    if (v->kind != VALUE_INDEX || type_is_floating(t) || !holds_range(t, range[0], range[1]))
        return false;
    switch (kernel_type_size(t)) {
    case 1:
        fill_range(range, 1, own, first, n, to);
        break;
    case 2:
        fill_range(range, 2, own, first, n, to);
        break;
    case 4:
        fill_range(range, 4, own, first, n, to);
        break;
    default:
        fill_range(range, 8, own, first, n, to);
    }
    return true;
}
