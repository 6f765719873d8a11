/* Shapes that nobody has written down, found by running the launcher on the simulator for a few small sizes:
 * how far each buffer is touched is a product of the sizes, and what is read before it is written is an input.
 * What is found is a proposal; `astra check` judges it on other sizes. */
#include "init/internal.h"

#include "judge/judge.h"

enum { POINTS = 3, MOST_DIMS = 8, MOST_ARGS = 64, MOST_S = 2 };

struct monomial { /* num / den times the product of the sizes to their powers, plus `more` */
    int num, den, more;
    int power[MOST_DIMS];
    bool found;
};

struct setting { /* of the sizes: each is a small number times its unit, and times another size where it is tied
                    to one */
    int64_t unit[MOST_DIMS];
    int tied[MOST_DIMS]; /* to the size of that number; -1: free */
};

struct probing {
    struct init_task *t;
    struct arena *arena;
    struct task *task;
    struct judge *judge;
    struct footprints *prints;
    size_t n_dims;
    double end_s; /* 0: nothing has run yet */
    int64_t dims[POINTS][16];
    struct footprint at[POINTS];
    struct monomial fit[MOST_ARGS];
    const char *words; /* why the last run ended */
};

/* No product of powers of these is the same at all points. */
static const int seeds[MOST_DIMS][POINTS] = {{3, 5, 7},  {5, 11, 6}, {7, 6, 13}, {4, 7, 5},
                                             {6, 3, 11}, {5, 7, 3},  {2, 3, 5},  {3, 2, 5}};

static bool is_buffer(const struct probing *p, size_t arg)
{
    return p->task->args[arg].role != ROLE_SCALAR;
}

static int64_t elements(const struct probing *p, const struct footprint *f, size_t arg)
{
    size_t size = kernel_type_size(p->task->args[arg].type);

    return (int64_t)((f->args[arg].end + size - 1) / size);
}

static void set_dims(const struct probing *p, const struct setting *s, int point, int64_t *dims)
{
    for (size_t i = 0; i < p->n_dims; i++)
        dims[i] = s->unit[i] * seeds[i][point];
    for (size_t i = 0; i < p->n_dims; i++) {
        if (s->tied[i] >= 0)
            dims[i] *= dims[s->tied[i]];
    }
}

static bool take(struct probing *p, struct footprint *f, const int64_t *dims, size_t filled, int64_t with)
{
    struct err err = {0};

    if (p->end_s > 0 && time_s() > p->end_s)
        return false;
    if (!footprint_take(f, p->arena, p->prints, dims, filled, with, &err)) {
        p->words = arena_strdup(p->arena, err.text);
        return false;
    }
    if (p->end_s <= 0) /* now it is compiled */
        p->end_s = time_s() + MOST_S;
    if (!f->ran)
        p->words = f->words;
    return f->ran;
}

/* ---- extents as products */

static int64_t value(const struct probing *p, const struct monomial *m, const int64_t *dims)
{
    int64_t v = m->num;

    for (size_t i = 0; i < p->n_dims; i++) {
        for (int k = 0; k < m->power[i]; k++)
            v *= dims[i];
    }
    return v % m->den ? -1 : v / m->den + m->more;
}

static bool fits(const struct probing *p, const struct monomial *m, const int64_t *e)
{
    for (int k = 0; k < POINTS; k++) {
        if (value(p, m, p->dims[k]) != e[k])
            return false;
    }
    return true;
}

static bool fit_factor(const struct probing *p, struct monomial *m, const int64_t *e)
{
    static const int factors[][2] = {{1, 1}, {2, 1}, {3, 1},  {4, 1},  {1, 2},   {6, 1},   {8, 1},   {1, 4},
                                     {3, 2}, {1, 8}, {16, 1}, {1, 16}, {1, 32},  {1, 64},  {1, 128}, {1, 256},
                                     {5, 1}, {7, 1}, {32, 1}, {64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}};

    for (m->more = 0; m->more < 2; m->more++) {
        for (size_t i = 0; i < ARRAY_LEN(factors); i++) {
            m->num = factors[i][0];
            m->den = factors[i][1];
            if (fits(p, m, e))
                return true;
        }
    }
    return false;
}

/* Powers of the sizes that sum up to `degree`, from size i on. */
static bool fit_powers(const struct probing *p, struct monomial *m, const int64_t *e, size_t i, int degree)
{
    if (i == p->n_dims)
        return degree == 0 && fit_factor(p, m, e);
    for (int k = MIN(degree, 2); k >= 0; k--) {
        m->power[i] = k;
        if (fit_powers(p, m, e, i + 1, degree - k))
            return true;
    }
    m->power[i] = 0;
    return false;
}

