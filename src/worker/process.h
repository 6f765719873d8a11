/* process: one `astra worker` of this machine, with a clock and an eye on its memory. A pool has its own; a
 * node (node.c) has one for a pool elsewhere. */
#ifndef WORKER_PROCESS_H
#define WORKER_PROCESS_H

#include "worker.h"

struct process {
    struct proc proc;
    double since_s, since_cpu_s; /* of its request: by the clock, and of the worker's processor time */
    double looked_s;             /* when process_watch looked last */
    double doing_s, compile_s;   /* since when it does what it does; by the clock, what has been compiled */
    char doing[256];             /* as it says; "" before it has said anything */
    bool waiting;                /* for its turn on the GPU: no time counts */
};

/* How one that is gone, or must go, came to its end: the verdict of what it judged. */
struct process_loss {
    enum verdict verdict;
    bool again; /* it says nothing of the candidate before it happens twice */
    char words[512];
};

void process_asked(struct process *w); /* a request begins now */
/* Takes {"waiting"} and {"doing"}; false: the line is something else. */
bool process_told(struct process *w, const json_t *line);
/* Has it taken more processor time than it has? An answer that comes with this is none: else the verdict would
 * tell when somebody looked. loss as below. */
bool process_overdrew(const struct process *w, bool judging, const struct pool_limits *limits,
                      struct process_loss *loss);
/* Is it beyond its limits? Then loss says which, and it is still there. */
bool process_watch(struct process *w, bool judging, const struct pool_limits *limits,
                   struct process_loss *loss);
/* Its output ended. Collects how it died. second: of the same candidate. */
void process_died(struct process *w, bool second, const struct pool_limits *limits, struct process_loss *loss);

json_t *process_loss_to_json(const struct process_loss *loss);
bool process_loss_from_json(const json_t *o, struct process_loss *loss); /* false: it is none */

#endif
