/* words: the sentences of a run, the same on the page, in a pull request and in JSON. Plain text, to be escaped
 * by whoever shows it. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include "report/view.h"

/* "12.05 times the original's speed", or "The original stays", or "No result". */
const char *words_headline(const struct view *v, struct arena *a);
/* Of a result that was put into its program: what that did to it, in one sentence; NULL: it was not. */
const char *words_end_to_end(struct arena *a, const json_t *result);
/* The verdict: that sentence, where there is one, then in one sentence: what, by how much, with which
 * certainty, on what. */
const char *words_verdict(const struct view *v, struct arena *a);
/* What a reader must know beside it: how the run ended, what was not confirmed. `n` sentences. */
const char *const *words_caveats(const struct view *v, struct arena *a, size_t *n);
/* The known limits of what was shown, and what was not checked. */
const char *const *words_limits(const struct view *v, struct arena *a, size_t *n);
/* Where the exact answers come from. */
const char *words_exact(const struct view *v, struct arena *a);
/* The command that does the run again, and the one that judges its result again; quoted for a shell. */
const char *words_repeat(const struct view *v, struct arena *a);
const char *words_verify(const struct view *v, struct arena *a);
/* What a command does not repeat to the letter; NULL: it does. */
const char *words_unrepeatable(const struct view *v);

const char *words_capital(struct arena *a, const char *text);             /* its first letter is one */
const char *words_regime(enum regime regime);                             /* "cold: inputs come from DRAM" */
const char *words_seconds(struct arena *a, double s);                     /* "4 min 10 s" */
const char *words_steps(struct arena *a, const struct view_candidate *c); /* "vectorise 16 + restrict"; "" */
const char *words_author(const char *backend);                            /* of a candidate: "the rules" */
const char *words_parent(struct arena *a, int parent);                    /* "the original", "candidate 3" */
const char *words_occupancy(struct arena *a, const struct trial *t,
                            enum regime regime); /* "12 to 100 %" over the workloads; NULL: not known */
/* The least and greatest share of the plain copy's speed over the workloads; NAN: unknown. */
void words_copy(const struct view *v, enum regime regime, double *low, double *high);

#endif
