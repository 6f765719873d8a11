/* Between the files of capture/. */
#ifndef CAPTURE_INTERNAL_H
#define CAPTURE_INTERNAL_H

#include "capture/capture.h"
#include "judge/judge.h"

const char *capture_demangled(struct arena *a, const char *symbol);

/* Bytes of a kept launch's buffers that are kept, too, and how many buffers. */
int64_t capture_contents_of(const json_t *launch, int64_t *buffers);

/* ---- match.c: kept launches beside what a launcher plans ---- */

enum { CAPTURE_ARGS = 64, CAPTURE_DIMS = 8 };

struct capture_side { /* a version: the original, or the best. Close its kernel */
    struct kernel *kernel;
    struct kernel_limits limits;
    const char *names[64]; /* of kernels to compile */
    size_t n_names;
    struct compile_result compiled;
};

struct capture_kept { /* a launch that was kept, and what it is in the task */
    const json_t *o;
    const char *symbol;
    const json_t *params;
    int64_t dims[CAPTURE_DIMS];
    const char *why;              /* the last thing that was in the way */
    uint64_t align[CAPTURE_ARGS]; /* of the buffers; 0: the kernel does not get it */
    int param[CAPTURE_ARGS];      /* the parameter that is the buffer's beginning, plus 1; 0: none */
};

struct capture_matcher {
    struct arena *a;
    const struct task *task; /* at most CAPTURE_ARGS arguments and CAPTURE_DIMS dims */
    const json_t *kept;      /* all launches that were kept */
    struct nvrtc *nvrtc;
    struct capture_side original;
    /* The task's own arguments, in the arena: floating scalars become those of the launch, if the task allows
     * several or is being written. Of one that is being written the domain is not looked at either. */
    struct task_arg *args;
    bool written;
    bool learned;                   /* the two below are known */
    int dim_param[CAPTURE_DIMS];    /* the kernel's parameter that is the dim, plus 1; 0: none is */
    int scalar_param[CAPTURE_ARGS]; /* the same of a floating scalar */
};

/* Of a task, whose arguments are copied; nothing is open yet. */
struct capture_matcher capture_matcher_of(struct arena *a, const struct task *t, const json_t *kept);
bool capture_side_open(struct capture_matcher *m, struct capture_side *s, const char *path, const char *text,
                       const struct kernel_limits *limits, struct err *err);
/* Compiles the side's names for its limits' device. */
bool capture_side_compile(struct capture_matcher *m, struct capture_side *s, struct err *err);
/* NULL: it is not compiled. */
const struct image_kernel *capture_kernel_of(const struct capture_side *s, const char *name);
/* True when the plan has a kernel that was not among the side's names. */
bool capture_add_names(struct capture_side *s, const struct plan *plan);
bool capture_plan_of(struct capture_matcher *m, struct capture_side *s, const int64_t *dims,
                     const uint64_t *addresses, struct plan *plan, struct err *err);
/* The bytes of a value of at most 8, or of a null pointer; false: it is none. */
bool capture_value_bytes(const struct kernel_value *v, unsigned char to[8], size_t *n);
bool capture_is_buffer(const struct kernel_value *v);
/* Addresses for the launcher, aligned as those of the launch. */
void capture_addresses_of(const struct capture_kept *k, uint64_t addresses[CAPTURE_ARGS]);
/* Finds the dims for which the original's plan is the launch; false: none of those tried, or k->why. */
bool capture_find_dims(struct capture_matcher *m, struct capture_kept *k);

/* ---- inputs.c: what buffers held, as cases of a task that is being written ---- */

struct capture_seen { /* of an argument's elements */
    double low, high;
    bool rising; /* none is below the one before it */
    size_t n;
};
struct capture_inputs {
    struct arena *a;
    const struct task *task;
    const char *task_dir, *capture; /* folders */
    VEC(const char *) lines;        /* of task.yaml */
    struct capture_seen seen[CAPTURE_ARGS];
    size_t short_of; /* buffers of integers that were not kept to their end */
};
/* The kept launch, which is understood, becomes a case, if contents of it were kept. */
bool capture_inputs_take(struct capture_inputs *in, const struct capture_kept *k, struct err *err);
/* `values:` of integers by what was seen; least: of each dim in the launches. NULL: nothing to say. */
const char *capture_inputs_values(const struct capture_inputs *in, size_t arg, const int64_t *least);

#endif
