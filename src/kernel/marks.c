/* What a launcher decides: each once, the same number for the same place of a file. */
#include "internal.h"

enum { MOST = 256 }; /* of either kind */

void marks_add(struct marks *m, uint64_t what)
{
    for (size_t i = m->list.n; i-- > 0;)
        if (m->list.v[i] == what)
            return;
    if (m->list.n < MOST)
        vec_add(m->arena, &m->list, what);
}

bool marks_decide(struct marks *m, const struct token *at, bool holds)
{
    uint64_t place = rng_hash(at->at, at->len << 8 | (unsigned char)(at->len ? *at->s : 0));

    marks_add(m, rng_hash(place, holds));
    return holds;
}

static void add_number(struct marks *m, uint64_t place, int64_t number)
{
    for (size_t i = 0; i < m->numbers.n; i++)
        if (m->numbers.v[i].place == place) {
            m->numbers.v[i].varies |= m->numbers.v[i].number != number;
            return;
        }
    if (m->numbers.n < MOST)
        vec_add(m->arena, &m->numbers, ((struct plan_number){place, number, false}));
}

void marks_operands(struct marks *m, const struct token *at, int64_t left, int64_t right)
{
    add_number(m, rng_hash(at->at, (uint64_t)at->len << 1), left);
    add_number(m, rng_hash(at->at, (uint64_t)at->len << 1 | 1), right);
}
