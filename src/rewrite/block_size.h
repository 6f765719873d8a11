/* block_size: what files of block-size share. Internal to rewrite/. */
#ifndef REWRITE_BLOCK_SIZE_H
#define REWRITE_BLOCK_SIZE_H

#include "rewrite/analysis.h"

enum where { LITERAL, VARIABLE, CONSTANT, CAP };

struct block_number {
    const struct function *f; /* any kernel that is launched with it */
    enum where where;
    int64_t old;
    struct node value; /* all but LITERAL: the number that changes */
    struct node host;
    const char *name; /* what else of the launcher may follow it by; NULL: nothing */
    int threads;
    /* LITERAL: the file's constant by which the kernels say the number, and its value; or NULL */
    const char *constant;
    struct node constant_value;
};

/* The value of a constant that the file's item defines as this number, and its name; no node when it defines
 * none.
 */
struct node defined_as(const struct function *f, struct node item, int64_t number, const char **name);
/* How often the text says the word, outside of comments and literals. */
size_t times_said(const char *text, const char *word);
/* Is it the name of the constant that changes? */
bool is_constant(const struct function *f, const struct block_number *d, struct node e);
/* Does the launch's block come from this number? */
bool block_takes(const struct function *f, const struct launch *l, const struct block_number *d);
/* `(x + 127) / 128` and `x / 128 + (x % 128 != 0)` in the host function: both numbers follow. False where the
 * blocks of another launch, which stays, are counted so. */
bool grid_follow(const struct function *f, const struct block_number *d, struct edits *edits);
/* Does the launcher's expression follow the number: does it, or what it is made of, mention its name? depth: 0.
 */
bool host_follows(const struct function *f, const struct launch *l, struct node e, const char *name, int depth);
/* Does the kernel take tiles of the block, of whose elements no thread says which are its own, as CUB's loads
 * have them? *whole: it asks for its block for nothing else. */
bool takes_tiles(const struct function *f, const struct block_number *d, bool *whole);
/* Then: does the grid follow, or a loop go on with the next tiles of any grid? */
bool tiles_follow(const struct function *f, const struct block_number *d);

#endif
