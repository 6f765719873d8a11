/* per_block: a kernel, and those functions of the file that its threads meet in, for several blocks at once:
 * which of their variables may differ between blocks that work in step. Internal to rewrite/; memory is the
 * kernel's arena. */
#ifndef REWRITE_PER_BLOCK_H
#define REWRITE_PER_BLOCK_H

#include "rewrite/analysis.h"

struct part { /* a function that is copied */
    const struct function *f;
    const char *place; /* as below */
    bool *differs;     /* for each of its variables, by its index: another value in another block */
    const char *copy;  /* its new name */
};

struct in_step {
    const struct function *kernel;
    const char *place;  /* that tells blocks apart: blockIdx.x, .y or .z */
    struct part *parts; /* the kernel first */
    size_t n;
};

/* False with the reason where blocks of the kernel cannot work in step, neighbours along x (0), y or z. */
bool in_step_open(struct in_step *w, const struct function *kernel, int axis, struct err *why);
/* Does the expression, of this part, differ between blocks? */
bool differs(const struct part *p, struct node e);
bool variable_differs(const struct part *p, const struct variable *v);
/* Do all threads of the block wait for each other in it? Threads of a warp may: nothing is shared between
 * those. */
bool waits(const struct function *f, struct node n);
/* Does it leave a part of the function that it does not end in? */
bool leaves(const struct function *f, struct node n);
/* Is a loop left, or a turn of it, by a question that differs between blocks? */
bool leaves_by_block(const struct part *p, struct node loop);
/* The part that the call is of; NULL: none. */
const struct part *called_part(const struct in_step *w, const struct part *caller, struct node call);

#endif
