/* The workloads whole, element for element against the original: most are larger than the suite's cases, and a
 * kernel may tell them by their size. On a GPU the candidate runs before the original, so that no answer is in
 * memory while it does, and on data that no other candidate has seen. */
#include "workloads.h"

enum {
    SOME_BYTES =
        192 << 20, /* compulsory bytes of the workloads that are verified whole when not all are: on a GPU; */
    SOME_INSNS = 100000000,  /* on the simulator, warp instructions of the original, */
    INSN_BYTES = 32,         /* of which each stands for so many bytes, too; */
    MOST_INSNS = 400000000,  /* and of a workload that is run whole because of a doubt, */
    SAMPLE_BYTES = 12 << 20, /* and of one of the others */
    FURTHER = 4,
    WORK_TIMES = 50,            /* the original's instructions are a version's limit */
    MOST_BYTES = 1400 << 20,    /* which has at most so many bytes */
    EXTRA_ELEMENTS = 1 << 20,   /* of a case beside them that is run whole, */
    FINAL_ELEMENTS = 1 << 21,   /* and for the last word, */
    EXTRA_INSNS = 20000000,     /* and instructions that the original may need for it */
    FAR_INSNS = 16000000,       /* or for a far one */
    MOST_STRUCTURED = 12 << 20, /* elements of the cases of a version that run again with other values, */
    STRUCTURED_INSNS = 8000000, /* each of no more of the original's instructions */
};
#define LIMIT_S     10.0
#define LIKE        64 /* times further apart may sums of a few different numbers be: all are rounded to one side */
#define EXACT_BELOW 0x1p20 /* sums of small integers of either sign: no part of them is beyond 2^24 then */
#define OUTLIER     1000.0
#define NEIGHBOURS  128 /* a power of two: elements of one row, as a rule */
#define OUTLIERS    9.0 /* in a long row */
#define LIGHT       3.5 /* e^-3.5 of one: 3 %, */
#define LIGHTER     7.0 /* or a thousandth, where all outputs have the digits to tell */
#define ENOUGH      0.9 /* of what the sampled blocks should have written */

struct left {                        /* by a version run whole */
    uint64_t max_insns;              /* that it may take; 0: any */
    unsigned char *const *as_before; /* what its outputs hold before, nearly; NULL: poison */
    unsigned char *outputs[MAX_ARGS];
    struct stage_ran ran;
};

/* For a version behind the original on the simulator, whose work bounds its own. */
static struct left beside(const struct left *own)
{
    return (struct left){.max_insns = SMALL_INSNS + WORK_TIMES * own->ran.insns, .as_before = own->outputs};
}

static bool run_whole(const struct whole *w, struct version *v, const struct stage_ops *ops, struct left *left,
                      struct fate *fate, struct err *err)
{
    bool second = v == &w->judge->baseline;
    const struct task *t = w->judge->task;
    const struct stage_data data = {.values = w->values,
                                    .seed = w->seed,
                                    .tiles = w->tiles,
                                    .dense = true,
                                    .poison = second ? 0x5b : POISON,
                                    .answers = left->as_before,
                                    .place = (w->seed & ~(uint64_t)1) + second};
    const struct stage_check check = {.where = w->where,
                                      .checks = second ? 0 : w->checks,
                                      .order = v == &w->judge->baseline ? 0 : w->order,
                                      .max_insns = left->max_insns,
                                      .work = second ? NULL : w->work,
                                      .limit_s = LIMIT_S};
    struct stage stage;
    bool ok;

    if (!stage_open(&stage, w->judge, ops, t, w->dims, &data, err))
        return false;
    ok = stage_verify(&stage, v, &check, w->arena, &left->ran, fate, err);
    for (size_t o = 0; ok && fate_open(fate) && o < w->judge->n_outputs; o++) {
        int64_t size;
        uint64_t addr = stage_arg(&stage, w->judge->outputs[o], &size);
        left->outputs[o] = arena_alloc(w->arena, (size_t)size + 1);
        ok = !size || ops->read(&stage, addr, left->outputs[o], (size_t)size, err);
    }
    stage_close(&stage);
    return ok;
}

