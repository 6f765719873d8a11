/* What the files of judge/ share. One version of the kernel (original, reference or candidate) is opened by
 * version.c, run on one set of buffers by stage.c, compared by compare.c, timed by timing/measure.c; verify.c
 * runs the suite and judge.c puts it together. A fate is a verdict in the making. */
#ifndef JUDGE_INTERNAL_H
#define JUDGE_INTERNAL_H

#include "judge.h"
#include "rule.h"
#include "sanitize/sanitize.h"
#include "shadow/shadow.h"
#include "stored.h"

enum { MAX_ARGS = 64 };

struct fate {
    enum verdict verdict; /* VERDICT_PASSED: nothing against it so far */
    const char *words;
    int line, col; /* col 0: only the line is known */
};

/* Sets the fate and returns true: a verdict is not a failure of the judge. */
bool fate_is(struct fate *f, enum verdict v, int line, const char *words);
bool fate_isf(struct fate *f, struct arena *a, enum verdict v, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* gpu_compile, or what it gave for the same before. compiles.c */
bool compiles_take(struct judge_compiles *c, struct nvrtc *n, struct arena *a, const struct compile_request *q,
                   struct compile_result *r, struct err *err);
void judge_doing(const struct judge *j, const char *what); /* trial_options.doing, where somebody listens */
static inline bool fate_open(const struct fate *f)
{
    return f->verdict == VERDICT_PASSED;
}

struct grid_wait {
    const char *kernel; /* mangled */
    size_t case_i;      /* of the suite, where that was seen; SIZE_MAX: not yet known */
    bool asked, proved; /* it never ends when one block cannot begin */
};

typedef VEC(const char *) kernel_names; /* each once */

struct version {
    struct judge *judge;
    const char *kernel_path;
    struct arena *arena;
    const struct task *task; /* the task as it is called: for the reference, in f64 */
    struct kernel *kernel;
    struct compile_result compiled;
    struct ptx_module *module;
    struct sanitize_waste *waste;  /* of the module, likewise */
    const struct image *nvcc;      /* whose code it is; NULL: NVRTC's own */
    uint8_t *ran;                  /* of the module, by the simulator's cases so far: coverage.c */
    struct cuda_module *loaded;    /* on the judge's GPU, from version_load on; NULL otherwise */
    struct kernel_limits limits;   /* occupancy answered from this version's registers */
    bool shadow;                   /* compiled for the exact answer: exact.c */
    kernel_names kernels;          /* name expressions compiled so far */
    unsigned dynamic_shared_bytes; /* the most that a launch on a workload asks for; of version_code */
    double compile_s;
    VEC(struct grid_wait) waits; /* kernels whose blocks may wait for each other */
    const int64_t **branches;    /* shapes on which its launcher goes where no case does */
    size_t n_branches, n_long;   /* the first ones have long rows of blocks that may hear of each other */
    struct work *works;          /* of the workloads; NULL: none was asked for */
    struct gpu_build *build; /* the file as it would be shipped; NULL: nobody has asked, or there is no nvcc */
    bool
        other_code; /* whose device code is another one, which takes the last cases in the judged one's stead */
    bool asks;      /* its launcher asks the runtime what kernel_limits answers */
    int other_blocks;       /* asked.c: than fit a multiprocessor */
    int64_t structured;     /* elements of its cases that ran with structured values */
    bool lasting;           /* some block of an extreme shape does not end within what it may run */
    bool shared_out;        /* some plan has several launches, or adds by atomics */
    uint64_t long_insns;    /* spent on the longer blocks of extreme shapes */
    bool counted;           /* its time is held to them */
    const char *heavy;      /* a workload on which it needs too many instructions to be run; NULL: none */
    const char *unclocked;  /* what the clock's samples of blocks left out; NULL: nothing */
    double apart[MAX_ARGS]; /* outputs of workloads run whole, nearer to the exact answer: ulps that others may
                               be from the original's */
};

/* Understood, matched against the task, planned for all shapes of the suite and all workloads, compiled. v's
 * judge, arena, task and shadow are the caller's. For the exact answer, shadow, mathematics are calls that only
 * a shadow's run knows. */
bool version_open(struct version *v, const char *path, const char *text, struct fate *fate, struct err *err);
void version_close(struct version *v);
/* The plan for these dims and addresses; compiles again when it launches what was not compiled yet. */
bool version_plan(struct version *v, struct arena *a, const int64_t *dims, const uint64_t *addr,
                  struct plan *plan, struct fate *fate, struct err *err);
/* The hash of what it compiles to and launches on the workloads; notes their dynamic shared memory. */
bool version_code(struct version *v, const char **code, struct fate *fate, struct err *err);
/* What a compiler is asked for: text is the file's, or the device part's. */
struct compile_request version_request(const struct version *v, const char *text);
/* Put nvcc's code, which outlives the version, in the place of NVRTC's: what is run of it from now on. */
void version_use_nvcc(struct version *v, const struct image *nvcc, struct fate *fate);
/* The same as far as no compiler is needed. */
void version_plan_only(struct version *v, struct arena *a, const int64_t *dims, struct plan *plan,
                       struct fate *fate);
/* The plan's kernels, by name, each copied into the arena. Were there new ones? */
bool kernel_names_add(kernel_names *names, struct arena *a, const struct plan *plan);
/* To be compiled: the plan's kernels. Were there new ones? */
bool version_add_kernels(struct version *v, const struct plan *plan);
/* grid.c: a launch of two blocks and more ended, and all of them were there at one time. */
void grid_seen_together(struct version *v, const char *mangled);
/* Since the last call it was in this case. */
void grid_case(struct version *v, size_t case_i);
/* A plan whose grid waits for itself and is larger than what the device holds at once is a fate. */
bool grid_verify(struct version *v, struct arena *a, const int64_t *dims, const struct plan *plan,
                 struct fate *fate, struct err *err);
/* branches.c: shapes on which the launcher, or the original's, decides what it does in no case; before it is
 * compiled. And these run, after the suite. */
void branches_find(struct version *v, struct fate *fate);
bool branches_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err);
/* asked.c: plans that come of other answers of the runtime, run as branches_verify does. */
bool asked_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err);
/* Blocks of a kernel (as a plan calls it) that fit one multiprocessor. */
int version_occupancy(const struct version *v, const char *kernel, int block_threads, int64_t shared_bytes);
const struct image_kernel *version_kernel(const struct version *v,
                                          const char *expression); /* NULL: not compiled */
