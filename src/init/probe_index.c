/* What the integers in buffers point at: with ones instead of zeros in one of them another buffer is touched
 * farther, by what one row of it holds. */
#include "init/probe.h"

enum { SOME = 1024, MOST = 1 << 14 }; /* integers are below SOME where nothing says a bound up to MOST */

struct moving { /* buffer `to` under integers of `by` that are 1, and how much farther with each more */
    size_t by, to;
    int64_t one[PROBE_BASE], step[PROBE_BASE];
};

static bool is_integer(enum kernel_type t)
{
    return t >= KT_I8 && t <= KT_U64;
}

static bool may_point(const struct probing *p, size_t arg)
{
    const struct footprint_arg *f = &p->at[0].args[arg];

    return probe_is_buffer(p, arg) && is_integer(p->task->args[arg].type) && f->read && !f->wrote &&
           !p->t->args.v[arg].values;
}

/* They are below a size that is known: with the last one, or as many, all is touched. */
static bool below_size(const struct probing *p, const struct moving *m, struct probe_index *x)
{
    for (int less = 2; less >= 1; less--) {
        for (size_t i = 0; i < p->n_dims; i++) {
            int64_t e[PROBE_BASE];

            if (!probe_is_free(p, &p->setting, i))
                continue;
            for (int k = 0; k < PROBE_BASE; k++)
                e[k] = m->one[k] + (p->dims[k][i] - less) * m->step[k];
            if (!probe_product(p, PROBE_BASE, e, &x->of) || !x->of.power[i])
                continue;
            x->below = (int)i;
            x->last = less == 1;
            return true;
        }
    }
    return false;
}

/* They are numbers of rows of the step's length; so many are touched when all are zero. */
static bool row_numbers(const struct probing *p, const struct moving *m, struct probe_index *x)
{
    int64_t rows[PROBE_BASE];

    for (int k = 0; k < PROBE_BASE; k++) {
        rows[k] = m->one[k] / m->step[k] - 1;
        if (m->one[k] % m->step[k])
            return false;
    }
    x->below = -1;
    return probe_product(p, PROBE_BASE, m->step, &x->of) && probe_product(p, PROBE_BASE, rows, &x->rows) &&
           !x->of.more;
}

void probe_find_ends(struct probing *p)
{
    static const char *const names[] = {"indptr", "cu_seq", "cu_len",     "cumul",     "rowptr",     "row_ptr",
                                        "csr",    "offset", "prefix_sum", "seq_start", "segment_ptr"};

    p->rising = arena_array(p->arena, bool, p->task->n_args + 1);
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        for (size_t k = 0; k < ARRAY_LEN(names) && probe_is_buffer(p, i); k++)
            p->rising[i] = p->rising[i] ||
                           (is_integer(p->task->args[i].type) && !p->t->args.v[i].values &&
                            p->task->args[i].role == ROLE_IN && strcasestr(p->t->args.v[i].name, names[k]));
    }
}

bool probe_drop_ends(struct probing *p, const struct probe_extent *fit)
{
    bool dropped = false;

    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (!p->rising[i] || (fit && fit[i].form == PROBE_PRODUCT && fit[i].a.more == 1))
            continue;
        p->rising[i] = false;
        dropped = true;
    }
    return dropped;
}

bool probe_more_ends(struct probing *p, const struct probing *found)
{
    bool open = false, any = false;

    p->rising =
        arena_copy(p->arena, p->rising, (p->task->n_args + 1) * sizeof(*p->rising)); /* not of `found` */
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++)
        open = open || (probe_is_buffer(p, i) && !found->at[0].args[i].end);
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS && open; i++) {
        const struct footprint_arg *f = &found->at[0].args[i];
        if (!probe_is_buffer(p, i) || p->rising[i] || !is_integer(p->task->args[i].type) ||
            p->t->args.v[i].values || !f->read || f->wrote || found->fit[i].form != PROBE_PRODUCT ||
            found->fit[i].a.more != 1)
            continue;
        p->rising[i] = true;
        any = true;
    }
    return any;
}

