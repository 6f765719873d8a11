/* Between the files of mutant/. */
#ifndef MUTANT_INTERNAL_H
#define MUTANT_INTERNAL_H

#include "mutant.h"

typedef VEC(struct mutant) mutant_vec;

enum { SOURCE_OPS = 26, PTX_OPS = 9 };
extern const char *const source_op_names[SOURCE_OPS], *const ptx_op_names[PTX_OPS];

/* from..to of text replaced. */
void mutant_add(mutant_vec *list, struct arena *a, const char *op, bool ptx, const char *text, size_t from,
                size_t to, const char *is, int line);

#endif