static struct monomial fit(const struct probing *p, const int64_t *e)
{
    struct monomial m = {.num = 1, .den = 1};

    if (e[0] == e[1] && e[1] == e[2]) {
        m.num = (int)MIN(e[0], 1 << 30);
        m.found = true;
        return m;
    }
    for (int degree = 1; degree <= 4 && !m.found; degree++)
        m.found = fit_powers(p, &m, e, 0, degree);
    return m;
}

static bool same_fit(const struct monomial *x, const struct monomial *y)
{
    return x->found == y->found && (!x->found || memcmp(x, y, sizeof(*x)) == 0);
}

static char *shape_text(struct probing *p, const struct monomial *m, const char *first)
{
    struct str out = {0};
    int num = m->num, den = m->den;
    int last = -1;

    for (size_t i = 0; i < p->n_dims; i++)
        last = m->power[i] ? (int)i : last;
    if (first)
        str_addf(&out, "%s", first);
    for (size_t i = 0; i < p->n_dims; i++) {
        for (int k = 0; k < m->power[i]; k++) {
            bool end = (int)i == last && k + 1 == m->power[i];
            str_add(&out, out.len ? ", " : "");
            if (end && num != 1)
                str_addf(&out, "%d * ", num);
            str_add(&out, p->t->dims.v[i]);
            if (end && den != 1)
                str_addf(&out, " / %d", den);
            if (end && m->more)
                str_addf(&out, " + %d", m->more);
        }
    }
    if (last < 0 && (!first || num + m->more > 1))
        str_addf(&out, "%s%d", out.len ? ", " : "", MAX(num + m->more, 1));
    return str_take(&out, p->arena);
}

/* ---- settings */

static bool measure(struct probing *p, const struct setting *s, struct footprint *at)
{
    bool wrote = false;

    for (int k = 0; k < POINTS; k++) {
        set_dims(p, s, k, p->dims[k]);
        if (!take(p, &at[k], p->dims[k], SIZE_MAX, 0))
            return false;
        for (size_t i = 0; i < p->task->n_args; i++)
            wrote = wrote || at[k].args[i].wrote;
    }
    return wrote;
}

/* Two for each buffer whose extent is a product, and within the shape that the wrapper says; all are: *whole.
 */
static size_t fit_all(struct probing *p, struct footprint *at, struct monomial *to, bool *whole)
{
    size_t n = 0;

    *whole = true;
    for (size_t i = 0; i < p->task->n_args && i < MOST_ARGS; i++) {
        int64_t e[POINTS], said;
        bool constant, within = true;
        if (!is_buffer(p, i))
            continue;
        for (int k = 0; k < POINTS; k++) {
            e[k] = elements(p, &at[k], i);
            if (p->t->args.v[i].shape)
                within =
                    within && task_shape(p->task, &p->task->args[i], p->dims[k], &said, NULL) && e[k] <= said;
        }
        to[i] = fit(p, e);
        to[i].found = to[i].found && within;
        /* what does not grow with any size may be the padding of a block */
        constant = e[0] == e[1] && e[1] == e[2] && e[0] > 1 && !p->t->args.v[i].shape;
        n += to[i].found ? 2 - constant : 0;
        *whole = *whole && to[i].found && !constant;
    }
    return n;
}

struct best {
    struct setting setting;
    size_t score;
    bool any, whole;
};

static void try_setting(struct probing *p, const struct setting *s, struct best *best)
{
    struct footprint at[POINTS];
    struct monomial to[MOST_ARGS] = {0};
    bool whole;
    size_t score;

    if (best->whole || !measure(p, s, at))
        return;
    score = fit_all(p, at, to, &whole) + 1;
    if (score <= best->score)
        return;
    *best = (struct best){*s, score, true, whole};
    memcpy(p->at, at, sizeof(at));
    memcpy(p->fit, to, sizeof(to));
}

static struct setting plain(int64_t unit)
{
    struct setting s;

    for (size_t i = 0; i < MOST_DIMS; i++) {
        s.unit[i] = unit;
        s.tied[i] = -1;
    }
    return s;
}

