/* judge: one candidate judged: understood, compiled, verified, measured, profiled. Its fate is a verdict, a
 * value; only a broken task or a broken world is an error. docs/integrity.md says what is checked and where. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "base/base.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "mutant/mutant.h"
#include "task/task.h"
#include "verdict/verdict.h"

#define JUDGE_COMPILING "compiling"

struct trial_options {
    const char *
        device; /* a simulated device's name, "h200"; or GPUs: "cuda:0", "cuda:0,1" (a judge takes the first) */
    uint64_t seed;                 /* of the suite and the data; hidden confirmation uses another */
    const struct task_case *cases; /* beside the rules' suite, n_cases of them */
    size_t n_cases;
    bool verify_only, measure_only;
    bool exact;     /* outputs must be the original's, byte for byte; a task may ask for it as well */
    bool with_nvcc; /* where nvcc exists, what it makes of the whole file must pass the suite too (2 s more) */
    bool confirm; /* the last word: workloads verified whole on the simulator too; both regimes measured, longer
                   */
    /* The process shuts itself in before the compiler runs, for good: this is the only folder that it may write
     * to. NULL: it does not. What the kernel lacks for it is in every trial's missing_checks. */
    const char *scratch;
    bool hidden; /* cases that the seed draws over the whole domain join the suite: for a version that is final
                  */
    unsigned without; /* exceptions of the error rule that are switched off, 1 << number: judge/rule.h; in this
                         process */
    const char
        *beside;     /* names of libraries that are timed beside versions on a GPU, where confirm; NULL: none */
    bool alone;      /* no original, no suite's answers: the task only, for `launch` and `sanitize` */
    bool no_control; /* on a GPU: the original against itself is not timed; somebody else has done it */
    /* Told before and after this process waits for its turn on the GPU; NULL: nobody listens. */
    void (*phase)(void *context, bool waiting);
    void *phase_context;
    /* Told what it is about to do with a file: JUDGE_COMPILING, or "in case ..."; NULL: nobody listens. */
    void (*doing)(void *context, const char *what);
    /* Told by a pool when a worker begins with what was submitted under that id; NULL: nobody listens. */
    void (*started)(void *context, int id, int worker);
    void *started_context;
    struct judge_compiles *compiles; /* what was compiled is had again from there; NULL: nothing is */
};

/* compiles.c: lives in the arena, with all that was compiled. */
struct judge_compiles *judge_compiles_open(struct arena *a);
void judge_compiles_close(struct judge_compiles *c);
/* The lines of the last file that did not compile in which the compiler found errors: how many. */
size_t judge_compiles_errors(const struct judge_compiles *c, const int **lines);

/* Whether these names, between commas, are of libraries that `beside` knows; else an error that lists those. */
bool judge_beside_known(const char *names, struct err *err);
/* Whether they compute what the original does in this plan; else an error that says what was looked for. */
bool judge_beside_fits(const char *names, const struct kernel *k, const struct kernel_limits *l,
                       const struct plan *plan, struct err *err);

struct judge; /* a task opened: original and reference compiled, expected answers and original times kept */

/* An original that does not parse, compile, run or is unsafe inside its domain is an error (ERR_INPUT) with the
 * finding. */
bool judge_open(struct judge **out, const struct task *t, const struct trial_options *o, struct err *err);
void judge_close(struct judge *j);
/* Faults that could be put into the original's PTX. */
void judge_faults(const struct judge *j, const struct mutant **list, size_t *n);
/* The files from here on are mutants, or are not: these are verified only, and get the fault of that number
 * (-1: none) put into what they compile to. */
void judge_set_mutant(struct judge *j, bool mutant, int fault);
/* The files from here on are timed on the simulator's clock, and that is all, or are not. */
void judge_set_timed(struct judge *j, bool timed);
void judge_set_precompiling(struct judge *j, bool wanted); /* headers; wanted at first */
const struct trial *judge_original(
    const struct judge *j); /* the original's own trial: verdict passed, score 1 */
/* An error of the task where nvcc is here and refuses the original, which NVRTC takes. A second or two. */
bool judge_nvcc_takes(const struct task *t, const struct kernel_limits *l, struct err *err);
/* path stands in messages. The trial is in the arena. False only when the judge itself fails. */
bool judge_file(struct judge *j, struct arena *a, const char *path, const char *text, struct trial *t,
                struct err *err);
