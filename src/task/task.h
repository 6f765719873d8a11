/* task: a folder with task.yaml: what the launcher computes, on which shapes it must be right and fast. */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "base/base.h"
#include "kernel/kernel.h"

enum task_role { ROLE_IN, ROLE_OUT, ROLE_INOUT, ROLE_SCRATCH, ROLE_SCALAR };

enum value_kind {
    VALUE_NORMAL,
    VALUE_UNIFORM,
    VALUE_ZEROS,
    VALUE_ONES,
    VALUE_LARGE,
    VALUE_TINY,
    VALUE_MIXED,
    VALUE_INDEX,
    VALUE_CONSTANT,
    VALUE_INTEGERS,   /* small integers, exact in every type */
    VALUE_CANCELLING, /* the second half of a row takes back all but a 256th of the first */
    VALUE_ALIKE,      /* all rows are the same but for their last eighth */
    VALUE_FAINT,      /* down to subnormal numbers, and products of two that are */
    VALUE_DIM,        /* normal numbers whose products of two are about where subnormal ones begin */
    VALUE_NEARLY,     /* all rows are the same but for one element */
    VALUE_RANGE,      /* integers of every size that the type has, its ends among them */
    VALUE_HUGE, /* numbers up to the edge of a floating type, so that a sum overflows in any order or none */
    /* integers of which more is promised than a range: ordered.c */
    VALUE_DISTINCT,    /* no two of the buffer are the same */
    VALUE_PERMUTATION, /* each row has 0 to its length - 1, each once */
    VALUE_SORTED,      /* each row rises, or stays */
    VALUE_OFFSETS      /* so, and begins with low and ends with high: the ends of segments */
};

enum { N_PATTERNS = 8, N_NEAR = 6, N_HUGE = 5, N_RUNGS = 4, N_RISES = 5 }; /* values.c */
enum {
    TURN_UPPER = N_PATTERNS + N_NEAR + 1,
    TURN_ALIASES,
    TURN_FRONT,
    TURN_RUNS,
    TURN_PLAIN,
    TURN_SYMMETRIC,
    TURN_PARTS,
    TURN_NEAR_ENDS,
    TURN_BLOCKS,
    TURN_HALVES
};
/* Of huge values, from here on: numbers whose exponentials are next to nothing, beside numbers that make them
 * count: both in every row, in one half and the other, ... , in neighbours; all of the one; all of the other.
 * Numbers whose squares have no place in the type. And large and small ones, as the first of these in a row,
 * the turn being added to the row's number. */
enum { TURN_DEEP = N_HUGE, TURN_ALL_DEEP, TURN_ALL_EDGE, TURN_SQUARES, TURN_SIZES };

struct task_values { /* how a buffer is filled: element i is a pure function of (this, seed, i) */
    enum value_kind kind;
    double low, high, constant; /* uniform and index: [low, high); constant, and what is plain */
    const struct dim_expr *low_expr, *high_expr; /* index ranges may use dims; NULL: the numbers */
    const double *special;                       /* may occur: -inf, inf, nan ... */
    size_t n_special;
    double special_share; /* of the elements that are special, when there are any */
    unsigned turn;      /* which row begins: of huge values, and of patterns; N_PATTERNS: the range's ends, and
                           behind it the patterns that are nearly something else; from TURN_UPPER on one pattern
                           alone; how sorted ones rise */
    bool patterned;     /* every row has a pattern of its own: sorted, one value, few values, ... */
    bool sprinkled;     /* half of the elements are zero or tiny, drawn for each by itself */
    bool tied;          /* every other row, or half of the only one, is that of all inputs that are tied */
    bool outdone;       /* rows hold the type's largest number, and a special value late behind it */
    bool faint;         /* the elements of a row are all a small part of what they would be */
    int power;          /* normal numbers are so many powers of two as large */
    unsigned rung;      /* integers of the whole range: how much of it they do without, up to N_RUNGS */
    bool peaked;        /* one element of each row is zero */
    bool declared;      /* the task says this kind: it is a promise of the callers */
    const char *stored; /* the buffer's first bytes, whatever is said above; NULL: none */
    size_t stored_bytes;
};

