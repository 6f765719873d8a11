/* attention_sum: what a kernel stores, followed back to a sum of weights times values over the sum of the same
 * weights. Internal to the files of attention. */
#ifndef REWRITE_ATTENTION_SUM_H
#define REWRITE_ATTENTION_SUM_H

#include "rewrite/flow.h"

enum attention_what { NOTHING, SCORE, WEIGHT };

struct limit { /* a condition of f under which a key, counted by the atom key, is seen or hidden */
    const struct function *f;
    struct node condition;
    bool hidden;
    const char *key;
};

struct hop { /* a store of f that another kernel read; the atom that counts the keys in it */
    const struct function *f;
    const struct variable *root;
    struct node store;
    const char *key;
};

struct value { /* a score or a weight */
    enum attention_what what;
    const char *key;          /* the atom that counts the keys where q and k are read */
    const struct function *f; /* that reads them */
    struct flow_element q, k;
    const char *deep; /* the atom that counts a vector's numbers */
    struct node depth;
    struct flow_factor_list factors;
    VEC(struct limit) limits;
    VEC(struct hop) hops;          /* from the last kernel to the first */
    struct node less, over;        /* taken from a score, divides a weight; */
    const struct function *over_f; /* the latter in this kernel */
    bool over_inverse, base2;
};

struct weighted_sum { /* of weights times values */
    struct value weight;
    struct flow_element v;
    const char *deep;        /* what counts a value's numbers */
    const char *key;         /* what counts the keys there */
    struct node adds;        /* the assignment */
    struct node back;        /* by what earlier terms are scaled; or no node */
    struct flow_element out; /* where the quotient is stored */
    const char *out_deep;    /* and what counts its numbers there */
    bool zero;               /* a query that sees no key gets zeros */
};

/* False with the reason where the kernel stores something else. */
bool weighted_sum_of(const struct function *f, struct weighted_sum *s, struct err *why);

#endif
