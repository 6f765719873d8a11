/* own_rows: kernels of which each thread has rows of its own, those of its number in the grid, and what it
 * reaches in them: `in[i * 16 + k]`, where `i = blockIdx.x * blockDim.x + threadIdx.x`. Neighbouring threads
 * are a row apart. */
#ifndef REWRITE_OWN_ROWS_H
#define REWRITE_OWN_ROWS_H

#include "rewrite/analysis.h"

struct own_rows {
    const struct function *f;
    struct node question; /* `if (i >= n) return;`, or the `if (i < n)` that holds the rest; no node: none */
    bool leaves;          /* the former */
    struct node left;     /* i, as the question says it */
    struct node bound;    /* n */
    int64_t width;        /* i is so many times the thread's number */
};

/* The blocks have one dimension, of the same constant number of threads in each launch, and do not meet. */
bool own_rows_open(const struct function *f, struct own_rows *rows, struct err *why);
/* Likewise, but blocks may count along y and z, too: they have the same rows of other memory. */
bool own_rows_open_batched(const struct function *f, struct own_rows *rows, struct err *why);
/* Likewise, but the threads may meet and have shared memory; none leaves, and no question is known. */
bool own_rows_open_meeting(const struct function *f, struct own_rows *rows, struct err *why);

/* Is this statement the question? Then it is in found. */
bool own_rows_question(const struct own_rows *rows, struct node statement, struct own_rows *found);
/* Threads beyond the last row stay until the loop `last` is done: they take its number. Behind it who is not
 * `inside` leaves, where something comes behind it. */
bool own_rows_may_stay(const struct own_rows *rows);
void own_rows_stay(const struct own_rows *rows, const char *inside, struct node last, bool goes_on,
                   struct edits *edits);

struct row_place { /* one element of a thread's row */
    struct node at;
    const struct variable *pointer; /* the kernel's parameter */
    struct poly stride, rest; /* it is number * stride + rest; rest says neither a thread nor blockIdx.x */
    bool store;               /* the left side of a statement `p[i] = x;`; else it is read */
    bool updates;             /* the left side of a statement `p[i] += x;`: both */
};
typedef VEC(struct row_place) row_place_list;
row_place_list row_places(const struct own_rows *rows, struct node part); /* all below it */

/* Can each thread take several numbers, a grid apart? Its number is a variable, and no loop is left by the
 * question's return. */
bool own_rows_may_walk(const struct own_rows *rows, struct err *why);
/* The statements from its number's declaration on, in a loop over the numbers, with the edits inside them. */
void own_rows_walk(const struct own_rows *rows, const struct edits *inside, struct edits *edits);

/* The parameter that a pointer comes from, through names that are given once; what is added on the way. */
const struct variable *parameter_behind(const struct function *f, struct node pointer, struct poly *added);

/* The part of p that is the same for all threads of a block, all the time; what is left is in *rest. */
struct poly poly_common(const struct function *f, const struct poly *p, struct poly *rest);
/* A polynomial as an expression. */
const char *poly_text(const struct function *f, const struct poly *p);
const char *poly_text_wide(const struct function *f, const struct poly *p); /* each product of 64 bits */

/* for (k = low; k < end; k++) with constants. */
struct counted {
    const struct variable *index;
    int64_t low, end;
};
bool counted_of(const struct function *f, struct node loop, struct counted *counted);
/* The least and the largest that an expression of the polynomial's kind can be at n, where it follows from
 * constants. */
bool poly_range(const struct function *f, const struct poly *p, struct node n, int64_t *low, int64_t *high);

/* Elements between the rows of so many threads in shared memory, such that neighbours have other banks. */
int64_t row_pitch(int64_t width, int bytes);

#endif
