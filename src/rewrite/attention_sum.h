/* attention_sum: what a kernel stores, followed back to a sum of weights times values over the sum of the same
 * weights. Internal to the files of attention. */
#ifndef REWRITE_ATTENTION_SUM_H
#define REWRITE_ATTENTION_SUM_H

#include "rewrite/analysis.h"

enum attention_what { NOTHING, SCORE, WEIGHT };

struct element { /* of a parameter's memory */
    const struct variable *root;
    struct poly index;
};

struct limit { /* a condition under which a key, named key, is seen or hidden */
    struct node condition;
    bool hidden;
    const char *key;
};

struct factor {
    struct node e;
    bool divides;
};

struct value { /* a score or a weight */
    enum attention_what what;
    const char *key; /* the atom that counts the keys where q and k are read */
    struct element q, k;
    const char *deep; /* the atom that counts a vector's numbers */
    struct node depth;
    VEC(struct factor) factors;
    VEC(struct limit) limits;
    struct node less, over;
    bool over_inverse, base2;
};

struct weighted_sum { /* of weights times values */
    struct value weight;
    struct element v;
    const char *deep;     /* what counts a value's numbers */
    const char *key;      /* what counts the keys there */
    struct node adds;     /* the assignment */
    struct node back;     /* by what earlier terms are scaled; or no node */
    struct element out;   /* where the quotient is stored */
    const char *out_deep; /* and what counts its numbers there */
    bool zero;            /* a query that sees no key gets zeros */
};

/* False with the reason where the kernel stores something else. */
bool weighted_sum_of(const struct function *f, struct weighted_sum *s, struct err *why);
/* The terms that have this atom once, without it; the others stay. */
struct poly poly_take(const struct function *f, const char *atom, struct poly *rest);
bool poly_has(const struct function *f, struct poly p, const char *atom);
bool poly_is_one(const struct poly *p);
const char *poly_only_atom(const struct poly *p); /* the atom that it is; NULL: it is more, or less */

#endif
