/* Values next to the edges of their type, and of sizes that are far apart. */
#include "internal.h"

#include <float.h>

enum edge { SQUARES, LOW, LARGE, SUMS, LOWEST };

/* What squares, and sums, of many can still be; how low all may be; what one can be. */
static const struct scales {
    double squares, sums, low, edge;
} half_scales = {0x1p11, 0x1p13, 0x1.ep14, 0x1.ep15}, scales = {0x1p55, 0x1p104, 0x1p104, 0x1.ep127},
  double_scales = {0x1p500, 0x1p1000, 0x1p1000, 0x1.ep1023};

/* Each row in its own way, so that no order of a sum of its terms overflows unless all do: terms of one sign,
 * large terms of one sign, or terms far enough from the edge. */
static double huge(const struct task_arg *arg, const struct task_values *v, uint64_t own, struct place at,
                   uint64_t bits)
{
    const struct scales *of = arg->type == KT_F16 ? &half_scales : &scales;
    if (arg->type == KT_F64)
        of = &double_scales;
    double normal = rng_normal_of(bits);

    uint64_t row = (uint64_t)at.row + v->turn, round = row / N_HUGE;
    bool one = (uint64_t)at.column == rng_hash(own, (uint64_t)at.row) % (uint64_t)at.length;
    switch ((enum edge)(row % N_HUGE)) {
    case SQUARES:
        return normal * of->squares;
    case LOW:
        return -of->low * (1 + rng_unit_of(bits));
    case LARGE: /* one, or many */
        if (round & 1 ? one : rng_mix(bits) % 16 == 0)
            return ((round + own) & 2 ? of->edge : -of->edge) * (1 - rng_unit_of(bits) / 2);
        return normal;
    case LOWEST: /* below what somebody may take for the least number there is */
        return -of->edge * (1 + rng_unit_of(bits) / 16);
    case SUMS:
        break;
    }
    return fmax(fmin(normal * of->sums, of->edge), -of->edge);
}

enum { DEEP_ALIKE = 16, SHALLOW = 8, DEEPS = 32 };

/* Which part of a row is it, of two that alternate: halves in every other pair of rows, else neighbours,
 * quarters, pairs, ... ; the other way round in every second row. */
static bool is_even_part(struct place at)
{
    int levels = 1, turn = (int)(at.row / 2 % 128), level;

    while (levels < 62 && at.length >> (levels + 1))
        levels++;
    level = turn / 2 % levels;
    level = level & 1 ? (level + 1) / 2 : levels - 1 - level / 2;
    int64_t parts = (int64_t)2 << (turn & 1 ? level : 0);
    return (int64_t)((__int128)at.column * parts / at.length + at.row) % 2 == 0;
}

/* So far below zero that an exponential is light, as far in a whole vector, and in the next one further; or so
 * large that it counts all the same. */
static double deep(const struct task_arg *arg, const struct task_values *v, uint64_t own, struct place at,
                   uint64_t bits)
{
    double edge = arg->type == KT_F16 ? 65504 : 0x1p60, part = rng_unit_of(bits);
    uint64_t vector = rng_hash(own, (uint64_t)at.row) + (uint64_t)at.column / DEEP_ALIKE;

    if (v->turn == TURN_ALL_EDGE || (v->turn == TURN_DEEP && !is_even_part(at)))
        return (rng_mix(bits) & 1 ? edge : -edge) * (1 - part / 16);
    return -(SHALLOW + (double)(vector % DEEPS) + part);
}

/* Numbers of two sizes. */
static double of_sizes(const struct task_arg *arg, const struct task_values *v, struct place at, uint64_t bits)
{
    int power = arg->type == KT_F16 ? 12 : 20, square = arg->type == KT_F16 ? 9 : 66;

    if (arg->type == KT_F64)
        power = 100, square = 514;
    at.row += v->turn - TURN_SIZES;
    if (v->turn != TURN_SQUARES)
        square = is_even_part(at) ? power : -power;
    return ldexp(rng_normal_of(bits), square);
}

double huge_value(const struct task_arg *arg, const struct task_values *v, uint64_t own, struct place at,
                  uint64_t bits)
{
    if (v->turn >= TURN_SQUARES)
        return of_sizes(arg, v, at, bits);
    return v->turn >= TURN_DEEP ? deep(arg, v, own, at, bits) : huge(arg, v, own, at, bits);
}

/* Whoever stops at the largest number there is misses what outdoes it, far behind. */
bool huge_outdoing(uint64_t own, struct place at)
{
    int64_t late = MAX(at.length / 4, (int64_t)1);

    return at.column ==
           at.length - 1 - (int64_t)(rng_hash(own ^ 0x6c617465, (uint64_t)at.row) % (uint64_t)late);
}

double huge_largest(enum kernel_type type)
{
    static const double of[] = {
        [KT_F16] = 65504, [KT_BF16] = 0x1.fep127, [KT_F32] = FLT_MAX, [KT_F64] = DBL_MAX};

    return of[type];
}
