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

struct gathering; /* an operand, or both, that is computed from places in the grid (gathering.h) */

struct contraction {
    const struct function *f;
    const struct gathering *gathered; /* NULL: both operands stand at linear indices of row, column and depth */
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

struct contraction_parse { /* a kernel's statements while they are sorted */
    struct contraction *c;
    const struct function *f;
    struct err *why;
    VEC(struct node) before; /* declarations and statements before the loop */
    VEC(struct node) bounds; /* comparisons that a thread with work satisfies, */
    VEC(bool) negated;       /* or, of these, that it does not */
};
/* Sorts the statements of a block: bounds, what is before the loop, the loop, what is behind it. */
bool contraction_sort(struct contraction_parse *p, struct node block);
/* Does it count the grid along this dimension, a thread or a block of one each? */
bool contraction_counts_grid(const struct function *f, const struct poly *p, int dimension);
/* The place of an element: a pointer that holds for the whole block, and an index from there on. */
bool contraction_place(const struct contraction_parse *p, struct node e, const struct variable **root,
                       struct poly *index);
/* `index < bound`, or `bound > index`: the index's node and the bound's; negated: where it does not hold. */
bool contraction_comparison(const struct function *f, struct node e, bool negated, struct node *index,
                            struct node *bound);
/* The terms of *rest that have this atom, once, without it. The others stay. */
struct poly contraction_taken(const struct function *f, const char *atom, struct poly *rest);
/* The variable of `for (int k = 0; k < depth; k++)`; NULL: the loop is another. */
const struct variable *contraction_loop_index(const struct function *f, struct node loop, struct node *depth);
/* The threads of the grid along a dimension, as the launcher has them; NULL where it is not seen. */
char *contraction_grid(const struct function *f, const struct launch *l, int dimension);
bool contraction_types_known(const struct contraction *c);
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