/* The root of the mean square of what is finite: the size of the terms of a sum whose value may be near zero.
 */
static double typical(enum kernel_type type, const unsigned char *x, size_t n)
{
    size_t size = kernel_type_size(type), step = MAX(n / 4096, (size_t)1), used = 0;
    double sum = 0;

    for (size_t i = 0; i < n; i += step) {
        double v = task_to_double(type, x + i * size);
        if (!isfinite(v))
            continue;
        sum += v * v;
        used++;
    }
    return used ? sqrt(sum / (double)used) : 0;
}

/* What two versions may be apart, in ulps of the larger of the element and a typical one: where terms cancel,
 * the element itself says nothing. The suite's 99th percentile stands for most elements; the largest of
 * millions is further out. */
static double apart_allowed(const struct judge *j, enum stage_side side, size_t o)
{
    return FURTHER * output_rule(j, o, 0, &j->original_errors[side][o]).most[1];
}

bool error_scale_near(const struct error_scale *y, double got, double own)
{
    enum kernel_type type = y->arg->type;

    if (y->exact && fabs(own) < EXACT_BELOW)
        return got == own || (isnan(got) && isnan(own));
    if (y->coarse && (isnan(own) || (isinf(own) && !isnan(got))))
        return true;
    if (fabs(got - own) <= y->share * fmax(fabs(own), y->scale))
        return true;
    /* Both ways: next to the type's edge one may be inf and the other not. */
    return fabs(got - own) <= y->ulps * error_ulp(type, y->scale) ||
           error_ulps(type, y->judge->exceptions, got, own, own) <= y->ulps ||
           error_ulps(type, y->judge->exceptions, own, got, got) <= y->ulps;
}

size_t error_scale_others(const struct judge *j, enum stage_side side, size_t o, double elements)
{
    if (type_is_floating(j->task->args[j->outputs[o]].type) || !j->can[side])
        return 0;
    const struct rule r = output_rule(j, o, 0, &j->can[side][o]);
    return rule_integers(&r, (size_t)elements);
}

struct error_scale error_scale_of(const struct judge *j, enum stage_side side, size_t o,
                                  const unsigned char *own, size_t elements)
{
    const struct task_arg *arg = &j->task->args[j->outputs[o]];
    struct error_scale y = {.judge = j, .arg = arg};

    if (type_is_floating(arg->type)) {
        y.ulps = j->original_errors[side] ? apart_allowed(j, side, o) : 0;
        y.scale = typical(arg->type, own, elements);
    } else if (j->can[side]) {
        y.most_other = j->can[side][o].most_other;
        y.n_other = error_scale_others(j, side, o, (double)elements);
    }
    return y;
}

void error_scale_like(struct error_scale *y)
{
    if (type_is_floating(y->arg->type) && kernel_type_size(y->arg->type) >= 4)
        y->ulps *= LIKE;
}

/* Sums of a row have terms as large as its other sums are: the first rows of causal attention have few terms
 * and large ones, the average element says nothing of them. */
static bool near_for_its_row(const struct error_scale *y, const unsigned char *own, size_t n, size_t at,
                             double got)
{
    enum kernel_type type = y->arg->type;
    size_t size = kernel_type_size(type), from = at & ~(size_t)(NEIGHBOURS - 1);
    struct error_scale row = *y;

    row.scale = fmax(y->scale, typical(type, own + from * size, MIN(n - from, (size_t)NEIGHBOURS)));
    return !y->exact && error_scale_near(&row, got, task_to_double(type, own + at * size));
}

bool error_scale_differs(struct error_scale *y, const unsigned char *got, const unsigned char *own,
                         size_t bytes, size_t *at)
{
    enum kernel_type type = y->arg->type;
    size_t size = kernel_type_size(type);

    if (bytes == 0 || !memcmp(got, own, bytes))
        return false;
    for (*at = 0; *at < bytes / size; ++*at) {
        const unsigned char *x = got + *at * size, *z = own + *at * size;
        double mine, its;
        if (!memcmp(x, z, size))
            continue;
        if (must_be_identical(y->judge))
            return true;
        mine = task_to_double(type, x);
        its = task_to_double(type, z);
        if (type_is_floating(type) &&
            (error_scale_near(y, mine, its) || near_for_its_row(y, own, bytes / size, *at, mine)))
            continue;
        if (!y->n_other || !(fabs(mine - its) <= y->most_other))
            return true;
        y->n_other--;
    }
    return false;
}

