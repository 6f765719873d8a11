/* Would `astra check` take the task that was written? The small shapes of its suite are run with what their
 * buffers hold, on buffers larger than any shape. What is touched beyond a shape, or only in part, is a flaw:
 * some are mended here, as guesses that say so, for others sizes must be taken in another way (attempt.c). */
#include "init/rehearse.h"

#include <ctype.h>

/* The text as the task stands, with sizes that its domain has, and all that runs it. */
static bool open_rehearsal(struct rehearsing *r, struct err *err)
{
    return init_open_task(r->t, r->arena, r->dir, r->name, 0, &r->task, err) &&
           probe_open_prints(r->t, r->arena, r->task, &r->judge, &r->prints, err);
}

static double volume(const struct rehearsing *r, const struct task_case *c)
{
    double product = 1;

    for (size_t i = 0; i < r->task->n_dims; i++)
        product *= (double)c->dims[i];
    return product;
}

/* Sizes that are drawn, as a trial draws them, and those in which one input alone holds other numbers. */
static void add_drawn(struct rehearsing *r)
{
    static const uint64_t seeds[] = {1, 2};
    const struct task_case *drawn;
    size_t n;

    for (size_t k = 0; k < 2 * ARRAY_LEN(seeds); k++) {
        (k % 2 ? task_inputs : task_hidden)(r->task, r->arena, seeds[k / 2], &drawn, &n);
        for (size_t i = 0; i < n && r->n_others < MOST_OTHERS; i++) {
            if (!drawn[i].wild)
                r->others[r->n_others++] = &drawn[i];
        }
    }
}

/* One case of each shape, the first, which has the task's own values; small ones come first. */
static void choose_cases(struct rehearsing *r)
{
    const struct task_case *all;
    size_t n;

    task_suite(r->task, r->arena, 1, &all, &n);
    r->alike = NULL;
    for (size_t i = 0; i < n && !r->alike; i++)
        r->alike = str_eq(all[i].distribution, "one index") ? &all[i] : NULL;
    for (size_t i = 0; i < n && r->n_cases < MOST_CASES; i++) {
        bool there = all[i].wild;
        for (size_t k = 0; k < r->n_cases && !there; k++)
            there = memcmp(r->cases[k]->dims, all[i].dims, r->task->n_dims * sizeof(int64_t)) == 0;
        if (!there)
            r->cases[r->n_cases++] = &all[i];
    }
    r->n_others = 0;
    for (size_t i = 0; i < n && r->n_others < MOST_CASES; i++) {
        bool there = all[i].wild;
        for (size_t k = 0; k < r->n_cases; k++)
            there = there || r->cases[k] == &all[i];
        if (!there)
            r->others[r->n_others++] = &all[i];
    }
    add_drawn(r);
    for (size_t i = 1; i < r->n_cases; i++) {
        for (size_t k = i; k > 0 && volume(r, r->cases[k]) < volume(r, r->cases[k - 1]); k--) {
            const struct task_case *larger = r->cases[k - 1];
            r->cases[k - 1] = r->cases[k];
            r->cases[k] = larger;
        }
    }
}

/* ---- one case */

bool rehearse_take(struct rehearsing *r, const struct task_case *c, struct taking how, struct footprint *f)
{
    struct err err = {0};
    struct task_case with = *c;
    struct footprint_run run = {.dims = c->dims,
                                .filled = SIZE_MAX,
                                .as = how.zeros ? NULL : &with,
                                .order = how.order,
                                .checked = how.checked};
    struct task_values *values = arena_array(r->arena, struct task_values, r->task->n_args + 1);

    if (init_is_late()) { /* nothing more is learnt */
        *r->t->fuel = -1;
        *f = (struct footprint){.endless = true,
                                .args = arena_array(r->arena, struct footprint_arg, r->task->n_args + 1)};
        return false;
    }
    for (size_t i = 0; i < r->task->n_args; i++)
        values[i] = i < PROBE_ARGS && r->narrowed[i] ? r->narrow[i] : c->values[i];
    with.values = values;
    bool ran = footprint_take(f, r->arena, r->prints, &run, &err);
    *r->t->fuel -= (int64_t)f->warp_insns + RUN_INSNS;
    return ran && f->ran;
}

