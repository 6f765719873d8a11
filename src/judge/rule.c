/* The error rule. docs/integrity.md says the same for a reader with a pencil. */
#include "rule.h"

#include <float.h>

enum {
    TIMES = 3,  /* the original's own errors */
    CAP = 1024, /* times the floor: beyond it ulps say nothing */
    OTHERS = 4, /* times the squares of all terms but the largest */
    LUCK = 3,   /* integers, where some may be others */
    ALIKE = 32, /* times the sizes of terms that round one way; the suite adds up a few hundred */
};
#define LEAN 0.1 /* of the elements */
#define UNIT 0.6 /* of the last place of a term */

const struct rule_row rule_rows[N_RULE_EXCEPTIONS] = {
    [RULE_FLUSHED] = {"flushed", "with flags that flush them, numbers below the smallest normal one are equal",
                      "legit/scale_f32/in_single.cu"},
    [RULE_EDGE] = {"edge", "a number beyond the type's range counts as the first one that does not fit",
                   "legit/axpy_f16/half2_fused.cu"},
    [RULE_SPECIAL] = {"special", "where only one of original and exact answer is finite, either is right",
                      "legit/rotate_f16/one_thread_a_pair.cu"},
    [RULE_BEYOND] = {"beyond", "where terms of both signs are beyond the range, NaN is as right as infinity",
                     "legit/pair_dot/lanes_share_a_row.cu"},
    [RULE_EXACT] = {"exact", "what the original computes exactly from small integers stays exact",
                    "cheats/double_sum/one_ulp_more.cu"},
    [RULE_MOVED] = {"moved", "what the original moves or chooses and does not compute has no error",
                    "cheats/transpose/last_bits_dropped.cu"},
    [RULE_CHANCE] = {"chance", "the original's errors are those that its operations can have",
                     "legit/group_quant_fp8/inverse_scale.cu"},
    [RULE_TERMS] = {"terms", "each term of a sum may be rounded once to the narrower of the types",
                    "legit/attention_f16/half_probabilities.cu"},
    [RULE_INTEGERS] = {"integers", "integers that the original's rounding decides may be others",
                       "legit/group_quant_fp8/inverse_scale.cu"},
    [RULE_ABSOLUTE] = {"absolute", "where ulps say nothing, three times its largest absolute error",
                       "legit/fused_add_rmsnorm/x_read_after_write.cu"},
    [RULE_OVERFLOWS] = {"overflows", "where values of every size overflow in the original, nothing is asked",
                        "legit/group_norm/welford.cu"},
    [RULE_LEANS] = {"leans", "rounding to 16 bits may not lean to one side",
                    "cheats/fused_add_rmsnorm_bf16/sum_cut_off.cu"},
};

static bool in_force(const struct rule *r, enum rule_exception x)
{
    return r->in_force >> x & 1;
}

static bool is_half(enum kernel_type type)
{
    return type == KT_F16 || type == KT_BF16;
}

static void floors_of(enum kernel_type type, double tolerance, double least[3])
{
    static const double half[] = {1, 1, 2}, single[] = {4, 8, 16};
    const double *of = is_half(type) ? half : single;

    for (int i = 0; i < 3; i++)
        least[i] = tolerance > of[i] ? tolerance : of[i]; /* false for NAN */
}

/* Cut off instead of rounded, an answer in a 16-bit type is less than one ulp off, as it may be, but always to
 * the same side: of random numbers 44 % of the elements, of sums of two of them 16 %. Rounding twice errs as
 * far and to both sides, with a surplus of 1.4 % at most. In wider types what comes before the last rounding
 * errs by more than that does, and so it does where the original's own errors are more than a rounding's. */
static double drift_of(const struct rule *r, double tolerance)
{
    if (!in_force(r, RULE_LEANS) || !is_half(r->type) || !isnan(tolerance) || r->own->n == 0 || r->own->p99 > 1)
        return NAN;
    return fmax(TIMES * r->own->drift, LEAN + 2 / sqrt((double)r->own->n));
}

struct rule rule_of(enum kernel_type type, unsigned exceptions, double tolerance, const struct error_stats *own)
{
    struct rule r = {.type = type, .in_force = exceptions, .own = own};
    const double base[3] = {own->p50, own->p99, own->max};

    floors_of(type, tolerance, r.least);
    for (int i = 0; i < 3; i++) {
        double cap =
            fmax(CAP * r.least[i], i < 2 ? base[i] : 0); /* what most elements have cannot be too much */
        r.most[i] = fmax(r.least[i], fmin(TIMES * base[i], cap));
    }
    r.most_drift = drift_of(&r, tolerance);
    return r;
}