static bool is_poison(const unsigned char *x, size_t size)
{
    size_t n = 0;

    while (n < size && x[n] == POISON)
        n++;
    return n == size;
}

void error_scale_compare(struct arena *a, struct error_scale *y, size_t first, const unsigned char *got,
                         const unsigned char *own, size_t bytes, struct fate *fate)
{
    enum kernel_type type = y->arg->type;
    size_t size = kernel_type_size(type), at;
    bool exact = must_be_identical(y->judge);

    if (!error_scale_differs(y, got, own, bytes, &at))
        return;
    if (!exact && y->arg->role == ROLE_OUT && is_poison(got + at * size, size))
        fate_isf(fate, a, VERDICT_WRONG, 0, "element %zu of %s is never written (%s)", first + at, y->arg->name,
                 y->where);
    else
        fate_isf(fate, a, VERDICT_WRONG, 0, "element %zu of %s is %.9g, the original has %.9g%s (%s)",
                 first + at, y->arg->name, task_to_double(type, got + at * size),
                 task_to_double(type, own + at * size), exact ? ", and " ASKED_EXACT : "", y->where);
}

/* Where it is nearer to the exact answer, what timed launches leave is as far from the original's. */
static void note_apart(struct version *v, const struct error_scale *y, size_t o, const struct both *b, size_t n)
{
    enum kernel_type type = y->arg->type;
    size_t size = kernel_type_size(type);

    for (size_t i = 0; i < n; i++) {
        double own = task_to_double(type, b->own[o] + i * size),
               ulps = fabs(task_to_double(type, b->got[o] + i * size) - own) /
                      error_ulp(type, fmax(fabs(own), y->scale));
        if (isfinite(ulps))
            v->apart[o] = fmax(v->apart[o], FURTHER * ulps);
    }
}

/* In the suite the original makes no error of small integers. */
static bool is_exact_of_integers(const struct judge *j, size_t o)
{
    bool exact = false;

    for (size_t k = 0; k < j->n_distributions; k++) {
        const struct error_stats *own = &j->original_errors[SIDE_SIM][k * j->n_outputs + o];
        exact |= str_eq(j->distributions[k], "small integers") && own->n > 0 && own->max == 0;
    }
    return exact && j->exceptions >> RULE_EXACT & 1;
}

/* Sums of small integers are integers. What is made of them otherwise (a mean, a norm) has the rounding of sums
 * that may be far beyond 2^24. */
static bool are_integers(enum kernel_type type, const unsigned char *values, size_t n)
{
    size_t size = kernel_type_size(type);

    for (size_t i = 0; i < n; i++) {
        double x = task_to_double(type, values + i * size);
        if (x != rint(x))
            return false;
    }
    return true;
}

/* Of values that are wilder than the task's nothing is asked but what the original errs by at the worst, of any
 * kind of values; nor where it has no number, or none with a finite size. */
static void loosen(struct error_scale *y, size_t o)
{
    const struct judge *j = y->judge;

    for (size_t k = 0; k < j->n_distributions; k++) {
        const struct error_stats *own = &j->original_errors[SIDE_SIM][k * j->n_outputs + o];
        if (own->n > 0)
            y->ulps = fmax(y->ulps, FURTHER * output_rule(j, o, k, own).most[2]);
    }
    y->coarse = true;
}

/* Where sums are so long that nobody has measured how far two right ones are apart. */
static void widen(struct error_scale *y, double share, const unsigned char *own, size_t elements)
{
    y->share = share;
    if (y->n_other) { /* integers that rounding decides */
        y->n_other = elements;
        y->most_other = fmax(y->most_other, share * typical(y->arg->type, own, elements));
    }
}