/* Do the shapes hold what was touched? */
static bool holds(struct rehearsing *r, const struct footprint *f, const int64_t *dims)
{
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        const struct task_arg *arg = &r->task->args[i];
        const uint64_t size = kernel_type_size(arg->type);
        int64_t have;

        if (arg->role == ROLE_SCALAR || !task_shape(r->task, arg, dims, &have, NULL))
            continue;
        if (f->args[i].end > (uint64_t)have * size) {
            r->flaw.arg = i;
            r->flaw.elements = (int64_t)((f->args[i].end + size - 1) / size);
            r->flaw.dims = dims;
            r->flaw.words =
                arena_printf(r->arena, "%s; %s is touched up to element %lld, and its shape holds %lld",
                             task_dims_text(r->arena, r->task, dims), arg->name, (long long)r->flaw.elements,
                             (long long)have);
            return false;
        }
    }
    return true;
}

static enum fit run_case(struct rehearsing *r, const struct task_case *c, bool zeros)
{
    struct footprint f;

    if (*r->t->fuel < 0)
        return STOPS;
    if (!rehearse_take(r, c, (struct taking){.zeros = zeros}, &f)) {
        if (init_is_late())
            return STOPS;
        r->flaw.words = arena_printf(r->arena, "%s; %s", task_dims_text(r->arena, r->task, c->dims),
                                     f.words ? f.words : "it does not run");
        /* too much work of larger sizes is no flaw, but what was touched until then counts */
        if (!f.endless || (!zeros && c == r->cases[0]))
            return STOPS;
    }
    if (!holds(r, &f, c->dims))
        return REACHES;
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        const struct task_arg *arg = &r->task->args[i];
        const uint64_t size = kernel_type_size(arg->type);
        int64_t have;

        if (arg->role == ROLE_SCALAR || !task_shape(r->task, arg, c->dims, &have, NULL))
            continue;
        r->atomic = r->atomic || f.args[i].atomic;
        r->wrote = r->wrote || f.args[i].wrote || f.args[i].atomic;
        if (f.endless)
            continue;
        if (f.args[i].read_first ||
            (f.args[i].written != (uint64_t)have * size && (uint64_t)have * size <= 1 << 22))
            r->whole[i] = false;
    }
    return FITS;
}

/* The smallest, two larger ones, which show what small sizes do not, then the others. */
static size_t in_turn(size_t i, size_t n)
{
    const size_t middle = n / 2, larger = n * 3 / 4;

    if (n < 8 || i == 0)
        return i;
    if (i < 3)
        return i == 1 ? middle : larger;
    i -= 2;
    i += i >= middle;
    return i + (i >= larger);
}

/* All of them, as far as there is fuel for. */
enum fit rehearse_cases(struct rehearsing *r, bool zeros)
{
    const int64_t end = *r->t->fuel - CASE_INSNS;

    for (size_t i = 0; i < PROBE_ARGS; i++)
        r->whole[i] = true;
    for (size_t i = 0; i < r->n_cases && (i < 4 || *r->t->fuel > end); i++) {
        enum fit fit = run_case(r, r->cases[in_turn(i, r->n_cases)], zeros);
        if (fit != FITS)
            return fit;
    }
    return FITS;
}

/* ---- shapes */

static void close_rehearsal(struct rehearsing *r)
{
    footprints_close(r->prints);
    judge_close(r->judge);
    r->prints = NULL;
    r->judge = NULL;
}

bool rehearse_again(struct rehearsing *r)
{
    struct err err = {0};

    close_rehearsal(r);
    r->n_cases = 0;
    if (!open_rehearsal(r, &err))
        return false;
    choose_cases(r);
    return true;
}

