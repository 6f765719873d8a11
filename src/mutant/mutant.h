/* mutant: small faults put into a kernel, to see whether the suite notices: a dropped term, a bound off by one,
 * a missing barrier. A suite that lets a mutant live would let such a candidate pass. docs/testing.md lists the
 * operators. */
#ifndef MUTANT_MUTANT_H
#define MUTANT_MUTANT_H

#include "base/base.h"
#include "kernel/kernel.h"

struct mutant {
    const char *op;   /* "bound-off-by-one" */
    int line;         /* of the source */
    const char *what; /* "`i < d` becomes `i <= d`" */
    const char *id;   /* the same for the same fault in the same file, to mark it by */
    size_t from, to;  /* bytes of the file, or of its PTX, */
    const char *is;   /* replaced by this */
    bool ptx;
};
/* The whole mutated file, or PTX. */
char *mutant_text(const struct mutant *m, struct arena *a, const char *text, size_t len);

size_t mutant_operators(const char *const **names); /* all of them, the source's first */

/* Mutants of the file: of its device functions and its launcher. All there are, in text order. */
void mutants_of_source(const struct kernel *k, struct arena *a, const struct mutant **list, size_t *n);
/* Mutants of the PTX that was made of it. */
void mutants_of_ptx(const char *ptx, size_t len, struct arena *a, const struct mutant **list, size_t *n);
/* At most `most` of them, every operator having its turn; which ones follows from the seed. Text order stays.
 */
void mutants_choose(const struct mutant *list, size_t n, size_t most, uint64_t seed, struct arena *a,
                    const struct mutant **chosen, size_t *n_chosen);

#endif