/* Its code on the judge's GPU; what the driver refuses is a fate. Does nothing when it is there. */
/* The i-th fault (mutants_of_ptx) in its PTX, for the simulator. */
bool version_use_fault(struct version *v, size_t i, struct fate *fate);
bool version_load(struct version *v, struct fate *fate, struct err *err);

/* coverage.c: the record of what runs, for a module that takes the place of another (NULL: none); what is
 * missing in it. */
void version_ran_open(struct version *v, struct ptx_module *before);
/* A record of its own for a run that may tell nothing, and that joined to the version's. */
uint8_t *ran_aside(const struct version *v, struct arena *a);
void ran_join(struct version *v, const uint8_t *ran);
struct trial_coverage version_coverage(const struct version *v, struct arena *a);
size_t version_waste(const struct version *v, struct arena *a, const struct trial_waste **waste);

/* work.c: the warp instructions that a version needs for a workload, counted on the simulator without a clock;
 * once. */
struct work {
    bool asked, known;
    double insns;              /* of all launches, as far as it is known */
    struct ptx_work *launches; /* in the plan's order */
    size_t n_launches;
};
struct work *work_of(struct version *v, size_t workload);
/* A run of the whole plan counts exactly: all its launches, in order. */
void work_open(struct work *w, struct arena *a, size_t n_launches);
void work_add(struct work *w, const struct ptx_report *r);
bool version_work(struct version *v, size_t workload, const struct work **work, struct err *err);

/* ---- one set of buffers, in a simulated device's memory (stage_sim.c) or a GPU's (stage_gpu.c) ---- */

enum { HOLLOW_PLACES = 32 };
struct hollow { /* an input that holds one number everywhere but in these places; n 0: it does not */
    double number;
    struct hollow_place {
        int64_t at; /* element */
        double number;
    } but[HOLLOW_PLACES]; /* in their order */
    size_t n;
    bool given; /* they hold these numbers, and not what values say */
};

