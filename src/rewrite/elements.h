/* elements: the same code for n neighbouring elements: what a region of a kernel needs for it and what is
 * known. Internal to rewrite/: elements.c says what an expression is and what becomes a vector,
 * elements_write.c writes the code, multiples.c says what starts on a vector, vectorise.c makes a transform of
 * it. */
#ifndef REWRITE_ELEMENTS_H
#define REWRITE_ELEMENTS_H

#include "rewrite/analysis.h"

enum kind { /* of an expression, over the n elements */
            INVARIANT,
            LINEAR,  /* the first element's value plus k */
            STEPPED, /* plus a constant times k: the places of pixels, points and pairs */
            VARYING,
};

struct multiple {
    const struct variable *v;
    int by;
};

struct access { /* vector accesses of one address */
    const struct variable *root;
    const char *pointer, *index, *type, *name;
    int size_bytes;
    int by, count;  /* values of one element, side by side, and of all n */
    uint64_t parts; /* of an element's values those that are stored, a bit each */
    bool loaded, stored;
    size_t first_load, last_load, first_store; /* bytes in the text */
    struct node address;                       /* the place where it is first reached */
    struct node condition;                     /* the same for all elements; no node: none */
    bool otherwise;                            /* it is reached where that does not hold */
};

struct scalar { /* accesses that stay one element wide */
    const struct variable *root;
    bool stored;
};

struct outside {
    const struct variable *v;
    enum kind kind;
    int64_t by; /* what its value goes on by */
};

struct elements {
    const struct function *f;
    int n;                                 /* elements in a vector */
    const struct variable *element;        /* the index variable */
    struct node part;                      /* all that is executed N times */
    VEC(struct multiple) multiples;        /* kernel parameters that must be multiples of n, or more */
    int times;                             /* while one is looked for: of n times this; 0: of n */
    VEC(const struct variable *) pointers; /* and pointers that must be aligned */
    VEC(int) aligned;                      /* to so many bytes each */
    VEC(const struct variable *) stored;   /* of these, what is written */
    VEC(struct outside) outside;           /* variables of the region that stay outside the loop over k */
    VEC(struct access) accesses;
    VEC(struct scalar) scalars;
    size_t first_access, first_scalar;    /* of these statements: those before are of a branch beside them */
    VEC(const struct variable *) refused; /* pointers of the region that no vector goes through */
    VEC(const struct variable *) spread;  /* variables that are arrays of n now */
    int steps;                            /* loops and questions around this region that all take together */
    bool turn;                            /* it is all that a turn of such a loop does */
    bool question;                        /* a question may be one without being in such a loop */
    size_t behind;                        /* from this byte on an element may have done with it; 0: none has */
    const char *place, *thread; /* what else knows the element: a block's number, a thread's; or NULL */
    const char *lane;           /* name of k */
    char exact;                 /* a grid without a bound check, which must shrink exactly: along 'x' or 'y' */
    bool follows; /* a loop that keeps to the elements of others: nothing of it need become a vector */
    int depth;    /* of variables looked through */
    int smallest; /* bytes of the smallest element among vector accesses, over all regions, */
    int largest;  /* and of the largest vector; */
    int vectors;  /* so many there are */
    struct err *why;
};

enum kind elements_kind(struct elements *w, struct node e);
/* What the value of e, which does not vary, goes on by from element to element. */
int64_t elements_by(struct elements *w, struct node e);
/* So many values of size_bytes each move as whole vectors. */
bool elements_are_whole(int64_t count, int size_bytes);
/* Can e, for the first element, be made a multiple of n? Adds the parameters that must be. */
bool elements_multiple(struct elements *w, struct node e);
/* The pointer starts at a multiple of n elements from the parameter it comes from. */
bool elements_pointer_multiple(struct elements *w, struct node pointer);
/* A declaration whose values are all invariant, or linear integers and pointers, never assigned again, and a
 * move of a pointer that is another one from there on: they stay as they are. */
bool elements_stay(struct elements *w, struct node declaration);
/* The statements for n elements, each line indented; NULL with the reason in w->why when it cannot be. */
char *elements_write(struct elements *w, const struct node *statements, size_t n, const char *indent);
/* A loop, or a question, that all elements take together, for n of them; NULL where it is none. */
char *elements_step(struct elements *w, struct node n, const char *indent);
/* `if (...) continue;` that all elements take together, and the rest of the turn. */
char *elements_step_on(struct elements *w, const struct node *statements, size_t n, const char *indent);
/* Variables of the declaration become arrays of n. False where one cannot. */
bool elements_spread(struct elements *w, struct node declaration);
bool elements_is_spread(const struct elements *w, const struct variable *v);
/* Of such a declaration: the arrays, a line each, and what gives element k its values, by its edits; or "". */
const char *elements_spread_arrays(const struct elements *w, struct node declaration, const char *indent);
const char *elements_spread_values(const struct elements *w, struct node declaration, struct edits *edits);
/* Does the statement leave nothing but this turn? */
bool elements_only_goes_on(struct node statement);
/* Does every name of it stand outside the loop over k? */
bool elements_known_outside(const struct elements *w, struct node e);
enum kind elements_kind_of(struct elements *w, const struct variable *v);
/* The vector that an element of statement `top` belongs to, and as which of its values; NULL when it stays as
 * it is. */
struct access *elements_access(struct elements *w, const struct reached *p, struct node top, int *part);
/* What the statement reaches, in order: vectors, and elements one by one; or all of it one by one. */
void elements_collect(struct elements *w, struct node e, struct node top);
void elements_collect_scalars(struct elements *w, struct node e);
/* What may not be a vector, as it is reached in another way too; NULL: nothing. *never: nothing may be then. */
const struct variable *elements_conflict(struct elements *w, bool *never);
/* Does the statement leave what is around it: by return or goto, or by a break or continue of a loop around it?
 */
bool elements_leave(struct node n, bool in_loop);
/* After each region: what it needs of pointers is remembered, what is its own forgotten. Was anything accessed?
 */
bool elements_end(struct elements *w);
/* What a launch must ask for it: of sizes and pointers. And a guard that no workload passes is of no use. */
void elements_guards(const struct elements *w, const struct launch *l, struct guard_list *g);
bool guard_hopeless(const struct function *f, const struct guard_list *g);

#endif
