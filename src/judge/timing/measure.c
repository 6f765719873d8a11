/* Times on a GPU, of all workloads in all regimes: a candidate beside the original, in pairs of blocks. In a
 * stream a block of the neighbours alone stands between the two of a pair, and is taken off both: what is left
 * is what the plan adds, whatever the neighbours take, and the noise of that block is in the interval. */
#include "pairs.h"

enum { PIECE_BYTES = 8192, FIRST_WORKLOADS = 3, CHECKED_PAIR = 12 };
#define WARM_S   0.02 /* of blocks before the first measurement: the clocks are up */
#define TINY_US  5.0  /* below, half-widths are three times as wide */
#define ALIKE    0.25 /* logarithm of two times */
#define LEAST_US 0.05 /* what a plan adds to a stream counts as no less: its ratios would be noise's */
#define HOPELESS 0.9  /* all of the first workloads surely slower than that: the others are not measured */
#define PATIENCE 3.0  /* slower than the original by no more, it is measured until there is an interval */

/* ---- what timed launches leave ---- */

static void choose_pieces(struct pairs *p, struct rng *rng)
{
    const struct track *t = p->track;

    for (size_t k = 0; k < t->n_buffers; k++) {
        uint64_t size = kernel_type_size(t->arg[k]->type), n = t->bytes[k] / size, most = PIECE_BYTES / size;
        if ((t->arg[k]->role != ROLE_OUT && t->arg[k]->role != ROLE_INOUT) || n == 0)
            continue;
        for (unsigned i = 0; i < PIECES; i++) {
            uint64_t length = MIN(n, most), room = n - length;
            uint64_t at = i * room; /* the first and the last, then any */
            if (i > 1)
                at = rng_below(rng, room + 1);
            p->pieces[p->n_pieces++] = (struct piece){k, at * size, length * size};
            if (room == 0)
                break;
        }
    }
}

static bool take_sample(struct pairs *p, int side, size_t window, struct err *err)
{
    uint64_t base = bench_set(p->bench, p->track, bench_window(p->track, p->regime, window) + p->check_set);
    size_t done = 0;
    bool ok = true;

    p->samples[side] = arena_alloc(p->arena, p->n_pieces * PIECE_BYTES + 1);
    for (size_t i = 0; ok && i < p->n_pieces; i++) {
        const struct piece *x = &p->pieces[i];
        ok = cuda_read(p->bench->gpu, base + p->track->offset[x->buffer] + x->at, p->samples[side] + done, x->n,
                       err);
        done += x->n;
    }
    return ok;
}

/* Whether work was done at all is the question here, on the same bits as the original's: how precise it is has
 * been asked before. So numbers may be as far apart as in a workload that is run whole, or so many relative to
 * typical ones, whichever is more; all else is as there. */
static double wide_ulps(const struct task *task, enum kernel_type type)
{
    static const double units[] = {
        [KT_F16] = 0x1p-10, [KT_BF16] = 0x1p-7, [KT_F32] = 0x1p-18, [KT_F64] = 0x1p-40};

    return type_is_floating(type) ? 16 * units[type] / error_ulp(type, 1) * fmax(1, task->tolerance) : 0;
}

static size_t output_of(const struct judge *j, const struct task_arg *arg)
{
    size_t o = 0;

    while (&j->task->args[j->outputs[o]] != arg)
        o++;
    return o;
}

static void compare_samples(struct pairs *p)
{
    const struct judge *j = p->bench->judge;
    const unsigned char *a = p->samples[0], *b = p->samples[1];

    for (size_t i = 0; i < p->n_pieces && fate_open(p->fate); i++) {
        const struct piece *x = &p->pieces[i];
        const struct task_arg *arg = p->track->arg[x->buffer];
        size_t size = kernel_type_size(arg->type), o = output_of(j, arg), at;
        struct error_scale y = error_scale_of(j, SIDE_GPU, o, a, x->n / size);
        y.ulps = fmax(fmax(y.ulps, p->sides[1]->version->apart[o]), wide_ulps(j->task, arg->type));
        if ((!j->task->accept_nondeterminism || type_is_floating(arg->type)) &&
            error_scale_differs(&y, b, a, x->n, &at))
            fate_isf(p->fate, p->arena, VERDICT_WRONG, 0,
                     "a timed launch left element %zu of %s as %.9g, the original as %.9g%s (%s)",
                     (size_t)(x->at / size) + at, arg->name, task_to_double(arg->type, b + at * size),
                     task_to_double(arg->type, a + at * size), must_be_identical(j) ? ", and " ASKED_EXACT : "",
                     task_dims_text(p->arena, j->task, p->track->dims));
        a += x->n;
        b += x->n;
    }
}

