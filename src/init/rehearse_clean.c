/* Races and values that nobody wrote, which a trial would find: what buffers hold and which sizes there are, so
 * that none is left. */
#include "init/rehearse.h"

/* As all of it was before. */
void rehearse_restore(struct rehearsing *r, const struct init_arg *args)
{
    if (r->t->args.n > 0)
        memcpy(r->t->args.v, args, r->t->args.n * sizeof(*args));
}

static bool is_case_clean(struct rehearsing *r, const struct task_case *c)
{
    struct footprint f;

    if (rehearse_take(r, c, (struct taking){.checked = true}, &f) || f.endless)
        return true;
    r->flaw.words = arena_printf(r->arena, "%s; %s", task_dims_text(r->arena, r->task, c->dims),
                                 f.words ? f.words : "it does not run");
    return false;
}

/* Do the cases run without races, and without values that nobody wrote? */
static bool is_clean(struct rehearsing *r)
{
    const int64_t end = *r->t->fuel - CASE_INSNS;
    const size_t step = r->n_cases > MOST_CHECKED ? (r->n_cases - MOST_CHECKED / 2) / (MOST_CHECKED / 2) : 1;

    for (size_t i = 0; i < r->n_cases; i += i < MOST_CHECKED / 2 ? 1 : step) {
        if (*r->t->fuel < 0 || (i >= MOST_CHECKED / 2 && *r->t->fuel < end))
            break;
        if (!is_case_clean(r, r->cases[i]))
            return false;
    }
    for (size_t i = 0; i < r->n_others && i<2 * MOST_CHECKED && * r->t->fuel> end; i++) {
        if (!is_case_clean(r, r->others[r->n_others - 1 - i]))
            return false;
    }
    return !r->alike || is_case_clean(r, r->alike);
}

/* Do the integers of argument `by` decide where another buffer is written? busy: which holds other numbers than
 * zeros. */
static bool moves_writes(struct rehearsing *r, size_t by, bool busy)
{
    const int64_t *dims = r->cases[r->n_cases - 1]->dims;
    struct footprint f[2];
    struct err err = {0};
    bool moves = false;

    for (int i = 0; i < 2; i++) {
        const struct footprint_run run = {
            .dims = dims, .filled = by, .with = i, .drawn = busy, .counted = busy};
        if (!footprint_take(&f[i], r->arena, r->prints, &run, &err) || !f[i].ran)
            return false;
        *r->t->fuel -= (int64_t)f[i].warp_insns + RUN_INSNS;
    }
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++)
        moves = moves ||
                (i != by && f[0].args[i].wrote && !f[0].args[i].atomic && f[0].args[i].end != f[1].args[i].end);
    return moves;
}

static bool decides_writes(struct rehearsing *r, size_t by)
{
    return moves_writes(r, by, false) || moves_writes(r, by, true);
}

/* Of "[rows, width]" with indices below `rows`: "[width, rows]"; NULL: the shape has no such extent. */
static const char *ends_in_range(struct rehearsing *r, const struct init_arg *a)
{
    const char *high = a->values ? strstr(a->values, "{kind: index, low: 0, high: ") : NULL;
    struct str shape = {.arena = r->arena};
    bool there = false;

    if (!high || !a->shape || strpbrk(a->shape, "+-/*%("))
        return NULL;
    high += strlen("{kind: index, low: 0, high: ");
    const char *range = arena_strndup(r->arena, high, strcspn(high, "}"));
    for (const char *p = a->shape; *p; p += strspn(p, ", ")) {
        const size_t len = strcspn(p, ",");
        if (!there && str_eq(arena_strndup(r->arena, p, len), range))
            there = true;
        else
            str_addf(&shape, "%.*s, ", (int)len, p);
        p += len;
    }
    str_add(&shape, range);
    return there ? arena_strdup(r->arena, str_text(&shape)) : NULL;
}

/* Integers that say where in a row something is written, of which a row has as many: each is there once. */
static bool mend_rows(struct rehearsing *r)
{
    bool any = false;

    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        struct init_arg *a = &r->t->args.v[i];
        const char *shape = rehearse_is_open(r, i) ? ends_in_range(r, a) : NULL;

        if (!shape || !decides_writes(r, i))
            continue;
        a->shape = shape;
        a->values = "{kind: permutation}";
        init_guess(a,
                   arena_printf(r->arena,
                                "two threads write the same place where numbers in a row of %s are the same; "
                                "is each there once?",
                                a->name));
        r->narrowed[i] = false;
        any = true;
    }
    return any && rehearse_again(r) && rehearse_cases(r, false) == FITS && is_clean(r);
}