struct stage_fill {
    const struct task_arg *arg, *own; /* own: whose type the values have before they are given arg's */
    const struct task_values *values;
    const struct hollow *hollow; /* NULL: no */
    const int64_t *dims;
    uint64_t seed;
    int64_t elements;
    struct stage_tiles *tiles;  /* where its elements are from; NULL: each is made by itself */
    size_t tile;                /* which of them */
    const unsigned char *bytes; /* ready-made contents; NULL: generated */
    uint64_t from;              /* the same contents in another buffer of the GPU; 0: none */
    int poison;                 /* for what must be written before it is read */
    const unsigned char
        *answer; /* what must be written holds that, but for an element here and there; or NULL */
};

struct stage;
struct stage_data;
enum { SMALL_INSNS = 1000000 }; /* warp instructions that are no hang, whatever the original takes */
struct stage_check {            /* how a checked launch is run */
    const char *where;          /* the case or workload, in words */
    unsigned checks;            /* enum sanitize_checks; simulator */
    uint64_t order;             /* of warps and blocks; simulator */
    uint64_t max_insns;         /* of a launch; simulator */
    bool per_warp;              /* of each of a few warps: whether that is a hang is to be found out */
    const char *short_of; /* a mangled kernel that has one block fewer at a time than its grid; NULL: none */
    uint64_t stochastic;  /* ptx_options; simulator */
    struct overflow *overflow; /* told of; NULL: nobody asks; simulator */
    struct work *work;         /* a run that comes to its end is counted here; NULL: nobody asks; simulator */
    struct sanitize_earlier *earlier; /* as in struct sanitizer; NULL: nobody asks; simulator */
    double limit_s;                   /* GPU: after it the kernel counts as endless */
};

enum stage_side { SIDE_SIM, SIDE_GPU, N_SIDES };

struct stage_constant { /* bytes for a variable in constant memory, by its name in the PTX */
    const char *name;
    uint64_t offset;
    const void *bytes;
    size_t size;
};

struct stage_ops { /* what differs between the simulator and a GPU */
    enum stage_side side;
    bool (*open)(struct stage *s, const struct stage_data *d, struct err *err);
    void (*close)(struct stage *s);
    uint64_t (*alloc)(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *fill,
                      bool initialised, struct err *err); /* fill NULL: a workspace */
    bool (*set)(struct stage *s, uint64_t to, int byte, size_t n, struct err *err);
    bool (*copy)(struct stage *s, uint64_t to, uint64_t from, size_t n, struct err *err);
    bool (*read)(struct stage *s, uint64_t from, void *to, size_t n, struct err *err);
    bool (*launch)(struct stage *s, struct version *v, const struct ptx_launch *l, const struct image_kernel *k,
                   const struct stage_check *c, struct ptx_report *r, struct err *err);
    /* A struct tensor_map becomes what the device's kernels take; NULL: it is that. */
    bool (*tensor_map)(struct stage *s, unsigned char *map, struct err *err);
    bool (*constant)(struct stage *s, struct version *v, const struct stage_constant *c, struct err *err);
    /* Hash of what the module's variables hold. */
    bool (*state)(struct stage *s, struct version *v, uint64_t *hash, struct err *err);
    /* After a plan: *words NULL when nothing beside the outputs changed. */
    bool (*damage)(struct stage *s, struct arena *a, const char **words, struct err *err);
};
extern const struct stage_ops stage_sim, stage_gpu;

struct stage_range {
    uint64_t addr, bytes;
};

struct stage {
    const struct stage_ops *ops;
    struct judge *judge;
    struct ptx_mem *mem;          /* simulator */
    struct ptx_shadow *shadow;    /* of it; NULL: none */
    struct cuda_buffers *buffers; /* GPU */
    struct cuda_graph *graph;     /* memsets and copies of a plan are recorded here; NULL: they are done */
    const struct task *task;
    int64_t dims[16];
    uint64_t addr[MAX_ARGS]; /* of the pointer arguments, in order */
    int64_t bytes[MAX_ARGS];
    size_t n_buffers;
    struct stage_fill fill[MAX_ARGS];
    const struct plan *planned; /* whose workspaces these are; they stay until the stage is closed */
    struct stage_range *workspaces;
    size_t n_workspaces;
    int poison;
    bool dense;
    struct stage_ahead {
        bool followed, unknown;        /* some launch of the plan may begin early; as in sanitize_ahead */
        struct stored written, writes; /* by launches that may still run; by the present one */
    } ahead;
    bool bare;      /* GPU: nothing of ours looks at the buffers */
    bool untouched; /* what must be written is left as it came */
};