static bool compare_whole(const struct whole *w, struct version *v, const struct both *b,
                          const struct stage_ops *ops, struct fate *fate, struct err *err)
{
    struct judge *j = w->judge;

    for (size_t o = 0; o < j->n_outputs && fate_open(fate); o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        int64_t elements;
        if (!task_shape(j->task, arg, w->dims, &elements, err))
            return false;
        struct error_scale y = error_scale_of(j, ops->side, o, b->own[o], (size_t)elements);
        y.where = w->where;
        y.exact = w->integers && type_is_floating(arg->type) && is_exact_of_integers(j, o) &&
                  are_integers(arg->type, b->own[o], (size_t)elements);
        if (w->integers)
            error_scale_like(&y);
        if (w->coarse && type_is_floating(arg->type))
            loosen(&y, o);
        if (w->share > 0)
            widen(&y, w->share, b->own[o], (size_t)elements);
        error_scale_compare(w->arena, &y, 0, b->got[o], b->own[o],
                            (size_t)elements * kernel_type_size(arg->type), fate);
        if (fate_open(fate) || !type_is_floating(arg->type) || must_be_identical(j) || y.exact)
            continue;
        bool nearer;
        if (!size_nearer(w, b, ops, o, &y, &nearer, err))
            return false;
        if (!nearer)
            continue;
        *fate = (struct fate){0};
        note_apart(v, &y, o, b, (size_t)elements);
    }
    return true;
}

static bool extra_whole(const struct whole *w, struct version *v, uint64_t max_insns, uint64_t *told,
                        struct fate *fate, struct err *err)
{
    struct left own = {.max_insns = max_insns}, got;
    const struct both b = {.got = got.outputs, .own = own.outputs};
    struct fate original = {0};

    if (!run_whole(w, &w->judge->baseline, &stage_sim, &own, &original, err))
        return false;
    *told = fate_open(&original) ? MAX(own.ran.insns, (uint64_t)1) : 0;
    if (!*told)
        return true;
    got = beside(&own);
    return run_whole(w, v, &stage_sim, &got, fate, err) &&
           (!fate_open(fate) || compare_whole(w, v, &b, &stage_sim, fate, err));
}

/* What rounding makes of integers must be known before they are compared. */
static bool integers_come_out(const struct judge *j)
{
    for (size_t o = 0; o < j->n_outputs; o++)
        if (!type_is_floating(j->task->args[j->outputs[o]].type))
            return true;
    return false;
}

bool extra_run(const struct extra *x, struct version *v, struct arena *scratch, uint64_t max_insns,
               uint64_t *told, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct stage_tiles tiles = {.arena = scratch};
    const struct whole w = {.judge = j,
                            .arena = scratch,
                            .dims = x->dims,
                            .where = task_dims_text(scratch, j->task, x->dims),
                            .seed = x->seed,
                            .tiles = x->apart ? NULL : &tiles,
                            .values = x->values,
                            .integers = x->integers,
                            .coarse = x->coarse,
                            .share = x->share,
                            .order = x->order,
                            .checks = checks_of(j) | (x->order ? SANITIZE_EARLIER : 0)};

    *told = 0;
    return (!integers_come_out(j) || original_can(j, SIDE_SIM, err)) &&
           extra_whole(&w, v, max_insns, told, fate, err);
}

enum far { FAR_OUTLIERS, FAR_INTEGERS, FAR_LIGHT };

static const char *first_outlier(struct arena *a, enum kernel_type type)
{
    char *bytes = arena_alloc(a, kernel_type_size(type));

    task_from_double(type, OUTLIER, bytes);
    return bytes;
}

static bool has_many_digits(const struct task *t)
{
    bool many = true;

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role == ROLE_OUT || t->args[i].role == ROLE_INOUT)
            many &= t->args[i].type == KT_F32 || t->args[i].type == KT_F64;
    return many;
}

/* What may be any number becomes small integers; or has a few outliers, which decide a row wherever they stand;
 * or one zero in a row of numbers so far below it that their exponentials together are 3 % of its own, or less:
 * each by itself is next to nothing. NULL: nothing may. */
static const struct task_values *far_values(const struct judge *j, struct arena *a, const int64_t *dims,
                                            enum far far)
{
    static const double outliers[] = {OUTLIER, -OUTLIER};
    const struct task *t = j->task;
    struct task_values *values = arena_array(a, struct task_values, t->n_args);
    int64_t longest = 1;
    bool any = false;