struct dim_expr; /* integer expression over dims: + - * / % ( ) min max comparisons && || */

static inline bool task_value_ordered(enum value_kind kind)
{
    return kind >= VALUE_DISTINCT;
}
const char *task_value_name(enum value_kind kind); /* as in task.yaml */
bool task_value_parse(const char *name, enum value_kind *kind);

struct task_arg {
    const char *name;
    enum kernel_type type;
    enum task_role role;
    const struct dim_expr **shape; /* buffers */
    size_t n_shape;
    const struct dim_expr *value_expr; /* integer scalars */
    double value;                      /* floating scalars, and what a case turns a flag to */
    const double *choices;             /* of a floating scalar that has several values: all, `value` first */
    size_t n_choices;
    struct task_values values;
    int64_t align_bytes;
    bool stable; /* no kernel that callers launch right ahead writes it */
};

/* Cold: nothing of a workload is in the L2. Hot: what fits is. Stream: what the plan adds between a kernel that
 * writes its inputs and one that reads its outputs, back to back; both know nothing of programmatic dependent
 * launch (PDL). Stream-PDL: so, but the one ahead triggers at its start and the one behind begins early. */
enum regime { REGIME_COLD, REGIME_HOT, REGIME_STREAM, REGIME_STREAM_PDL, N_REGIMES };
const char *regime_name(enum regime regime); /* "cold", "hot", "stream", "stream-pdl" */
bool regime_parse(const char *name, enum regime *regime);
static inline bool regime_is_stream(enum regime regime)
{
    return regime == REGIME_STREAM || regime == REGIME_STREAM_PDL;
}
/* That which stands beside the one that scores. */
static inline enum regime regime_other(enum regime regime)
{
    return regime == REGIME_COLD ? REGIME_HOT : REGIME_COLD;
}
/* Neither of these two. */
static inline bool regime_is_further(enum regime regime, enum regime scoring)
{
    return regime != scoring && regime != regime_other(scoring);
}

struct task_input { /* what a program's buffers held: a case of the confirmation */
    const int64_t *dims;
    const char *const
        *files; /* one per arg, absolute, as pack_write makes them; NULL: as the task's values say */
};

struct task {
    const char *path;                                              /* of its task.yaml, for messages */
    const char *dir, *name, *source_path, *entry, *reference_path; /* absolute; reference NULL when absent */
    const struct task_arg *args;
    size_t n_args;
    const char **dims;
    size_t n_dims;
    const struct dim_expr **domain;
    size_t n_domain;
    const int64_t *workloads; /* n_workloads x n_dims */
    size_t n_workloads;
    const double *weights; /* of the workloads in the score: above 0, together 1; NULL: all count alike */
    const struct task_input *inputs;
    size_t n_inputs;
    const char **flags, **headers;
    size_t n_flags, n_headers;
    const char **equivalent; /* ids of mutants that the author says change nothing: docs/testing.md */
    size_t n_equivalent;
    enum regime regime;     /* that scores */
    double tolerance;       /* NAN: the rule of docs/integrity.md */
    double tolerance_terms; /* the same in last places of what is summed up; NAN: not given */
    bool exact;             /* every output must be the original's, byte for byte */
    bool accept_race, accept_nondeterminism;
};

bool task_open(struct task **out, struct arena *a, const char *dir, struct err *err);
/* Do the launcher's parameters match args? err names the first that does not. */
bool task_match(const struct task *t, const struct kernel *k, struct err *err);
/* The name of a task's file below its folder; NULL when it lies elsewhere. */
const char *task_below(const struct task *t, const char *path);
/* The files that it is made of, by their names below its folder, and room for one more; err names one that lies
 * elsewhere. */
bool task_files(const struct task *t, struct arena *a, const char ***names, size_t *n, struct err *err);
/* kernel_open of a version of the task's source, whose local headers are read from the task's folder. */
bool task_kernel_open(struct kernel **out, struct arena *a, const struct task *t, const char *path,
                      const char *text, struct err *err);
