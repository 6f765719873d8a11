/* mutation score: how much of what could be wrong the suite would notice. Mutants of the original are judged
 * like candidates, on the simulator; the share that is rejected is the mutation score. docs/testing.md. */
#ifndef OPTIMIZE_MUTATION_H
#define OPTIMIZE_MUTATION_H

#include "mutant/mutant.h"
#include "task/task.h"
#include "worker/worker.h"

enum mutant_fate {
    MUTANT_KILLED,
    MUTANT_SURVIVED,
    MUTANT_EQUIVALENT, /* compiles to the original's code, or is marked so in the task */
    MUTANT_STILLBORN   /* does not compile, or is no launcher: no candidate could be it */
};
const char *mutant_fate_name(enum mutant_fate f);

struct mutation_score_row {
    struct mutant mutant;
    enum mutant_fate fate;
    const char *verdict, *words; /* what the judge said */
};

struct mutation_score {
    const struct mutation_score_row *rows; /* the source's first, by place */
    size_t n_rows, n_faults;               /* judged, and there are */
    size_t killed, survived, equivalent, stillborn;
    double score; /* killed / (killed + survived); NAN when neither */
    bool cached;
};

struct mutation_score_options {
    const char *device;            /* a simulated one */
    uint64_t seed;                 /* of the suite, and of which faults are taken */
    size_t most;                   /* 0: all */
    const struct task_case *cases; /* beside the rules' suite */
    size_t n_cases;
    /* NULL, or what was measured with some of these cases: only its survivors are judged again. */
    const struct mutation_score *fewer;
    void (*progress)(void *context, size_t done, size_t all);
    bool (*stop)(const void *context); /* asked between results: true ends it, as ERR_STOP; NULL: never */
    void *context;
};

/* Judged in a pool that was opened for the task with that seed and those cases, and whose device is, or is
 * modelled by, that one: the original is not judged again. Where it is stopped the pool drops what it still had
 * to do. Kept by the hash of the source, the task and the options, below $XDG_CACHE_HOME/astra or
 * ~/.cache/astra. */
bool mutation_score_measure(const struct task *t, const struct mutation_score_options *o, struct pool *p,
                            struct arena *a, struct mutation_score *r, struct err *err);
json_t *mutation_score_to_json(const struct mutation_score *r, bool rows);

#endif
