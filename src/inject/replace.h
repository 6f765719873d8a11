/* What `astra replace` prepares outside and the library looks up inside a program: one file, read as a whole. A
 * launch of the program's kernel with a grid, a block and values that stand here is answered by steps: launches
 * of kernels of the file's own code, whose parameters are values, or lie so many bytes behind where a buffer
 * begins. Where it begins follows from the pointers that the program gave. The reader is in somebody's program
 * and believes nothing: replace_file_is_whole looks at every number once.
 *
 * Its environment: ASTRA_REPLACE (a folder that holds the two files below, and for further kernels the same
 * with -1, -2, ... behind their names; without it nothing is replaced). */
#ifndef INJECT_REPLACE_H
#define INJECT_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLACE_MAGIC  "astrarep"
#define REPLACE_PLANS  "plans"
#define REPLACE_COUNTS "counts"
#define REPLACE_MOST   ((size_t)256 << 20) /* bytes of the file */
enum {
    REPLACE_VERSION = 1,
    REPLACE_SETS = 8,
    REPLACE_BUFFERS = 64,
    REPLACE_PARAMS = 128,
    REPLACE_VALUE = 4096
};

struct replace_span {
    uint32_t at, n; /* of records: the first and how many; of bytes: where in the file, and how many */
};

struct replace_launch { /* of the program's */
    uint32_t symbol;    /* where in bytes */
    uint32_t grid[3], block[3], dynamic_bytes;
    struct replace_span params, buffers, steps;
};

struct replace_buffer {
    uint64_t bytes;
    uint32_t align, written; /* what its address must be a multiple of; some kernel writes it */
};

struct replace_param {
    uint32_t offset, bytes; /* in the kernel's parameters */
    int32_t buffer;         /* of the launch's; -1: a value, */
    uint32_t value;         /* where in bytes */
    int64_t add;            /* to where the buffer begins */
};

struct replace_step { /* a launch in its place */
    uint32_t function;
    uint32_t grid[3], block[3], cluster[3], dynamic_bytes;
    uint32_t cooperative, programmatic, non_portable;
    struct replace_span params;
};

struct replace_head {
    char magic[8];
    uint32_t version, bytes;                              /* of this struct */
    struct replace_span launches, buffers, params, steps; /* where in the file, and how many */
    struct replace_span data;                             /* names, each with a zero behind it, and values */
    struct replace_span cubin, ptx; /* the code; the driver gets PTX if it refuses the CUBIN */
};

/* OUTCOME(name, words): what became of a launch of the kernel. */
enum replace_outcome {
#define OUTCOME(name, words) REPLACE_##name,
#include "outcome.def"
#undef OUTCOME
    N_REPLACE_OUTCOMES
};

extern const char *const replace_words[N_REPLACE_OUTCOMES];

struct replace_counts { /* mapped by every process */
    char magic[8];
    uint64_t processes, n[N_REPLACE_OUTCOMES];
};

bool replace_file_is_whole(const void *file, size_t n);

#endif
