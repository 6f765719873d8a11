/* Traffic that changes nothing, out of the race detector's cells: they know who wrote a piece of memory last,
 * and whether anybody has read it since. Plain stores count; atomics and flags do not. */
#include "race.h"

enum { PC = 0xffffff, STRONG = 1 << 24 };

void race_waste_stored(struct race *r, const struct race_block *home, const struct race_page *p, size_t i,
                       uint32_t pc)
{
    uint32_t before = p->w[i] >> 5, bytes = 1u << p->shift, at = p->w_at[i];
    if (before < (home ? home->base : r->base) || (at & STRONG))
        return;
    if (home) { /* shared memory is there to be used again: what nobody read was for nothing */
        r->waste[at & PC].unread += p->r[i] ? 0 : bytes;
        return;
    }
    r->waste[pc].again += bytes;
    r->waste[pc].after = at & PC;
}

void race_waste_block(struct race *r, const struct race_block *b)
{
    for (size_t n = 0; n < b->n_pages; n++) {
        const struct race_page *p = b->pages[n];
        for (size_t i = 0; p && i < (size_t)RACE_PAGE >> p->shift; i++)
            if (p->w[i] >> 5 >= b->base && !p->r[i] && !(p->w_at[i] & STRONG))
                r->waste[p->w_at[i] & PC].unread += 1u << p->shift;
    }
}

size_t sanitize_waste_bytes(const struct ptx_module *m)
{
    return (m->n_code + 1) * sizeof(struct sanitize_waste);
}

size_t sanitize_waste_lines(const struct ptx_module *m, const struct sanitize_waste *waste, struct arena *a,
                            const struct sanitize_line **lines)
{
    VEC(struct sanitize_line) found = {0};
    for (size_t pc = 0; pc < m->n_code; pc++) {
        const struct sanitize_waste *w = &waste[pc];
        struct sanitize_line x = {.file = ""};
        size_t k = 0;
        if (!w->stored && !w->staged)
            continue;
        insn_place(m, &m->code[pc], &x.file, &x.line);
        while (k < found.n && (found.v[k].line != x.line || !str_eq(found.v[k].file, x.file)))
            k++;
        if (k == found.n)
            vec_push(&found, x);
        struct sanitize_waste *sum = &found.v[k].waste;
        sum->stored += w->stored;
        sum->staged += w->staged;
        sum->again += w->again;
        sum->equal += w->equal;
        sum->unread += w->unread;
        if (w->again)
            found.v[k].after = insn_line(m, &m->code[w->after]);
    }
    *lines = arena_copy(a, found.v, found.n * sizeof(*found.v));
    size_t n = found.n;
    vec_free(&found);
    return n;
}
