/* What the files of task/ share: dimension expressions, ranges of indices. */
#ifndef TASK_INTERNAL_H
#define TASK_INTERNAL_H

#include "task.h"

/* An expression over the dims: integers, names, + - * / %, comparisons, && || !, min(a, b), max(a, b),
 * parentheses. `at` is the text node it came from. */
bool dim_parse(struct arena *a, const char *path, const struct yaml_node *at, const char *const *dims,
               size_t n_dims, const struct dim_expr **out, struct err *err);

/* task_open of a text; dir is where its files are. */
bool task_read(struct task **out, struct arena *a, const char *dir, const char *path, const char *text,
               size_t len, struct err *err);

/* Whether these dims can be; why not stands in err, which may be NULL: many shapes are tried. */
bool task_dims_fit(const struct task *t, const int64_t *dims, struct err *err);

/* Set one dim as low as the domain lets it be, the others given. */
void task_lower(const struct task *t, int64_t *dims, size_t i);
/* Where an element lies. Rows are those of the last extent; for huge values, what the first one numbers. */
struct place {
    int64_t row, column, length;
};

/* The integers [*low, *high) of an index; of offsets, *high is one of them. */
void values_range(const struct task_values *v, const int64_t *dims, int64_t *low, int64_t *high);

/* plain.c: one of n numbers that 64 bits choose; a small integer, exact in its type, that 8 choose. */
uint64_t values_below(uint64_t bits, uint64_t n);
double values_small(enum kernel_type t, uint64_t bits);
/* Elements [first, first + n) of a buffer of such values alone, `own` being its seed and range that of
 * values_range. False: it has others. */
bool values_plain(const struct task_arg *arg, const struct task_values *v, const int64_t *range, uint64_t own,
                  int64_t first, int64_t n, char *to);

/* huge.c: an element of such values; `at` is of the last extent from TURN_DEEP on, else of the first one. Then
 * the largest finite number of a type, and the element of a row, near its end, that outdoes it. */
double huge_value(const struct task_arg *arg, const struct task_values *v, uint64_t own, struct place at,
                  uint64_t bits);
double huge_largest(enum kernel_type type);
bool huge_outdoing(uint64_t own, struct place at);

/* ordered.c: an element of such values; range is that of values_range, row and column are of the last extent.
 */
int64_t ordered_value(const struct task_values *v, const int64_t *range, uint64_t own, struct place at);
/* Are there enough numbers for so many elements? True of other kinds. */
bool ordered_fits(const struct task_values *v, const int64_t *dims, int64_t elements);

#endif
