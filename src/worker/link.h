/* link: a pool's end of a fleet's command. What comes from there was written by anybody: bounded, checked, and
 * never a path or a command. */
#ifndef WORKER_LINK_H
#define WORKER_LINK_H

#include "process.h"

/* What nodes are sent of a task: {"files": [{"name", "hash"}, ...]} and each content by its hash. */
struct link_contents {
    json_t *files, *hex;
};
bool link_contents_open(struct link_contents *c, const struct task *t, struct err *err);
void link_contents_close(struct link_contents *c);

struct link {
    const struct fleet_node *node; /* NULL: a worker of this machine */
    struct str out;                /* to be sent */
    bool greeted, left_out, used;  /* used: it has opened a task */
    bool archive_sent;             /* it has asked for the program, once */
    size_t archive_left;           /* bytes of that which are not in `out` yet */
    int failures;                  /* in a row */
    double heard_s, next_s;        /* when something came last; not started before */
};

bool link_start(struct link *l, struct process *w, struct err *err);
void link_end(struct process *w);                  /* asks it to end */
void link_stop(struct link *l, struct process *w); /* the same, and kills what has not cleaned up in a second */
void link_send(struct link *l, struct process *w, json_t *request); /* takes it; sends what can be sent now */
bool link_flush(struct link *l, struct process *w);                 /* false: nobody reads there */

/* ---- send.c: a node that begins as a shell, and wants the program itself ---- */

void link_send_script(struct link *l, struct process *w);
bool link_send_archive(struct link *l, struct process *w,
                       const json_t *want); /* false: it wants something else */
bool link_flush_archive(struct link *l, struct process *w);

/* ---- what is said and heard ---- */

/* Is it a greeting of this version? Else words say what it is. */
bool link_greets(const json_t *line, char words[512]);
/* The contents that a node wants; false: it wants what is not ours. */
bool link_supply(struct link *l, struct process *w, const struct link_contents *c, const json_t *want);

/* May this be a trial of t's? */
bool link_trial_fits(const json_t *o, const struct task *t);
/* Could times of the two be compared? NULL: yes; else what differs, in the arena. */
const char *link_device_differs(struct arena *a, const struct trial_device *ours, const struct trial_device *d);
/* An error of a node's, without its paths: a file of the task is t's own. */
void link_error(const json_t *o, const struct task *t, struct err *err);

#endif