static void search(struct probing *p, struct best *best)
{
    static const int64_t units[] = {32, 256, 4, 1024, 128, 4096};
    static const int64_t tied_units[] = {8, 128, 1};
    struct setting s = plain(1);

    try_setting(p, &s, best);
    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        for (size_t i = p->n_dims; i-- > 0 && !best->whole;) {
            s = plain(1);
            s.unit[i] = units[u];
            try_setting(p, &s, best);
        }
        if (units[u] > 32 || p->n_dims > 3)
            continue;
        s = plain(units[u]);
        try_setting(p, &s, best);
    }
    for (size_t u = 0; u < ARRAY_LEN(tied_units); u++) {
        for (size_t i = 0; i < p->n_dims; i++) {
            for (size_t k = 0; k < p->n_dims && !best->whole; k++) {
                if (i == k)
                    continue;
                s = plain(1);
                s.unit[i] = tied_units[u];
                s.tied[i] = (int)k;
                try_setting(p, &s, best);
            }
        }
    }
}

/* Smaller units that give the same products: what is left is what the sizes must be multiples of. */
static void loosen(struct probing *p, struct best *best)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        while (best->setting.unit[i] > 1) {
            struct setting s = best->setting;
            struct footprint at[POINTS];
            struct monomial to[MOST_ARGS] = {0};
            bool whole, same = true;

            s.unit[i] /= 2;
            if (!measure(p, &s, at))
                break;
            fit_all(p, at, to, &whole);
            for (size_t k = 0; k < p->task->n_args && k < MOST_ARGS; k++)
                same = same && same_fit(&to[k], &p->fit[k]);
            if (!same)
                break;
            best->setting = s;
        }
    }
    for (int k = 0; k < POINTS; k++)
        set_dims(p, &best->setting, k, p->dims[k]);
}

/* ---- indices */

struct moved { /* how far buffer `arg` is touched with zeros, and how much farther with ones */
    size_t arg;
    int64_t end[POINTS], step[POINTS];
};

/* The integers are numbers of rows: each is as long as the step. */
static const char *rows_of(struct probing *p, const struct moved *x)
{
    const char *rows = arena_printf(p->arena, "n_%s", p->t->args.v[x->arg].name);
    struct monomial m;

    for (int k = 0; k < POINTS; k++) {
        if (x->end[k] != x->step[k])
            return NULL;
    }
    m = fit(p, x->step);
    if (!m.found)
        return NULL;
    for (size_t i = 0; i < p->t->dims.n; i++) {
        if (str_eq(p->t->dims.v[i], rows))
            return NULL;
    }
    p->t->args.v[x->arg].shape = shape_text(p, &m, rows);
    vec_add(p->arena, &p->t->dims, rows);
    return rows;
}

/* They are numbers of columns: with the last one of a size, all is touched. */
static const char *columns_of(struct probing *p, const struct moved *x)
{
    for (int k = 0; k < POINTS; k++) {
        if (x->step[k] != 1)
            return NULL;
    }
    for (size_t i = 0; i < p->n_dims; i++) {
        int64_t e[POINTS];
        struct monomial m;

        for (int k = 0; k < POINTS; k++)
            e[k] = x->end[k] + p->dims[k][i] - 1;
        m = fit(p, e);
        if (!m.found || !m.power[i])
            continue;
        p->t->args.v[x->arg].shape = shape_text(p, &m, NULL);
        return p->t->dims.v[i];
    }
    return NULL;
}

/* Integers of `arg` that move how far another buffer is touched are indices into it. */
static void find_indices(struct probing *p, size_t arg)
{
    struct init_arg *of = &p->t->args.v[arg];
    struct footprint one[POINTS];
    const char *bound = NULL;

    if (p->at[0].args[arg].wrote || !p->at[0].args[arg].read || of->values)
        return;
    for (int k = 0; k < POINTS; k++) {
        if (!take(p, &one[k], p->dims[k], arg, 1))
            return;
    }
    for (size_t i = 0; i < p->task->n_args && i < MOST_ARGS; i++) {
        struct init_arg *x = &p->t->args.v[i];
        struct moved m = {.arg = i};
        bool moves = is_buffer(p, i) && i != arg;

        for (int k = 0; k < POINTS && moves; k++) {
            m.end[k] = elements(p, &p->at[k], i);
            m.step[k] = elements(p, &one[k], i) - m.end[k];
            moves = m.step[k] > 0;
        }
        if (!moves)
            continue;
        const char *high = rows_of(p, &m);
        if (!high)
            high = columns_of(p, &m);
        if (!high || bound)
            continue;
        bound = high;
        x->todo = NULL;
        of->values = arena_printf(
            p->arena, "{kind: %s, low: 0, high: %s}",
            p->at[0].args[i].wrote && !p->at[0].args[i].read && str_starts(high, "n_") ? "distinct" : "index",
            bound);
        of->todo =
            arena_printf(p->arena, "%s is taken for indices into %s; which range has it?", of->name, x->name);
    }
    if (!bound && !of->todo)
        of->todo =
            arena_printf(p->arena, "what do the integers of %s mean, and which range have they?", of->name);
}

