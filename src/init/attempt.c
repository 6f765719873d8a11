/* A task whose shapes are found by running it, and which is rehearsed. Where that fails, its sizes are taken in
 * other ways: one that the kernel divides by others is a product of them; all but one are numbers. Each such
 * way is a guess, and a question in the file. */
#include "init/internal.h"

enum {
    FUEL = 80000000,       /* warp instructions for all of it */
    LEAST_FUEL = 6000000,  /* without so many a way is not tried */
    WAY_FUEL = 5000000,    /* that compiling it stands for */
    TIE_FUEL = 20000000,   /* for those before the last one */
    PIN_FUEL = 30000000,   /* for the last way, whatever is left */
    MOST_FROZEN = 1 << 15, /* the product of sizes that are numbers */
    MOST_BYTES = 4         /* of an element of rows that lie a number of bytes apart */
};
#define NO_SIZE "launches"

/* A list of the same items, which may be written and grows into memory of its own. */
#define COPY_LIST(arena, list)                                                \
    do {                                                                      \
        (list).v = arena_copy(arena, (list).v, (list).n * sizeof(*(list).v)); \
        (list).cap = (list).n;                                                \
    } while (0)

struct init_task init_copy_task(struct arena *a, const struct init_task *t)
{
    struct init_task c = *t;

    COPY_LIST(a, c.args);
    COPY_LIST(a, c.dims);
    COPY_LIST(a, c.domain);
    COPY_LIST(a, c.workloads);
    COPY_LIST(a, c.questions);
    COPY_LIST(a, c.notes);
    c.bounds = (typeof(c.bounds)){0};
    return c;
}

struct attempts {
    struct init_task *t;     /* the best so far */
    struct init_task before; /* any search */
    struct arena *arena;
    const char *dir, *name;
};

/* The task as the search left it, with shapes that hold what was touched. */
static bool cover(struct attempts *x, const struct init_task *found)
{
    struct init_task way = init_copy_task(x->arena, found);

    if (!found->runs || *way.fuel < LEAST_FUEL || init_is_late())
        return false;
    way.bounds = found->bounds;
    COPY_LIST(x->arena, way.bounds);
    way.covers = true;
    *way.fuel -= WAY_FUEL / 2;
    if (!init_rehearse(&way, x->arena, x->dir, x->name))
        return false;
    way.sound = true;
    *x->t = way;
    return true;
}

/* One more way. True: it is the task now. */
static bool attempt(struct attempts *x, struct init_task *way)
{
    struct err err = {0};

    if (*way->fuel < LEAST_FUEL || init_is_waning())
        return false;
    *way->fuel -= WAY_FUEL;
    bool ok = init_probe(way, x->arena, x->dir, x->name, &err);
    if (!ok || !way->runs || !init_rehearse(way, x->arena, x->dir, x->name))
        return false;
    way->sound = true;
    *x->t = *way;
    return true;
}

static size_t dim_number(const struct init_task *t, const char *name)
{
    size_t i = 0;

    while (i < t->dims.n && !str_eq(t->dims.v[i], name))
        i++;
    return i;
}

static void remove_dim(struct init_task *t, size_t dim)
{
    for (size_t i = dim; i + 1 < t->dims.n; i++)
        t->dims.v[i] = t->dims.v[i + 1];
    t->dims.n--;
}

static bool is_named(const struct init_task *t, const char *name)
{
    for (size_t i = 0; i < t->args.n; i++) {
        if (str_eq(t->args.v[i].name, name))
            return true;
    }
    return false;
}

/* Size `dim` becomes a product of a size of its own and of those that the kernel divides by. False: there are
 * none. */
static bool composed(const struct attempts *x, size_t dim, struct init_task *way)
{
    *way = init_copy_task(x->arena, &x->before);
    const char *name = way->dims.v[dim], *outer = is_named(way, "outer") ? "n_outer" : "outer";
    struct str product = {.arena = x->arena};

    str_add(&product, outer);
    for (size_t i = 0; i < way->divisors.n; i++) {
        const size_t by = dim_number(way, way->divisors.v[i]);
        if (by == dim)
            return false;
        if (by < way->dims.n)
            str_addf(&product, " * %s", way->divisors.v[i]);
    }
    if (!strchr(str_text(&product), '*') || dim_number(way, outer) < way->dims.n)
        return false;
    init_drop(way, x->arena, name, arena_strdup(x->arena, str_text(&product)),
              arena_printf(x->arena, "%s is such a product, as the kernel divides it; is it always?", name),
              true);
    remove_dim(way, dim);
    vec_add(x->arena, &way->dims, outer);
    for (size_t i = way->dims.n - 1; i > 0; i--)
        way->dims.v[i] = way->dims.v[i - 1];
    way->dims.v[0] = outer;
    return true;
}