/* Of another buffer: the smallest that holds what is touched of this one. NULL: none. */
static const char *shape_that_holds(const struct rehearsing *r)
{
    const char *best = NULL;
    int64_t least = INT64_MAX, have;

    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        const struct task_arg *arg = &r->task->args[i];
        if (i == r->flaw.arg || arg->role == ROLE_SCALAR ||
            !task_shape(r->task, arg, r->flaw.dims, &have, NULL) || have < r->flaw.elements || have >= least)
            continue;
        least = have;
        best = r->t->args.v[i].shape;
    }
    return best;
}

/* What numbers lead to may lie anywhere in a buffer: it is as large as another one, where that is enough. */
static bool mend_shapes(struct rehearsing *r)
{
    enum fit fit = REACHES;

    for (int tries = 0; tries < MOST_SHAPES && fit == REACHES; tries++) {
        struct init_arg *a = &r->t->args.v[r->flaw.arg];
        const char *shape = shape_that_holds(r);

        if (!shape)
            return false;
        a->shape = shape;
        init_guess(a, arena_printf(r->arena,
                                   "the numbers in other buffers decide how far %s is touched; "
                                   "which shape has it?",
                                   a->name));
        if (str_eq(a->role, "out"))
            a->role = "inout";
        if (!rehearse_again(r))
            return false;
        fit = rehearse_cases(r, false);
    }
    return fit == FITS;
}

/* ---- shapes that hold all that is touched */

enum { MOST_REACHED = PROBE_POINTS - PROBE_DIMS, LONGER = 4 };

struct reach { /* how far each buffer is touched, in elements, by sizes */
    struct probing sizes;
    int64_t e[PROBE_ARGS][PROBE_POINTS];
    bool far[PROBE_ARGS];
};

struct reaching {
    bool zeros, whole; /* runs that come to their end alone */
};

/* One more point. False: it does not come to its end. */
static bool add_reach(struct rehearsing *r, struct reach *x, const struct task_case *c, struct reaching how)
{
    const size_t n = x->sizes.n_points;
    struct footprint f;

    if (n == PROBE_POINTS || *r->t->fuel < 0 ||
        (!rehearse_take(r, c, (struct taking){.zeros = how.zeros}, &f) && (how.whole || !f.endless)))
        return false;
    memcpy(x->sizes.dims[n], c->dims, r->task->n_dims * sizeof(int64_t));
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        const struct task_arg *arg = &r->task->args[i];
        const uint64_t size = kernel_type_size(arg->type);
        int64_t have;

        if (arg->role == ROLE_SCALAR || !task_shape(r->task, arg, c->dims, &have, NULL))
            continue;
        x->e[i][n] = (int64_t)((f.args[i].end + size - 1) / size);
        x->far[i] = x->far[i] || x->e[i][n] > have;
    }
    x->sizes.n_points++;
    return true;
}

/* The cases, the smallest first, and sizes that are each longer: what is far grows with some of them. */
static bool measure_reach(struct rehearsing *r, struct reach *x, struct reaching how)
{
    const int64_t end = *r->t->fuel - 2 * CASE_INSNS;
    size_t n = 0;

    x->sizes = (struct probing){.t = r->t, .arena = r->arena, .task = r->task, .n_dims = r->task->n_dims};
    x->sizes.setting = probe_plain(1);
    for (; n < r->n_cases && x->sizes.n_points < MOST_REACHED && (n < 4 || *r->t->fuel > end); n++) {
        if (!add_reach(r, x, r->cases[n], how) && n == 0)
            return false;
    }
    const struct task_case *middle = r->cases[n / 2];
    for (size_t i = 0; i < r->task->n_dims && i < PROBE_DIMS; i++) {
        struct task_case longer = *middle;
        int64_t *dims = arena_copy(r->arena, middle->dims, r->task->n_dims * sizeof(*dims));

        dims[i] *= LONGER;
        longer.dims = dims;
        if (task_in_domain(r->task, dims))
            add_reach(r, x, &longer, how);
    }
    return true;
}

