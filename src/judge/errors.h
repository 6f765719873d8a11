/* errors: how far answers are from the exact ones, and how these distances lie. What is allowed: rule.h. */
#ifndef JUDGE_ERRORS_H
#define JUDGE_ERRORS_H

#include "base/base.h"
#include "kernel/kernel.h"
#include "verdict/verdict.h"

struct error_place {
    size_t case_i, element;
};

struct error_stats {
    double p50, p99, max; /* in units, of the elements that are not ill-conditioned; as they are judged */
    double largest;       /* as it was, with what an exception excused */
    double absolute;      /* largest, of all elements */
    double drift;         /* trial_spread */
    size_t n, n_excused, histogram[TRIAL_BUCKETS];
    struct error_place worst; /* of max */
    size_t n_other;           /* integers that another rounding of what they come from makes others, */
    double most_other;        /* and by how much at most: original_can */
};

struct error_pool { /* errors of one output under one distribution */
    VEC(double) errors;
    struct error_place worst;
    size_t n_excused, histogram[TRIAL_BUCKETS];
    double max, largest, absolute;
    ptrdiff_t down,
        inward; /* not the nearest number, and below the exact one, or nearer to zero: their surplus */
};

/* One ulp of the type at v. */
double error_ulp(enum kernel_type type, double v);
/* Error of got in ulps of the type; orig is the original's. INFINITY: NaN or inf where it may not be, or the
 * other way round. in_force: rule.h; of its exceptions those that say what an error is. */
double error_ulps(enum kernel_type type, unsigned in_force, double got, double exact, double orig);
/* So many ulps at exact in units that are at least that large. */
double error_units(enum kernel_type type, double ulps, double exact, double least);
double error_absolute(enum kernel_type type, double got, double exact, double orig);
/* Of every element, also of those that are not counted. */
void error_see(struct error_pool *p, enum kernel_type type, double got, double exact);
/* units: the error as it is; judged: as it counts, less where an exception excuses it. */
void error_add(struct error_pool *p, double units, double judged, struct error_place at);
/* To which side of the exact answer it is off, by so many ulps. */
void error_lean(struct error_pool *p, double ulps, double got, double exact);
struct error_stats error_stats(struct error_pool *p); /* sorts the errors */
void error_spread(const struct error_stats *s, struct trial_spread *to);

#endif
