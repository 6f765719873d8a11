/* The pages of the race detector's cells (race.h). Memory is covered in pages of 4 KiB whose cells are as large
 * as the smallest access so far: a page is split when a smaller one comes.
 *
 * A page of global memory that warps have only touched with 32 lanes side by side has chunks instead: a cell
 * for each such access, where lane 0 stands for all of them, each on its part. Chunks begin `phase` bytes into
 * the page; what is ahead of the first belongs to one that began in the page before. */
#include "race.h"

void race_page_free(struct race_page *p)
{
    if (p)
        free(p->w);
    free(p);
}

static size_t cells_of(uint32_t shift)
{
    return (RACE_PAGE >> shift) + (shift > RACE_CELL);
}

static struct race_page *page_new(struct race *r, uint64_t number, uint32_t shift, uint32_t phase)
{
    struct race_page *p = r->spare[shift];
    if (p) {
        r->spare[shift] = p->next_free;
        p->number = number;
        p->phase = phase;
        return p;
    }
    size_t n = cells_of(shift);
    uint32_t *cells = mem_zalloc(4 * n * sizeof(*cells));
    p = mem_alloc(sizeof(*p));
    *p = (struct race_page){number, shift, phase, cells, cells + n, cells + 2 * n, cells + 3 * n, NULL};
    r->cell_bytes += 4 * n * sizeof(*cells);
    return p;
}

/* Of a chunk each lane gets its own. */
static void page_split(struct race *r, struct race_page *p, uint32_t shift)
{
    struct race_page *fine = page_new(r, p->number, shift, 0);
    bool chunks = p->shift > RACE_CELL;
    for (size_t i = 0; i < (size_t)RACE_PAGE >> shift; i++) {
        size_t at = (i << shift) + (chunks ? (1u << p->shift) - p->phase : 0), from = at >> p->shift;
        uint32_t lane = chunks ? (uint32_t)(at >> (p->shift - RACE_LANES)) % 32 : 0;
        fine->w[i] = p->w[from] ? p->w[from] + lane : 0, fine->w_at[i] = p->w_at[from];
        fine->r[i] = p->r[from] ? p->r[from] + lane : 0, fine->r_at[i] = p->r_at[from];
    }
    struct race_page coarse = *p;
    *p = *fine;
    *fine = coarse;
    memset(fine->w, 0, 4 * cells_of(fine->shift) * sizeof(fine->w[0])); /* it is of this launch */
    fine->next_free = r->spare[fine->shift];
    r->spare[fine->shift] = fine;
}

static struct race_page **table_slot(struct race *r, uint64_t number)
{
    size_t at = rng_mix(number) & (r->n_table - 1);
    while (r->table[at] && r->table[at]->number != number)
        at = (at + 1) & (r->n_table - 1);
    return &r->table[at];
}

static struct race_page **page_slot(struct race *r, struct race_block *b, bool shared, uint64_t number)
{
    if (shared) {
        if (number >= b->n_pages) {
            b->pages = mem_realloc(b->pages, (number + 1) * sizeof(*b->pages));
            while (b->n_pages <= number)
                b->pages[b->n_pages++] = NULL;
        }
        return &b->pages[number];
    }
    if (2 * r->n_pages >= r->n_table) {
        struct race_page **old = r->table;
        size_t n = r->n_table;
        r->n_table = MAX((size_t)256, 2 * n);
        r->table = mem_zalloc(r->n_table * sizeof(*r->table));
        for (size_t i = 0; i < n; i++)
            if (old[i])
                *table_slot(r, old[i]->number) = old[i];
        free(old);
    }
    return table_slot(r, number);
}

/* The page there; a new one has cells of 1 << shift bytes. b: whose shared memory it is. */
static struct race_page *page_of(struct race *r, struct race_block *b, bool shared, uint64_t addr,
                                 uint32_t shift, uint32_t phase)
{
    uint64_t number = addr / RACE_PAGE;
    if (!shared && r->last && r->last->number == number)
        return r->last;
    struct race_page **slot = page_slot(r, b, shared, number);
    if (!*slot) {
        *slot = page_new(r, number, shift, phase);
        r->n_pages += !shared;
    }
    if (!shared)
        r->last = *slot;
    return *slot;
}

struct race_page *race_page_at(struct race *r, struct race_block *b, bool shared, uint64_t addr,
                               uint32_t size_bytes)
{
    uint32_t shift = (uint32_t)__builtin_ctz(size_bytes);
    struct race_page *p = page_of(r, b, shared, addr, shift, 0);
    if (p->shift > RACE_CELL)
        page_split(r, p, MIN(shift, p->shift - RACE_LANES));
    else if (shift < p->shift)
        page_split(r, p, shift);
    return p;
}

struct race_page *race_page_of_chunks(struct race *r, uint64_t addr, uint64_t begin, uint32_t size_bytes)
{
    uint32_t shift = (uint32_t)__builtin_ctz(size_bytes) + RACE_LANES, phase = begin % (32 * size_bytes);
    struct race_page *p = page_of(r, NULL, false, addr, shift, phase);
    return p->shift == shift && p->phase == phase ? p : NULL;
}

void race_pages_spare(struct race *r)
{
    for (size_t i = 0; i < r->n_table && r->n_pages; i++) {
        struct race_page *p = r->table[i];
        if (!p)
            continue;
        p->next_free = r->spare[p->shift];
        r->spare[p->shift] = p;
        r->table[i] = NULL;
    }
    r->n_pages = 0;
    r->last = NULL;
}

void race_pages_forget(struct race *r)
{
    race_pages_spare(r);
    for (size_t k = 0; k < ARRAY_LEN(r->spare); k++)
        for (struct race_page *p = r->spare[k], *next; p; p = next) {
            next = p->next_free;
            race_page_free(p);
        }
    memset(r->spare, 0, sizeof(r->spare));
    free(r->table);
    r->table = NULL;
    r->n_table = 0;
    r->cell_bytes = 0;
}
