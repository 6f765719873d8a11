/* sheet: a comparison as tables with a column a run, for all its faces. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include "report/compare.h"

struct sheet_cell {                        /* texts are plain; NULL: nothing to say */
    const char *text, *interval, *against; /* "12.05", "11.90 to 12.20", "1.08x faster" */
    enum compare_word word;
};

struct sheet_row {
    const char *label;
    bool total; /* of the rows above */
    struct sheet_cell cells[COMPARE_MOST];
};

struct sheet {
    const char *id, *title, *about; /* about: a sentence or more */
    bool numbers;
    const struct sheet_row *rows;
    size_t n;
};

enum { SHEET_SPEED, SHEET_MINDS, SHEET_VERDICTS, SHEET_OPTIONS, N_SHEETS };

/* Those without rows have n 0. */
void sheet_all(const struct compare *c, struct arena *a, struct sheet sheets[N_SHEETS]);

/* "A is the fastest: 12.05 times its original's speed", or that nothing can be said. */
const char *sheet_headline(const struct compare *c, struct arena *a);

#endif