/* Integers that say where something is written are each another one: below how many there are, and what they
 * point into is as large as they need. */
static bool mend_slots(struct rehearsing *r)
{
    bool any = false;

    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        struct init_arg *a = &r->t->args.v[i];

        if (!rehearse_is_open(r, i) || type_is_floating(r->task->args[i].type) ||
            r->task->args[i].type == KT_BOOL || !a->shape || strchr(a->shape, '+') ||
            (a->values && !strstr(a->values, "kind: index")) || !decides_writes(r, i))
            continue;
        a->values =
            arena_printf(r->arena, "{kind: distinct, low: 0, high: %s}", init_as_product(r->arena, a->shape));
        init_guess(a, arena_printf(r->arena,
                                   "two blocks write the same place where numbers in %s are the same; are they "
                                   "all different, and which range have they?",
                                   a->name));
        r->narrowed[i] = false;
        any = true;
    }
    if (!any || !rehearse_again(r))
        return false;
    const enum fit fit = rehearse_cases(r, false);
    return (fit == FITS || (fit == REACHES && rehearse_reach(r, false))) && is_clean(r);
}

/* Numbers of rows or segments that rise: what one of them begins, the one before has ended. */
static bool mend_sorted(struct rehearsing *r)
{
    for (size_t i = 0; i < r->task->n_args && i < PROBE_ARGS; i++) {
        struct init_arg *a = &r->t->args.v[i];
        const struct init_arg before = *a;
        const char *range = a->values ? strstr(a->values, ", low") : NULL;

        if (!rehearse_is_open(r, i) || type_is_floating(r->task->args[i].type) || !range ||
            (!strstr(a->values, "kind: index") && !strstr(a->values, "kind: distinct")))
            continue;
        a->values = arena_printf(r->arena, "{kind: sorted%s", range);
        init_guess(a, arena_printf(r->arena,
                                   "blocks or threads race with each other where numbers in %s do not rise; do "
                                   "they always?",
                                   a->name));
        if (rehearse_again(r) && rehearse_cases(r, false) == FITS && is_clean(r))
            return true;
        *a = before;
    }
    return false;
}

static struct init_bound *bound_of(struct rehearsing *r, const char *dim)
{
    struct init_task *t = r->t;

    for (size_t i = 0; i < t->bounds.n; i++) {
        if (str_eq(t->bounds.v[i].dim, dim))
            return &t->bounds.v[i];
    }
    vec_add(r->arena, &t->bounds, ((struct init_bound){.dim = dim, .low = 1, .unit = 1}));
    return &t->bounds.v[t->bounds.n - 1];
}

/* The size is a multiple of `unit`. False: it is already, or may not be. */
static bool raise(struct init_bound *b, int64_t unit)
{
    if (b->power || b->unit % unit == 0 || (b->high && b->high < unit) || unit % b->unit)
        return false;
    b->low = (MAX(b->low, 1) + unit - 1) / unit * unit;
    b->unit = unit;
    return true;
}

bool rehearse_units(struct rehearsing *r, bool clean)
{
    static const int64_t units[] = {32, 128};
    const size_t n = r->t->dims.n;

    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        for (size_t i = n + 1; i-- > 0 && *r->t->fuel > 0;) { /* all of them, then each one */
            bool any = false;
            for (size_t k = 0; k < n; k++)
                bound_of(r, r->t->dims.v[k]);
            const struct init_bound *before =
                arena_copy(r->arena, r->t->bounds.v, r->t->bounds.n * sizeof(*before));
            for (size_t k = 0; k < n; k++)
                any = ((i == n || i == k) && raise(bound_of(r, r->t->dims.v[k]), units[u])) || any;
            if (any && (i < n || (!clean && n > 1)) && rehearse_again(r) && rehearse_cases(r, false) == FITS &&
                (!clean || is_clean(r)))
                return true;
            memcpy(r->t->bounds.v, before, r->t->bounds.n * sizeof(*before));
        }
    }
    return false;
}

bool rehearse_unclean(struct rehearsing *r)
{
    const struct init_arg *args = arena_copy(r->arena, r->t->args.v, r->t->args.n * sizeof(*args));

    if (is_clean(r) || mend_rows(r))
        return true;
    const char *words = r->flaw.words;
    rehearse_restore(r, args);
    if (rehearse_again(r) && mend_slots(r))
        return true;
    rehearse_restore(r, args);
    if (mend_sorted(r) || rehearse_units(r, true))
        return true;
    r->flaw.words = words;
    rehearse_again(r);
    return false;
}
