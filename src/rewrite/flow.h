/* flow: where a value of a kernel comes from, as far as the text shows: what was assigned to a variable, or to
 * an element of an array, last. Internal to rewrite/. */
#ifndef REWRITE_FLOW_H
#define REWRITE_FLOW_H

#include "rewrite/analysis.h"

enum { FLOW_DEEP = 24 }; /* definitions followed */

struct flow_element { /* of memory that a parameter of f points to */
    const struct function *f;
    const struct variable *root;
    struct poly index;
};

struct flow_factor { /* by what a value was multiplied on its way, or divided */
    const struct function *f;
    struct node e;
    bool divides;
};

struct flow_factor_list {
    VEC(struct flow_factor) list;
};

struct flow_definitions {
    VEC(struct node) list; /* assignments, in text order */
};

/* Through casts and conversions. */
struct node flow_plain(const struct function *f, struct node e);
bool flow_is_zero(const struct function *f, struct node e);
/* Minus infinity, or so low that its exponential is nothing beside others. */
bool flow_is_none(const struct function *f, struct node e);
/* The variable that is assigned or read, with its subscript or no node. */
const struct variable *flow_variable(const struct function *f, struct node e, struct node *subscript);
/* A place in a parameter's memory, seen through pointers. */
bool flow_place(const struct function *f, struct node e, struct flow_element *to);
/* What is assigned to a variable or to its elements. */
struct flow_definitions flow_definitions(const struct function *f, const struct variable *v);
/* The innermost of a kind around n that is not around the other one too. */
struct node flow_between(struct node n, struct node other, enum node_kind kind);
/* The variable that a `for` declares; NULL: none. */
const struct variable *flow_loop_index(const struct function *f, struct node loop);
bool flow_starts_at_zero(const struct function *f, struct node loop);           /* and goes on by one */
bool flow_factors(const struct function *f, struct node e, struct node two[2]); /* of a product */
/* What an assignment adds to its own target: a product as two factors, or one term (then the second is no
 * node). *back: by what the target is multiplied first, or no node. */
bool flow_added(const struct function *f, struct node e, struct node two[2], struct node *back);
/* An element of a parameter's memory, through variables and arrays that keep it. Where it was multiplied on the
 * way is added to factors; NULL: it must not be. */
bool flow_element_of(const struct function *f, struct node e, int depth, struct flow_element *to,
                     struct flow_factor_list *factors);

/* The terms that have this atom once, without it; the others stay. */
struct poly poly_take(const struct function *f, const char *atom, struct poly *rest);
bool poly_has(const struct function *f, struct poly p, const char *atom);
bool poly_is_one(const struct poly *p);
const char *poly_only_atom(const struct poly *p); /* the atom that it is; NULL: it is more, or less */

#endif