/* Where a shape is too small, one that holds all that is touched: more is never wrong of what is read, and what
 * is not written is as it was. */
bool rehearse_reach(struct rehearsing *r, bool zeros)
{
    enum fit fit = REACHES;

    for (int tries = 0; tries < MOST_COVERS && fit == REACHES; tries++) {
        struct reach *x = arena_new(r->arena, struct reach);

        if (r->task->n_dims > PROBE_DIMS || !measure_reach(r, x, (struct reaching){.zeros = zeros}))
            return false;
        for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
            struct init_arg *a = &r->t->args.v[i];
            struct probe_extent cover;

            if (!x->far[i])
                continue;
            if (!probe_cover(&x->sizes, x->sizes.n_points, x->e[i], &cover))
                return false;
            a->shape = probe_extent_shape(&x->sizes, &cover);
            init_guess(
                a, arena_printf(r->arena, "this holds what was touched of %s; which shape has it?", a->name));
            if (str_eq(a->role, "out"))
                a->role = "inout";
        }
        if (!rehearse_again(r))
            return false;
        fit = rehearse_cases(r, zeros);
    }
    return fit == FITS;
}

/* Where a shape is too small, the formula that has exactly what is touched, if there is one: sizes that were
 * small at first did not tell it. */
static bool mend_formulas(struct rehearsing *r)
{
    struct reach *x = arena_new(r->arena, struct reach);
    bool any = false;

    if (r->task->n_dims > PROBE_DIMS || !measure_reach(r, x, (struct reaching){.whole = true}))
        return false;
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        struct probe_extent exact = {.form = PROBE_PRODUCT, .most = -1};
        if (!x->far[i])
            continue;
        if (x->sizes.n_points < PROBE_BASE + 2 ||
            !probe_product(&x->sizes, x->sizes.n_points, x->e[i], &exact.a))
            return false;
        r->t->args.v[i].shape = probe_extent_shape(&x->sizes, &exact);
        any = true;
    }
    return any && rehearse_again(r) && rehearse_cases(r, false) == FITS;
}

/* ---- what buffers hold */

bool rehearse_is_open(const struct rehearsing *r, size_t i)
{
    const struct task_arg *arg = &r->task->args[i];

    return (arg->role == ROLE_IN || arg->role == ROLE_INOUT) && i < PROBE_ARGS;
}

/* Floating numbers below it; of integers the largest that are, which reach farthest. */
static void narrow(struct rehearsing *r, size_t i, double high)
{
    const bool floating = type_is_floating(r->task->args[i].type);

    r->narrow[i] = (struct task_values){.kind = floating ? VALUE_UNIFORM : VALUE_CONSTANT,
                                        .high = high,
                                        .constant = high - 1,
                                        .declared = true};
    r->narrowed[i] = true;
}

static void say_values(struct rehearsing *r, size_t i)
{
    struct init_arg *a = &r->t->args.v[i];
    const bool floating = type_is_floating(r->task->args[i].type);
    const double high = r->narrow[i].high;

    if (r->task->args[i].type == KT_BOOL) /* no index */
        a->values = arena_printf(r->arena, "{kind: constant, value: %g}", r->narrow[i].constant);
    else
        a->values = arena_printf(
            r->arena, floating ? "{kind: uniform, low: 0, high: %g}" : "{kind: index, low: 0, high: %g}", high);
    init_guess(a, arena_printf(r->arena,
                               "with other numbers in %s the kernel reaches beyond other buffers, or does "
                               "not end; which range has it?",
                               a->name));
}

/* All cases that `astra check` has, as far as there is time for. */
static enum fit run_all(struct rehearsing *r)
{
    init_refuel(r->t->fuel, EXAM_INSNS);
    enum fit fit = rehearse_cases(r, false);
    init_refuel(r->t->fuel, EXAM_INSNS);
    for (size_t i = 0; i < r->n_others && fit == FITS && *r->t->fuel > 0; i++)
        fit = run_case(r, r->others[i], false);
    return init_is_late() ? FITS : fit;
}