static bool divides(const struct init_task *t, size_t dim)
{
    for (size_t i = 0; i < t->divisors.n; i++) {
        if (str_eq(t->divisors.v[i], t->dims.v[dim]))
            return true;
    }
    return false;
}

/* All sizes but `but` are numbers that are usual, and small; SIZE_MAX: those that the kernel divides by are. */
static bool freeze(struct attempts *x, const struct init_task *from, size_t but, int64_t most)
{
    struct init_task way = init_copy_task(x->arena, from);
    const size_t n = way.dims.n;
    int64_t *sizes = arena_array(x->arena, int64_t, n + 1), product = 1;
    bool *fixed = arena_array(x->arena, bool, n + 1);
    size_t n_fixed = 0;

    init_usual(&way, sizes);
    for (size_t i = 0; i < n; i++) {
        fixed[i] = but == SIZE_MAX ? divides(&way, i) : i != but;
        n_fixed += fixed[i];
        sizes[i] = fixed[i] ? MIN(sizes[i], most) : 1;
        product *= sizes[i];
    }
    if (!n_fixed || n_fixed == n)
        return false;
    while (product > MOST_FROZEN) {
        size_t largest = 0;
        for (size_t i = 0; i < n; i++)
            largest = sizes[i] > sizes[largest] ? i : largest;
        sizes[largest] /= 2;
        product /= 2;
    }
    way.frozen = product;
    for (size_t i = n; i-- > 0;) {
        const char *name = way.dims.v[i];
        if (!fixed[i])
            continue;
        init_drop(
            &way, x->arena, name, arena_printf(x->arena, "%lld", (long long)sizes[i]),
            arena_printf(x->arena,
                         "%s is this number, because the shapes could not be told for all; which values do "
                         "callers pass?",
                         name),
            true);
        remove_dim(&way, i);
    }
    return attempt(x, &way);
}

/* Flags the other way: what does not run at all may do so then. */
static bool switch_off(struct attempts *x)
{
    struct init_task way = init_copy_task(x->arena, &x->before);
    bool any = false;

    for (size_t i = 0; i < way.args.n; i++) {
        struct init_arg *a = &way.args.v[i];
        if (!str_eq(a->type, "bool") || !a->value || str_in(a->value, "0|false"))
            continue;
        a->value = "0";
        init_guess(
            a, arena_printf(x->arena, "with %s set it did not run; which values do callers pass?", a->name));
        any = true;
    }
    return any && attempt(x, &way);
}

/* May the number be how far rows lie apart? */
static bool is_apart(const char *name)
{
    return init_is_stride(name) || strcasestr(name, "step") || str_ends(name, "_ld");
}

/* Rows that overlap: how far they lie apart is four times a size, which is enough where it counts bytes, or the
 * product of all sizes. `row`: which size; as many as there are: the product. */
static bool tie(struct attempts *x, size_t row)
{
    const struct init_task *before = &x->before;
    struct init_task way = init_copy_task(x->arena, before);
    struct str as = {.arena = x->arena};
    size_t n_rows = 0;

    for (size_t i = 0; i < before->dims.n; i++) {
        const char *name = before->dims.v[i];
        if (!is_apart(name) && (n_rows++ == row || row == before->dims.n))
            str_addf(&as, "%s * ", name);
    }
    if (!as.len || n_rows == before->dims.n || (row == before->dims.n && n_rows < 2))
        return false;
    str_addf(&as, "%d", MOST_BYTES);
    const char *text = arena_strdup(x->arena, str_text(&as));
    for (size_t i = way.dims.n; i-- > 0;) {
        const char *name = way.dims.v[i];
        if (!is_apart(name))
            continue;
        init_drop(
            &way, x->arena, name, text,
            arena_printf(x->arena, "rows overlapped with a %s of any size; which one do callers pass?", name),
            true);
        remove_dim(&way, i);
    }
    return attempt(x, &way);
}

static bool tie_any(struct attempts *x)
{
    const bool unclean = *x->before.unclean;
    bool tied = false;

    *x->before.unclean = false; /* where it is tied, it may no longer be */
    for (size_t row = 0; row <= x->before.dims.n && !tied; row++)
        tied = tie(x, row);
    *x->before.unclean = !tied && unclean;
    return tied;
}

