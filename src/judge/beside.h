/* beside: what a library does on the task's workloads, to be timed beside versions. Internal to judge/. */
#ifndef JUDGE_BESIDE_H
#define JUDGE_BESIDE_H

#include "rewrite/rewrite.h"

#include "internal.h"

struct beside_call { /* a workload's product, as the library takes it */
    struct cublas_product product;
    const struct product_matrix *matrix[3]; /* whose elements the library's three matrices are */
    struct product of;
};

struct beside {
    struct cublas *cublas;
    const char *library;       /* "cuBLAS 13.1.0" */
    struct beside_call *calls; /* one a workload */
};

/* The library opened in the GPU's context, before the process is shut in. */
bool beside_open(struct judge *j, struct err *err);
void beside_close(struct beside *b); /* takes NULL */
/* What the original computes on each workload; an error (ERR_INPUT) where that is nothing the library does. */
bool beside_find(struct judge *j, struct err *err);
/* A product of matrices by rows, columns or slices of these as one of matrices by columns. */
bool beside_call_of(const struct product *p, struct beside_call *call, struct err *why);
/* Of an element of a matrix. */
enum kernel_type beside_type(const struct product_matrix *m);

#endif
