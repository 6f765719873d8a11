/* Shapes to plan a launcher for. Planning costs next to nothing, so they are many: dense where versions make
 * differences, at the numbers that stand in their sources, at powers of two, at the workloads, next to all of
 * these, at multiples and sums of two of them. */
#include "internal.h"

enum {
    MOST_NUMBERS = 160,
    FIRST = 12, /* of a source's numbers: of these two meet */
    TRIES = 4,
};

struct planned {
    const struct task *task;
    struct arena *arena;
    struct rng rng;
    int64_t numbers[MOST_NUMBERS];
    size_t n_numbers;
    const int64_t **shapes;
    size_t n, most;
};

static void add_number(struct planned *p, int64_t v)
{
    if (v < 1 || p->n_numbers == MOST_NUMBERS)
        return;
    for (size_t i = 0; i < p->n_numbers; i++)
        if (p->numbers[i] == v)
            return;
    p->numbers[p->n_numbers++] = v;
}

static void add_near(struct planned *p, int64_t v)
{
    for (int64_t d = -1; d <= 1; d++)
        add_number(p, v + d);
}

static bool add_shape(struct planned *p, const int64_t *dims)
{
    if (p->n == p->most || !task_in_domain(p->task, dims))
        return false;
    p->shapes[p->n++] = arena_copy(p->arena, dims, p->task->n_dims * sizeof(*dims));
    return true;
}

/* The number, or, where the domain has holes, its next multiple of a power of two. */
static void add_with(struct planned *p, int64_t *dims, size_t i, int64_t v)
{
    int64_t old = dims[i];

    dims[i] = v;
    for (int64_t step = 2; !add_shape(p, dims) && step <= 4096 && v % step; step *= 2)
        dims[i] = (v + step - 1) / step * step;
    dims[i] = old;
}

static int64_t drawn_number(struct planned *p, const int64_t *own, size_t n_own)
{
    int64_t a = n_own ? own[rng_below(&p->rng, n_own)] : 1, b = n_own ? own[rng_below(&p->rng, n_own)] : 1;

    switch (rng_below(&p->rng, 8)) {
    case 0: /* k a + b: a residue */
        return a < 1 << 20 ? a * (int64_t)rng_below(&p->rng, 64) + b : a;
    case 1:
        return a < 1 << 20 && b < 1 << 20 ? a * b : a;
    case 2:
        return (int64_t)1 << rng_below(&p->rng, 20);
    case 3:
        return 1 + (int64_t)rng_below(&p->rng, (uint64_t)1 << (1 + rng_below(&p->rng, 14)));
    case 4:
        return a;
    }
    return p->numbers[rng_below(&p->rng, p->n_numbers)];
}

/* Products that stand in a source: p x q of two dims. */
static void add_products(struct planned *p, const int64_t *least, int64_t product)
{
    int64_t dims[16];

    for (size_t i = 0; i < p->task->n_dims; i++)
        for (size_t k = 0; k < p->task->n_dims; k++)
            for (int64_t q = 1; i != k && q <= 4096 && q <= product; q *= 8) {
                if (product % q)
                    continue;
                memcpy(dims, least, sizeof(dims));
                dims[i] = q;
                dims[k] = product / q;
                add_shape(p, dims);
            }
}

/* Another remainder than the suite has: k a + b. */
static void add_residues(struct planned *p, int64_t *dims, size_t i, const int64_t *own, size_t n)
{
    for (size_t k = 0; k < n * n; k++) {
        int64_t a = own[k / n], b = own[k % n];
        if (b < a && a < 1 << 20) {
            for (int64_t times = 1; times < 64; times = 3 * times + 4)
                add_with(p, dims, i, times * a + b);
        }
    }
}

/* Numbers that follow each other in a source, for the dims in their order. */
static void add_tuples(struct planned *p, const int64_t *own, size_t n_own)
{
    int64_t dims[16];

    for (size_t i = 0; i + p->task->n_dims <= n_own; i++) {
        memcpy(dims, own + i, p->task->n_dims * sizeof(*dims));
        add_shape(p, dims);
    }
}