/* ---- what was found goes to the task */

static const char *role_of(const struct probing *p, size_t arg)
{
    bool wrote = false, first = false, whole = true;

    for (int k = 0; k < POINTS; k++) {
        const struct footprint_arg *f = &p->at[k].args[arg];
        wrote = wrote || f->wrote;
        first = first || f->read_first;
        whole = whole && f->written == f->end;
    }
    if (!wrote)
        return "in";
    return first || !whole ? "inout" : "out";
}

static bool is_integer(enum kernel_type t)
{
    return t >= KT_I8 && t <= KT_U64;
}

static void tell(struct probing *p, const struct best *best)
{
    struct arena *a = p->arena;

    for (size_t i = 0; i < p->task->n_args && i < MOST_ARGS; i++) {
        struct init_arg *x = &p->t->args.v[i];
        bool touched = false;

        if (!is_buffer(p, i))
            continue;
        for (int k = 0; k < POINTS; k++)
            touched = touched || p->at[k].args[i].end;
        if (!touched) {
            x->todo = arena_printf(a, "%s is not touched at small sizes; which shape has it?", x->name);
            continue;
        }
        if (!str_eq(x->role, "scratch"))
            x->role = role_of(p, i);
        x->todo = NULL;
        if (!x->shape && p->fit[i].found)
            x->shape = shape_text(p, &p->fit[i], NULL);
        if (!x->shape)
            x->todo = arena_printf(a, "which shape has %s? %lld elements are touched for the first proposal",
                                   x->name, (long long)elements(p, &p->at[0], i));
    }
    for (size_t i = 0; i < p->n_dims; i++) {
        const char *dim = p->t->dims.v[i];
        if (best->setting.unit[i] > 1)
            vec_add(a, &p->t->domain,
                    arena_printf(a, "%s %% %lld == 0", dim, (long long)best->setting.unit[i]));
        if (best->setting.tied[i] >= 0)
            vec_add(a, &p->t->domain,
                    arena_printf(a, "%s %% %s == 0", dim, p->t->dims.v[best->setting.tied[i]]));
    }
}

/* Sizes to begin with that the domain has. */
static bool open_somewhere(struct probing *p, const char *dir, const char *name, struct err *err)
{
    static const int tried[] = {0, 1024, 256, 64, 4096, 16, 8, 4, 8192, 32768, 1 << 20};

    for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
        struct str sizes = {0};

        vec_clear(&p->t->workloads);
        for (size_t k = 0; k < p->n_dims && tried[i]; k++)
            str_addf(&sizes, "%s%d", k ? ", " : "", tried[i]);
        if (tried[i])
            vec_add(p->arena, &p->t->workloads, str_take(&sizes, p->arena));
        const char *text = init_taskfile(p->arena, p->t, name);
        if (!fs_write_text(fs_join(p->arena, dir, "task.yaml"), text, err))
            return false;
        if (task_open(&p->task, p->arena, dir, err))
            return true;
        if (!strstr(err->text, "outside the domain"))
            return false;
    }
    return false;
}

static bool open_task(struct probing *p, const char *dir, const char *name, struct err *err)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .alone = true, .verify_only = true};
    char *source;

    return open_somewhere(p, dir, name, err) && judge_open(&p->judge, p->task, &o, err) &&
           fs_read(p->arena, p->task->source_path, &source, NULL, err) &&
           footprints_open(&p->prints, p->judge, p->task->source_path, source, err);
}

bool init_probe(struct init_task *t, struct arena *a, const char *dir, const char *name, struct err *err)
{
    struct probing p = {.t = t, .arena = a, .n_dims = t->dims.n};
    struct best best = {0};
    bool ok;

    if (t->open_launch)
        return err_input(err, "its grid is not known");
    if (!t->dims.n || t->dims.n > MOST_DIMS)
        return err_input(err, "a task of %zu sizes is not looked into", t->dims.n);
    ok = open_task(&p, dir, name, err);
    if (ok) {
        search(&p, &best);
        if (best.any) {
            loosen(&p, &best);
            tell(&p, &best);
            for (size_t i = 0; i < p.task->n_args && i < MOST_ARGS; i++) {
                if (is_buffer(&p, i) && is_integer(p.task->args[i].type))
                    find_indices(&p, i);
            }
        } else
            vec_add(a, &t->notes,
                    arena_printf(a, "the launcher did not run for small sizes: %s",
                                 p.words ? p.words : "it writes nothing"));
    }
    footprints_close(p.prints);
    judge_close(p.judge);
    return ok;
}