/* ---- pairs ---- */

/* What must come from DRAM is put out of the L2 behind a block. */
static bool is_cooled(const struct pairs *p)
{
    return p->regime == REGIME_COLD || (regime_is_stream(p->regime) && p->track->stable);
}

/* Then the sets that it used get the contents of the next block: of this pair, or of the one that meets the
 * window again. */
static bool one_block(struct pairs *p, int side, size_t window, bool check, bool second, double *us,
                      struct err *err)
{
    struct bench *b = p->bench;
    struct track *t = p->track;
    size_t first = bench_window(t, p->regime, window), used = second ? p->most : p->used[side];
    uint64_t next = p->n_pairs + (second ? bench_windows(t, p->regime) : 0);

    return side_block(p->sides[side], t, p->regime, window, us, p->fate, err) && fate_open(p->fate) &&
           (!check || take_sample(p, side, window, err)) && bench_refresh(b, t, first, used, next, err) &&
           (!is_cooled(p) || bench_cool(b, t, first, used, err));
}

static bool one_pair(void *context, bool b_first, struct pair *pair, struct err *err)
{
    struct pairs *p = context;
    size_t window = p->n_pairs % bench_windows(p->track, p->regime);
    bool check = p->n_pairs == p->check && p->n_pieces;
    double us[2], alone_us;

    if (!one_block(p, b_first, window, check, false, &us[b_first], err) ||
        (regime_is_stream(p->regime) && !neighbours_block(p->track, p->regime, &alone_us, err)) ||
        !one_block(p, !b_first, window, check, true, &us[!b_first], err))
        return false;
    if (regime_is_stream(p->regime)) {
        vec_push(&p->alone_us, alone_us);
        for (int side = 0; side < 2; side++)
            us[side] = fmax(us[side] - alone_us, LEAST_US);
    }
    *pair = (struct pair){.a_us = us[0], .b_us = us[1], .disturbed = bench_disturbed(p->bench)};
    if (check)
        compare_samples(p);
    p->n_pairs++;
    return fate_open(p->fate);
}

/* From here on the windows' contents are those of their pairs. */
static bool start_contents(struct pairs *p, struct err *err)
{
    struct track *t = p->track;
    bool ok = true;

    for (size_t w = 0; ok && w < bench_windows(t, p->regime); w++)
        ok = bench_refresh(p->bench, t, bench_window(t, p->regime, w), p->most, w, err);
    return ok && (!is_cooled(p) || bench_cool(p->bench, t, 0, p->most, err));
}

static bool warm_up(struct pairs *p, struct err *err)
{
    double until = time_s() + WARM_S, us;
    bool ok = true;

    while (ok && fate_open(p->fate) && time_s() < until)
        ok = side_block(p->sides[0], p->track, p->regime, 0, &us, p->fate, err) &&
             bench_refresh(p->bench, p->track, 0, p->used[0], 0, err);
    return ok;
}

/* ---- one workload, one regime ---- */

struct wish { /* how precise */
    double half_width, max_s;
    int max_pairs;
};

static struct wish wish_of(const struct judge *j, bool control, bool scoring, bool stream)
{
    if (stream && !scoring) /* of the control it is the time alone that is wanted */
        return (struct wish){0.02, 0.1, control ? 4 : 32};
    if (j->options.confirm || control)
        return scoring ? (struct wish){0.0025, 1, 1024} : (struct wish){0.005, 0.3, 256};
    return scoring ? (struct wish){0.005, 0.3, 256} : (struct wish){0.02, 0.1, 32};
}

static struct pair_rules rules_of(const struct pairs *p)
{
    const struct judge *j = p->bench->judge;
    bool scoring = p->regime == j->task->regime, control = p->sides[1]->version == &j->baseline;
    size_t workload = (size_t)(p->track - p->bench->tracks);
    struct wish wish = wish_of(j, control, scoring, regime_is_stream(p->regime));
    struct pair_rules rules = pair_rules_default();
    double a_us = p->sides[0]->us, b_us = p->sides[1]->us, tiny = a_us < TINY_US ? 3 : 1;