/* Segments of one row each were seen; with segments of two, what lies in rows is touched twice as far. */
static void look_at_ends(struct probing *p, size_t by)
{
    struct footprint two[PROBE_BASE];

    for (int k = 0; k < PROBE_BASE; k++) {
        if (!probe_filled(p, &two[k], p->dims[k], by, 2))
            return;
    }
    for (size_t to = 0; to < p->task->n_args && to < PROBE_ARGS; to++) {
        struct probe_index x = {.by = by, .to = to, .below = -1, .ends = true};
        int64_t step[PROBE_BASE], one[PROBE_BASE];
        bool moves = probe_is_buffer(p, to) && to != by;

        for (int k = 0; k < PROBE_BASE && moves; k++) {
            const int64_t e = probe_elements(p, &p->at[k], to), rows = probe_elements(p, &p->at[k], by) - 1;
            moves = rows > 0 && e > 0 && e % rows == 0 && probe_elements(p, &two[k], to) == 2 * e;
            step[k] = moves ? e / rows : 0;
            one[k] = 1;
        }
        if (!moves)
            continue;
        x.found = probe_product(p, PROBE_BASE, step, &x.of) && probe_product(p, PROBE_BASE, one, &x.rows);
        vec_add(p->arena, &p->indices, x);
    }
}

static void look_at(struct probing *p, size_t by)
{
    struct footprint one[PROBE_BASE], two[PROBE_BASE];

    for (int k = 0; k < PROBE_BASE; k++) {
        if (!probe_filled(p, &one[k], p->dims[k], by, 1) || !probe_filled(p, &two[k], p->dims[k], by, 2))
            return;
    }
    for (size_t to = 0; to < p->task->n_args && to < PROBE_ARGS; to++) {
        struct moving m = {.by = by, .to = to};
        struct probe_index x = {.by = by, .to = to};
        bool moves = probe_is_buffer(p, to) && to != by;

        for (int k = 0; k < PROBE_BASE && moves; k++) {
            m.one[k] = probe_elements(p, &one[k], to);
            m.step[k] = probe_elements(p, &two[k], to) - m.one[k];
            moves = m.step[k] > 0;
        }
        if (!moves)
            continue;
        x.found = row_numbers(p, &m, &x) || below_size(p, &m, &x);
        vec_add(p->arena, &p->indices, x);
    }
}

void probe_indices(struct probing *p)
{
    p->indices.n = 0;
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (may_point(p, i) && p->rising[i])
            look_at_ends(p, i);
        else if (may_point(p, i))
            look_at(p, i);
    }
}

bool probe_is_indexed(const struct probing *p, size_t arg)
{
    for (size_t i = 0; i < p->indices.n; i++) {
        if (p->indices.v[i].found && p->indices.v[i].to == arg)
            return true;
    }
    return false;
}

/* ---- to the task */

static bool has_dim(const struct probing *p, const char *name)
{
    for (size_t i = 0; i < p->t->dims.n; i++) {
        if (str_eq(p->t->dims.v[i], name))
            return true;
    }
    return false;
}

/* The size that counts the rows of buffer `x->to`; of several that the same integers number, that of the first.
 */
static const char *rows_name(struct probing *p, const struct probe_index *x)
{
    const char *name = p->rows[x->to];

    for (size_t i = 0; i < p->indices.n && !name; i++) {
        const struct probe_index *y = &p->indices.v[i];
        if (y->found && y->below < 0 && y->by == x->by)
            name = arena_printf(p->arena, "n_%s", p->t->args.v[y->to].name);
    }
    p->rows[x->to] = name;
    if (!has_dim(p, name)) {
        vec_add(p->arena, &p->t->dims, name);
        if (!probe_is_one(&x->rows) && x->rows.num + x->rows.more > 0)
            vec_add(p->arena, &p->t->domain, arena_printf(p->arena, "%s >= %s", name, probe_text(p, &x->rows)));
    }
    return name;
}

static bool passes(struct probing *p, size_t by, int point, int64_t with);
static const char *bound_of(struct probing *p, size_t by,
                            bool (*is_good)(struct probing *, size_t, int, int64_t));

/* What the integers are below, and the shape of what they point into. */
static const char *tell(struct probing *p, const struct probe_index *x)
{
    struct init_arg *to = &p->t->args.v[x->to];
    const char *name;

    init_ask(to, NULL);
    if (x->below >= 0) {
        name = p->t->dims.v[x->below];
        to->shape = probe_shape(p, &x->of, NULL);
        if (str_eq(to->role, "out")) /* what no integer names is not written */
            to->role = "inout";
        return x->last ? arena_printf(p->arena, "%s + 1", name) : name;
    }
    name = probe_is_one(&x->rows) && !x->ends ? bound_of(p, x->by, passes) : NULL;
    if (name) {
        to->shape = probe_shape(p, &x->of, name);
        return name;
    }
    name = rows_name(p, x);
    if (str_eq(to->role, "out")) /* rows that no integer names are not written */
        to->role = "inout";
    to->shape = probe_shape(p, &x->of, name);
    if (probe_is_one(&x->rows))
        return name;
    if (x->rows.num + x->rows.more <= 0)
        return arena_printf(p->arena, "%s + 1", name);
    return arena_printf(p->arena, "%s - %s + 1", name, probe_text(p, &x->rows));
}

