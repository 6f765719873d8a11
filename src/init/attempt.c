/* A task whose shapes are found by running it, and which is rehearsed. Where that fails, its sizes are taken in
 * other ways: one that the kernel divides by others is a product of them; all but one are numbers. Each such
 * way is a guess, and a question in the file. */
#include "init/internal.h"

enum {
    FUEL = 80000000,      /* warp instructions for all of it */
    LEAST_FUEL = 6000000, /* without so many a way is not tried */
    WAY_FUEL = 5000000,   /* that compiling it stands for */
    MOST_FROZEN = 1 << 15 /* the product of sizes that are numbers */
};

static const char *const *copied(struct arena *a, const char *const *v, size_t n)
{
    const char **to = arena_array(a, const char *, n + 1);

    memcpy(to, v, n * sizeof(*v));
    return to;
}

/* The task, of which nothing is shared that a search writes. */
static struct init_task copy_task(struct arena *a, const struct init_task *t)
{
    struct init_task c = *t;
    struct init_arg *args = arena_array(a, struct init_arg, t->args.n + 1);

    memcpy(args, t->args.v, t->args.n * sizeof(*args));
    c.args.v = args;
    c.args.cap = t->args.n;
    c.dims.v = (void *)copied(a, t->dims.v, t->dims.n);
    c.dims.cap = t->dims.n;
    c.domain.v = (void *)copied(a, t->domain.v, t->domain.n);
    c.domain.cap = t->domain.n;
    c.workloads.v = (void *)copied(a, t->workloads.v, t->workloads.n);
    c.workloads.cap = t->workloads.n;
    c.questions.v = (void *)copied(a, t->questions.v, t->questions.n);
    c.questions.cap = t->questions.n;
    c.notes.v = (void *)copied(a, t->notes.v, t->notes.n);
    c.notes.cap = t->notes.n;
    c.bounds = (typeof(c.bounds)){0};
    return c;
}

struct attempts {
    struct init_task *t;     /* the best so far */
    struct init_task before; /* any search */
    struct arena *arena;
    const char *dir, *name;
};

/* One more way. True: it is the task now. */
static bool attempt(struct attempts *x, struct init_task *way)
{
    struct err err = {0};

    if (*way->fuel < LEAST_FUEL)
        return false;
    *way->fuel -= WAY_FUEL;
    if (!init_probe(way, x->arena, x->dir, x->name, &err) || !way->runs ||
        !init_rehearse(way, x->arena, x->dir, x->name))
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

/* Size `dim` becomes a product of a size of its own and of those that the kernel divides by. */
static bool compose(struct attempts *x, size_t dim)
{
    struct init_task way = copy_task(x->arena, &x->before);
    const char *name = way.dims.v[dim], *outer = is_named(&way, "outer") ? "n_outer" : "outer";
    struct str product = {.arena = x->arena};

    str_add(&product, outer);
    for (size_t i = 0; i < way.divisors.n; i++) {
        const size_t by = dim_number(&way, way.divisors.v[i]);
        if (by < way.dims.n && by != dim)
            str_addf(&product, " * %s", way.divisors.v[i]);
    }
    if (!strchr(str_text(&product), '*') || dim_number(&way, outer) < way.dims.n)
        return false;
    init_drop(
        &way, x->arena, name, arena_strdup(x->arena, str_text(&product)),
        arena_printf(x->arena, "a guess: %s is such a product, as the kernel divides it; is it always?", name));
    remove_dim(&way, dim);
    vec_add(x->arena, &way.dims, outer);
    for (size_t i = way.dims.n - 1; i > 0; i--)
        way.dims.v[i] = way.dims.v[i - 1];
    way.dims.v[0] = outer;
    return attempt(x, &way);
}

/* All sizes but one are numbers that are usual, and small. */
static bool freeze(struct attempts *x, size_t dim, int64_t most)
{
    struct init_task way = copy_task(x->arena, &x->before);
    int64_t *sizes = arena_array(x->arena, int64_t, way.dims.n + 1), product = 1;

    init_usual(&way, sizes);
    for (size_t i = 0; i < way.dims.n; i++) {
        sizes[i] = MIN(sizes[i], most);
        product *= i == dim ? 1 : sizes[i];
    }
    while (product > MOST_FROZEN) {
        size_t largest = 0;
        for (size_t i = 0; i < way.dims.n; i++) {
            if (i != dim && (largest == dim || sizes[i] > sizes[largest]))
                largest = i;
        }
        sizes[largest] /= 2;
        product /= 2;
    }
    for (size_t i = way.dims.n; i-- > 0;) {
        const char *name = way.dims.v[i];
        if (i == dim)
            continue;
        init_drop(
            &way, x->arena, name, arena_printf(x->arena, "%lld", (long long)sizes[i]),
            arena_printf(x->arena,
                         "a guess: %s is this number, because the shapes could not be told for all; which "
                         "values do callers pass?",
                         name));
        remove_dim(&way, i);
    }
    return attempt(x, &way);
}

/* Flags the other way: what does not run at all may do so then. */
static bool switch_off(struct attempts *x)
{
    struct init_task way = copy_task(x->arena, &x->before);
    bool any = false;

    for (size_t i = 0; i < way.args.n; i++) {
        struct init_arg *a = &way.args.v[i];
        if (!str_eq(a->type, "bool") || !a->value || str_in(a->value, "0|false"))
            continue;
        a->value = "0";
        a->todo = arena_printf(x->arena, "a guess: with %s set it did not run; which values do callers pass?",
                               a->name);
        any = true;
    }
    return any && attempt(x, &way);
}

bool init_settle(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err)
{
    static const int64_t most[] = {64, 8};
    struct attempts x = {.t = t, .before = copy_task(a, t), .arena = a, .dir = dir, .name = name};
    bool ran;

    if (!t->fuel) {
        t->fuel = arena_new(a, int64_t);
        *t->fuel = FUEL;
        x.before.fuel = t->fuel;
    }
    ran = init_probe(t, a, dir, name, err);
    t->sound = ran && t->runs && init_rehearse(t, a, dir, name);
    if (!ran || t->sound)
        return ran;
    if (!t->runs && switch_off(&x))
        return true;
    for (size_t i = 0; i < x.before.dims.n; i++) {
        bool divides = false;
        for (size_t k = 0; k < x.before.divisors.n; k++)
            divides = divides || str_eq(x.before.divisors.v[k], x.before.dims.v[i]);
        if (!divides && compose(&x, i))
            return true;
    }
    for (size_t m = 0; m < ARRAY_LEN(most); m++) {
        for (size_t i = 0; i < x.before.dims.n && x.before.dims.n > 1; i++) {
            if (freeze(&x, i, most[m]))
                return true;
        }
    }
    return ran;
}
