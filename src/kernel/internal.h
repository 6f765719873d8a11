/* Between the files of kernel/: one host compiler front end in small. Text becomes tokens (lex.c), tokens are
 * preprocessed (macro.c) and split into declarations (unit.c); the bodies of the host's functions become trees
 * (parse_*.c), which eval.c, exec.c, call.c and runtime.c run, plan after plan.
 *
 * All memory is arenas', so an error may leave from any depth by longjmp to the nearest trap: fail() does. The
 * public functions set the outermost trap and turn it into `false` with an err. */
#ifndef KERNEL_INTERNAL_H
#define KERNEL_INTERNAL_H

#include "interpret.h"

enum {
    MAX_TOKENS = 200000,     /* before and after macro expansion */
    MAX_DECLARATIONS = 2000, /* functions, types, variables, enumerators: of each */
    MAX_PARSE_DEPTH = 200,   /* nested expressions and statements */
    MAX_EVAL_DEPTH = 600,
    MAX_CALL_DEPTH = 32,
    MAX_STEPS = 500000,    /* evaluated tree nodes of one plan */
    MAX_PLAN_STEPS = 4096, /* launches, sets and copies */
    MAX_ARRAY = 65536,     /* elements of a local array */
};

#endif