    for (size_t i = 0; i < t->n_dims; i++)
        longest = MAX(longest, dims[i]);
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        values[i] = arg->values;
        if ((arg->role != ROLE_IN && arg->role != ROLE_INOUT) || !type_is_floating(arg->type) ||
            arg->values.kind != VALUE_NORMAL)
            continue;
        if (far == FAR_INTEGERS) {
            values[i].kind = VALUE_INTEGERS;
            values[i].n_special = 0;
        } else if (far == FAR_LIGHT) {
            values[i].kind = VALUE_UNIFORM;
            values[i].high = -log((double)longest) - (has_many_digits(t) ? LIGHTER : LIGHT);
            values[i].low = values[i].high - 0.25;
            values[i].n_special = 0;
            values[i].peaked = true;
        } else if (!values[i].n_special) {
            values[i].kind = VALUE_UNIFORM; /* cheaper than normal ones */
            values[i].low = -2;
            values[i].high = 2;
            values[i].special = outliers;
            values[i].n_special = ARRAY_LEN(outliers);
            values[i].special_share = OUTLIERS / (double)longest;
            values[i].stored = first_outlier(a, arg->type); /* whoever shifts a row does so by this one */
            values[i].stored_bytes = kernel_type_size(arg->type);
        }
        any = true;
    }
    return any ? values : NULL;
}

/* The same shape once more, of values that may be taken for something simpler, in the last confirmation: what
 * is decided by size may be decided by values as well. Not where the original has needed many instructions for
 * few elements: those are idle threads of many short rows, whose values the suite has. */
static bool structured_verify(const struct extra *x, struct version *v, struct arena *scratch, uint64_t insns,
                              struct fate *fate, struct err *err)
{
    const struct task *t = v->judge->task;
    int64_t elements = task_case_elements(t, x->dims);
    uint64_t told;
    bool ok = true;

    for (int s = 0; ok && insns <= STRUCTURED_INSNS && s < N_STRUCTURES && fate_open(fate); s++) {
        struct task_values *values = arena_array(scratch, struct task_values, t->n_args);
        const struct extra y = {.dims = x->dims,
                                .values = values,
                                .seed = x->seed + 1 + (uint64_t)s,
                                .apart = true,
                                .coarse = true};
        if (elements > FINAL_ELEMENTS || v->structured + elements > MOST_STRUCTURED ||
            !task_structured(t, x->dims, s, values))
            continue;
        v->structured += elements;
        ok = extra_run(&y, v, scratch, EXTRA_INSNS, &told, fate, err);
    }
    return ok;
}

void extra_settle(struct version *v, struct fate *fate)
{
    if (fate->verdict == VERDICT_HUNG) /* many short rows are work for many idle threads */
        *fate = (struct fate){0};
    if (!fate_open(fate))
        fate->words = arena_strdup(v->arena, fate->words);
}

static bool far_run(struct version *v, struct arena *scratch, struct extra x, uint64_t *told, struct fate *fate,
                    struct err *err)
{
    bool ok = extra_run(&x, v, scratch, FAR_INSNS, told, fate, err);

    if (ok && *told && !x.values && fate_open(fate))
        ok = structured_verify(&x, v, scratch, *told, fate, err);
    extra_settle(v, fate);
    arena_reset(scratch);
    return ok;
}

/* Does it take exponentials, whose light terms may be left out? */
static bool takes_exponentials(const struct version *v)
{
    return v->compiled.image.ptx && strstr(v->compiled.image.ptx, "ex2.");
}

