/* functor: what a call of a function object of the file computes, as an expression. Internal to rewrite/. */
#ifndef REWRITE_FUNCTOR_H
#define REWRITE_FUNCTOR_H

#include "rewrite/analysis.h"

/* `Sum<float>(offset)`: an object that is made where it is passed. */
struct functor {
    const struct function *f; /* where it is made */
    struct node made;
    struct node templates, call,
        constructor;    /* template parameters, operator() and the constructor, or no node */
    struct node fields; /* the class's */
};

/* Is it an object of a class of the file whose operator() is one returned expression? */
bool functor_of(const struct function *f, struct node made, struct functor *o);
/* One argument of its call: the text, and its type where that is known, as the function that makes the object
 * writes them. */
struct functor_argument {
    const char *text, *type;
};
/* NULL where the object is not understood so far. */
char *functor_value(const struct functor *o, const struct functor_argument *args, size_t n);

#endif