struct stage_tiles { /* what several stages with the same values begin with, made once */
    struct arena *arena;
    unsigned char *of[MAX_ARGS]; /* in the task's own type; NULL: not made yet */
    const int64_t *dims;
    uint64_t seed;
};
/* With the task's own values. They are kept for the next version or look that asks for the same, as long as
 * there is room; else they are the arena's. */
struct stage_tiles *stage_tiles_of(struct judge *j, struct arena *a, const int64_t *dims, uint64_t seed);

struct stage_data {                   /* what the buffers hold */
    const struct task_values *values; /* one per arg; NULL: the task's own */
    const struct task *own; /* the task that a reference's, in f64, is of: its values; with tiles; NULL: no */
    struct stage_tiles *tiles;          /* on the simulator, too, larger buffers repeat these; NULL: no */
    const struct hollow *hollows;       /* one per arg; NULL: none */
    bool cheap;                         /* the seed is the judge's, and values that no dim decides may repeat */
    uint64_t seed;                      /* of the values */
    const unsigned char *const *inputs; /* per arg, ready-made; NULL: generated */
    unsigned char *const *answers;      /* per output, what it holds before, nearly: simulator; NULL: poison */
    const struct stage *like;           /* inputs are copied from this stage: GPU only; NULL: no */
    int poison;
    bool dense;     /* a run of the whole grid touches nearly all: simulator */
    bool exact;     /* GPU: allocations of exactly their size, outputs as they came: for a sanitizer */
    uint64_t place; /* seed of the addresses */
    bool trusted;   /* outputs count as initialised, nothing around the buffers is guarded: for timing */
};

bool stage_open(struct stage *s, struct judge *j, const struct stage_ops *ops, const struct task *t,
                const int64_t *dims, const struct stage_data *d, struct err *err);
void stage_close(struct stage *s);
/* Elements [first, first + n) of what a buffer is filled with. */
void stage_values(const struct stage_fill *f, int64_t first, int64_t n, void *to);
/* hollow.c: of a buffer that is. */
void hollow_values(const struct stage_fill *f, int64_t first, int64_t n, void *to);
/* After so many elements they come again. */
int64_t stage_period(const struct stage_fill *f);
uint64_t stage_arg(const struct stage *s, size_t arg, int64_t *bytes); /* address of a buffer argument */
enum { STAGE_WRITTEN_MOST = 512 };
/* On the simulator: copies size bytes of arg at addr, STAGE_WRITTEN_MOST at most, where all of them were
 * written; of what was full before, and under a shadow, which does not know: where any of them changed. */
bool stage_written(const struct stage *s, const struct task_arg *arg, uint64_t addr, void *to, size_t size);

/* Runs each step of a plan on the stage: a launch goes to `launch`, which says whether to go on through the
 * fate; memsets and copies are done here and told to `move` (NULL: nobody asks) with the bytes they read and
 * write. */
struct stage_visitor {
    void *context;
    bool (*launch)(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err);
    void (*move)(void *context, const struct plan_step *step, double bytes);
};
/* What may still run when a launch of the plan under way begins, for its sanitizer. */
struct sanitize_ahead stage_ahead(struct stage *s);
bool stage_run(struct stage *s, struct version *v, const struct plan *plan, const struct stage_visitor *visitor,
               struct arena *a, struct fate *fate, struct err *err);
/* Does it copy so much (16 MB) that a look at a few blocks would cost more for that alone? What is set, or
 * copied from what nobody may write, is made on the simulator when it is touched. */
bool stage_moves_much(const struct stage *s, const struct plan *plan);
/* The fate of a launch that ended badly. */
void fate_of_report(struct arena *a, const struct version *v, const struct ptx_report *r, const char *where,
                    struct fate *fate);

#define NO_SUCH_KERNEL \
    "as nvcc compiles it, there is no kernel (or there are several) of the name that a judged plan launches"
/* mangled.c: what nvcc calls a kernel that NVRTC calls `mangled`; NULL: it has none of that name, or several.
 */
const char *mangled_find(struct arena *a, const struct ptx_module *theirs, const char *mangled);
/* What a name begins with that only its file sees, its length left out: each compiler makes the rest of it in
 * its own way, of the file's name and text. NULL: it is no such name. */
const char *mangled_marker(const char *name);
/* The compiled launcher run on all shapes that are planned, beside the judged plans: t->shipped. */
bool verify_recorded(struct judge *j, struct version *v, const struct gpu_build *b,
                     const struct ptx_module *theirs, struct trial *t, struct fate *fate, struct err *err);