bool far_verify(struct version *v, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    const int64_t *shapes[TASK_FAR];
    struct arena *a = arena_open(), *scratch = arena_open();
    size_t alone, n = task_far(j->task, a, shapes, &alone);
    uint64_t told = 0;
    bool ok = true, integers = false;

    /* Where roundings come in, few different terms round alike, millions of times: no measure of a version. */
    for (size_t o = 0; o < j->n_outputs; o++)
        integers |= !type_is_floating(j->task->args[j->outputs[o]].type) || is_exact_of_integers(j, o);

    for (size_t i = 0; ok && i < n && fate_open(fate) && !(i > alone && told); i++) {
        struct extra x = {.dims = shapes[i], .seed = rng_hash(j->options.seed, 0x66617200 + i)};
        if (i >= alone)
            x.values = far_values(j, a, shapes[i], FAR_OUTLIERS);
        x.apart = x.values;
        ok = far_run(v, scratch, x, &told, fate, err);
        uint64_t again;
        if (ok && i >= alone && told && x.values && fate_open(fate) && takes_exponentials(v)) {
            x.values = far_values(j, a, shapes[i], FAR_LIGHT);
            ok = far_run(v, scratch, x, &again, fate, err);
        }
        if (!ok || i < alone || !told || !x.values || !fate_open(fate) || !integers)
            continue;
        x.values = far_values(j, a, shapes[i], FAR_INTEGERS);
        x.integers = true;
        x.apart = false;
        ok = far_run(v, scratch, x, &again, fate, err);
    }
    arena_close(scratch);
    arena_close(a);
    return ok;
}

const int64_t *smallest_case(const struct judge *j)
{
    const int64_t *least = j->cases[0].dims;

    for (size_t c = 1; c < j->n_cases; c++)
        if (task_case_elements(j->task, j->cases[c].dims) < task_case_elements(j->task, least))
            least = j->cases[c].dims;
    return least;
}

bool extra_verify(const struct extra *x, struct version *v, struct arena *scratch, struct fate *fate,
                  struct err *err)
{
    struct judge *j = v->judge;
    uint64_t told = 0;
    int64_t most = j->options.confirm ? FINAL_ELEMENTS : EXTRA_ELEMENTS;

    if ((x->values || task_case_elements(j->task, x->dims) <= most) &&
        !extra_run(x, v, scratch, EXTRA_INSNS, &told, fate, err))
        return false;
    if (told && !x->values && j->options.confirm && fate_open(fate))
        return structured_verify(x, v, scratch, told, fate, err);
    return told || x->values || verify_extreme_shape(j, v, scratch, x->dims, fate, err);
}

/* *known as size_verify says it. */
static bool verify_whole(const struct whole *w, struct version *v, const struct stage_ops *ops, size_t *known,
                         struct fate *fate, struct err *err)
{
    struct judge *j = w->judge;
    struct left own = {0}, got = {0};
    struct fate original = {0};
    bool ok;

    /* On the simulator each has a memory of its own, and the original's work bounds the candidate's. */
    if (ops->side == SIDE_SIM) {
        ok = run_whole(w, &j->baseline, ops, &own, &original, err);
        got = beside(&own);
        ok = ok && (!fate_open(&original) || run_whole(w, v, ops, &got, fate, err));
    } else {
        ok = run_whole(w, v, ops, &got, fate, err) &&
             (!fate_open(fate) || run_whole(w, &j->baseline, ops, &own, &original, err));
    }
    if (!ok || !fate_open(fate))
        return ok;
    if (!fate_open(&original))
        return err_at(err, j->task->source_path, original.line, 0, "the original on its workloads: %s: %s",
                      verdict_name(original.verdict), original.words);
    const struct both b = {.got = got.outputs, .own = own.outputs};
    if (!compare_whole(w, v, &b, ops, fate, err))
        return false;
    return !fate_open(fate) || !j->options.confirm || size_verify(w, &b, ops, known, NULL, fate, err);
}

/* ---- what is too large: some blocks of both ---- */

/* The candidate's sample beside the original's; how many elements could be compared. Only of an output that was
 * empty, under one launch each, what both have written must agree; all else is a reason to doubt. */
