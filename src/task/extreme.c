/* The largest shapes of the domain: where indices outgrow 32 bits, grids their dimensions and rows the shared
 * memory. They are far too large to be run whole. */
#include "internal.h"

enum {
    PAIRS_DIMS = 4,          /* of more dims too many pairs could be made */
    ODD_ROWS = 99991,        /* no power of two divides what is a multiple of them, */
    FEW = 3,                 /* of the other dims: not one, and odd */
    VECTOR = 24,             /* nor rows of whole vectors */
    MANY_ELEMENTS = 5 << 18, /* of all buffers, where one dim is large, */
    TILE = 64,               /* extents of tiles and vectors are multiples of it */
    LEFT = 64,               /* for the second of two long dims */
    FAR_ELEMENTS = 9 << 20,  /* and where it is the last one alone; or a quarter, ... */
};
static const int64_t most_bytes = (int64_t)48 << 30, /* a usual device's, */
    all_bytes = (int64_t)256 << 30;                  /* and the largest's */

static bool fits(const struct task *t, const int64_t *dims, int64_t most)
{
    int64_t sum = 0, n;

    if (!task_in_domain(t, dims))
        return false;
    for (size_t i = 0; i < t->n_args; i++) {
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        if (!task_shape(t, &t->args[i], dims, &n, NULL) || n > most)
            return false;
        sum += n * (int64_t)kernel_type_size(t->args[i].type);
    }
    return sum <= most;
}

bool task_fits_device(const struct task *t, const int64_t *dims)
{
    return fits(t, dims, most_bytes);
}

/* The shapes so far, and how much their buffers may have. */
struct extremes {
    const struct task *task;
    struct arena *arena;
    const int64_t **to;
    size_t n;
    int64_t bytes;
    bool one; /* multiples need be no larger than what they are multiples of: one group */
};

/* Sets a dim, and takes another with it where the domain ties the two: as far, rounded up to what that is a
 * multiple of. */
static bool reach(const struct extremes *x, int64_t *dims, size_t i, int64_t v)
{
    int64_t by = v - dims[i];

    dims[i] = v;
    if (fits(x->task, dims, x->bytes))
        return true;
    const bool tied = x->one && !task_in_domain(x->task, dims);
    for (size_t k = 0; k < x->task->n_dims; k++) {
        int64_t old = dims[k], unit = MAX(old & -old, (int64_t)1);
        if (tied && k != i) {
            dims[k] = v;
            if (fits(x->task, dims, x->bytes))
                return true;
        }
        for (int rounded = 0; k != i && rounded < 2; rounded++) {
            dims[k] = rounded ? (old + by + unit - 1) / unit * unit : old + by;
            if (fits(x->task, dims, x->bytes))
                return true;
        }
        dims[k] = old;
    }
    return false;
}

/* Conditions like d % 8 == 0 make holes in the domain: what does not fit for once says nothing of what is
 * above. */
static void raise(const struct extremes *x, int64_t *dims, size_t i, int64_t most)
{
    size_t size = x->task->n_dims * sizeof(*dims);
    int64_t best[16], to[16];

    memcpy(best, dims, size);
    for (int64_t step = 1; step <= most; step *= 2) {
        memcpy(to, dims, size);
        if (step > best[i] && reach(x, to, i, step))
            memcpy(best, to, size);
    }
    for (int64_t step = best[i] / 2; step > 0; step /= 2) {
        memcpy(to, best, size);
        if (best[i] + step <= most && reach(x, to, i, best[i] + step))
            memcpy(best, to, size);
    }
    memcpy(dims, best, size);
}