void task_planned(const struct task *t, struct arena *a, const int64_t *own, size_t n_own, size_t most,
                  const int64_t *const **shapes, size_t *n)
{
    struct planned p = {.task = t,
                        .arena = a,
                        .rng = {0x706c616e},
                        .shapes = arena_array(a, const int64_t *, most + 1),
                        .most = most};
    int64_t least[16] = {0}, dims[16] = {0};

    for (size_t i = 0; i < n_own; i++)
        add_near(&p, own[i]);
    for (size_t w = 0; w < t->n_workloads * t->n_dims; w++)
        add_near(&p, t->workloads[w]);
    for (int k = 0; k <= 20; k++)
        add_near(&p, (int64_t)1 << k);
    memcpy(least, t->workloads, t->n_dims * sizeof(*least));
    for (size_t i = t->n_dims; i-- > 0;)
        task_lower(t, least, i);
    add_tuples(&p, own, n_own);
    for (size_t i = 0; i < t->n_dims; i++) /* one dim, the others small, or as in a workload */
        for (size_t k = 0; k < p.n_numbers; k++) {
            memcpy(dims, least, sizeof(dims));
            add_with(&p, dims, i, p.numbers[k]);
            memcpy(dims, t->workloads + k % t->n_workloads * t->n_dims, t->n_dims * sizeof(*dims));
            add_with(&p, dims, i, p.numbers[k]);
        }
    for (size_t k = 0; k < p.n_numbers; k++) { /* all the same */
        for (size_t i = 0; i < t->n_dims; i++)
            dims[i] = p.numbers[k];
        add_shape(&p, dims);
    }
    for (size_t i = 0; i < n_own; i++)
        add_products(&p, least, own[i]);
    for (size_t i = 0; i < t->n_dims; i++)
        add_residues(&p, least, i, own, MIN(n_own, (size_t)FIRST));
    for (size_t tries = 0; p.n < most && tries < TRIES * most; tries++) {
        for (size_t i = 0; i < t->n_dims; i++)
            dims[i] = drawn_number(&p, own, n_own);
        add_shape(&p, dims);
    }
    *shapes = p.shapes;
    *n = p.n;
}

/* ---- shapes of every magnitude ---- */

/* In the domain with this one, whatever it does to the others: they follow it, as far as whole vectors. */
static bool drawn_fits(const struct task *t, struct rng *r, int64_t *dims, size_t i)
{
    int64_t v = dims[i], by = (int64_t)rng_below(r, 2) * (int64_t)rng_below(r, 128);

    for (int64_t step = 1; step <= 256; step *= 2) {
        dims[i] = (v + step - 1) / step * step;
        if (task_in_domain(t, dims))
            return true;
    }
    dims[i] = v;
    for (size_t k = 0; k < t->n_dims; k++) {
        int64_t own = dims[k];
        for (int64_t step = 1; k != i && step <= 256; step *= 2) {
            dims[k] = (v + by + step - 1) / step * step;
            if (task_in_domain(t, dims))
                return true;
        }
        dims[k] = own;
    }
    return false;
}

/* One dim more, as long as there is room. */
static void draw_dim(const struct task *t, struct rng *r, int64_t *dims, size_t i, int64_t elements)
{
    int64_t before[16];
    uint64_t bits = 1 + rng_below(r, 31);

    memcpy(before, dims, sizeof(before));
    for (; bits > 0; bits--) {
        dims[i] = ((int64_t)1 << (bits - 1)) + (int64_t)rng_below(r, (uint64_t)1 << (bits - 1));
        if (drawn_fits(t, r, dims, i) && task_case_elements(t, dims) <= elements)
            return;
        memcpy(dims, before, sizeof(before));
    }
}

size_t task_drawn(const struct task *t, struct arena *a, uint64_t seed, int64_t elements, size_t most,
                  const int64_t **shapes)
{
    struct rng r = {rng_mix(seed ^ 0x647261776eull)};
    int64_t least[16] = {0}, dims[16];

    memcpy(least, t->workloads, t->n_dims * sizeof(*least));
    for (size_t i = t->n_dims; i-- > 0;)
        task_lower(t, least, i);
    if (task_case_elements(t, least) > elements)
        return 0;
    for (size_t n = 0; n < most; n++) {
        size_t first = rng_below(&r, t->n_dims);
        memcpy(dims, least, sizeof(dims));
        for (size_t i = 0; i < t->n_dims; i++)
            draw_dim(t, &r, dims, (first + i) % t->n_dims, elements);
        shapes[n] = arena_copy(a, dims, t->n_dims * sizeof(*dims));
    }
    return most;
}
