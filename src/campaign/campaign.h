/* campaign: many kernels made faster, each by a run of its own in a child process, within one budget of time.
 * Its folder holds campaign.json (what is known of each kernel, the contract of docs/campaign.md), a run's
 * folder for each kernel, what each child wrote to stderr, and report.html. Called again on the same folder it
 * does what is missing or new. */
#ifndef CAMPAIGN_CAMPAIGN_H
#define CAMPAIGN_CAMPAIGN_H

#include "base/base.h"

struct campaign_task {
    const char *dir; /* absolute */
    double share;    /* of the application's time, 0 to 1; NAN: not said */
};

/* One task a line: its share of the application's time where it is known (0.31 or 31%), and its folder, which
 * is looked for beside the list. Blank lines and # comments are skipped. */
bool campaign_read_list(struct arena *a, const char *file, const struct campaign_task **list, size_t *n,
                        struct err *err);

enum { CAMPAIGN_MOST = 64 };

struct campaign_options {
    const char *out;                  /* its folder; made when it is not there */
    const struct campaign_task *list; /* NULL: those that campaign.json has */
    size_t n;
    const char *const *passed; /* options for `astra optimize`, given to every run; of a campaign that goes on
                                * NULL: as before */
    size_t n_passed;
    const char *workers; /* --workers of every run, absolute; said anew by each call; NULL: none */
    double budget_s;     /* of wall time for all, spent by earlier calls too; 0: none, or as before */
    int together;        /* runs at a time, 1 to CAMPAIGN_MOST */
    int jobs;            /* workers of each run, where `passed` does not say; 0: the run knows */
    bool quiet;
};

enum campaign_end { CAMPAIGN_DONE, CAMPAIGN_BUDGET, CAMPAIGN_INTERRUPTED };

/* The result is campaign.json's object: release it with json_decref. A kernel that fails is a row with its
 * reason, never an error. */
bool campaign_run(const struct campaign_options *o, struct arena *a, json_t **result, enum campaign_end *end,
                  struct err *err);
/* Asks for a stop, resumably; safe in a signal handler. */
void campaign_stop(void);

bool campaign_is(const char *folder); /* does it hold campaign.json? */
bool campaign_read(struct arena *a, const char *folder, json_t **result, struct err *err);

/* The kernels of such an object, the most time saved first, and the sentence above them. */
struct table *campaign_table(struct arena *a, const json_t *result);
char *campaign_words(struct arena *a, const json_t *result);
void campaign_text(struct arena *a, const json_t *result, struct str *out);
void campaign_page(struct arena *a, const json_t *result, struct str *out); /* HTML */

#endif