/* The task of reference.cu: the same with every floating buffer in f64. */
struct task *task_reference(struct arena *a, const struct task *t);
bool dim_eval(const struct dim_expr *e, const int64_t *dims,
              int64_t *v);                      /* false: overflow or division by zero */
const char *dim_text(const struct dim_expr *e); /* as it was written */
bool dim_uses(const struct dim_expr *e, size_t dim);
/* What `dim` is where e has the value that is numbered `value`, a number no dim has; NULL: e is not a sum or
 * product in which dim stands once. */
const struct dim_expr *dim_invert(struct arena *a, const struct dim_expr *e, size_t dim, size_t value);
/* In the words of C++ or Python, `names` for the numbers. A quotient is Python's: it is C's while nothing is
 * negative. */
enum dim_language { DIM_CPP, DIM_PYTHON };
void dim_write(struct str *out, const struct dim_expr *e, const char *const *names, enum dim_language language);
char *task_dims_text(struct arena *a, const struct task *t, const int64_t *dims); /* "rows=16 d=4096" */
/* In the domain, and every shape and scalar of it fits. */
bool task_in_domain(const struct task *t, const int64_t *dims);
bool task_flushes(const struct task *t); /* its flags take subnormal numbers for zero */
bool task_shape(const struct task *t, const struct task_arg *arg, const int64_t *dims, int64_t *elements,
                struct err *err);
/* Compulsory bytes of a workload: every in read once, every out written once, inout both. */
bool task_traffic(const struct task *t, const int64_t *dims, int64_t *bytes, struct err *err);
/* The launcher's scalar arguments filled in, pointers numbered in order; n_args values. */
void task_launch_values(const struct task *t, const int64_t *dims, struct kernel_value *values);
/* Elements of a buffer for each number of its first extent; of one extent, all. The dims are in the domain. */
int64_t task_slice(const struct task_arg *arg, const int64_t *dims);
/* Elements that are made of a large buffer that is staged; one that has more repeats them, but for values whose
 * order is promised. A prime, so that no row is like another. */
enum { TASK_PERIOD = 1048573 };
/* Elements [first, first + n) of an argument's buffer, in its own type. */
void task_fill(const struct task_arg *arg, const struct task_values *values, const int64_t *dims, uint64_t seed,
               int64_t first, int64_t n, void *to);

/* One verification case. */
struct task_case {
    const int64_t *dims;
    uint64_t seed;
    const struct task_values *values; /* one per arg: its own or a variant */
    const char *distribution;         /* cases of one distribution are judged together */
    const char *why;                  /* the shape's reason */
    size_t changed; /* 1 + the number of the argument that alone is not as in the first case of task_inputs; 0:
                       none */
    bool real;      /* a program's own data: no message says what an element is */
    bool alone;     /* of each sum one term counts alone: nothing cancels */
    bool answered;  /* what is updated in place holds the original's answer already, but for an element in 64 */
    bool
        wild; /* values of ours that are wilder than the task's: left out where the original cannot take them */
};
/* The rules' suite: small, tail and odd shapes derived from dims, domain and workloads; several seeds and
 * distributions. */
void task_suite(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                size_t *n_cases);
/* Why it has no case: the smallest shape of the domain, and the condition that no smaller one meets. */
const char *task_suite_hindrance(const struct task *t, struct arena *a);

/* Cases beside a suite that change each input alone: the first, and for every buffer that is read and every
 * floating scalar the same once more with about half of its elements, or its value, replaced. None when no
 * shape is small enough. */
void task_inputs(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                 size_t *n_cases);
/* The task with the scalars as a case has them; t itself when they are the task's own. */
const struct task *task_of_case(struct arena *a, const struct task *t, const struct task_case *c);
/* A scalar that is true or false: whatever the task says, callers may turn it. */
bool task_is_flag(const struct task_arg *arg);
/* An input of floating numbers of which the task says nothing. */
bool task_is_any_float(const struct task_arg *arg);
/* The whole content of a buffer in a case. */
void task_fill_case(const struct task *t, const struct task_case *c, size_t arg, int64_t elements, void *to);

