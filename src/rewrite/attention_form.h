/* attention_form: a kernel that computes softmax(scale * Q K^T) V, for all or for the earlier keys of each
 * query, recognised by where its values come from, be it by itself or from what kernels before it store.
 * Internal to rewrite/. */
#ifndef REWRITE_ATTENTION_FORM_H
#define REWRITE_ATTENTION_FORM_H

#include "rewrite/analysis.h"

struct attention_operand { /* number d of vector n stands at root[start + n * step + d] */
    const char *root, *type;
    struct poly start, step; /* the same for all queries of a head */
};

struct attention_parameter {
    const char *name, *declared, *passed; /* as the launcher passes it */
};

struct attention {
    const struct function *f; /* the kernel that stores the answer */
    struct attention_operand q, k, v, out;
    const struct function
        *depth_f;         /* the kernel that multiplies queries and keys: f, or one launched before it */
    struct node depth;    /* how many numbers a vector has, in the terms of that kernel, */
    int64_t depth_value;  /* and as all workloads agree */
    int dimension;        /* of the grid along which queries go, */
    int deep_dimension;   /* and along which a vector's numbers go; -1: along none */
    bool by_thread;       /* a thread takes a query, and not a block */
    struct node rows;     /* how many queries there are; no node: as many as the grid has */
    struct node heads_of; /* no node, or, where one index counts the queries of all heads, how many a head
                             has: */
    struct node all_rows; /* and how many all heads have; no node: as many as the grid has */
    const struct variable *head; /* the index divided by heads_of; NULL: nobody asks */
    /* Query i sees key j where j < keys and j < i + diagonal; the latter where the condition `flag` holds
     * (NULL: always). Either poly is absent where it is not ok. */
    struct poly keys, diagonal;
    const char *flag;
    const char *scale;                          /* in the kernels' terms */
    bool zero;                                  /* a query that sees no key gets zeros */
    VEC(const struct function *) ahead;         /* kernels launched before, which are no longer needed */
    VEC(struct attention_parameter) parameters; /* where there are any: of all of them */
    VEC(const struct variable *) needed;        /* declared in a kernel, and used by what stands above */
};

/* False with the reason where the kernel is none. */
bool attention_of(const struct function *f, struct attention *a, struct err *why);

#endif