/* nvcc compiles the whole file, once: v->build. */
bool shipped_build(struct judge *j, struct version *v, struct err *err);
void shipped_close(struct version *v);
/* The file compiled as it would be shipped, beside what was judged: t->shipped, and what differs as a fate. */
bool verify_shipped(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                    struct err *err);
/* judge.c: all that is verified on the simulator, and more cases for what none of it ran. */
bool verify_simulated(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err);
/* The GPU for this process alone, waited for; and others' for a while, between a judge's uses of it. */
bool judge_gpu_take(struct judge *j, struct err *err);
void judge_gpu_leave(struct judge *j);
/* Loaded, and the suite and the workloads run on the GPU, without timing: judge.c. Where the driver does not
 * load it, t says so. */
bool verify_on_gpu(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                   struct err *err);
/* The task's own headers, of its folder. */
bool judge_read_headers(struct arena *a, const struct task *t, const struct gpu_header **to, struct err *err);
/* The process shut in (worker_sandbox.c); gives what is missing of it, NULL: nothing. */
const char *worker_sandbox_enter(struct judge *j, const char *scratch);

/* ---- the judge ---- */

struct case_output {         /* of one output argument in one case on one device */
    unsigned char *original; /* bytes */
    unsigned char **again;   /* the same of further runs, n_again, where the task accepts that these differ */
    size_t n_again;
    double *exact;      /* from the reference, else from the original */
    bool *ill;          /* rule_is_ill, per element */
    bool *excused;      /* nothing is asked of these elements; NULL: of all */
    bool *beyond;       /* rule_beyond, per element; NULL: of none */
    double *unit;       /* rule_unit, per element; NULL: ulps */
    const uint64_t *at; /* which elements of the output these are; NULL: all */
};

struct case_data {
    const struct task_case *about;
    size_t distribution; /* index */
    int64_t elements[MAX_ARGS];
    unsigned char *inputs[MAX_ARGS];      /* in and inout */
    double *exact[MAX_ARGS];              /* of reference or shadow, per output; NULL: there is none */
    bool *lost[MAX_ARGS];                 /* elements whose shadow was lost; NULL: none */
    struct case_output *outputs[N_SIDES]; /* n_outputs */
    uint64_t warp_insns;                  /* of the original */
};

struct judge {
    const json_t *known_codes; /* of candidates judged before; NULL: none */
    struct arena *arena;
    const struct task *task;
    struct trial_options options;
    const struct ptx_device *device; /* limits: of the simulated device, or of the GPU */
    const struct ptx_device
        *model;       /* whose times the clock models: the device, or the one nearest to the GPU */
    struct cuda *gpu; /* NULL: everything is simulated */
    struct cuda_target target;
    struct trial_device about;
    struct nvrtc *nvrtc;
    const struct gpu_header *headers;
    struct kernel_limits limits;
    const char *arch;
    struct task_case *cases;
    size_t n_cases, first_input, n_inputs; /* the last ones are task_inputs' */
    struct case_data *data;
    size_t outputs[MAX_ARGS], n_outputs; /* argument numbers */
    const char **distributions;
    size_t n_distributions;
    size_t n_derived, n_lost; /* elements of floating outputs: exact answers asked of the shadow, not had */
    bool astray;              /* what the shadow gave is of no use */
    const char *underived;    /* why some case has no exact answers of the shadow; NULL: all have */
    struct error_stats *original_errors[N_SIDES]; /* n_distributions x n_outputs */
    struct error_stats *can[N_SIDES];             /* original_can; NULL: not asked yet */
    const char *unsimulated;         /* what the simulator lacks to run the original; NULL: nothing */
    struct trial original, modelled; /* its own trial; its modelled times, none where they are not known */
    struct version baseline;         /* the original, kept open on a GPU: candidates are timed beside it */
    struct version exact;            /* the reference, or the original compiled for its shadow; module NULL:
                                        neither */
    struct version of_terms;         /* the original, compiled for its shadow, where `exact` is not that */
    struct judge *terms[N_SIDES];    /* terms.c: the same, errors counted in terms; NULL: not asked for yet */
    bool in_terms;                   /* this is one of these */
    struct bench *bench;
    struct beside *beside; /* NULL: nothing is timed beside versions */
    double gpu_left_s,
        gpu_away_s;           /* since when the GPU is others' for a while, 0: it is not; how long it was */
    double noise;             /* half-width of the A/A control's widest interval; NAN: not measured */
    struct extreme *extremes; /* shapes on which the original can be launched: extreme.c */
    size_t n_extremes;
    struct map own_plans; /* what the original decides, by shape (branches.c) */
    VEC(struct stage_tiles *) tiles;
    size_t tiles_bytes;
    struct stage_tiles cheap; /* of all shapes that are looked at: stage_data */
    const struct mutant *faults;
    size_t n_faults;
    bool mutant; /* the next file is one: it is verified only */
    int fault;   /* put into it; -1 none */
    bool timed;  /* the next file is only timed, on the simulator */
    const char *missing_checks;
    unsigned exceptions; /* of the error rule that are in force */
};

