/* rewrite: source-to-source moves on one kernel file. Each says where it applies and what it would change;
 * legality is checked where it can be and always verified by the trial. No move knows an example by name. */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "base/base.h"
#include "kernel/kernel.h"

struct rewrite_fact {    /* what is known of one launcher parameter */
    bool same;           /* scalar, the same in all workloads */
    int64_t value;       /* then its value */
    int64_t divisor;     /* largest power of two that divides it in all workloads; 0: unknown */
    int64_t low, high;   /* over the workloads */
    int64_t align_bytes; /* buffers: what callers guarantee */
};

struct rewrite_input {
    const struct kernel *kernel;
    const struct rewrite_fact *facts; /* one a launcher parameter */
    const struct kernel_limits *limits;
    bool fast_math_allowed; /* the error budget has room for approximations */
    /* the launch plans of all workloads, so that a move sees real grids and blocks; may be NULL */
    const struct plan *plans;
    size_t n_plans;
};

struct rewrite_site { /* one place where a move applies, with one setting */
    const char *move;
    int line;
    int setting;        /* vector bytes, items a thread, block size ...; the move's own meaning */
    const char *where;  /* "loop at line 12 over d, 4 accesses of __half" */
    const char *why;    /* why it should help, in words a person can check */
    const void *detail; /* the move's own */
};

struct rewrite_ops {
    const char *name;    /* "vectorise" */
    const char *summary; /* one line for users, planner and docs */
    const char *helps;   /* bounds it helps: "dram latency issue launch sync l2" */
    const char *chooses; /* what it settles ("block items"); in a stack, a move whose words one before it has is
                            left out */
    int later;           /* a setting worth a stack although it may only apply after other moves; 0: none */
    size_t (*find)(const struct rewrite_input *in, struct arena *a, const struct rewrite_site **sites);
    /* The new file text, in the arena. False with the reason when it turns out not to be legal. */
    bool (*apply)(const struct rewrite_input *in, const struct rewrite_site *site, struct arena *a, char **text,
                  struct err *why_not);
};

/* One file that calls the original where `condition` (over the launcher's parameters) holds and the version
 * elsewhere; `comment` says why. Not a move: the agents use it on a version that wins on the whole and loses on
 * some sizes. */
bool rewrite_dispatch(struct arena *a, const struct kernel *original, const struct kernel *version,
                      const char *condition, const char *comment, char **text, struct err *why_not);

extern const struct rewrite_ops *const rewrite_all[]; /* NULL-terminated */
const struct rewrite_ops *rewrite_find(const char *name);

#endif
