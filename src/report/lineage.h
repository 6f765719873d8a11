/* lineage: the steps from the original to the best, with what each left and what it gained. */
#ifndef REPORT_LINEAGE_H
#define REPORT_LINEAGE_H

#include "report/view.h"

struct lineage_step {
    int candidate;          /* that it belongs to */
    const char *name, *why; /* "vectorise 16", or a model's strategy */
    const char *text;       /* the file after it */
    double gain;            /* speed with it over speed without it; NAN: not known */
    int with, without;      /* the candidates that say so; -1 */
};

/* Rewrites one by one where the run kept what each left, else a candidate's all at once. The last one's text is
 * the best's. None where the original stays. */
size_t lineage_steps(const struct view *v, struct arena *a, const struct lineage_step **steps);

#endif