/* A shape of more elements may not fit the device. */
static inline int64_t most_elements(const struct judge *j)
{
    return (int64_t)(j->device->dram_bytes / 8);
}

struct trial_clocks clocks_now(const struct cuda *gpu);

/* exact.c: of one case, by the original as it is compiled for its shadow; where that cannot be run or costs too
 * much, nothing is set. And the text that is compiled. */
bool exact_derive(struct judge *j, struct version *v, struct arena *scratch, size_t case_i, struct err *err);
/* What a shadow holds of the floating outputs after one case, in the judge's arena, NULL of those of other
 * types; the shadow is closed. */
struct derived {
    double *values[MAX_ARGS]; /* n_outputs */
    bool *lost[MAX_ARGS];
    const char *why_not; /* it could not be run; NULL: it was */
};
bool exact_run(struct judge *j, struct version *v, struct ptx_shadow *shadow, struct arena *scratch,
               size_t case_i, struct derived *to, struct err *err);
/* terms.c: the judge with errors counted in terms, made when it is first asked for; *to NULL: there is none. */
bool terms_judge(struct judge *j, enum stage_side side, struct judge **to, struct err *err);
/* The version whose shadow has the terms; NULL: there is none. */
bool terms_version(struct judge *j, struct version **v, struct err *err);
void terms_close(struct judge *j);
/* A measure of the terms of each value. */
struct ptx_shadow *terms_shadow(const struct judge *j, enum ptx_terms measure);
const char *exact_text(struct arena *a, const char *text);
enum ptx_real exact_real(enum kernel_type t);

struct stage_ran {
    uint64_t insns;      /* warp instructions; simulator */
    const char *printed; /* by its printf; NULL: nothing */
};
/* The version's plan run on a stage that is open, each launch checked; nothing but the outputs may have changed
 * after it. */
bool stage_verify(struct stage *s, struct version *v, const struct stage_check *check, struct arena *a,
                  struct stage_ran *ran, struct fate *fate, struct err *err);
/* One case on one device (verify.c). */
struct case_rules {
    const struct stage_ops *ops;
    unsigned checks;
    uint64_t max_insns;
    const char *short_of; /* stage_check */
    uint64_t stochastic;  /* ptx_options */
    struct overflow *overflow;
    bool second;                      /* the run that differs in all that may not matter */
    struct sanitize_earlier *earlier; /* stage_check */
};
struct case_run {
    struct version *version;
    struct arena *arena;
    size_t case_i;
    const unsigned char *const *inputs; /* NULL: the case's own */
    /* What came of it: the bytes left of the task's out and inout arguments, in order; warp instructions. */
    unsigned char *outputs[MAX_ARGS];
    unsigned char *again[MAX_ARGS]; /* of a second run; [0] NULL: there was none */
    /* And of one in which reads found what was there before, where nothing orders a write before them. */
    unsigned char *earlier[MAX_ARGS];
    struct sanitize_earlier read_earlier;
    uint64_t insns;
    const char *printed; /* NULL: nothing */
};
bool case_run(struct case_run *run, const struct case_rules *rules, struct fate *fate, struct err *err);
/* Both runs, compared. */
bool case_run_twice(struct case_run *run, const struct stage_ops *ops, uint64_t max_insns, struct fate *fate,
                    struct err *err);
const char *case_where(struct arena *a, const struct task *t, const struct task_case *c);

/* The original's own errors of one output under one distribution, and which of its elements are ill; true: too
 * many are for exact answers that were derived. */
bool answers_measure(const struct judge *j, enum stage_side side, size_t pool, struct error_stats *s);
/* Half of them are far: the two compute something else. */
bool answers_differ(enum kernel_type type, const struct error_stats *s);

