/* The largest shapes of the domain: where indices outgrow 32 bits, grids their dimensions and rows the shared
 * memory. They are far too large to be run whole. */
#include "internal.h"

enum { PAIRS_DIMS = 4 }; /* of more dims too many pairs could be made */
static const int64_t most_bytes = (int64_t)48 << 30;

bool task_fits_device(const struct task *t, const int64_t *dims)
{
    int64_t sum = 0, n;

    if (!task_in_domain(t, dims))
        return false;
    for (size_t i = 0; i < t->n_args; i++) {
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        if (!task_shape(t, &t->args[i], dims, &n, NULL) || n > most_bytes)
            return false;
        sum += n * (int64_t)kernel_type_size(t->args[i].type);
    }
    return sum <= most_bytes;
}

/* Conditions like d % 8 == 0 make holes in the domain: what does not fit for once says nothing of what is
 * above. */
static void raise(const struct task *t, int64_t *dims, size_t i, int64_t most)
{
    int64_t best = dims[i];

    for (int64_t step = 1; step <= most; step *= 2) {
        dims[i] = step;
        if (step > best && task_fits_device(t, dims))
            best = step;
    }
    for (int64_t step = best / 2; step > 0; step /= 2) {
        dims[i] = best + step;
        if (dims[i] <= most && task_fits_device(t, dims))
            best = dims[i];
    }
    dims[i] = best;
}

static int64_t power_of_two_below(int64_t n)
{
    int64_t p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

static void add(const struct task *t, struct arena *a, const int64_t *dims, const int64_t **to, size_t *n)
{
    if (!task_fits_device(t, dims))
        return;
    for (size_t i = 0; i < *n; i++)
        if (!memcmp(to[i], dims, t->n_dims * sizeof(*dims)))
            return;
    to[(*n)++] = arena_copy(a, dims, t->n_dims * sizeof(*dims));
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

void task_extremes(const struct task *t, struct arena *a, const int64_t ***shapes, size_t *n)
{
    const int64_t **to = arena_array(a, const int64_t *, 3 * t->n_dims + PAIRS_DIMS * (PAIRS_DIMS - 1) / 2 + 2);
    int64_t dims[16];
    size_t last = t->n_dims - 1;

    *n = 0;
    *shapes = to;
    for (size_t i = 0; i < t->n_dims; i++) { /* one dim as large as can be, the others small */
        lower_all(t, dims);
        raise(t, dims, i, most_bytes);
        add(t, a, dims, to, n);
        dims[i] = power_of_two_below(dims[i]); /* vectors */
        add(t, a, dims, to, n);
        dims[i]--; /* and their tails */
        add(t, a, dims, to, n);
    }
    for (size_t i = 0; i < t->n_dims && t->n_dims <= PAIRS_DIMS; i++) /* two; first and last are below */
        for (size_t k = i + 1; k < t->n_dims - (i == 0); k++) {
            lower_all(t, dims);
            raise(t, dims, i, 1 << 17);
            raise(t, dims, k, most_bytes);
            add(t, a, dims, to, n);
        }
    memcpy(dims, t->workloads, t->n_dims * sizeof(*dims));
    raise(t, dims, 0, 1 << 17);
    raise(t, dims, last, most_bytes); /* beyond 2^31 elements, wherever the domain lets them be */
    add(t, a, dims, to, n);
    dims[last] = power_of_two_below(dims[last]);
    add(t, a, dims, to, n);
}
