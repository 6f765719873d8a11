/* What a launcher decides: each once, the same number for the same place of a file. */
#include "internal.h"

enum {
    MOST = 256,       /* of either kind */
    MOST_CHOICES = 64 /* elements of a table by which a launcher decides */
};

void marks_add(struct marks *m, uint64_t what)
{
    for (size_t i = m->list.n; i-- > 0;)
        if (m->list.v[i] == what)
            return;
    if (m->list.n < MOST)
        vec_add(m->arena, &m->list, what);
}

void marks_result(struct marks *m, const struct token *at, bool zero)
{
    uint64_t what = rng_hash(rng_hash(at->at, at->len), zero);

    for (size_t i = m->results.n; i-- > 0;)
        if (m->results.v[i] == what)
            return;
    if (m->results.n < MOST)
        vec_add(m->arena, &m->results, what);
}

static uint64_t place_of(const struct token *at)
{
    return rng_hash(at->at, at->len << 8 | (unsigned char)(at->len ? *at->s : 0));
}

bool marks_decide(struct marks *m, const struct token *at, bool holds)
{
    marks_add(m, rng_hash(place_of(at), holds));
    return holds;
}

void marks_choose(struct marks *m, const struct token *at, int64_t index, int64_t count)
{
    if (count > 1 && count <= MOST_CHOICES)
        marks_add(m, rng_hash(place_of(at), 2 + (uint64_t)index));
}

static void add_number(struct marks *m, struct plan_number x)
{
    for (size_t i = 0; i < m->numbers.n; i++)
        if (m->numbers.v[i].place == x.place) {
            m->numbers.v[i].varies |= m->numbers.v[i].number != x.number;
            return;
        }
    if (m->numbers.n < MOST)
        vec_add(m->arena, &m->numbers, x);
}

void marks_operands(struct marks *m, const struct token *at, struct plan_number is, int64_t left, int64_t right)
{
    uint64_t place = (uint64_t)at->len << 1;

    is.place = rng_hash(at->at, place);
    is.number = left;
    is.other = right;
    add_number(m, is);
    is.place = rng_hash(at->at, place | 1);
    is.number = right;
    is.other = left;
    add_number(m, is);
}