    rules.half_width = wish.half_width * tiny;
    rules.max_pairs = wish.max_pairs;
    rules.max_s = wish.max_s;
    /* A long plan is looked at too, unless it is not worth it. */
    rules.first_s = b_us < PATIENCE * a_us ? INFINITY : rules.max_s;
    rules.seed = rng_hash(j->options.seed, workload * N_REGIMES + (size_t)p->regime);
    if (!control && !p->beside)
        rules.hopeless = 1 - fmax(0.005 * tiny, j->noise);
    return rules;
}

/* The graphs of both, and how many sets their blocks take. */
static bool record_both(struct pairs *p, struct err *err)
{
    struct side *a = p->sides[0], *b = p->sides[1];
    /* An interval's own time is the same share of both blocks, where a small difference is to be seen. */
    bool alike = fabs(log(b->us / a->us)) < ALIKE;

    if (!side_record(a, p->bench, p->track, p->regime, a->us, p->fate, err) ||
        (fate_open(p->fate) &&
         !side_record(b, p->bench, p->track, p->regime, alike ? a->us : b->us, p->fate, err)))
        return false;
    for (int side = 0; side < 2; side++) {
        p->used[side] = p->sides[side]->lap[p->regime].sets;
        p->most = MAX(p->most, p->used[side]);
    }
    return true;
}

bool pairs_look(struct pairs *p, struct err *err)
{
    struct rng rng = {p->bench->judge->options.seed};
    struct pair pair;

    if (!record_both(p, err) || !fate_open(p->fate))
        return !fate_open(p->fate);
    choose_pieces(p, &rng);
    return start_contents(p, err) && (one_pair(p, false, &pair, err) || !fate_open(p->fate));
}

bool pairs_measure(struct pairs *p, struct trial_time *time, struct err *err)
{
    struct bench *b = p->bench;
    struct track *t = p->track;
    struct pair_rules rules = rules_of(p);
    struct rng rng = {rules.seed};
    struct pair_result r;

    if (!record_both(p, err) || !fate_open(p->fate))
        return !fate_open(p->fate);
    if (regime_is_stream(p->regime) && !neighbours_record(b, t, p->regime, err))
        return false;
    p->check = rng_below(&rng, CHECKED_PAIR);
    p->check_set = (size_t)rng_below(&rng, MIN(p->used[0], p->used[1]));
    /* Hot, results that are updated in place grow, and differences with them; a library's was looked at. */
    if (!(p->regime == REGIME_HOT && t->in_place) && !p->beside)
        choose_pieces(p, &rng);
    bool warm = b->warm, ok;
    b->warm = true;
    if ((!warm && !warm_up(p, err)) || !start_contents(p, err))
        return false;
    ok = pair_measure(&rules, one_pair, p, &r, err);
    time->neighbours_us = stats_median(p->alone_us.v, p->alone_us.n);
    vec_free(&p->alone_us);
    if (!ok)
        return !fate_open(p->fate);
    time->us = r.b_us;
    time->base_us = r.a_us;
    time->speedup = r.ratio;
    time->low = r.low;
    time->high = r.high;
    time->pairs = r.pairs;
    return true;
}

static bool measure_regime(struct bench *b, struct track *t, struct side *candidate, enum regime regime,
                           struct trial_time *time, struct fate *fate, struct err *err)
{
    struct pairs p = {.bench = b,
                      .track = t,
                      .sides = {&t->original, candidate},
                      .regime = regime,
                      .arena = candidate->version->arena,
                      .fate = fate};

    return pairs_measure(&p, time, err);
}

static bool measure_workload(struct bench *b, struct track *t, struct version *candidate,
                             struct trial_workload *w, struct fate *fate, struct err *err)
{
    struct version *original = &b->judge->baseline;
    bool control = original == candidate, ok;
    struct side *base = &t->original, side = {0};

    if (!bench_light(b, t, err) || !bench_load(b, t, err))
        return false;
    for (enum regime r = 0; r < N_REGIMES; r++) {
        w->times[r].copy_us = t->copy_us[r];
        w->times[r].compulsory_bytes = (double)t->traffic;
    }
    if (base->version && base->loaded != original->loaded) /* it was compiled again, for another shape */
        side_close(base);
    ok = base->version || side_open(base, b, t, original, fate, err);
    if (ok && fate_open(fate))
        ok = side_open(&side, b, t, candidate, fate, err);
    /* While searching, the regime that scores is all that is asked for. */
    for (enum regime regime = REGIME_COLD; ok && fate_open(fate) && regime < N_REGIMES; regime++)
        ok = (!control && !b->judge->options.confirm && regime != b->judge->task->regime) ||
             (regime_is_stream(regime) && !b->neighbours[regime]) ||
             measure_regime(b, t, &side, regime, &w->times[regime], fate, err);
    if (ok && fate_open(fate) && b->judge->beside && b->judge->options.confirm)
        ok = measure_beside(b, t, &side, err);
    if (side.version)
        side_close(&side);
    if (base->version && (!ok || !fate_open(fate)))
        side_close(base);
    if (!fate_open(fate))
        fate->words = arena_strdup(candidate->arena, fate->words);
    return ok;
}

