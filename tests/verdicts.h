/* What the files of the program `verdicts` share: the kernels of the corpora. */
#ifndef TESTS_VERDICTS_H
#define TESTS_VERDICTS_H

#include "worker/worker.h"

enum { CHEATS, BUGS, LEGIT, REFUSED, N_CORPORA, N_ROWS = 28 };
extern const char *const corpora[N_CORPORA];

struct corpus_file {
    int corpus, row;
    const char *task, *name, *path, *text;
    const char *expected, *words; /* verdicts with | between; NULL: any words */
    int line;
    enum verdict got;
    bool good;
    bool judged;
    struct trial_shipped shipped; /* its texts apart: device_code is a constant, not_run_because NULL or not */
};

typedef VEC(struct corpus_file) corpus_files;
extern corpus_files files;

bool verdict_expected(const char *list, enum verdict v); /* is it one of those between |? */

/* verdicts_table.c */

void make_table(struct str *s);
/* The table of docs/results/corpora.md is this one; write: it is made so. */
bool table_stands(struct arena *a, const struct str *table, bool write, struct err *err);
/* What became of the compiled files, in a page. */
bool write_confirmation(const char *path, double took_s, size_t left_out, struct err *err);

#endif
