/* A library's product beside a version, in pairs of blocks as versions are beside the original. Its launches
 * are recorded into the same kind of graph, on the same sets. Before it has a time, its result is compared:
 * with the original's on the same bits, or, where the original does more than the product, with sums of our
 * own. */
#include "../beside.h"
#include "bench.h"
#include "pairs.h"

enum { PLACES = 6 }; /* of the result, added up here */

/* ---- its result beside ours ---- */

struct place { /* of one result */
    int64_t row, col, batch;
};

/* `n` elements of an operand, from one on, as numbers. */
static bool read_line(const struct side *s, const struct product_matrix *m, int64_t first, int64_t step,
                      int64_t n, double *to, struct err *err)
{
    enum kernel_type type = beside_type(m);
    size_t size = kernel_type_size(type), bytes = ((size_t)(n - 1) * (size_t)step + 1) * size;
    uint64_t from = s->stage.addr[m->buffer] + (uint64_t)m->start_bytes + (uint64_t)first * size;
    unsigned char *line = mem_alloc(bytes);
    bool ok = cuda_read(s->stage.judge->gpu, from, line, bytes, err);

    for (int64_t i = 0; ok && i < n; i++)
        to[i] = task_to_double(type, line + (size_t)i * (size_t)step * size);
    free(line);
    return ok;
}

/* What a sum of floats and one rounding to the result's type may be off. */
static double allowed(const struct product *p, double sum, double absolute)
{
    static const double units[] = {
        [KT_F16] = 0x1p-9, [KT_BF16] = 0x1p-6, [KT_F32] = 0x1p-20, [KT_F64] = 0x1p-48};
    enum kernel_type type = beside_type(&p->c);

    if (!type_is_floating(type))
        return 0;
    return fabs(sum) * units[type] + absolute * (type == KT_F64 ? 0x1p-45 : 0x1p-18);
}

static bool right_at(const struct side *s, const struct product *p, struct place at, bool *right,
                     struct err *err)
{
    double *x = mem_alloc((size_t)p->k * sizeof(*x)), *y = mem_alloc((size_t)p->k * sizeof(*y)), sum = 0,
           size = 0, is;
    bool ok =
        read_line(s, &p->a, at.batch * p->a.batch_step + at.row * p->a.step[0], p->a.step[1], p->k, x, err) &&
        read_line(s, &p->b, at.batch * p->b.batch_step + at.col * p->b.step[1], p->b.step[0], p->k, y, err) &&
        read_line(s, &p->c, at.batch * p->c.batch_step + at.row * p->c.step[0] + at.col * p->c.step[1], 1, 1,
                  &is, err);

    for (int64_t i = 0; ok && i < p->k; i++) {
        sum += x[i] * y[i];
        size += fabs(x[i] * y[i]);
    }
    *right = ok && fabs(is - sum) <= allowed(p, sum, size);
    free(x);
    free(y);
    return ok;
}

static bool check_sums(struct side *library, struct bench *b, struct track *t, const struct product *p,
                       const char **words, struct err *err)
{
    struct rng rng = {b->judge->options.seed};
    bool ok = bench_refresh(b, t, 0, 1, 0, err) && side_run(library, b, t, err), right = true;

    for (int i = 0; ok && right && i < PLACES; i++) {
        struct place at = {p->m - 1, p->n - 1, p->batch - 1};
        if (i)
            at = (struct place){(int64_t)rng_below(&rng, (uint64_t)p->m),
                                (int64_t)rng_below(&rng, (uint64_t)p->n),
                                (int64_t)rng_below(&rng, (uint64_t)p->batch)};
        ok = right_at(library, p, at, &right, err);
        if (ok && !right)
            *words = "its result differs from the product added up here";
    }
    return ok;
}

static bool check_original(struct side *library, struct bench *b, struct track *t, const char **words,
                           struct err *err)
{
    struct fate fate = {0};
    struct pairs p = {.bench = b,
                      .track = t,
                      .sides = {&t->original, library},
                      .regime = REGIME_COLD,
                      .arena = library->arena,
                      .fate = &fate};

    if (!pairs_look(&p, err))
        return false;
    if (!fate_open(&fate))
        *words = arena_printf(b->judge->arena, "its result is not the original's: %s", fate.words);
    return true;
}

/* ---- its time ---- */

static struct trial_beside *row(struct bench *b, size_t workload, enum regime regime)
{
    const struct beside *with = b->judge->beside;
    struct trial_beside *r;

    vec_push(&b->rows, ((struct trial_beside){.library = with->library,
                                              .regime = regime_name(regime),
                                              .workload = workload,
                                              .us = NAN,
                                              .version_us = NAN,
                                              .share = NAN,
                                              .low = NAN,
                                              .high = NAN}));
    r = &b->rows.v[b->rows.n - 1];
    if (with->calls[workload].of.left_out)
        r->words = arena_printf(b->judge->arena, "cuBLAS does the product alone, without %s",
                                with->calls[workload].of.left_out);
    return r;
}

static bool time_regime(struct side *library, struct side *version, struct bench *b, struct track *t,
                        struct trial_beside *to, struct err *err)
{
    struct fate fate = {0};
    struct pairs p = {.bench = b,
                      .track = t,
                      .sides = {library, version},
                      .regime = str_eq(to->regime, regime_name(REGIME_COLD)) ? REGIME_COLD : REGIME_HOT,
                      .beside = true,
                      .arena = version->arena,
                      .fate = &fate};
    struct trial_time time = trial_time_unknown();

    if (!pairs_measure(&p, &time, err))
        return false;
    to->us = time.base_us;
    to->version_us = time.us;
    to->share = isfinite(time.speedup) ? time.speedup : time.base_us / time.us;
    to->low = time.low;
    to->high = time.high;
    if (!fate_open(&fate))
        to->words = arena_strdup(b->judge->arena, fate.words);
    return true;
}

/* What the library refuses, and what goes wrong in it, is said beside the version; only a GPU that is lost for
 * it is an error. */
static bool forgiven(struct bench *b, bool ok, struct err *why, const char **words, struct err *err)
{
    if (ok)
        return true;
    if (cuda_spoilt(b->gpu)) {
        *err = *why;
        return false;
    }
    *words = arena_strdup(b->judge->arena, why->text);
    *why = (struct err){0};
    return true;
}

bool measure_beside(struct bench *b, struct track *t, struct side *version, struct err *err)
{
    size_t workload = (size_t)(t - b->tracks);
    const struct beside_call *call = &b->judge->beside->calls[workload];
    struct side library = {0};
    const char *words = NULL;
    struct err why = {0};
    bool ok = side_open_library(&library, b, t, call, &why) &&
              (call->of.left_out ? check_sums(&library, b, t, &call->of, &words, &why)
                                 : check_original(&library, b, t, &words, &why));

    ok = forgiven(b, ok, &why, &words, err);
    for (enum regime regime = REGIME_COLD; ok && regime <= REGIME_HOT; regime++) {
        struct trial_beside *to = row(b, workload, regime);
        const char *failed = NULL;
        ok = words || forgiven(b, time_regime(&library, version, b, t, to, &why), &why, &failed, err);
        if (words || failed)
            to->words = words ? words : failed;
    }
    side_close(&library);
    return ok;
}