static enum fit run_open(struct rehearsing *r)
{
    return r->exam ? run_all(r) : rehearse_cases(r, false);
}

/* With zeros all is within the shapes. Of which buffers must the numbers be small, and how small? */
static bool mend_values(struct rehearsing *r)
{
    static const int higher[] = {8, 2};
    const struct task *task = r->task;
    size_t tries = 0;

    r->narrow = arena_array(r->arena, struct task_values, task->n_args + 1);
    for (size_t i = 0; i < task->n_args; i++) {
        if (rehearse_is_open(r, i))
            narrow(r, i, 1);
    }
    enum fit fit = run_open(r);
    if (fit != FITS && !(fit == REACHES && r->t->covers && rehearse_reach(r, false)))
        return false;
    for (int floating = 1; floating >= 0; floating--) { /* those that need not be are as they were */
        for (size_t i = 0; i < task->n_args && tries < MOST_TRIES; i++) {
            if (i >= PROBE_ARGS || !r->narrowed[i] || type_is_floating(task->args[i].type) != floating)
                continue;
            r->narrowed[i] = false;
            tries++;
            if (run_open(r) == FITS)
                continue;
            narrow(r, i, 1);
            for (size_t k = 0;
                 k < ARRAY_LEN(higher) && !floating && task->args[i].type != KT_BOOL && tries < MOST_TRIES;
                 k++, tries++) {
                narrow(r, i, higher[k]);
                if (run_open(r) == FITS)
                    break;
                narrow(r, i, 1);
            }
        }
    }
    for (size_t i = 0; i < task->n_args && i < PROBE_ARGS; i++) {
        if (r->narrowed[i])
            say_values(r, i);
        r->narrowed[i] = false;
    }
    if (!rehearse_again(r)) /* as the task says it now: some of them differ */
        return false;
    fit = run_open(r);
    return fit == FITS || (fit == REACHES && r->t->covers && rehearse_reach(r, false));
}

/* ---- what is written */

static void mend_roles(struct rehearsing *r)
{
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        struct init_arg *a = &r->t->args.v[i];
        if (r->task->args[i].role != ROLE_OUT || r->whole[i])
            continue;
        a->role = "inout";
        init_guess(a, arena_printf(r->arena,
                                   "not all of %s is written for every shape; do callers need what it held "
                                   "before (inout), or is a part of it nobody's?",
                                   a->name));
    }
}

/* Where atomics take turns, what they leave may hang on whose turn it is. */
static bool order_matters(struct rehearsing *r, const struct task_case *c)
{
    struct footprint one, other;
    bool differs = false;

    if (!rehearse_take(r, c, (struct taking){0}, &one))
        return false;
    for (uint64_t order = 1; order < MOST_ORDERS && !differs; order++) {
        if (!rehearse_take(r, c, (struct taking){.order = order}, &other))
            return false;
        for (size_t k = 0; k < r->task->n_args && !differs; k++) {
            const enum task_role role = r->task->args[k].role;
            differs = (role == ROLE_OUT || role == ROLE_INOUT) && one.args[k].hash != other.args[k].hash;
        }
    }
    return differs;
}

static void mend_order(struct rehearsing *r)
{
    bool differs = r->t->any_order;

    for (size_t i = 0; i < r->n_cases && r->atomic && !differs && i < MOST_ORDERED; i++)
        differs = order_matters(r, r->cases[r->n_cases - 1 - i]) || order_matters(r, r->cases[i]);
    r->t->any_order = differs;
}

/* Workloads of which a single block takes longer than can be waited for, or whose grid is beyond what there is,
 * become smaller. `grid`: it was that. */
