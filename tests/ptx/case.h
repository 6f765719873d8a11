/* case: one conformance case of a PTX file, its inputs and what it must leave. Knows no device: run_cases.c
 * executes cases on the simulator, and a program with a GPU would use the same functions. README.md describes
 * the format. */
#ifndef TESTS_PTX_CASE_H
#define TESTS_PTX_CASE_H

#include "base/base.h"

enum { CASE_ARRAYS = 10 };

enum token { TOKEN_EXACT, TOKEN_ANY, TOKEN_NAN, TOKEN_ZERO, TOKEN_NEAR };

struct array { /* one pointer parameter of the entry */
    char name[16], type[8];
    size_t n, size;     /* elements, bytes of one */
    uint8_t *initial;   /* n * size */
    uint8_t *want;      /* n * size */
    uint8_t *want_kind; /* enum token */
    bool has_want;
    char rule[8]; /* "ulp", "rel", "abs": how near TOKEN_NEAR must be, to function(arguments) */
    double room;
    char function[12];
    int args[3], n_args; /* indices of arrays */
};

struct ptx_case {
    char entry[64];
    int line;
    uint32_t grid, block, shared_bytes, cluster; /* cluster: blocks, 0: none */
    struct array arrays[CASE_ARRAYS];
    size_t n_arrays;
};

/* Cases of a file's text, in its order. */
bool case_parse(struct ptx_case **cases, size_t *n, const char *file, const char *text, struct arena *a,
                struct err *err);

/* Is this element of what a run left right? If not, says what came and what was wanted. got: the whole array.
 */
bool case_element(const struct ptx_case *c, size_t array, size_t element, const void *got, char *words,
                  size_t words_size);

/* Compares what a run left in an array. Returns the number of wrong elements and describes the first in words.
 */
size_t case_compare(const struct ptx_case *c, size_t array, const void *got, char *words, size_t words_size);

/* A line for each array with elements for which the case names no bits (near, any, a NaN, a zero): the bits
 * that a run left there. Two devices' lines show where both may be right and yet differ. */
void case_print_open(FILE *to, const struct ptx_case *c, uint8_t *const *got);

#endif
