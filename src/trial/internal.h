/* What the files of trial/ share. One version of the kernel (original, reference or candidate) is opened by
 * version.c, run on one set of buffers by stage.c, compared by errors.c, timed by measure.c; verify.c runs the
 * suite and judge.c puts it together. A fate is a verdict in the making. */
#ifndef TRIAL_INTERNAL_H
#define TRIAL_INTERNAL_H

#include "trial.h"

enum { MAX_ARGS = 64 };

struct fate {
    enum verdict verdict; /* VERDICT_PASSED: nothing against it so far */
    const char *words;
    int line, col; /* col 0: only the line is known */
};

/* Sets the fate and returns true: a verdict is not a failure of the judge. */
bool fate_is(struct fate *f, enum verdict v, int line, const char *words);
static inline bool fate_open(const struct fate *f)
{
    return f->verdict == VERDICT_PASSED;
}

struct version {
    struct judge *judge;
    struct arena *arena;
    const struct task *task; /* the task as it is called: for the reference, in f64 */
    struct kernel *kernel;
    struct compile_result compiled;
    struct ptx_module *module;
    struct kernel_limits limits; /* occupancy answered from this version's registers */
    VEC(const char *) kernels;   /* name expressions compiled so far */
    double compile_s;
};

/* Understood, matched against the task, planned for all shapes of the suite and all workloads, compiled. */
bool version_open(struct version *v, struct judge *j, struct arena *a, const struct task *t, const char *path,
                  const char *text, struct fate *fate, struct err *err);
void version_close(struct version *v);
/* The plan for these dims and addresses; compiles again when it launches what was not compiled yet. */
bool version_plan(struct version *v, struct arena *a, const int64_t *dims, const uint64_t *addr,
                  struct plan *plan, struct fate *fate, struct err *err);
/* Put nvcc's PTX of the whole file in the place of NVRTC's. *used: false when there is no nvcc, or it names the
 * kernels otherwise, and nothing changed. */
bool version_use_nvcc(struct version *v, bool *used, struct fate *fate, struct err *err);
const struct image_kernel *version_kernel(const struct version *v,
                                          const char *expression); /* NULL: not compiled */

/* ---- one set of buffers ---- */

struct stage_fill {
    const struct task_arg *arg;
    const struct task_values *values;
    const int64_t *dims;
    uint64_t seed;
    const unsigned char *bytes; /* ready-made contents; NULL: generated */
    int poison;                 /* for what must be written before it is read */
};

struct stage {
    struct ptx_mem *mem;
    const struct task *task;
    int64_t dims[16];
    uint64_t addr[MAX_ARGS]; /* of the pointer arguments, in order */
    int64_t bytes[MAX_ARGS];
    size_t n_buffers;
    struct stage_fill fill[MAX_ARGS];
};

struct stage_data {                     /* what the buffers hold */
    const struct task_values *values;   /* one per arg */
    uint64_t seed;                      /* of the values */
    const unsigned char *const *inputs; /* per arg, ready-made; NULL: generated on touch */
    int poison;
    uint64_t place; /* seed of the addresses */
    bool trusted;   /* outputs count as initialised: for timing */
};

bool stage_open(struct stage *s, const struct task *t, const int64_t *dims, const struct stage_data *d,
                struct err *err);
void stage_close(struct stage *s);
uint64_t stage_arg(const struct stage *s, size_t arg, int64_t *bytes); /* address of a buffer argument */

/* Runs each step of a plan on the stage: a launch goes to `launch`, which says whether to go on through the
 * fate; memsets and copies are done here and told to `move` (NULL: nobody asks) with the bytes they read and
 * write. */
struct stage_visitor {
    void *context;
    bool (*launch)(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err);
    void (*move)(void *context, const struct plan_step *step, double bytes);
};
bool stage_run(struct stage *s, struct version *v, const struct plan *plan, const struct stage_visitor *visitor,
               struct arena *a, struct fate *fate, struct err *err);
/* The fate of a launch that ended badly. */
void fate_of_report(struct arena *a, const struct version *v, const struct ptx_report *r, const char *where,
                    struct fate *fate);

/* ---- comparison ---- */

struct error_stats {
    double p50, p99, max; /* in ulps, of the elements that are not ill-conditioned */
    double absolute;      /* largest, of all elements */
    size_t n;
    size_t worst_case, worst_element; /* of max */
};

struct error_pool { /* errors of one output under one distribution */
    VEC(double) errors;
    size_t worst_case, worst_element;
    double max;
};

/* Error of got in ulps of the type; orig is the original's. INFINITY: NaN or inf where it may not be, or the
 * other way round. */
double error_ulps(enum kernel_type type, bool ftz, double got, double exact, double orig);
double error_absolute(enum kernel_type type, double got, double exact, double orig);
/* An element on which ulps say nothing: the exact answer is zero, or the original's error is beyond the cap. It
 * is judged by its absolute error. */
bool error_is_ill(enum kernel_type type, double tolerance, double exact, double own_ulps);
void error_add(struct error_pool *p, double ulps, size_t in_case, size_t element);
struct error_stats error_stats(struct error_pool *p); /* sorts the errors */
/* What a candidate may have (p50, p99, max), from the original's own errors. */
void error_allowed(enum kernel_type type, double tolerance, const struct error_stats *own, double allowed[3]);
bool type_is_floating(enum kernel_type t);

/* ---- the judge ---- */

struct case_output {         /* of one output argument in one case */
    unsigned char *original; /* bytes */
    double *exact;           /* from the reference, else from the original */
    bool *ill;               /* error_is_ill, per element */
};

struct case_data {
    const struct task_case *about;
    size_t distribution; /* index */
    int64_t elements[MAX_ARGS];
    unsigned char *inputs[MAX_ARGS]; /* in and inout */
    struct case_output *outputs;     /* n_outputs */
    uint64_t warp_insns;             /* of the original */
};

struct judge {
    struct arena *arena;
    const struct task *task;
    struct trial_options options;
    const struct ptx_device *device;
    struct nvrtc *nvrtc;
    const struct gpu_header *headers;
    struct kernel_limits limits;
    const char *arch;
    const struct task_case *cases;
    size_t n_cases;
    struct case_data *data;
    size_t outputs[MAX_ARGS], n_outputs; /* argument numbers */
    const char **distributions;
    size_t n_distributions;
    struct error_stats *original_errors; /* n_distributions x n_outputs */
    struct trial original;
    const int64_t **extremes; /* shapes on which the original can be launched: extreme.c */
    size_t n_extremes;
    const char *missing_checks;
    bool ftz; /* the flags flush denormals */
};

void limits_of_device(const struct ptx_device *d, struct kernel_limits *limits);

/* The suite on the original: inputs made, outputs kept, exact answers from the reference. A finding is an
 * error. */
bool verify_prepare(struct judge *j, struct version *original, struct err *err);
bool verify_candidate(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err);
/* After the suite: the largest shapes of the domain, planned, and some blocks of them run. */
bool verify_prepare_extremes(struct judge *j, struct version *original, struct err *err);
bool verify_extremes(struct judge *j, struct version *v, struct arena *a, struct fate *fate, struct err *err);
bool measure_version(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                     struct err *err);

#endif
