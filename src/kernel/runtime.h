/* Between runtime.c and driver.c: a call of the runtime or the driver, with its arguments. */
#ifndef KERNEL_RUNTIME_H
#define KERNEL_RUNTIME_H

#include "internal.h"

struct call {
    struct interp *in;
    struct env *env;
    const struct expr *e;
    size_t n;
    struct value *args;
};

const struct token *call_at(const struct call *c, size_t i); /* where argument i stands */
int64_t call_integer(const struct call *c, size_t i, const char *what);
struct value call_buffer(const struct call *c, size_t i, const char *what); /* a pointer into one */
/* *argument = v; it may point to another integer type of the same size. */
void call_give(const struct call *c, size_t i, struct value v);

/* driver.c: these give the cudaError_t or CUresult */
int call_tensor_map(const struct call *c);
int call_entry_point(const struct call *c);

#endif
