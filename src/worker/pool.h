/* What pool.c and remote.c share: a pool, its workers, its queue. */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include "link.h"

#include <poll.h>

/* GREETING: a node's command was started. A node that is off and has greeted waits for an open. */
enum worker_phase { WORKER_OFF, WORKER_GREETING, WORKER_OPENING, WORKER_READY, WORKER_JUDGING };
enum { MAX_GPUS = 64 };

struct job {
    int id;
    char *path, *text;
    bool mutant; /* to be verified on the simulator only; nobody is told when it begins */
    bool timed;  /* to be timed on the simulator only */
    int fault;   /* put into its PTX; -1: none */
    int deaths;  /* of workers that judged it, or of their contexts */
    int lost;    /* nodes that judged it */
};

struct done {
    int id;
    json_t *trial;
};

struct worker {
    struct process process;
    struct link link; /* of a fleet's worker */
    enum worker_phase phase;
    struct job job;
    bool control; /* it times the original against itself, for all on its GPU */
    int deaths;   /* in a row, while opening */
};

struct pool {
    struct arena *arena;
    const char *self; /* what workers are called; found before the file can be replaced */
    const struct task *task;
    struct trial_options options;
    struct pool_limits limits;
    char *scratch;
    struct worker *workers;
    struct pollfd *fds; /* one a worker */
    int n_workers;
    const struct fleet *fleet; /* NULL: all workers are of this machine */
    struct link_contents contents;
    bool alone; /* one worker of the fleet at a time */
    const struct fleet_node *judged_by;
    struct err left_out; /* of the fleet's last worker that was */
    VEC(struct job) queue;
    VEC(struct done) done;
    json_t *known;              /* code to trial; NULL: none */
    int gpus[MAX_GPUS], n_gpus; /* none: simulated */
    struct trial_device device;
    struct control {
        bool done;
        double noise; /* NAN: unknown */
    } * controls;     /* of each GPU; one where times are modelled */
    bool said_busy;
    json_t *faults;    /* of the original's PTX; NULL until a worker has opened the task */
    json_t *original;  /* NULL until a worker has opened the task, and timed the original */
    struct err broken; /* what opening said; ERR_NONE while all is well */
};

static inline bool pool_measures(const struct pool *p)
{
    return str_starts(p->options.device, "cuda:");
}

static inline bool worker_connected(const struct worker *w)
{
    return w->phase != WORKER_OFF || w->link.greeted;
}

/* ---- pool.c ---- */

json_t *pool_open_request(struct pool *p, struct worker *w); /* without what says where the task is */
json_t *pool_verdict_only(enum verdict v, const char *words, double wall_s);
bool pool_known_same(const struct pool *p, const json_t *same); /* a code that the pool knows */
json_t *pool_known_trial(const struct pool *p, const char *code);
void worker_job_back(struct pool *p, struct worker *w); /* its job is the first one again */
void worker_finish(struct pool *p, struct worker *w, json_t *trial);
void worker_opened(struct pool *p, struct worker *w, const json_t *reply, json_t *original);
void worker_finished(struct pool *p, struct worker *w, const json_t *reply, json_t *trial); /* takes trial */
/* Its process is gone. */
void worker_lost(struct pool *p, struct worker *w, const struct process_loss *loss);

/* ---- remote.c: a fleet's worker ---- */

void node_turn_on(struct pool *p, struct worker *w); /* there is work; one step to being ready */
void node_turn(struct pool *p, struct worker *w, struct str *line);

#endif
