/* compare_table: a comparison as tables with a column a run, for all its faces. */
#ifndef REPORT_COMPARE_TABLE_H
#define REPORT_COMPARE_TABLE_H

#include "report/compare.h"
#include "report/table.h"

struct compare_table {
    const char *id, *title;
    const char *about;         /* a sentence or more */
    const struct table *table; /* NULL: nothing to say */
};

enum { TABLE_SPEED, TABLE_ROLES, TABLE_VERDICTS, TABLE_OPTIONS, N_TABLES };

void compare_tables(const struct compare *c, struct arena *a, struct compare_table tables[N_TABLES]);

/* "A is the fastest: 12.05 times its original's speed", or that nothing can be said. */
const char *compare_headline(const struct compare *c, struct arena *a);

#endif
