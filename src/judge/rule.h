/* rule: what an answer may be off from the exact one: the error rule of docs/integrity.md as one function and
 * a table of named exceptions.
 *
 * The law. Each output is judged under each kind of values by itself. The error of an element is its distance
 * from the exact answer in units, and a unit is one ulp of the output's type at the exact answer. The median,
 * the 99th percentile and the largest error may each be the floor or three times the original's own, whichever
 * is more, and at most 1024 times the floor (median and percentile never less than the original's). All else is
 * an exception, has a name and a kernel of the corpora whose verdict needs it, and can be switched off, which
 * is how tests/verdicts -x shows that the kernel does. */
#ifndef JUDGE_RULE_H
#define JUDGE_RULE_H

#include "errors.h"

enum rule_exception {
    /* what an element's error is */
    RULE_FLUSHED,
    RULE_EDGE,
    RULE_SPECIAL,
    RULE_BEYOND,
    /* what is allowed */
    RULE_EXACT,
    RULE_MOVED,
    RULE_CHANCE,
    RULE_TERMS,
    /* elements that are judged otherwise */
    RULE_INTEGERS,
    RULE_ABSOLUTE,
    RULE_OVERFLOWS,
    /* what is asked beside the size of the errors */
    RULE_LEANS,
    N_RULE_EXCEPTIONS,
};
enum { RULE_ALL = (1 << N_RULE_EXCEPTIONS) - 1 };

struct rule_row {
    const char *name, *words;
    const char *file; /* below tests/: a kernel whose verdict is another without it */
};
extern const struct rule_row rule_rows[N_RULE_EXCEPTIONS];

struct rule { /* for one output under one kind of values */
    enum kernel_type type;
    unsigned in_force;             /* exceptions, 1 << number */
    const struct error_stats *own; /* the original's errors */
    double least[3], most[3];      /* allowed: median, 99th percentile, largest; and the floors of these */
    double most_drift;             /* NAN: rounding may lean as far as it likes */
};

struct rule_terms { /* of an element that is a sum: ptx_shadow_open_terms */
    double squares, largest, sizes;
    bool alike;   /* its terms are nearly equal by the case's values, so that their roundings go one way */
    bool repeats; /* the case has few values, so that many terms are the same number, rounded the same way */
};

/* The unit of such an element: what each computed term is off at most when it was rounded to the narrower of
 * the two types, added up as chance adds, one term alone being no sum; or, where that is more, as much as makes
 * the median's floor u times the sizes of all terms, u of f32: sums of the same numbers in other orders. It is
 * counted in the floors of that type. Roundings that go one way do not cancel: those count ALIKE times; of
 * equal terms, of which there are so many as their squares hold the largest one's, all err alike. */
double rule_unit(enum kernel_type type, enum kernel_type narrow, const struct rule_terms *terms);
/* The task's tolerance in it. */
/* Is the answer of an f32 beyond its range, and so are its terms of either sign? In one order their sum is
 * infinite, in another NaN. */
bool rule_beyond(enum kernel_type type, double exact, const struct rule_terms *terms);
double rule_unit_tolerance(enum kernel_type type, enum kernel_type narrow, double tolerance);

/* tolerance: the task's, NAN for none. */
struct rule rule_of(enum kernel_type type, unsigned in_force, double tolerance, const struct error_stats *own);
/* The same for an output that must have no error at all. */
struct rule rule_exactly(struct rule r);
/* An element on which ulps say nothing: the exact answer is zero, or the original's error is beyond the cap. */
bool rule_is_ill(const struct rule *r, double exact, double unit, double own_units);
/* How many of n integers may be others. */
size_t rule_integers(const struct rule *r, size_t n);

struct rule_element {
    double got, own, exact; /* own: the original's */
    double unit;            /* what an error is counted in, where that is more than an ulp */
    bool equal;             /* got's bytes are own's */
    bool ill;
    bool excused; /* the original overflows in its row */
    bool beyond;  /* rule_beyond */
};

struct rule_answer {
    enum rule_exception by; /* the exception that it needed; N_RULE_EXCEPTIONS: none */
    double units;           /* its error; INFINITY: no error that can be measured */
    double ulps;
    double judged; /* what of it goes into the median, the 99th percentile and the largest; NAN: nothing */
    double most;   /* where an absolute error decided: the allowed one */
};

/* Is this element by itself right? The statistics of all of them are asked afterwards: rule_broken. */
bool rule_allows(const struct rule *r, const struct rule_element *x, struct rule_answer *a);
/* Is its error among those that are allowed? Of a run whose statistics nobody takes. */
static inline bool rule_within(const struct rule *r, const struct rule_answer *a)
{
    return !(a->judged > r->most[2]); /* NAN: nothing is counted */
}

enum rule_statistic { RULE_MEDIAN, RULE_P99, RULE_LARGEST, RULE_DRIFT, RULE_KEPT };
/* Which statistic of a version's errors is more than allowed. */
enum rule_statistic rule_broken(const struct rule *r, const struct error_stats *got);

#endif