static int64_t power_of_two_below(int64_t n)
{
    int64_t p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

static void add(struct extremes *x, const int64_t *dims)
{
    size_t size = x->task->n_dims * sizeof(*dims);

    if (!fits(x->task, dims, x->bytes))
        return;
    for (size_t i = 0; i < x->n; i++)
        if (!memcmp(x->to[i], dims, size))
            return;
    x->to[x->n++] = arena_copy(x->arena, dims, size);
}

/* As small as they can be, beginning with the first workload. */
static void lower_all(const struct task *t, int64_t *dims)
{
    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    for (size_t k = 0; k < t->n_dims; k++)
        for (int64_t old = dims[k], v = 1; v < 64 && v <= old; v++) {
            dims[k] = v;
            if (task_fits_device(t, dims))
                break;
            dims[k] = old;
        }
}

/* Beyond 2^31 elements, wherever the domain lets them be: the first dim as far as `rows`. */
static void raise_ends(const struct extremes *x, int64_t *dims, int64_t rows)
{
    memcpy(dims, x->task->workloads, x->task->n_dims * sizeof(*dims));
    raise(x, dims, 0, rows);
    raise(x, dims, x->task->n_dims - 1, x->bytes);
}

/* The same in whole tiles and vectors: a path for such extents alone has no other shape to overflow at. */
static void add_round(struct extremes *x, const int64_t *dims)
{
    int64_t to[16];

    memcpy(to, dims, x->task->n_dims * sizeof(*dims));
    for (size_t i = 0; i < x->task->n_dims; i++)
        for (int64_t unit = TILE; unit > 1; unit /= 2) {
            to[i] = dims[i] - dims[i] % unit;
            if (to[i] > 0 && fits(x->task, to, x->bytes))
                break;
            to[i] = dims[i];
        }
    add(x, to);
}

/* A corner of the domain: dims as far as they go, in that order; there a grid is largest. */
static void add_corner(struct extremes *x, bool backwards)
{
    size_t n = x->task->n_dims;
    int64_t dims[16];

    lower_all(x->task, dims);
    for (size_t i = 0; i < n; i++)
        raise(x, dims, backwards ? n - 1 - i : i, x->bytes);
    add(x, dims);
}

/* What overflows only on the largest device: each dim, and the first one with the last, neither a power of two.
 */
static void add_whole_device(struct extremes *x)
{
    size_t last = x->task->n_dims - 1;
    int64_t dims[16];

    for (size_t i = 0; i < x->task->n_dims; i++) {
        lower_all(x->task, dims);
        raise(x, dims, i, x->bytes);
        add(x, dims);
    }
    raise_ends(x, dims, ODD_ROWS);
    dims[last] -= dims[last] > VECTOR ? dims[last] % VECTOR : 0;
    add(x, dims);
    add_round(x, dims);
    add_corner(x, false);
    add_corner(x, true);
}

/* Products of three dims and more outgrow 32 bits only where all are large: each twice as large in turn, as
 * long as they fit; the same with every dim odd, where the domain has such. */
static void add_balanced(struct extremes *x)
{
    const struct task *t = x->task;
    int64_t dims[16], to[16];
    size_t size = t->n_dims * sizeof(*dims);
    bool grows = true;

    lower_all(t, dims);
    while (grows) {
        grows = false;
        for (size_t i = 0; i < t->n_dims; i++) {
            memcpy(to, dims, size);
            raise(x, to, i, 2 * power_of_two_below(dims[i]));
            grows |= to[i] > dims[i];
            memcpy(dims, to, size);
        }
    }
    add(x, dims);
    add_round(x, dims);
    for (size_t i = t->n_dims; i-- > 0;) {
        dims[i] -= dims[i] % 2 == 0;
        if (!fits(t, dims, x->bytes))
            dims[i]++;
    }
    add(x, dims);
}

void task_extremes(const struct task *t, struct arena *a, const int64_t ***shapes, size_t *n)
{
    struct extremes x = {
        .task = t,
        .arena = a,
        .to = arena_array(a, const int64_t *, 6 * t->n_dims + PAIRS_DIMS * (PAIRS_DIMS - 1) / 2 + 16),
        .bytes = most_bytes};
    int64_t dims[16];
    size_t last = t->n_dims - 1;

    for (size_t i = 0; i < t->n_dims; i++) { /* one dim as large as can be, the others small */
        lower_all(t, dims);
        raise(&x, dims, i, most_bytes);
        add(&x, dims);
        dims[i] = power_of_two_below(dims[i]); /* vectors */
        add(&x, dims);
        dims[i]--; /* and their tails */
        add(&x, dims);
        dims[i] += 2; /* what a float does not tell from them */
        if (!fits(t, dims, x.bytes))
            dims[i] = (dims[i] - 1) / 2 + 1;
        add(&x, dims);
        lower_all(t, dims);
        for (size_t k = 0; k < t->n_dims; k++)
            dims[k] = MAX(dims[k], (int64_t)FEW);
        raise(&x, dims, i, most_bytes);
        add(&x, dims);
    }
    for (size_t i = 0; i < t->n_dims && t->n_dims <= PAIRS_DIMS; i++) /* two; first and last are below */
        for (size_t k = i + 1; k < t->n_dims - (i == 0); k++) {
            lower_all(t, dims);
            raise(&x, dims, i, 1 << 17);
            raise(&x, dims, k, most_bytes);
            add(&x, dims);
        }
    raise_ends(&x, dims, 1 << 17);
    add(&x, dims);
    add_round(&x, dims);
    dims[last] = power_of_two_below(dims[last]);
    add(&x, dims);
    add_balanced(&x);
    x.bytes = all_bytes;
    add_whole_device(&x);
    *shapes = x.to;
    *n = x.n;
}

size_t task_long(const struct task *t, struct arena *a, int64_t bytes, const int64_t ***shapes)
{
    struct extremes x = {
        .task = t, .arena = a, .to = arena_array(a, const int64_t *, t->n_dims * t->n_dims + 1), .one = true};
    int64_t dims[16];

    for (size_t i = 0; i < t->n_dims; i++)
        for (size_t k = 0; k < t->n_dims; k++) {
            if (i != k && t->n_dims > PAIRS_DIMS)
                continue;
            lower_all(t, dims);
            x.bytes = i == k ? bytes : bytes / LEFT;
            raise(&x, dims, i, bytes);
            x.bytes = bytes;
            raise(&x, dims, k, bytes);
            add(&x, dims);
        }
    *shapes = x.to;
    return x.n;
}

/* As large as that many elements let it be, the others as they are; odd, where the domain has an odd one. */
static bool stretch(const struct task *t, int64_t *dims, size_t i, int64_t elements)
{
    int64_t best = 0;

    for (int64_t step = (int64_t)1 << 40; step > 0; step /= 2) {
        dims[i] = best + step;
        if (task_case_elements(t, dims) <= elements)
            best += step;
    }
    if (best > 2 && best % 2 == 0) {
        dims[i] = best - 1;
        best -= task_in_domain(t, dims);
    }
    dims[i] = best;
    return best > 0;
}

size_t task_far(const struct task *t, struct arena *a, const int64_t **shapes, size_t *alone)
{
    int64_t dims[16];
    size_t n = 0;

    for (size_t i = 0; i < MIN(t->n_dims, (size_t)PAIRS_DIMS); i++)
        for (int others = 3; others > 0; others -= 2) {
            bool last = others == 1;
            if (last && i + 1 < t->n_dims)
                continue;
            memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
            for (size_t k = 0; k < t->n_dims; k++)
                if (k != i)
                    task_lower(t, dims, k);
            for (size_t k = 0; k < t->n_dims && !last; k++) {
                int64_t old = dims[k];
                dims[k] = k == i ? old : others;
                if (!task_in_domain(t, dims))
                    dims[k] = old;
            }
            *alone = n;
            for (int64_t most = last ? FAR_ELEMENTS : MANY_ELEMENTS; most >= MANY_ELEMENTS; most /= 4)
                if (stretch(t, dims, i, most))
                    shapes[n++] = arena_copy(a, dims, t->n_dims * sizeof(*dims));
        }
    return n;
}

size_t task_stretched(const struct task *t, struct arena *a, int64_t elements, int64_t least,
                      const int64_t ***shapes)
{
    int64_t dims[16];
    size_t n = 0;

    *shapes = arena_array(a, const int64_t *, t->n_dims + 1);
    for (size_t i = 0; i < t->n_dims; i++) {
        lower_all(t, dims);
        if (stretch(t, dims, i, elements) && dims[i] >= least)
            (*shapes)[n++] = arena_copy(a, dims, t->n_dims * sizeof(*dims));
    }
    return n;
}

static bool edge_in(const struct task *t, size_t arg, const int64_t *dims, double low, double high)
{
    int64_t n;

    if (!task_in_domain(t, dims) || !task_shape(t, &t->args[arg], dims, &n, NULL))
        return false;
    double bytes = (double)n * (double)kernel_type_size(t->args[arg].type);
    return bytes >= low && bytes <= high;
}

bool task_edge(const struct task *t, size_t arg, int64_t bytes, bool above, int64_t *dims)
{
    const double whole = (double)bytes, low = above ? whole : whole * (1 - 1. / 64),
                 high = above ? whole * (1 + 1. / 512) : whole * (1 - 1. / 128);

    for (size_t i = t->n_dims; i-- > 0;) {
        int64_t best = 1;
        memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
        for (size_t k = 0; k < t->n_dims; k++) {
            dims[k] += k != i;
            if (!task_in_domain(t, dims))
                dims[k] -= k != i;
        }
        for (int64_t step = (int64_t)1 << 40; step > 0; step /= 2) {
            dims[i] = best + step;
            if (edge_in(t, arg, dims, 0, high))
                best += step;
        }
        for (int less = 1; less >= 0; less--) { /* odd, where the domain has such */
            dims[i] = best - (best % 2 == 0 && less);
            if (edge_in(t, arg, dims, low, high))
                return true;
        }
    }
    return false;
}
