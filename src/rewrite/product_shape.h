/* product_shape: the tiles that block-product can compute a product in. Internal to rewrite/. */
#ifndef REWRITE_PRODUCT_SHAPE_H
#define REWRITE_PRODUCT_SHAPE_H

#include "rewrite/contraction.h"

/* A setting is rows + 1000 * columns + PRODUCT_SPLIT * blocks that share a tile's depth + PRODUCT_STAGES *
 * stages under way; 0 for split and stages: one, and as many as suit the tile. */
enum { PRODUCT_COLUMNS = 1000, PRODUCT_SPLIT = 1000 * 1000, PRODUCT_STAGES = 10 * 1000 * 1000 };

struct product_shape {
    int rows, cols, deep;
    int threads, copiers;   /* threads that compute, and more that only copy */
    int split;              /* blocks of a cluster that share a tile's depth; 1: none does */
    int stages;             /* of shared memory; 0: its functions have their own number */
    const char *slab_rows;  /* finished at once, as text */
    int pad;                /* elements between their rows in shared memory */
    const char *sums;       /* of a thread, as an array's extents */
    int memory;             /* bytes of shared memory */
    bool dynamic;           /* the launch asks for these */
    const char *blocks;     /* how its functions' names begin */
    const char *helpers[8]; /* device functions, as text */
};

/* False where a tile is too small or too large for this kernel and device. */
bool product_shape_of(int setting, const struct contraction *c, struct product_shape *s);
/* The tensor cores' instruction for elements of the operands' types, as a file of share/; NULL: there is none.
 */
const char *product_mma_file(const struct contraction *c);
/* Does a tile of an operand lie in rows along the depth? ldmatrix transposes no bytes: these always do. */
bool product_along_deep(const struct contraction *c, const struct contraction_operand *o);
/* How good a tile may be for the launches that are planned; more is better. */
double product_promise(const struct function *f, int setting);
const char *product_words(struct arena *a, int setting);
/* Is the step along an operand 1, so that neighbours are neighbours in memory? */
bool product_is_one(const struct poly *p);

#endif