struct rule rule_exactly(struct rule r)
{
    r.most[0] = r.most[1] = r.most[2] = 0;
    return r;
}

bool rule_is_ill(const struct rule *r, double exact, double unit, double own_units)
{
    return in_force(r, RULE_ABSOLUTE) && ((exact == 0 && !(unit > 0)) || own_units > r->least[2] * CAP);
}

/* The floors of the wider types, which an error in the output's unit is held to, are so many times a half's. */
static double times_floor(enum kernel_type type, enum kernel_type narrow)
{
    return is_half(narrow) && !is_half(type) ? 8 : 1;
}

double rule_unit(enum kernel_type type, enum kernel_type narrow, const struct rule_terms *terms)
{
    double summed = fmin(terms->squares, OTHERS * (terms->squares - terms->largest)), rounded = 0, added;
    double least[3];

    floors_of(type, NAN, least);
    if (terms->repeats && terms->largest > 0)
        summed *= terms->squares / terms->largest;
    added = (terms->alike ? ALIKE : 1) * error_ulp(KT_F32, 1) / 2 * terms->sizes / least[0];
    if (summed > 0 && isfinite(summed))
        rounded = UNIT *
                  hypot(error_ulp(narrow, 1) * sqrt(summed), error_ulp(narrow, 0)) / /* nor finer than that */
                  times_floor(type, narrow);
    return fmax(rounded, isfinite(added) ? added : 0);
}

bool rule_beyond(enum kernel_type type, double exact, const struct rule_terms *terms)
{
    double one_way = (terms->sizes - fabs(exact)) / 2; /* of one sign; the other has as much and the answer */

    return type == KT_F32 && fabs(exact) > FLT_MAX && one_way > FLT_MAX;
}

double rule_unit_tolerance(enum kernel_type type, enum kernel_type narrow, double tolerance)
{
    return tolerance / UNIT * times_floor(type, narrow);
}

size_t rule_integers(const struct rule *r, size_t n)
{
    const struct error_stats *own = r->own;

    if (!in_force(r, RULE_INTEGERS) || !(own->most_other > 0))
        return 0;
    double others = (double)own->n_other;
    /* Few of few elements tell little of how many there are in more: the upper end of what they tell. */
    if (n > own->n)
        others += LUCK + 2 * sqrt(others);
    return LUCK + (size_t)ceil(TIMES * others / (double)MAX(own->n, (size_t)1) * (double)n);
}

static bool integer_allowed(const struct rule *r, const struct rule_element *x, struct rule_answer *a)
{
    if (x->equal)
        return true;
    a->by = RULE_INTEGERS;
    a->units = INFINITY;
    return in_force(r, RULE_INTEGERS) && fabs(x->got - x->own) <= r->own->most_other;
}

static bool absolute_allowed(const struct rule *r, const struct rule_element *x, struct rule_answer *a)
{
    a->by = RULE_ABSOLUTE;
    a->most = TIMES * r->own->absolute;
    return a->units == 0 || error_absolute(r->type, x->got, x->exact, x->own) <= a->most;
}

bool rule_allows(const struct rule *r, const struct rule_element *x, struct rule_answer *a)
{
    *a = (struct rule_answer){.by = N_RULE_EXCEPTIONS, .judged = NAN};
    if (x->excused && in_force(r, RULE_OVERFLOWS)) {
        a->by = RULE_OVERFLOWS;
        return true;
    }
    if (x->beyond && isnan(x->got) && in_force(r, RULE_BEYOND)) {
        a->by = RULE_BEYOND;
        return true;
    }
    if (!type_is_floating(r->type))
        return integer_allowed(r, x, a);
    a->ulps = error_ulps(r->type, r->in_force, x->got, x->exact, x->own);
    a->units = error_units(r->type, a->ulps, x->exact, x->unit);
    if (isinf(a->units))
        return false;
    if (x->ill)
        return absolute_allowed(r, x, a);
    if (a->units == 0 && !isfinite(x->got))
        return true; /* in its place; how precise it is nobody can say */
    a->judged = a->units;
    return true;
}

enum rule_statistic rule_broken(const struct rule *r, const struct error_stats *got)
{
    if (got->max > r->most[2])
        return RULE_LARGEST;
    if (got->p99 > r->most[1])
        return RULE_P99;
    if (got->p50 > r->most[0])
        return RULE_MEDIAN;
    return got->drift > r->most_drift ? RULE_DRIFT : RULE_KEPT;
}