/* The last way: each size is one number, and each shape what is touched then. */
static bool pin(struct attempts *x, const struct init_task *from, const int64_t *sizes)
{
    struct init_task way = init_copy_task(x->arena, from);

    if (*way.unclean || *way.fuel < LEAST_FUEL || init_is_late())
        return false;
    *way.fuel -= WAY_FUEL / 2;
    for (size_t i = 0; i < way.dims.n; i++)
        vec_add(x->arena, &way.bounds,
                ((struct init_bound){.dim = way.dims.v[i], .low = sizes[i], .high = sizes[i], .unit = 1}));
    const bool fits =
        init_measure(&way, x->arena, x->dir, x->name) && init_rehearse(&way, x->arena, x->dir, x->name);
    if (!fits && *way.unclean) /* it is worth more than why other ways failed */
        x->t->flaw = way.flaw;
    if (!fits)
        return false;
    way.runs = true;
    if (way.dims.n > 1 || !str_eq(way.dims.v[0], NO_SIZE))
        vec_add(x->arena, &way.questions,
                arena_strdup(x->arena,
                             "the shapes could not be told for all sizes: they are those of one call; "
                             "which sizes do callers pass, and which shapes have the buffers then?"));
    way.sound = true;
    *x->t = way;
    return true;
}

static bool pin_any(struct attempts *x, const struct init_task *found)
{
    static const int64_t tried[] = {64, 32, 128, 16, 0, 256, 8, 4}; /* 0: those at which it ran */
    int64_t sizes[INIT_MOST_DIMS];

    if (x->before.dims.n > INIT_MOST_DIMS)
        return false;
    init_refuel(x->t->fuel, PIN_FUEL);
    for (size_t i = 0; i < x->before.dims.n; i++)
        *x->t->unclean = *x->t->unclean && !is_apart(x->before.dims.v[i]);
    for (size_t k = 0; k < ARRAY_LEN(tried); k++) {
        for (size_t i = 0; i < x->before.dims.n; i++) {
            sizes[i] = tried[k] ? tried[k] : init_seen_size(found, x->before.dims.v[i]);
            sizes[i] *= tried[k] && is_apart(x->before.dims.v[i]) ? MOST_BYTES : 1;
        }
        if ((tried[k] || found->seen.n) && pin(x, &x->before, sizes))
            return true;
    }
    return false;
}

/* A launch that is always the same has a size all the same, because a task has some: it is 1. */
static bool settle_without_sizes(struct init_task *t, struct arena *a, const char *dir, const char *name)
{
    struct attempts x = {.t = t, .arena = a, .dir = dir, .name = name};
    const int64_t one = 1;

    x.before = init_copy_task(a, t);
    vec_add(a, &x.before.dims, NO_SIZE);
    return pin(&x, &x.before, &one);
}

bool init_settle(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err)
{
    static const int64_t most[] = {64, 8, 2};
    struct attempts x = {.t = t, .arena = a, .dir = dir, .name = name};
    struct init_task base, way, found;
    bool ran;

    if (!t->fuel) {
        t->fuel = arena_new(a, int64_t);
        *t->fuel = FUEL;
    }
    if (!t->dims.n && settle_without_sizes(t, a, dir, name))
        return true;
    x.before = init_copy_task(a, t);
    ran = init_probe(t, a, dir, name, err);
    found = init_copy_task(a, t);
    found.bounds = t->bounds;
    COPY_LIST(a, found.bounds);
    t->sound = ran && t->runs && init_rehearse(t, a, dir, name);
    if (!ran || t->sound || (!t->runs && switch_off(&x)))
        return ran;
    base = x.before;
    for (size_t i = 0; i < x.before.dims.n; i++) {
        if (!composed(&x, i, &way))
            continue;
        base = base.dims.v == x.before.dims.v ? init_copy_task(a, &way) : base; /* the first one */
        if (attempt(&x, &way))
            return true;
    }
    const bool unclean = *t->unclean;
    if (unclean && tie_any(&x))
        return true;
    if (cover(&x, &found))
        return true;
    base.covers = true;
    for (size_t m = 0; m < ARRAY_LEN(most); m++) {
        if (freeze(&x, &base, SIZE_MAX, most[m]))
            return true;
    }
    for (size_t i = 0; i < base.dims.n && base.dims.n > 1; i++) {
        for (size_t m = 0; m < ARRAY_LEN(most); m++) {
            if (freeze(&x, &base, i, most[m]))
                return true;
        }
    }
    init_refuel(t->fuel, TIE_FUEL);
    way = init_copy_task(a, &x.before);
    way.units = true;
    if ((unclean || !tie_any(&x)) && !attempt(&x, &way))
        pin_any(&x, &found);
    return ran;
}