/* compare.c: one walk over what was left of an output in one case, beside the answers. The visitor ends it with
 * false, which the walk then returns. */
struct output_element {
    const struct task_arg *arg;
    const struct case_output *must;
    struct rule_element is;
    struct error_place place;
    size_t pool; /* distribution x n_outputs + output */
};
typedef bool (*element_visitor)(void *context, const struct output_element *x);
bool output_walk(const struct judge *j, enum stage_side side, size_t case_i, size_t output,
                 const unsigned char *bytes, element_visitor visit, void *context);

/* Of the floating types that the task reads, and this output's, the one with the fewest digits. */
enum kernel_type output_narrow(const struct judge *j, size_t output);
/* Were bit-identical outputs asked for? Faults put in to weigh the suite are judged by the rule all the same.
 */
bool must_be_identical(const struct judge *j);
#define ASKED_EXACT "outputs were asked to be bit-identical"
/* What the task allows, in the unit of the judge: "ulp" or "term". */
double output_tolerance(const struct judge *j, size_t output);
const char *judge_unit(const struct judge *j);
/* The rule for an output (a number) under a distribution (a number), from the original's own errors there. */
struct rule output_rule(const struct judge *j, size_t output, size_t distribution,
                        const struct error_stats *own);
/* What is told of it. */
struct trial_accuracy output_accuracy(const struct judge *j, size_t output, size_t distribution,
                                      const struct rule *r, const struct error_stats *got);

/* A version's outputs, case by case, against the answers, and then its errors against what is allowed. */
struct comparison {
    struct judge *judge;
    enum stage_side side;
    struct arena *arena;
    struct error_pool *pools; /* n_distributions x n_outputs, as all of these */
    struct rule *rules;
    double *got;                         /* worst element's value */
    double *apart;                       /* largest difference to the original's, in ulps */
    size_t *n_other;                     /* integers that are not the original's */
    size_t elements, identical_elements; /* all that were compared, and those whose bytes are the original's */
};
/* own: the original's errors, by pool. */
void comparison_open(struct comparison *c, struct judge *j, enum stage_side side, const struct error_stats *own,
                     struct arena *a);
void comparison_close(struct comparison *c);
/* Elements that are wrong by themselves are a fate; the errors of the others go into the pools. */
void compare_case(struct comparison *c, size_t case_i, unsigned char *const *outputs, struct fate *fate);
/* Where the order may change the outputs it may not change them much. */
void compare_again(struct comparison *c, size_t case_i, unsigned char *const *again, const char *when,
                   struct fate *fate);
/* The errors together; the accuracy goes into t. */
void judge_pools(struct comparison *c, struct trial *t, struct fate *fate);

/* answers.c: what the buffers of a case hold. */
void case_inputs(struct judge *j, size_t case_i);
/* wild.c: cases whose values are wilder than the task's. Integers of the whole range become shorter where the
 * original's sums of them have no place. */
bool wild_fit(struct judge *j, struct version *original, struct arena *scratch, struct err *err);
/* The case is taken out, which the result says. */
void wild_leave_out(struct judge *j, size_t case_i, const char *why);
/* Elements of which nothing is asked: those where the original itself is wrong, and their rows. */
void wild_excuse(struct judge *j, enum stage_side side);

/* stochastic.c: j->can, the original's errors and what they are when its operations round by chance. */
bool original_can(struct judge *j, enum stage_side side, struct err *err);
/* inputs.c: does a version follow each input as the original does? outputs[i] are those of case first_input +
 * i; found: the suite has found it wrong already. */
void inputs_judge(const struct comparison *c, unsigned char *(*outputs)[MAX_ARGS], bool found,
                  struct fate *fate);

/* The suite on the original: inputs made, outputs kept, exact answers from the reference. A finding is an
 * error. On the GPU after the simulator. */
unsigned checks_of(const struct judge *j); /* enum sanitize_checks: all that the task does not accept */
bool verify_prepare(struct judge *j, struct version *original, struct err *err);
bool verify_prepare_gpu(struct judge *j, struct version *original, struct err *err);
bool verify_candidate(struct judge *j, struct version *v, const struct stage_ops *ops, struct arena *a,
                      struct trial *t, struct fate *fate, struct err *err);
/* Every workload run whole and compared with the original element for element: on the GPU, or on the simulator
 * as far as its budget goes; what was not is in t->missing_checks. */
