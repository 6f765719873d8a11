/* contraction: a kernel each of whose threads adds products of elements of two operands along one loop, for one
 * row and one column of its results. Internal to rewrite/. */
#ifndef REWRITE_CONTRACTION_H
#define REWRITE_CONTRACTION_H

#include "rewrite/analysis.h"

struct contraction_axis { /* rows or columns of the results */
    const struct variable *index;
    const char *lead;      /* the atom of its polynomial that no other index has */
    struct poly whole;     /* the index as a polynomial */
    struct poly bound;     /* it stays below, where the kernel asks; else the grid has just as many */
    int dimension;         /* of the grid that it counts, 0 to 2 */
    struct node bounds[2]; /* bound as nodes: the first, divided by the second where there is one */
};

struct contraction_operand { /* element (out, deep) stands at root[out * step + deep * deep_step + start] */
    const char *root, *type; /* a pointer that is valid at the kernel's top; the element's type, bound */
    struct poly step, deep_step, start;
};

struct contraction {
    const struct function *f;
    struct contraction_axis row, col; /* neighbouring columns are neighbours in memory where a store shows it */
    const struct variable *flat;      /* the index that row and column are divided from; NULL: none */
    bool vector;                      /* there are no columns: a matrix times a vector */
    bool taken[3];                    /* dimensions of the grid that rows and columns count */
    struct contraction_operand x, y;  /* x has rows, y columns */
    struct node loop, depth;          /* `depth` products a result */
    const struct variable *sum;
    const char *sum_type;
    const char *term; /* what is added, of elements x[i] and y[j]; NULL: their product */
    struct node epilogue_first, epilogue_last; /* statements behind the loop */
    /* The last of these, where it is an assignment to the result's place and neighbouring columns are
     * neighbours there, with the type of an element; no node: it is another. */
    struct node stored;
    const char *stored_type;
    bool is_stored; /* the last of them is an assignment to such a place as `out` says: `step` is a row's, */
    struct contraction_operand out; /* `deep_step` a column's */
    /* Statements before the loop: those that are the same for all threads of a block, in text order, and
     * declarations that each result needs for itself. */
    VEC(struct node) uniform, dependent;
};

/* False with the reason where the kernel is none. */
bool contraction_of(const struct function *f, struct contraction *c, struct err *why);
/* An element through casts, conversions and names that the loop gives it. */
struct node contraction_element(const struct function *f, struct node e, struct node loop);
/* A pointer as one that is a parameter, or that one of the statements `stay` declares, and an index from there
 * on, which is added to *index. */
bool contraction_root(const struct function *f, const struct node *stay, size_t n, struct node pointer,
                      const struct variable **root, struct poly *index);
/* e of two elements, which are first_element and second_element there (contraction_term.c); NULL: it is of
 * something else, or not 0 where they are. */
const char *contraction_term(const struct function *f, struct node loop, const char *sum_type, struct node e,
                             struct node elements[2]);
/* A polynomial in 64-bit arithmetic. */
char *contraction_text(const struct contraction *c, const struct poly *p);
/* A bound as the launcher would write it; NULL where it cannot. */
char *contraction_bound(const struct contraction *c, const struct contraction_axis *axis,
                        const struct launch *l);

#endif
