/* Integers of which the callers promise more than a range: that they are distinct, a permutation, sorted, or
 * offsets. Element i is still a function of the argument, the seed and i alone. */
#include "internal.h"

/* Where i goes in a permutation of [0, n): a Feistel network over the next even power of two, walked until it
 * falls below n, which takes fewer than four steps in the mean. */
static uint64_t permuted(uint64_t own, uint64_t i, uint64_t n)
{
    unsigned half = 1;

    while (half < 31 && (uint64_t)1 << 2 * half < n)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (rng_hash(own + round, right) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* The share of the range that a rising row has reached: evenly, mostly early, mostly late, in one step, or
 * evenly but for its ends, which stand alone far away: half of all values lie between the first and the second.
 */
static double risen(double x, struct place at, unsigned turn, uint64_t of_row)
{
    switch (turn % N_RISES) {
    case 1:
        return x * x * x * x;
    case 2:
        return 1 - (1 - x) * (1 - x) * (1 - x) * (1 - x);
    case 3:
        return x < rng_unit_of(of_row) ? 0 : 1;
    case 4:
        if (at.column == 0)
            return 0;
        return at.column == at.length - 1 ? 1 : 0.5 + 0.375 * x;
    }
    return x;
}

/* Nearly the identity, or its own inverse; in a pattern that goes round the rows. */
static uint64_t nearly_ordered(uint64_t of_row, uint64_t pattern, uint64_t i, uint64_t n)
{
    uint64_t place = of_row % n, third = n / 3, along = (i + n - place) % n;
    bool swaps = pattern % N_PATTERNS == 5;

    switch (pattern % N_PATTERNS) {
    case 0:
        return i;
    case 1:
        return n - 1 - i;
    case 2:
        return (i + place) % n;
    case 4: /* but for a cycle of three */
    case 5:
        if (third && along % third == 0 && along < 3 * third)
            i = (place + (along + third) % (3 * third)) % n;
        if (!swaps)
            return i;
        break;
    case 6:
        return permuted(of_row, i, n);
    }
    return (i ^ 1) < n ? i ^ 1 : i;
}

int64_t ordered_value(const struct task_values *v, const int64_t *range, uint64_t own, struct place at)
{
    uint64_t i = (uint64_t)(at.row * at.length + at.column), span = (uint64_t)range[1] - (uint64_t)range[0];
    uint64_t of_row = rng_hash(own ^ 0x6f726465, (uint64_t)at.row);
    double column = (double)at.column + 0.98 * rng_unit_of(rng_hash(own, i)); /* the order stays */

    if (v->kind == VALUE_PERMUTATION && v->patterned)
        return (int64_t)nearly_ordered(of_row, (uint64_t)at.row + v->turn, (uint64_t)at.column,
                                       (uint64_t)at.length);
    if (v->kind == VALUE_DISTINCT && v->patterned)
        return range[0] + (int64_t)nearly_ordered(own, v->turn, i, span);
    if (v->kind == VALUE_PERMUTATION)
        return (int64_t)permuted(of_row, (uint64_t)at.column, (uint64_t)at.length);
    if (v->kind == VALUE_DISTINCT)
        return range[0] + (int64_t)permuted(own, i, span);
    if (v->kind == VALUE_SORTED) {
        double x = risen(column / (double)at.length, at, v->turn, of_row);
        return range[0] + (int64_t)MIN((uint64_t)(x * (double)span), span - 1);
    }
    BUG_IF(v->kind != VALUE_OFFSETS);
    if (at.column == at.length - 1)
        return range[1];
    if (at.column == 0)
        return range[0];
    return range[0] +
           (int64_t)(risen((column - 0.5) / (double)(at.length - 1), at, v->turn, of_row) * (double)span);
}

bool ordered_fits(const struct task_values *v, const int64_t *dims, int64_t elements)
{
    int64_t range[2];

    values_range(v, dims, &range[0], &range[1]);
    if (v->kind == VALUE_DISTINCT)
        return range[0] <= range[1] && elements <= range[1] - range[0];
    return v->kind != VALUE_OFFSETS || range[0] <= range[1];
}