static bool mend_workloads(struct rehearsing *r, bool *grid, bool *far)
{
    bool ends = true;

    *grid = *far = false;

    for (size_t i = 0; i < r->task->n_workloads && ends; i++) {
        struct footprint f;
        struct err err = {0};
        const struct footprint_run run = {
            .dims = r->task->workloads + i * r->task->n_dims, .filled = SIZE_MAX, .ends = true};

        ends = (footprint_take(&f, r->arena, r->prints, &run, &err) && f.ran) || !f.endless;
        *grid = !f.ran && f.words && strstr(f.words, "must be from 1 to");
        ends = ends && !*grid;
        if (f.ran && !holds(r, &f, run.dims))
            *far = true;
        *r->t->fuel -= (int64_t)f.warp_insns + RUN_INSNS;
    }
    return ends;
}

/* Have the buffers of a workload more bytes than a machine has to spare? */
static bool too_much(const struct rehearsing *r)
{
    for (size_t w = 0; w < r->task->n_workloads; w++) {
        const int64_t *dims = r->task->workloads + w * r->task->n_dims;
        double bytes = 0;

        for (size_t i = 0; i < r->task->n_args; i++) {
            const struct task_arg *arg = &r->task->args[i];
            int64_t have;
            if (arg->role != ROLE_SCALAR && task_shape(r->task, arg, dims, &have, NULL))
                bytes += (double)have * (double)kernel_type_size(arg->type);
        }
        if (bytes > MOST_BYTES)
            return true;
    }
    return false;
}

/* All sizes together are too large for what the launcher asks for: a smaller product of them. */
static bool open_smaller(struct rehearsing *r)
{
    struct err err = {0};
    bool ok = open_rehearsal(r, &err);

    while (!ok && strstr(err.text, "not-understood") && r->t->most != LEAST_WORK) {
        r->t->most = MAX((r->t->most ? r->t->most : 1 << 22) / 8, LEAST_WORK);
        close_rehearsal(r);
        ok = open_rehearsal(r, &err);
    }
    while ((ok ? too_much(r) : strstr(err.text, "elements or more") != NULL) &&
           r->t->work != LEAST_WORK) { /* of a buffer */
        r->t->work = MAX((r->t->work ? r->t->work : 1 << 22) / 8, LEAST_WORK);
        close_rehearsal(r);
        ok = open_rehearsal(r, &err);
    }
    return ok;
}

static bool mend(struct rehearsing *r)
{
    enum fit fit = rehearse_cases(r, false);
    const struct init_arg *args = arena_copy(r->arena, r->t->args.v, r->t->args.n * sizeof(*args));

    if (fit == FITS)
        return true;
    struct flaw far = r->flaw;
    if (fit == REACHES) {
        if (mend_formulas(r))
            return true;
        rehearse_restore(r, args);
        if (!rehearse_again(r))
            return false;
    }
    enum fit zeros = rehearse_cases(r, true);
    if (zeros == REACHES && r->t->covers && rehearse_reach(r, true)) {
        zeros = FITS;
        fit = rehearse_cases(r, false);
        if (fit == FITS)
            return true;
        far = r->flaw;
        args = arena_copy(r->arena, r->t->args.v, r->t->args.n * sizeof(*args));
    }
    if (zeros == FITS && fit == REACHES) {
        r->flaw = far;
        if (mend_shapes(r))
            return true;
        rehearse_restore(r, args);
        if (!rehearse_again(r))
            return false;
        if (r->t->covers && rehearse_reach(r, false))
            return true;
        rehearse_restore(r, args);
        if (!rehearse_again(r))
            return false;
    }
    if (zeros == FITS && mend_values(r))
        return true;
    if (!r->t->units)
        return false;
    rehearse_restore(r, args);
    return rehearse_again(r) && rehearse_units(r, false);
}