static size_t compare_samples(const struct whole *w, struct sample *s, bool *doubt, struct fate *fate)
{
    const struct judge *j = w->judge;
    unsigned char got[PIECE], own[PIECE];
    struct fate maybe = {0};
    size_t compared = 0;

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        struct fate *told = sample_is_final(s, arg) ? fate : &maybe;
        size_t size = kernel_type_size(arg->type);
        struct error_scale y = {.arg = NULL};
        struct sample_cover cover;
        int64_t bytes, its_pieces = 0;

        stage_arg(&s[0].stage, j->outputs[o], &bytes);
        double whole = (double)(bytes / PIECE);
        sample_cover_open(&cover, &s[0], whole);
        for (int64_t at = 0; at + PIECE <= bytes; at += PIECE) {
            int64_t first = at / (int64_t)size;
            bool mine = sample_written(&s[0], o, first, got), its = sample_written(&s[1], o, first, own);
            sample_cover_add(&cover, mine, its || arg->role == ROLE_OUT);
            its_pieces += its;
            if (!mine || !its || !fate_open(told))
                continue;
            if (!y.arg) {
                y = error_scale_of(j, SIDE_SIM, o, own, PIECE / size);
                y.n_other = error_scale_others(j, SIDE_SIM, o, (double)bytes / (double)size * MIN(1, s[0].ran));
            }
            y.where = w->where;
            error_scale_compare(w->arena, &y, (size_t)first, got, own, PIECE, told);
            compared += PIECE / size;
        }
        /* A share of the blocks writes that share, or as much of it as the original's do. */
        *doubt |= sample_cover_has_holes(&cover) ||
                  cover.written / s[0].ran < ENOUGH * MIN(whole, (double)its_pieces / s[1].ran);
    }
    *doubt |= !fate_open(&maybe);
    if (compared)
        ran_join(s[0].version, s[0].noted);
    return compared;
}

struct sampled {
    size_t compared; /* elements; 0 when nothing could be said */
    size_t known;    /* as size_verify says it */
    bool doubt;      /* only a whole run can tell */
};

static bool verify_sample(const struct whole *w, struct version *v, int64_t traffic, struct sampled *r,
                          struct fate *fate, struct err *err)
{
    double share = MIN(1, (double)SAMPLE_BYTES / (double)traffic);
    struct sample s[2] = {{.whole = w, .version = v, .share = share},
                          {.whole = w, .version = &w->judge->baseline, .share = share}};
    bool ok = sample_run(&s[0], err) && (!s[0].told || sample_run(&s[1], err));
    const struct both b = {.samples = s};

    r->doubt = ok && !s[0].told;
    if (ok && s[0].told && s[1].told) {
        r->compared = compare_samples(w, s, &r->doubt, fate);
        if (r->compared && !r->doubt && fate_open(fate) && w->judge->options.confirm)
            ok = size_verify(w, &b, &stage_sim, &r->known, &r->doubt, fate, err);
    }
    sample_close(&s[0]);
    sample_close(&s[1]);
    return ok;
}

/* Both versions' buffers, one after the other, and the outputs of both fit into a worker's memory, and the
 * original's work into some seconds; where that is not known, its limit of instructions says it. */
static bool fits(const struct judge *j, const int64_t *dims, double cost)
{
    int64_t bytes;

    if (!task_traffic(j->task, dims, &bytes, NULL))
        return false;
    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        int64_t elements;
        if (!task_shape(j->task, arg, dims, &elements, NULL))
            return false;
        bytes += 2 * elements * (int64_t)kernel_type_size(arg->type);
    }
    return bytes <= (int64_t)MOST_BYTES && !(cost > MOST_INSNS);
}

/* What running a workload whole costs: bytes on a GPU; on the simulator the original's warp instructions, and
 * its bytes, which are filled and compared. NAN: nobody knows. */
static bool cost_of(struct judge *j, size_t i, double *cost, struct err *err)
{
    const struct task *t = j->task;
    const struct work *work;
    int64_t bytes;

    *cost = NAN;
    if (!task_traffic(t, t->workloads + i * t->n_dims, &bytes, NULL))
        return true;
    *cost = (double)bytes;
    if (j->gpu)
        return true;
    if (!version_work(&j->baseline, i, &work, err))
        return false;
    *cost = work->known ? work->insns + (double)bytes / INSN_BYTES : NAN;
    return true;
}

/* Which workloads are run whole: all of them on a GPU when it is the last word, before that and on the
 * simulator as many as a budget allows, the cheapest first. */