bool verify_workloads(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                      struct err *err);
/* In a confirmation on the simulator: shapes with one dim as large as can be run whole (task_far). */
bool far_verify(struct version *v, struct fate *fate, struct err *err);
/* There, too: a shape on which one block goes over more than in any case (long.c). */
bool long_verify(struct version *v, struct fate *fate, struct err *err);
/* And shapes with one dim so long that only leaps come to its end (hollow.c). */
bool hollow_verify(struct version *v, struct fate *fate, struct err *err);
/* Two versions' elements of one output beside each other (workloads.c); own: some of the original's, for their
 * size. */
struct error_scale {
    const struct judge *judge;
    const struct task_arg *arg;
    const char *where; /* the workload, in words */
    double ulps, scale;
    bool coarse;       /* wild values: numbers beyond the type, or none, are not compared */
    double share;      /* of the element, or of scale, that it may be off; 0: ulps alone count */
    bool exact;        /* small integers, of which the original computes integers without any error */
    double most_other; /* integers: as in error_stats, and how many are left */
    size_t n_other;
};
struct error_scale error_scale_of(const struct judge *j, enum stage_side side, size_t output,
                                  const unsigned char *own, size_t elements);
/* So many of them may be other integers than the original's: error_stats. */
size_t error_scale_others(const struct judge *j, enum stage_side side, size_t output, double elements);
/* Of values of which few are different: sums of these round to one side, time after time. */
void error_scale_like(struct error_scale *y);
bool error_scale_near(const struct error_scale *y, double got, double own);
/* *at: the first element by which they differ. */
bool error_scale_differs(struct error_scale *y, const unsigned char *got, const unsigned char *own,
                         size_t bytes, size_t *at);
/* Elements from `first` on; y->where is the caller's. */
void error_scale_compare(struct arena *a, struct error_scale *y, size_t first, const unsigned char *got,
                         const unsigned char *own, size_t bytes, struct fate *fate);
/* After the suite: the largest shapes of the domain, planned, and some blocks of them run. */
bool verify_prepare_extremes(struct judge *j, struct version *original, struct err *err);
bool verify_extremes(struct judge *j, struct version *v, struct arena *a, struct fate *fate, struct err *err);
void extremes_close(struct judge *j);
/* edges.c: on either side of 2^32 bytes, elements and vectors, where sums by atomics or several launches leave
 * nothing to compare. */
bool edges_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err);
/* counts.c: one value everywhere, which counters of few bits do not take. */
bool counts_verify(struct version *v, struct arena *a, struct fate *fate, struct err *err);
/* One more such shape: both versions' blocks; nothing is said where the original's fail. */
bool verify_extreme_shape(struct judge *j, struct version *v, struct arena *a, const int64_t *dims,
                          struct fate *fate, struct err *err);
/* seek.c: more cases, for code of a version that none has run. *sought: how many were run. */
bool seek_verify(struct version *v, const struct trial_coverage *have, struct arena *a, size_t *sought,
                 struct fate *fate, struct err *err);
/* rare.c: in a confirmation, shapes and values at which a result that is nearly always the same is another one.
 * *sought: to which the cases are added that were run. */
bool rare_verify(struct version *v, size_t *sought, struct fate *fate, struct err *err);
/* timing/speed_of_light.c: a time of t that nobody can have is a fate. model: the version's modelled times, t
 * itself where all are; ptx may be NULL. */
void refuse_impossible(const struct judge *j, struct arena *a, const struct trial *t, const struct trial *model,
                       const char *ptx, struct fate *fate);
/* What an argument holds while it is timed: as dense and as large as normal numbers, at a fifth of the cost of
 * making them. */
struct task_values timed_values(const struct task_arg *arg);
/* All workloads in both regimes, cold and hot, on the simulator's clock (timing/modelled.c). */
bool model_version(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                   struct err *err);
/* The same measured beside the judge's original on its GPU (timing/measure.c), under its lock, both loaded; v
 * may be the original: then it is the A/A control. With options.confirm both regimes, longer; else the scoring
 * one is enough. Buffers and the original's graphs stay in the judge's bench (NULL at first) from one candidate
 * to the next until bench_close. */
struct bench;
bool measure_paired(struct version *v, struct trial *t, struct fate *fate, struct err *err);
void bench_close(struct bench *b); /* takes NULL */

#endif
