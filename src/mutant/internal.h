/* Between the files of mutant/. */
#ifndef MUTANT_INTERNAL_H
#define MUTANT_INTERNAL_H

#include "mutant.h"

typedef VEC(struct mutant) mutant_vec;

enum { SOURCE_OPS = 26, PTX_OPS = 9 };
extern const char *const source_op_names[SOURCE_OPS], *const ptx_op_names[PTX_OPS];

/* m.from..m.to of text becomes m.is; it gets its words and its mark here. */
void mutant_add(mutant_vec *list, struct arena *a, const char *text, struct mutant m);

#endif