static bool affordable(struct judge *j, size_t i, bool *whole, struct err *err)
{
    double mine, other, sum = 0;

    *whole = j->gpu && j->options.confirm;
    if (*whole)
        return true;
    if (!cost_of(j, i, &mine, err))
        return false;
    for (size_t k = 0; k < j->task->n_workloads; k++) {
        if (!cost_of(j, k, &other, err))
            return false;
        if (other < mine || (other <= mine && k <= i))
            sum += other;
    }
    *whole = sum <= (j->gpu ? (double)SOME_BYTES : (double)SOME_INSNS) && mine <= sum &&
             (j->gpu || fits(j, j->task->workloads + i * j->task->n_dims, mine));
    return true;
}

/* A version that the limit of instructions has stopped on a workload may be right, and only need so many: the
 * blocks that are drawn to count them come to their end. */
static bool is_heavy(const struct whole *w, struct version *v, size_t i, bool *heavy, struct err *err)
{
    const struct work *mine, *its;

    *w->work = (struct work){.asked = false};
    if (!version_work(v, i, &mine, err) || !version_work(&w->judge->baseline, i, &its, err))
        return false;
    *heavy = mine->known && its->known && mine->insns > WORK_TIMES * its->insns;
    if (*heavy)
        v->heavy = arena_printf(v->arena, "it needs %.0f times the original's warp instructions on %s",
                                mine->insns / its->insns, w->where);
    return true;
}

bool verify_workloads(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err)
{
    const struct stage_ops *ops = j->gpu ? &stage_gpu : &stage_sim;
    struct arena *scratch = arena_open();
    struct str left = {.arena = a}, inexact = left;
    bool ok;

    ok = !integers_come_out(j) || original_can(j, ops->side, err);
    for (size_t i = 0; ok && fate_open(fate) && i < j->task->n_workloads; i++) {
        const int64_t *dims = j->task->workloads + i * j->task->n_dims;
        struct stage_tiles tiles = {.arena = scratch};
        struct whole w = {j,
                          scratch,
                          dims,
                          task_dims_text(scratch, j->task, dims),
                          rng_hash(j->options.seed ^ hash_text(v->kernel->text), i),
                          &tiles};
        w.work = ops->side == SIDE_SIM ? work_of(v, i) : NULL;
        int64_t traffic;
        struct sampled some = {0};
        double cost;
        bool whole;
        if (!(ok = affordable(j, i, &whole, err) && cost_of(j, i, &cost, err)))
            break;
        if (!whole && !v->heavy && ops->side == SIDE_SIM && task_traffic(j->task, dims, &traffic, NULL)) {
            ok = verify_sample(&w, v, traffic, &some, fate, err);
            /* Before the last word a doubt is no reason to spend seconds. */
            whole = some.doubt && fate_open(fate) && j->options.confirm && fits(j, dims, cost);
            if (!whole)
                str_addf(&left, "%s%s", left.len ? ", " : "", w.where);
            if (!whole && some.compared)
                str_addf(&left, " (%zu elements compared)", some.compared);
        }
        if (ok && whole && !v->heavy)
            ok = verify_whole(&w, v, ops, &some.known, fate, err);
        if (ok && ops->side == SIDE_SIM && fate->verdict == VERDICT_HUNG) {
            bool heavy = false;
            ok = is_heavy(&w, v, i, &heavy, err);
            if (heavy)
                *fate = (struct fate){0};
        }
        if (v->heavy)
            str_addf(&left, "%s%s", left.len ? ", " : "", w.where);
        if (!some.known)
            str_addf(&inexact, "%s%s", inexact.len ? ", " : "", w.where);
        if (!fate_open(fate))
            fate->words = arena_strdup(a, fate->words);
        arena_reset(scratch);
    }
    if (ok && fate_open(fate) && v->heavy) /* nobody waits for its time, either */
        fate_is(fate, VERDICT_SLOWER, 0, v->heavy);
    if (left.len && j->options.confirm) /* before that it is not missing yet */
        trial_add_missing(a, t,
                          arena_printf(a, "the whole of %s: too large for the simulator", str_text(&left)));
    if (fate_open(fate) && inexact.len && j->options.confirm && j->exact.module)
        trial_add_missing(a, t, arena_printf(a, "exact answers at %s", str_text(&inexact)));
    arena_close(scratch);
    return ok;
}