/* Where other numbers than the task's own reach too far, shapes that hold it or ranges are looked for. */
static bool passes(struct rehearsing *r)
{
    const struct init_arg *args = arena_copy(r->arena, r->t->args.v, r->t->args.n * sizeof(*args));
    enum fit fit = run_all(r);
    const struct flaw far = r->flaw;

    if (fit == FITS || (fit == REACHES && r->t->covers && rehearse_reach(r, false) && run_all(r) == FITS))
        return true;
    rehearse_restore(r, args);
    r->exam = true;
    const bool good = rehearse_again(r) && rehearse_cases(r, true) == FITS && mend_values(r);
    r->exam = false;
    if (good)
        return true;
    rehearse_restore(r, args);
    r->flaw = far;
    return false;
}

/* Is it a condition on sizes alone, in the words of a task? */
static bool is_of_sizes(const struct init_task *t, struct arena *a, const char *text)
{
    bool any = false;

    for (const char *p = text; *p;) {
        const size_t len = str_word(p);
        if (isdigit((unsigned char)*p)) {
            p += strspn(p, "0123456789");
            if (isalpha((unsigned char)*p))
                return false;
            continue;
        }
        if (len) {
            const char *word = arena_strndup(a, p, len);
            bool is_size = false;
            for (size_t i = 0; i < t->dims.n; i++)
                is_size = is_size || str_eq(t->dims.v[i], word);
            if (!is_size)
                return false;
            any = true;
        } else if (!strchr(" +-*/%()<>=!&|", *p) || str_starts(p, "->") || str_starts(p, "<<") ||
                   str_starts(p, ">>"))
            return false;
        p += len ? len : 1;
    }
    return any && strpbrk(text, "<>=");
}

/* What the kernel asserts of numbers that are called like sizes is so of these. */
static bool keep_assertion(struct rehearsing *r)
{
    struct init_task *t = r->t;
    const char *said = r->flaw.words ? strstr(r->flaw.words, "assertion `") : NULL;
    const char *end = said ? strstr(said, "' failed") : NULL;

    if (!end || init_is_late())
        return false;
    said += strlen("assertion `");
    const char *condition = arena_strndup(r->arena, said, (size_t)(end - said));
    if (!is_of_sizes(t, r->arena, condition) || !init_demand(t, r->arena, condition))
        return false;
    r->flaw.words = NULL;
    return rehearse_again(r);
}

static bool rehearsed(struct rehearsing *r)
{
    const struct init_arg *args = arena_copy(r->arena, r->t->args.v, r->t->args.n * sizeof(*args));
    bool good, again;

    choose_cases(r);
    do {
        good = mend(r) && passes(r) && r->wrote;
        again = !good && r->flaw.words && strstr(r->flaw.words, "assertion `");
        if (again)
            rehearse_restore(r, args);
    } while (again && keep_assertion(r));
    const bool unclean = good && !rehearse_unclean(r);
    *r->t->unclean = *r->t->unclean || unclean;
    return good && !unclean;
}

bool init_rehearse(struct init_task *t, struct arena *a, const char *dir, const char *name)
{
    struct rehearsing *r = arena_new(a, struct rehearsing);
    bool good;

    *r = (struct rehearsing){.t = t, .arena = a, .dir = dir, .name = name, .atomic = t->atomics};
    good = open_smaller(r);
    init_refuel(t->fuel, 2 * CASE_INSNS);
    good = good && rehearsed(r);
    if (good) {
        mend_roles(r);
        mend_order(r);
    }
    bool grid, far = false, smaller = false;
    while (good && t->work != LEAST_WORK && !mend_workloads(r, &grid, &far)) {
        t->work = MAX((t->work ? t->work : 1 << 22) / 8, LEAST_WORK);
        if (grid)
            t->most = t->work;
        good = smaller = rehearse_again(r);
    }
    good = good && !far;
    if (good && smaller) /* the suite is another one */
        good = passes(r);
    if (!good && r->flaw.words)
        t->flaw = arena_printf(a, "tried with %s. Say in task.yaml which sizes go together, or that shape",
                               r->flaw.words);
    close_rehearsal(r);
    return good;
}
