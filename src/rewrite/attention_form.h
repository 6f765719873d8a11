/* attention_form: a kernel that computes softmax(scale * Q K^T) V, for all or for the earlier keys of each
 * query, recognised by where its values come from. Internal to rewrite/. */
#ifndef REWRITE_ATTENTION_FORM_H
#define REWRITE_ATTENTION_FORM_H

#include "rewrite/analysis.h"

struct attention_operand { /* number d of vector n stands at root[start + n * step + d] */
    const char *root, *type;
    struct poly start, step; /* the same for all queries of a head */
};

struct attention {
    const struct function *f;
    struct attention_operand q, k, v, out;
    struct node depth;   /* how many numbers a vector has, */
    int64_t depth_value; /* if all workloads have the same; else 0 */
    int dimension;       /* of the grid along which queries go */
    struct node rows;    /* how many there are; no node: as many as the grid has */
    struct node
        heads_of; /* no node, or, where one index counts the queries of all heads, how many a head has: */
    struct node all_rows;        /* and how many all heads have; no node: as many as the grid has */
    const struct variable *head; /* the index divided by heads_of; NULL: nobody asks */
    /* Query i sees key j where j < keys and j < i + diagonal; the latter where the condition `flag` holds
     * (NULL: always). Either poly is absent where it is not ok. */
    struct poly keys, diagonal;
    const char *flag;
    bool by_thread;                      /* a thread takes a query, and not a block */
    const char *scale;                   /* in the kernel's terms */
    bool zero;                           /* a query that sees no key gets zeros */
    VEC(const struct variable *) needed; /* declared in the kernel, and used by what stands above */
};

/* False with the reason where the kernel is none. */
bool attention_of(const struct function *f, struct attention *a, struct err *why);

#endif
