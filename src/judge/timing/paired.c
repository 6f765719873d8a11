/* The interval. Two pairs of opposite order, original-candidate and candidate-original, make a quad: the mean
 * of their log-ratios cancels what drifts evenly and what the second of two blocks suffers from the first. Half
 * of the quads lie above the true median and half below, whatever the noise looks like, so the interval between
 * two order statistics has a level that binomial numbers give exactly, for any number of quads; a bootstrap of
 * the median tends to the same interval, but is too narrow for the few quads and the high levels that are
 * needed here (the table in docs/measuring.md). Quads that lie above or below the median in runs count as
 * fewer.
 *
 * Looks: at each doubling of the quads, the k-th with level 1 - (1 - level) / 2^k and the last with what is
 * left. Whenever it stops, and for whatever reason, the chance that the interval of any look misses the truth
 * is at most the sum, 1 - level. */
#include "paired.h"

enum { FEW_QUADS = 4 };
#define FEW_MARGIN 0.1 /* logarithm */

struct quads {
    VEC(double) ratio; /* logarithms */
    VEC(double) a_us;
    VEC(double) b_us;
    double *sorted;
    size_t sorted_cap;
};

struct pair_rules pair_rules_default(void)
{
    return (struct pair_rules){
        .level = 0.95, .half_width = 0.005, .min_pairs = 16, .max_pairs = 1024, .max_s = 2};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The largest k for which the k-th lowest and the k-th highest of n hold the median between them but for a
 * chance of alpha; 0: not even the lowest and the highest do. */
static size_t rank_of(double n, double alpha)
{
    double p = exp2(-n), sum = 0;
    size_t k = 0;

    for (; k < n && 2 * (sum + p) <= alpha; k++) {
        sum += p;
        p *= (n - (double)k) / (double)(k + 1);
    }
    return k;
}

/* By how much runs reduce the number of independent quads: 1 plus twice the autocorrelation of their sides of
 * the median, summed while it is positive. 1/n: what the estimate is too low by. */
static double dependence(const double *x, size_t n, double median)
{
    double sum = 1, of = 0;

    for (size_t i = 0; i < n; i++)
        of += x[i] != median;
    for (size_t lag = 1; of > 0 && lag <= n / 3; lag++) {
        double c = 0;
        for (size_t i = 0; i + lag < n; i++) {
            int first = (x[i] > median) - (x[i] < median);
            int second = (x[i + lag] > median) - (x[i + lag] < median);
            c += first * second;
        }
        c = c / of + 1.0 / (double)n;
        if (c <= 0)
            break;
        sum += 2 * c;
    }
    return sum;
}

/* Too few quads for the level, or too few independent ones, as of an original whose blocks are long: the range
 * of all, as much again on either side, and a tenth. It says only that one is faster, where that is far from 1.
 */
static void range_of_all(const struct quads *q, double *low, double *high)
{
    double least = q->sorted[0], most = q->sorted[q->ratio.n - 1], more = most - least + FEW_MARGIN;

    if (q->ratio.n >= FEW_QUADS && (least - more > 0 || most + more < 0)) {
        *low = least - more;
        *high = most + more;
    }
}

static void look(struct quads *q, double alpha, bool last, double *median, double *low, double *high)
{
    size_t n = q->ratio.n;

    *median = *low = *high = NAN;
    if (n == 0)
        return;
    if (q->sorted_cap < n) {
        q->sorted_cap = q->ratio.cap;
        q->sorted = mem_realloc(q->sorted, q->sorted_cap * sizeof(*q->sorted));
    }
    memcpy(q->sorted, q->ratio.v, n * sizeof(*q->sorted));
    qsort(q->sorted, n, sizeof(*q->sorted), by_value);
    *median = (q->sorted[(n - 1) / 2] + q->sorted[n / 2]) / 2;
    double independent = floor((double)n / dependence(q->ratio.v, n, *median));
    size_t k = rank_of(independent, alpha);
    if (k == 0) {
        if (last)
            range_of_all(q, low, high);
        return;
    }
    k = (size_t)((double)k * (double)n / independent);
    *low = q->sorted[k - 1];
    *high = q->sorted[n - k];
}

static bool take_pair(pair_source *source, void *context, bool b_first, struct pair *p, struct err *err)
{
    *p = (struct pair){0};
    if (!source(context, b_first, p, err))
        return false;
    if (!p->disturbed && !(p->a_us > 0 && p->b_us > 0 && isfinite(p->a_us) && isfinite(p->b_us)))
        return err_world(err, "a block took %g us, the one beside it %g us: not times", p->a_us, p->b_us);
    return true;
}

static bool take_quad(struct quads *q, struct rng *rng, pair_source *source, void *context,
                      struct pair_result *r, struct err *err)
{
    bool b_first = rng_next(rng) >> 63;
    struct pair p[2];