void judge_set_known(struct judge *j, const json_t *codes); /* an array of texts; borrowed */
const struct trial_device *judge_device(const struct judge *j);
/* The A/A control: half of its widest interval over the workloads; NAN when modelled or not measured here. */
double judge_noise(const struct judge *j);
/* The same, when another process measured it. */
void judge_set_noise(struct judge *j, double half_width);
/* A candidate has left the GPU's context unusable: no more files can be judged in this process. */
bool judge_spoilt(const struct judge *j);

/* ---- a version under the simulator's checks alone (sanitize_file.c) ---- */

struct sanitized_finding { /* the same one in several cases is one */
    const char *kind;      /* ptx_finding_name */
    const char *kernel;    /* mangled */
    const char *file, *words;
    const char *where; /* the first case that has it */
    int line;          /* of the source; 0: not known */
    int ptx_line;
    size_t n_cases;
};
struct sanitized_case {
    const char *where;
    enum verdict verdict; /* VERDICT_PASSED: clean */
    const char *words;    /* NULL: clean */
    int line;
};
struct sanitized {
    VEC(struct sanitized_finding) findings;
    VEC(struct sanitized_case) cases;
};
/* Runs the suite's cases on the simulator. For a judge that was opened `alone`: the original need not be sound.
 * All is in the arena. What does not compile, or is not understood, is an error (ERR_INPUT) with its place. */
bool judge_sanitize(struct judge *j, struct arena *a, const char *path, const char *text, struct sanitized *out,
                    struct err *err);

/* ---- what a version touches (footprint.c), for a task whose shapes are not known ---- */

struct footprint_arg { /* of a buffer argument; bytes */
    uint64_t end;      /* behind the last one that is touched */
    uint64_t written;  /* that are written, each once; of the first 4 MB */
    bool read, wrote;
    bool read_first; /* something that the version had not written */
    bool atomic;
    uint64_t hash; /* of what it holds then, up to `end` and 1 MB at most; of a run `as` a case */
};
struct footprint {
    bool ran;     /* the launcher was understood and its launches came to their end */
    bool refused; /* it was not understood for these dims, or the device takes no such launch */
    bool endless; /* it was still running after what it may take */
    const char *words;
    uint64_t warp_insns;        /* that it took */
    struct footprint_arg *args; /* of the task's arguments; of scalars all is 0 */
};
struct footprints; /* of one version */
/* For a judge that was opened `alone`. What does not compile, or is not understood, is an error (ERR_INPUT). */
bool footprints_open(struct footprints **out, struct judge *j, const char *path, const char *text,
                     struct err *err);
void footprints_close(struct footprints *f); /* takes NULL */
struct footprint_run {
    const int64_t *dims;
    size_t filled; /* the argument whose integers are `with`; SIZE_MAX: none. All else is zeros */
    int64_t with;
    const bool *rising;  /* by argument: element i is i, or i times `with`; NULL: none is so */
    bool ones;           /* floating numbers are 1 */
    bool drawn;          /* they are from N(0, 1) */
    bool counted;        /* integers that nothing else is said of are 1 */
    bool checked;        /* races and values that nobody wrote end it, as in a trial */
    uint64_t most_insns; /* warp instructions of a launch, which is endless then; 0: as many as is usual */
    bool one_block;      /* of each launch, to see whether it is one that the device takes */
    bool ends;           /* the first and the last block of each launch */
    uint64_t order;      /* of warps and blocks; 0: as they are numbered */
    const struct task_case *as; /* the buffers hold what this case says; NULL: see above */
};
/* Runs it on buffers of 64 MB, whatever their shapes. */
bool footprint_take(struct footprint *out, struct arena *a, struct footprints *f,
                    const struct footprint_run *run, struct err *err);

/* ---- what a launcher asks, and what compilers call a kernel ---- */

/* What a device answers a launcher, but for occupancy. */
void judge_limits(const struct ptx_device *d, struct kernel_limits *limits);
/* One kernel's name as two compilers write it: it may be that of two kernels that only their files see. */
bool judge_same_kernel(struct arena *a, const char *x, const char *y);

/* The hidden verb `launch`: one version run by itself, for NVIDIA's programs to watch (isolated_run.c). */
int isolated_run_main(int argc, char **argv);

#endif