/* Integers that point nowhere, but without which nothing goes when they are negative: lengths, positions that
 * are taken modulo something. */
static bool refuses_negative(struct probing *p, size_t by)
{
    struct footprint f;

    return !probe_filled(p, &f, p->dims[0], by, -1) && f.words;
}

/* Do integers of this value touch nothing farther than zeros do? */
static bool stays(struct probing *p, size_t by, int point, int64_t with)
{
    struct footprint f;
    bool same = probe_filled(p, &f, p->dims[point], by, with);

    for (size_t i = 0; i < p->task->n_args && same; i++)
        same = !probe_is_buffer(p, i) || f.args[i].end <= p->at[point].args[i].end;
    return same;
}

/* Do integers of this value run at all? What the kernel asserts of them says their range. */
static bool passes(struct probing *p, size_t by, int point, int64_t with)
{
    struct footprint f;

    return probe_filled(p, &f, p->dims[point], by, with);
}

/* The size from which on integers of `by` are no longer `good`. NULL: they always are, or the bound is no size.
 */
static const char *bound_of(struct probing *p, size_t by,
                            bool (*is_good)(struct probing *, size_t, int, int64_t))
{
    int64_t bound[PROBE_BASE];
    struct probe_product m;

    for (int k = 0; k < PROBE_BASE; k++) {
        int64_t good = 1, bad = 2;

        while (bad <= MOST && is_good(p, by, k, bad)) {
            good = bad;
            bad *= 2;
        }
        if (bad > MOST || p->fuel < 0)
            return NULL;
        while (bad - good > 1) {
            int64_t middle = good + (bad - good) / 2;
            if (is_good(p, by, k, middle))
                good = middle;
            else
                bad = middle;
        }
        bound[k] = bad;
    }
    return probe_product(p, PROBE_BASE, bound, &m) && !probe_is_one(&m) ? probe_text(p, &m) : NULL;
}

static void tell_of(struct probing *p, size_t by)
{
    struct init_arg *of = &p->t->args.v[by];
    bool moves = false;

    if (p->rising[by]) { /* also where they move nothing */
        const char *rows = NULL;
        for (size_t i = 0; i < p->indices.n; i++) {
            if (p->indices.v[i].by == by && p->indices.v[i].found)
                rows = tell(p, &p->indices.v[i]);
        }
        of->values = arena_printf(p->arena, "{kind: offsets, low: 0, high: %s}", rows ? rows : "1024");
        init_ask(of, arena_printf(p->arena, "%s is taken for the ends of segments; is it?", of->name));
        return;
    }
    for (size_t i = 0; i < p->indices.n; i++) {
        const struct probe_index *x = &p->indices.v[i];
        const struct footprint_arg *f = &p->at[0].args[x->to];
        const char *high;

        moves = moves || x->by == by;
        if (x->by != by || !x->found)
            continue;
        high = tell(p, x);
        if (of->values)
            continue;
        const bool distinct = f->wrote && !f->atomic && x->below < 0;
        of->values =
            arena_printf(p->arena, "{kind: %s, low: 0, high: %s}", distinct ? "distinct" : "index", high);
        if (distinct && str_is_name(high) && of->shape && !strpbrk(of->shape, "+()")) /* there are so many */
            init_demand(p->t, p->arena,
                        arena_printf(p->arena, "%s >= %s", high, init_as_product(p->arena, of->shape)));
        init_ask(of, arena_printf(p->arena, "%s is taken for indices into %s; which range has it?", of->name,
                                  p->t->args.v[x->to].name));
    }
    if (!of->values && !moves && refuses_negative(p, by)) {
        const char *bound = bound_of(p, by, stays); /* within rows that are touched whole anyway */
        of->values = bound ? arena_printf(p->arena, "{kind: index, low: 0, high: %s}", bound)
                           : arena_printf(p->arena, "{kind: index, low: 0, high: %d}", SOME);
        init_ask(of, arena_printf(p->arena, "the integers of %s may not be negative; which range have they?",
                                  of->name));
    }
    if (!of->values && !of->todo)
        init_ask(of, arena_printf(p->arena, "what do the integers of %s mean, and which range have they%s?",
                                  of->name, moves ? "; other buffers are touched farther by larger ones" : ""));
}

void probe_tell_indices(struct probing *p)
{
    for (size_t i = 0; i < p->task->n_args && i < PROBE_ARGS; i++) {
        if (may_point(p, i))
            tell_of(p, i);
    }
}
