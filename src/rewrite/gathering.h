/* gathering: a contraction whose factors are not elements at linear indices: a convolution. Its results have
 * several places in the grid (a digit of an index, or a dimension), its depth several loops; each factor is any
 * expression of places of its own and of the loops, zero where a condition does not hold. Internal to rewrite/.
 */
#ifndef REWRITE_GATHERING_H
#define REWRITE_GATHERING_H

#include "rewrite/contraction.h"

struct grid_product { /* a number times names and expressions that are the same for all threads */
    bool ok;
    int64_t by;
    int n;
    struct node factor[8];
    const char *text[8]; /* of the factors, compact */
};

struct grid_value { /* index / by % modulus, of the index along a dimension of the grid */
    bool ok, whole; /* whole: without modulus */
    int dimension;
    struct grid_product by, modulus;
};

struct grid_digit { /* one of the places that the grid's indices are made of */
    const struct variable *v;
    struct grid_value value;
};

struct path_item { /* on the way through the loops to the sum */
    struct node node;
    bool condition, negated; /* it is reached where this holds, or does not; else: a statement */
};

struct gathered_operand {
    struct node factor;
    uint64_t digits; /* its own, as a mask */
    bool strided;    /* it stands at a linear index of its one digit and the joined depth all the same */
    bool along_deep; /* neighbours in depth are neighbours in memory */
    bool lines;      /* it is an element of memory, and the innermost loop walks along whole lines of that */
};

enum { GATHERED_DIGITS = 12, GATHERED_LOOPS = 6 };

struct gathering {
    struct contraction *c;
    struct grid_digit digits[GATHERED_DIGITS];
    int n_digits;
    struct node ends[3];        /* index along a dimension < this, where the kernel asks */
    struct grid_value ended[3]; /* which of its values that is asked of */
    struct {                    /* outermost first */
        const struct variable *v;
        struct node depth;
    } loops[GATHERED_LOOPS];
    int n_loops;
    VEC(struct path_item) path;
    struct gathered_operand x, y;
    struct grid_value *values; /* by variable */
    uint64_t *needs;           /* by variable: digits and loops that it follows from */
};

#define GATHERED_THREAD  (1ull << 63) /* what is no place: threadIdx and the like */
#define GATHERED_ALL     ((1ull << GATHERED_DIGITS) - 1)
#define GATHERED_LOOP(i) (1ull << (GATHERED_DIGITS + (i)))

/* False with the reason where the kernel is none. Fills what of c the two kinds have in common. */
bool gathering_of(const struct function *f, struct contraction *c, struct err *why);

/* Between its files. */
uint64_t gathering_needs(const struct gathering *g, struct node n);
struct grid_product grid_product_of(const struct function *f, struct node e);
/* x / y, where y's factors are x's. */
struct grid_product grid_product_divided(const struct grid_product *x, const struct grid_product *y);
/* Does a turn change variables of its own? What a name was given need not be what its words are later. */
bool gathering_assigns(const struct gathering *g);
/* Follows the statements before the loop: values, digits, ends. */
bool gathering_places(struct gathering *g, struct contraction_parse *p);

/* The text. l: as the launcher would write it, NULL where it cannot; else as the kernel does. */
char *gathering_count(const struct gathering *g, uint64_t digits, const struct launch *l);
/* What the kernel must be told of the grid along a dimension; NULL: nothing. */
const char *gathering_told(const struct gathering *g, int dimension);
/* The lambdas of gathered operands (by_place: which give an element's place), and an operand as the product of
 * these blocks takes it. */
char *gathering_lambdas(const struct gathering *g, bool by_place);
char *gathering_operand(const struct gathering *g, const struct gathered_operand *o, const char *blocks,
                        const char *deep0);
char *gathering_depth(const struct gathering *g);
/* The variables of a result at this row and column that are mentioned in these nodes; and the question whether
 * it exists, where rows and columns do not say it. *ahead: those of the column, where all of a thread's results
 * have the same; NULL: they have not. */
char *gathering_indices(const struct gathering *g, const char *row, const char *col, const struct node *in,
                        size_t n, char **ahead);

#endif