/* A shape on which a buffer has a little more or less than so many bytes, by one long dim; the others are a
 * workload's, or one more, so that little divides them. False: the domain has none. */
bool task_edge(const struct task *t, size_t arg, int64_t bytes, bool above, int64_t *dims);

/* Values of a case beside the suite, one per arg, by which data may be taken for something simpler than it is:
 * every part of a row in a pattern of its own, matrices nearly symmetric, numbers beyond half's range, integers
 * next to their range's ends; and, not among all that are tried, rows whose halves have the same numbers.
 * False: the task has no such, or not on this shape. */
enum task_structure {
    STRUCTURE_PARTS,
    STRUCTURE_SYMMETRIC,
    STRUCTURE_LARGE,
    STRUCTURE_ENDS,
    N_STRUCTURES,
    STRUCTURE_HALVES = N_STRUCTURES
};
bool task_structured(const struct task *t, const int64_t *dims, enum task_structure structure,
                     struct task_values *values);

/* Cases beside a suite, drawn over the whole domain: for a version that is final. No prompt has them. */
void task_hidden(const struct task *t, struct arena *a, uint64_t seed, const struct task_case **cases,
                 size_t *n_cases);

/* The cases of the task's inputs; *absent: how many have files that are not there, as in a run's copy of the
 * task, which has none. They are wild: left out where the original cannot take them. */
bool task_real(const struct task *t, struct arena *a, const struct task_case **cases, size_t *n_cases,
               size_t *absent, struct err *err);

/* For workers and the store. Read back, a case is checked: its dims lie in the domain. */
json_t *task_case_to_json(const struct task *t, const struct task_case *c);
bool task_case_from_json(const struct task *t, const json_t *o, struct arena *a, struct task_case *c,
                         struct err *err);
int64_t task_case_elements(const struct task *t, const int64_t *dims); /* of all buffers; INT64_MAX outside */

/* In the domain, and its buffers are no more together than a large device holds (48 GB). */
bool task_fits_device(const struct task *t, const int64_t *dims);
/* The largest shapes of the domain that a device could hold, for looking at a few blocks of them: 48 GiB, and
 * some of 256 GiB. */
void task_extremes(const struct task *t, struct arena *a, const int64_t ***shapes, size_t *n);
/* Shapes that can still be run whole and have one dim as large as can be, TASK_FAR at most; how many. From
 * *alone on it is the last dim, the others as small as can be, and each of these shapes has a quarter of the
 * one before: for whoever needs too long. */
enum { TASK_FAR = 8 };
size_t task_far(const struct task *t, struct arena *a, const int64_t **shapes, size_t *alone);

/* Shapes of so many bytes where one block may have much to do: each dim as large as can be, and of few dims
 * each two, either one first; the others small. */
size_t task_long(const struct task *t, struct arena *a, int64_t bytes, const int64_t ***shapes);
/* Shapes of so many elements with one dim as large as can be, at least `least`, and odd, the others as small as
 * can be. */
size_t task_stretched(const struct task *t, struct arena *a, int64_t elements, int64_t least,
                      const int64_t ***shapes);

/* Shapes of the domain, `most` at most, to plan launchers for; own: numbers that stand in their sources, in
 * their order. */
void task_planned(const struct task *t, struct arena *a, const int64_t *own, size_t n_own, size_t most,
                  const int64_t *const **shapes, size_t *n);

/* Shapes of the domain with `elements` at most, drawn over all magnitudes, for looking at many of them: `most`
 * at most; how many. Some may be the same. */
size_t task_drawn(const struct task *t, struct arena *a, uint64_t seed, int64_t elements, size_t most,
                  const int64_t **shapes);

bool task_type_signed(enum kernel_type t); /* an integer with a sign */
double task_to_double(enum kernel_type type, const void *element);
void task_from_double(enum kernel_type type, double v, void *element); /* round to nearest even */

#endif
