/* What campaign's files share. */
#ifndef CAMPAIGN_INTERNAL_H
#define CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"

struct kernel_row {
    const char *name;            /* its folder's, made different from the others' */
    const char *dir;             /* of its task, absolute */
    const char *hash;            /* SHA-256 of what the task is made of; "" where it cannot be read */
    const char *run;             /* the run's folder below the campaign's */
    const char *status;          /* "waiting", "done", "budget", "interrupted", "failed" */
    const char *words;           /* why it failed; NULL */
    const char *outcome, *basis; /* NULL: not known */
    double share;                /* of the application's time; every row has one */
    double speedup, low, high;   /* NAN: not known */
    double share_of_copy; /* the share of the plain copy's speed that the best reaches, 0 to 1 and above */
    double wall_s;        /* of its run so far */
    bool said;            /* the list says its share */
    bool had_turn;        /* in this call */
    bool under_way;       /* a child is at it */
};

struct child { /* a run's process */
    struct proc p;
    struct kernel_row *row; /* NULL: none */
    double budget_s;        /* of the run in all; 0: none */
    struct str line;
};

struct campaign {
    const struct campaign_options *o;
    struct arena *a;
    const char *out;
    struct kernel_row *rows;
    size_t n;
    const char *const *passed;
    size_t n_passed;
    double budget_s, spent_s, start_s; /* spent_s: by earlier calls */
    struct child children[CAMPAIGN_MOST];
    int under_way;
};

/* ---- store.c ---- */
/* Rows for the list, with what campaign.json knows of those that are as they were. */
bool campaign_open_rows(struct campaign *c, struct err *err);
json_t *campaign_to_json(const struct campaign *c);
bool campaign_save(const struct campaign *c, struct err *err);
double campaign_spent_s(const struct campaign *c);

/* ---- child.c ---- */
/* How near the original comes to the plain copy, into the row; a task that cannot be judged has failed. */
bool campaign_survey(struct campaign *c, struct kernel_row *row, struct err *err);
/* Begins or goes on with the row's run until it has run budget_s in all (0: to its end). */
bool campaign_begin(struct campaign *c, struct kernel_row *row, double budget_s, struct err *err);
/* Listens to what is under way for a moment: its events are told as this process' own, with the kernel's name.
 * Gives a row whose run has ended, which says what came of it; NULL: none has. */
struct kernel_row *campaign_listen(struct campaign *c);
bool campaign_stopping(void);

#endif