/* ---- all workloads ---- */

struct place {
    int64_t traffic;
    size_t workload;
};

static int by_traffic(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    return a->traffic != b->traffic ? ORDER(a->traffic, b->traffic) : ORDER(a->workload, b->workload);
}

/* That in the middle, the smallest and the largest come first: what is slower on all of them is dropped. */
static size_t *order_of(const struct bench *b, struct arena *a)
{
    size_t n = b->judge->task->n_workloads, k = 0, *order = arena_array(a, size_t, n + 1);
    struct place *sorted = arena_array(a, struct place, n + 1);

    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct place){b->tracks[i].traffic, i};
    qsort(sorted, n, sizeof(*sorted), by_traffic);
    if (n > 0)
        order[k++] = sorted[n / 2].workload;
    if (n > 1)
        order[k++] = sorted[0].workload;
    if (n > 2)
        order[k++] = sorted[n - 1].workload;
    for (size_t i = 1; i + 1 < n; i++)
        if (i != n / 2)
            order[k++] = sorted[i].workload;
    return order;
}

static bool hopeless(const struct task *task, const struct trial_workload *list, const size_t *order)
{
    for (size_t i = 0; i < FIRST_WORKLOADS; i++) {
        const struct trial_workload *w = &list[order[i]];
        double high = w->times[task->regime].high;
        if (!(high < HOPELESS))
            return false;
    }
    return true;
}

/* In the workloads' order, not in that in which they were measured. */
static void put_beside(const struct bench *b, struct arena *a, struct trial *t)
{
    struct trial_beside *to = arena_array(a, struct trial_beside, b->rows.n + 1);

    t->beside = to;
    for (size_t w = 0; w < b->judge->task->n_workloads; w++)
        for (size_t i = 0; i < b->rows.n; i++)
            if (b->rows.v[i].workload == w)
                to[t->n_beside++] = b->rows.v[i];
}

bool measure_paired(struct version *v, struct trial *t, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = v->arena;
    const struct task *task = j->task;
    struct trial_workload *list = arena_array(a, struct trial_workload, task->n_workloads + 1);
    bool control = v == &j->baseline;
    struct bench *b;
    const struct trial_time unknown = trial_time_unknown();
    size_t *order;

    if (!j->bench && !bench_open(&j->bench, j, err))
        return false;
    b = j->bench;
    order = order_of(b, a);
    for (size_t i = 0; i < task->n_workloads; i++)
        list[i] = (struct trial_workload){.dims = task->workloads + i * task->n_dims,
                                          .times = {unknown, unknown, unknown, unknown},
                                          .weight = task->weights ? task->weights[i] : 0};
    b->clocks = clocks_now(j->gpu);
    b->warm = false;
    b->rows.n = 0;
    for (size_t i = 0; i < task->n_workloads; i++) {
        struct trial_workload *w = &list[order[i]];
        if (!measure_workload(b, &b->tracks[order[i]], v, w, fate, err))
            return false;
        if (!fate_open(fate))
            return true;
        const struct trial_time *x = &w->times[task->regime];
        if (!control && isnan(x->low))
            fate_isf(fate, a, VERDICT_SLOWER, 0,
                     "%s takes %.2f us, the original %.2f us, in %g pairs of blocks: too few, or too "
                     "much alike from one to the next, to be certain",
                     task_dims_text(a, task, w->dims), x->us, x->base_us, x->pairs);
        else if (!control && i + 1 == FIRST_WORKLOADS && i + 1 < task->n_workloads &&
                 hopeless(task, list, order))
            fate_isf(fate, a, VERDICT_SLOWER, 0,
                     "%.2fx the original's speed at %s, and slower on the smallest and the largest "
                     "workload too: the others were not timed",
                     list[order[0]].times[task->regime].speedup, task_dims_text(a, task, list[order[0]].dims));
        if (!fate_open(fate))
            break;
    }
    put_beside(b, a, t);
    t->empty_us = b->empty_us;
    t->workloads = list;
    t->n_workloads = task->n_workloads;
    t->n_dims = task->n_dims;
    t->dim_names = task->dims;
    return true;
}
