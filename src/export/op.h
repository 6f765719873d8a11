/* The launcher as an operator, for the targets that are one. */
#ifndef EXPORT_OP_H
#define EXPORT_OP_H

#include "internal.h"

struct op {
    const struct export_run *run;
    const struct task *task;
    const struct kernel_param *params; /* of the launcher, one an argument */
    const char *name;                  /* this and the next two: identifiers in C++, Python and schemas */
    const char **args, **dims; /* no two of them are the same; NULL for what is computed from the dims */
    bool returns;              /* the launcher returns an error code */
};

/* Arguments are tensors, numbers (floating scalars), scratch, or computed from the dims. */
bool op_open(struct op *o, const struct export_run *r, struct arena *a, struct err *err);
bool op_is_tensor(const struct op *o, size_t arg);
bool op_is_number(const struct op *o, size_t arg);

/* How the dims become known, in this order: from an extent of a tensor, or, where value is NULL, from the
 * caller. */
struct op_step {
    size_t dim, arg, axis;
    const struct dim_expr *value; /* of the dims before it and, as number n_dims, the extent */
};
struct op_plan {
    struct op_step *steps; /* one a dim */
    size_t n_steps;
};
void op_plan(const struct op *o, struct arena *a, bool with_outputs, struct op_plan *p);
bool op_is_given(const struct op_plan *p, size_t dim); /* by the caller */

/* ---- torch.c ---- */

/* The operators in C++, and the task's compile flags as PyTorch takes them: `"a", "b", `. */
const char *torch_binding(const struct op *o, struct arena *a);
const char *torch_package(const struct op *o, struct arena *a); /* and the operators' namespace */
const char *torch_flags(const struct op *o, struct arena *a);

/* ---- torch_test.c ---- */

/* The slots of the test: what a tensor holds, how far a written one may be off, the shapes. */
void torch_test_content(const struct op *o, struct fill *row, size_t arg);
void torch_test_error(const struct op *o, struct fill *row, size_t arg);
void torch_test_shapes(const struct op *o, struct fill *f, struct arena *a);

char *op_identifier(struct arena *a, const char *text);
/* The shortest text that reads back as v, a floating number in C++ and Python. */
const char *op_number(struct arena *a, double v);
const char *op_numbers(struct arena *a, const struct task_arg *arg); /* all values of a scalar, with commas */

#endif