    if (!take_pair(source, context, b_first, &p[0], err) || !take_pair(source, context, !b_first, &p[1], err))
        return false;
    if (p[0].disturbed || p[1].disturbed) {
        r->disturbed += 2;
        return true;
    }
    r->pairs += 2;
    vec_push(&q->ratio, (log(p[0].a_us / p[0].b_us) + log(p[1].a_us / p[1].b_us)) / 2);
    for (int i = 0; i < 2; i++) {
        vec_push(&q->a_us, p[i].a_us);
        vec_push(&q->b_us, p[i].b_us);
    }
    return true;
}

static void put_times(const struct quads *q, struct pair_result *r)
{
    r->a_us = stats_median(q->a_us.v, q->a_us.n);
    r->b_us = stats_median(q->b_us.v, q->b_us.n);
    r->a_low_us = stats_quantile(q->a_us.v, q->a_us.n, 0.1);
    r->a_high_us = stats_quantile(q->a_us.v, q->a_us.n, 0.9);
    r->b_low_us = stats_quantile(q->b_us.v, q->b_us.n, 0.1);
    r->b_high_us = stats_quantile(q->b_us.v, q->b_us.n, 0.9);
}

/* Whether to stop after this look. */
static bool decided(const struct pair_rules *rules, struct pair_result *r)
{
    if (r->high < rules->hopeless) {
        r->end = PAIR_HOPELESS;
        return true;
    }
    if ((r->high - r->low) / 2 <= rules->half_width * r->ratio) {
        r->end = PAIR_PRECISE;
        return true;
    }
    return false;
}

static bool measure(const struct pair_rules *rules, struct quads *q, pair_source *source, void *context,
                    struct pair_result *r, struct err *err)
{
    struct rng rng = {rng_hash(rules->seed, 0x70616972)};
    double start_s = time_s(), left = 1 - rules->level;
    size_t most = (size_t)MAX(rules->max_pairs, 2) / 2, next = (size_t)(MAX(rules->min_pairs, 2) + 1) / 2;
    bool known = false;

    BUG_IF(!(left > 0 && left < 1));
    while (rank_of((double)next, left / 2) == 0)
        next++;
    next = MIN(next, most);
    for (;;) {
        r->seconds = time_s() - start_s;
        bool full = q->ratio.n >= most,
             late = r->seconds >= (known ? rules->max_s : MAX(rules->max_s, rules->first_s)) &&
                    r->pairs + r->disturbed > 0,
             noisy = r->disturbed >= rules->max_pairs, last = full || late || noisy;
        if (q->ratio.n >= next || last) {
            double alpha = last ? left : left / 2, median, low, high;
            look(q, alpha, last, &median, &low, &high);
            left -= alpha;
            known = !isnan(low);
            next = MIN(2 * next, most);
            r->ratio = exp(median);
            r->low = exp(low);
            r->high = exp(high);
            if (decided(rules, r))
                break;
            if (last) {
                r->end = noisy || !r->pairs ? PAIR_DISTURBED : PAIR_OUT_OF_TIME;
                if (full)
                    r->end = PAIR_OUT_OF_PAIRS;
                break;
            }
        }
        if (!take_quad(q, &rng, source, context, r, err))
            return false;
    }
    put_times(q, r);
    return true;
}

bool pair_measure(const struct pair_rules *rules, pair_source *source, void *context, struct pair_result *r,
                  struct err *err)
{
    struct quads q = {0};
    bool ok;

    *r = (struct pair_result){.ratio = NAN, .low = NAN, .high = NAN};
    ok = measure(rules, &q, source, context, r, err);
    vec_free(&q.ratio);
    vec_free(&q.a_us);
    vec_free(&q.b_us);
    free(q.sorted);
    return ok;
}

/* The distances from the ratio to either end of its interval, in logarithms, add up like standard errors. */
void pair_geomean(const struct pair_result *r, size_t n, double *ratio, double *low, double *high)
{
    double sum = 0, below = 0, above = 0;

    for (size_t i = 0; i < n; i++) {
        double weight = r[i].weight > 0 ? r[i].weight : 1 / (double)n;
        sum += weight * log(r[i].ratio);
        below += pow(weight * log(r[i].ratio / r[i].low), 2);
        above += pow(weight * log(r[i].high / r[i].ratio), 2);
    }
    *ratio = n ? exp(sum) : NAN;
    *low = n ? exp(sum - sqrt(below)) : NAN;
    *high = n ? exp(sum + sqrt(above)) : NAN;
}
