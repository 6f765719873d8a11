/* ptx: a simulator of PTX: a device that executes it, warp by warp, and lets others watch. docs/simulator.md
 * says what the model is and what it leaves out. One launch, one thread; different memories may be used by
 * different threads. */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include "base/base.h"

/* ---- memory: sparse, byte-exact allocations in a 64-bit device address space ---- */

struct ptx_mem;

/* Fill bytes [offset, offset + size) of an allocation when its page is first touched. */
typedef void ptx_fill_fn(void *context, uint64_t offset_bytes, void *to, size_t size_bytes);

struct ptx_buffer {
    const char *name; /* for reports; copied */
    uint64_t size_bytes;
    uint32_t align_bytes; /* of the base; 0: 256 */
    bool initialised;     /* false: reading it before writing is a finding */
    bool read_only;       /* a write to it is a finding */
    bool stable;          /* no kernel ahead of the launches writes it */
    bool dense;           /* nearly all of it is going to be touched: large pages pay */
    ptx_fill_fn *fill;    /* NULL: zeros */
    void *context;
};

struct ptx_mem *ptx_mem_open(uint64_t seed); /* seed moves the bases */
void ptx_mem_close(struct ptx_mem *m);       /* takes NULL */
uint64_t ptx_mem_alloc(struct ptx_mem *m, const struct ptx_buffer *b, struct err *err); /* 0 on failure */
void ptx_mem_free(struct ptx_mem *m, uint64_t addr);
/* Copies; false outside one allocation. A write makes the bytes initialised, when asked to. */
bool ptx_mem_read(struct ptx_mem *m, uint64_t addr, void *to, size_t size_bytes);
bool ptx_mem_write(struct ptx_mem *m, uint64_t addr, const void *from, size_t size_bytes, bool initialise);
bool ptx_mem_set(struct ptx_mem *m, uint64_t addr, int byte, size_t size_bytes, bool initialise);
/* May such a copy, a large one of what nobody may write, wait until its bytes are touched? Then it is made so.
 */
bool ptx_mem_copies_later(const struct ptx_mem *m, uint64_t to, uint64_t from, size_t size_bytes);
void ptx_mem_copy_later(struct ptx_mem *m, uint64_t to, uint64_t from, size_t size_bytes);
/* Offset of the first byte in the range that nothing initialised; -1 when all are. */
int64_t ptx_mem_first_uninitialised(struct ptx_mem *m, uint64_t addr, size_t size_bytes);
/* Whether anything has read or written the allocation at addr, one that is filled when first touched. */
bool ptx_mem_touched(const struct ptx_mem *m, uint64_t addr);
/* The first piece of that allocation at or behind *offset that anything has read or written: *offset and *size.
 */
bool ptx_mem_next_touched(const struct ptx_mem *m, uint64_t addr, uint64_t *offset, size_t *size_bytes);
/* What the fill gave for the range before anything was stored there; false where there is no fill, or nothing
 * has touched the pages. */
bool ptx_mem_filled(const struct ptx_mem *m, uint64_t addr, void *to, size_t size_bytes);
struct ptx_finding;
/* ---- modules ---- */

struct ptx_module;

struct ptx_kernel_info {
    const char *name; /* mangled */
    size_t n_params;
    const uint32_t *param_bytes;
    uint32_t shared_bytes, local_bytes;                  /* static */
    uint32_t max_threads[3], req_threads[3], min_blocks; /* .maxntid .reqntid .minnctapersm; 0: not said */
    uint32_t req_cluster[3],
        max_cluster;       /* .reqnctapercluster (__cluster_dims__), .maxclusterrank; 0: not said */
    bool explicit_cluster; /* .explicitcluster: must be launched in clusters */
};

/* name is for messages. A text that is not PTX is an error with line and column; an instruction the simulator
 * lacks is found only when it is executed. */
bool ptx_module_open(struct ptx_module **out, const char *name, const char *text, size_t len, struct err *err);
void ptx_module_close(struct ptx_module *m);
const struct ptx_kernel_info *ptx_module_kernel(const struct ptx_module *m,
                                                const char *name); /* NULL when absent */
size_t ptx_module_kernels(const struct ptx_module *m, const struct ptx_kernel_info **list);
/* Hash of the instructions without names, line information and comments: the same code, the same number. */
uint64_t ptx_module_hash(const struct ptx_module *m);
/* Are these kernels, and all that they call and use, word for word the same in two texts of PTX, but for the
 * names of symbols, the order of declarations, comments and line information? Any bytes may come; what is not
 * sure to be the same is not. */
struct ptx_text {
    const char *text;
    size_t len;
};
struct ptx_kernel_pair {
    const char *x, *y; /* mangled, in the first text and in the second */
};
bool ptx_same(const struct ptx_text *x, const struct ptx_text *y, const struct ptx_kernel_pair *kernels,
              size_t n);
/* Bytes of a module-scope variable (initial or left by launches), for "state survives" checks; false when
 * absent. */
size_t ptx_module_globals_size(const struct ptx_module *m);
/* Their names, as in the PTX. */
/* How many variables in constant memory C++ calls by this qualified name (of one file: 0 or 1); one of them. */
size_t ptx_module_constant(const struct ptx_module *m, const char *qualified, const char **name,
                           uint64_t *bytes);
/* False: the module has no variable of that (mangled) name in m, or less room. */
bool ptx_mem_write_constant(struct ptx_mem *mem, const struct ptx_module *m, const char *name,
                            uint64_t offset_bytes, const void *from, size_t size_bytes);
size_t ptx_module_globals(const struct ptx_module *m, struct arena *a, const char ***names);
uint64_t ptx_module_globals_hash(const struct ptx_module *m, struct ptx_mem *mem);

/* Does it hold a cache hint that may keep lines in the L2 beyond a launch, or drop them? words: which, and the
 * cure. */
bool ptx_module_pins(const struct ptx_module *m, char words[400], int *line);

/* ---- coverage: what of a module's code ran ----
 * A record of ptx_coverage_bytes(), zeros at first. A launch that is given one adds to it. */
size_t ptx_coverage_bytes(const struct ptx_module *m);
/* Functions that two modules of one file share keep what is known of them. */
void ptx_coverage_carry(const struct ptx_module *from, const uint8_t *ran, const struct ptx_module *to,
                        uint8_t *into);
struct ptx_gap {        /* what no launch ran, of one source line */
    const char *kernel; /* or function, mangled */
    const char *file;
    int line;            /* 0: unknown */
    bool whole;          /* nothing of the function ran, */
    bool idle;           /* and nothing of the line in any function */
    size_t instructions; /* never executed by any lane */
    size_t directions;   /* of branches and selections that were reached: never taken */
};
struct ptx_coverage {
    size_t instructions, executed;
    size_t branches, directions; /* conditional branches and selections; directions taken, of two each */
    const struct ptx_gap *gaps;  /* by place in the code, one for each line of a function */
    size_t n_gaps;
};
struct ptx_coverage ptx_coverage_of(const struct ptx_module *m, const uint8_t *ran, struct arena *a);
/* The constants that decide branches and selections which have gone one way only. */
struct ptx_constant {
    bool is_real;
    int64_t integer;
    double real;
};
size_t ptx_coverage_constants(const struct ptx_module *m, const uint8_t *ran, struct arena *a,
                              const struct ptx_constant **list);

/* And those with which floating numbers are compared, whichever way that has gone. */
size_t ptx_compared_constants(const struct ptx_module *m, struct arena *a, const struct ptx_constant **list);

/* ---- arithmetic by itself ----
 * What a kernel computes of its parameters and of what it reads alone, made a kernel without branches: of
 * loops, shared sums, thread and block numbers nothing is there. Each thread has parameters of its own, and all
 * that it reads is one pattern of 64 bits; of exchanges between threads it is as if all held the same. Launched
 * with `lanes` threads, `flat` (in, out) takes 1 + n_inputs arrays of 8 bytes a thread: the pattern, then the
 * inputs; and leaves n_results such arrays: each result that may be the same for nearly all of them, 8 bytes,
 * of narrower ones the low ones. */
enum { PTX_FLAT_RESULTS = 128 };
struct ptx_flat_input {
    size_t param;    /* of the kernel, in order */
    uint32_t offset; /* bytes */
};
struct ptx_flat_result {
    bool params, reads; /* what it hangs on */
    uint64_t read;      /* the parameters, of the first 64, that addresses of these reads come of: a mask */
};
struct ptx_flat {
    const char *text; /* PTX */
    size_t len, instructions;
    const struct ptx_flat_input *inputs;
    size_t n_inputs;
    const struct ptx_flat_result *results;
    size_t n_results;
};
/* Of a kernel (mangled) in a text of PTX, as compilers write it. False: there is no such result. */
bool ptx_flat(const char *text, const char *kernel, size_t lanes, struct arena *a, struct ptx_flat *to);

/* ---- launches ---- */

enum ptx_end {
    PTX_DONE,
    PTX_UNSUPPORTED, /* an instruction or feature the simulator lacks */
    PTX_BAD_LAUNCH,  /* a GPU would refuse it */
    PTX_UNSAFE,      /* a finding of the sanitizer stopped it */
    PTX_CRASHED,     /* trap, failed assert */
    PTX_HUNG,        /* no progress, or over the instruction limit */
};

enum ptx_finding_kind {
    PTX_OUT_OF_BOUNDS,
    PTX_MISALIGNED,
    PTX_UNINITIALISED,
    PTX_RACE_SHARED,
    PTX_RACE_GLOBAL,
    PTX_NC_WRITTEN,
    PTX_READ_ONLY_WRITTEN,
    PTX_DIVERGENT_BARRIER,
    PTX_NULL,
    PTX_ASSERT,
    PTX_TRAP,
    PTX_LOOP,
    PTX_DEADLOCK,
    PTX_LAUNCH,
    PTX_OPCODE,
    PTX_MBARRIER,  /* an mbarrier used against its rules */
    PTX_PROXY,     /* an asynchronous copy of what threads wrote, without a proxy fence */
    PTX_EXIT,      /* a block may end while its shared memory is in use */
    PTX_ENTRY,     /* a block's shared memory is used before it is known to have begun */
    PTX_WARPGROUP, /* wgmma used against its rules */
    PTX_EARLY,     /* memory is used, or the launch ends, before the kernels ahead are waited for */
};

struct ptx_finding {
    enum ptx_finding_kind kind;
    char kernel[128];
    char file[128];
    int line; /* of the CUDA source where -lineinfo gives it, else 0 */
    int ptx_line;
    uint32_t block[3], thread[3];
    uint64_t addr;
    char words[512]; /* one sentence for a person: what, where, which thread, which buffer */
};

struct ptx_report {
    enum ptx_end end;
    struct ptx_finding findings[8];
    size_t n_findings;
    uint64_t warp_insns, lane_insns, blocks;
    uint64_t most_live;        /* blocks that were begun and not done at one time */
    uint64_t most_block_insns; /* warp instructions of the block that needed most, done or not */
    struct str *printed;       /* printf output, capped; NULL when none */
};

struct ptx_launch {
    const char *kernel; /* mangled */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;   /* dynamic */
    const void *const *args; /* one pointer a parameter, to a value of the parameter's size */
    size_t n_args;
    bool cooperative;
    bool programmatic;         /* it may begin before the launch ahead has ended: griddepcontrol.wait */
    uint32_t cluster[3];       /* blocks of a thread block cluster; 0: what the kernel requires, or none */
    bool non_portable_cluster; /* cudaFuncAttributeNonPortableClusterSizeAllowed: up to 16 blocks */
};

struct ptx_device; /* a named GPU, below */

/* Who watches a launch: sanitize/ looks for faults, clock/ takes times, shadow/ computes beside the values.
 * Each gives its observer; observe.h says what one is. */
struct ptx_observer {
    const struct ptx_observer_calls *calls;
};
enum { PTX_OBSERVERS = 3 };

/* Counters that blocks take work from: words to which something was added and the result asked for. */
struct ptx_queue {
    /* 0: they are only noted. Else each of the blocks that run takes what is its own when as many take turns,
     * and of each as many warps as were seen to ask. */
    uint64_t blocks;
    size_t n;
    struct ptx_queue_word {
        uint8_t *at;
        uint32_t bytes;
        uint64_t value;    /* as it was first found */
        uint32_t askers;   /* warps of a block that ask, a bit each */
        uint32_t took[32]; /* by the warps of the block that runs */
    } words[16];
};

struct ptx_span {
    uint64_t from, to; /* addresses; to is behind the last byte */
};
/* Memory that holds one number everywhere but in a few places of a few bytes each. Over such memory leaps are
 * exact: those alone are made behind which everything is as all turns would have left it, but for what is
 * `spare`, which lacks what they would have stored there. */
enum { PTX_HOLLOW_BYTES = 16 };
struct ptx_hollow {
    struct ptx_span all;
    unsigned char number[PTX_HOLLOW_BYTES]; /* time after time */
    const struct ptx_span *but;             /* in their order */
    size_t n_but;
};
/* Loops whose middle is left out (machine/leap.c): only for where a launch goes and whether it ends, or over
 * memory that is hollow. */
struct ptx_leaps {
    const struct ptx_hollow *hollows; /* NULL: leaps need not be exact */
    size_t n_hollows;
    const struct ptx_span *spares;
    size_t n_spares;
    uint64_t turns[2], skipped[2]; /* by warps, of loops that load from memory, and that store to it */
    bool leapt;                    /* over some turns of any loop */
    bool adds;                     /* some of them add to shared memory, exactly */
    struct leap_loop *loops;
    size_t n;
};
/* Behind a run, before the next of the same module: what is known of its loops stays. */
void ptx_leaps_next(struct ptx_leaps *leaps);
void ptx_leaps_clear(struct ptx_leaps *leaps);

struct ptx_options {
    const struct ptx_device *device;               /* limits; never NULL */
    struct ptx_observer *observers[PTX_OBSERVERS]; /* in any order; NULL: none. One that computes beside the
                                                      values is alone. */
    uint64_t sample_seed;                          /* where the clock takes its sample of blocks */
    const struct ptx_work *work; /* what the launch was counted to need, for the clock; NULL: nobody counted */
    uint64_t seed;               /* permutes the order of warps and blocks; 0: natural order */
    uint64_t max_warp_insns;     /* 0: a large default */
    uint32_t registers;          /* a thread, as ptxas reported; 0: unknown */
    const uint64_t *blocks;      /* run only these linear block ids (ascending); NULL: all */
    size_t n_blocks;
    uint32_t most_live;      /* blocks at a time, fewer than the device holds; 0: as it does */
    struct ptx_queue *queue; /* NULL: nobody asks */
    uint8_t *ran;            /* coverage is added to it; NULL: nobody asks */
    struct ptx_leaps *leaps; /* NULL: none */
};

/* False only for errors of the caller (unknown kernel name, argument count); all else is in the report. */
bool ptx_run(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *l, const struct ptx_options *o,
             struct ptx_report *r, struct err *err);
void ptx_report_clear(struct ptx_report *r);
const char *ptx_end_name(enum ptx_end e);
const char *ptx_finding_name(enum ptx_finding_kind k);

/* ---- devices ---- */

struct ptx_device {
    const char *name; /* "h200" */
    const char *full_name, *source;
    bool validated;
    int cc_major, cc_minor, sm_count, max_threads_per_sm, max_blocks_per_sm, max_threads_per_block,
        schedulers_per_sm;
    uint8_t gpc_sms[16]; /* SMs of each GPC, within which a cluster lies; zeros: not known */
    uint32_t registers_per_sm, shared_per_sm, shared_per_block, shared_per_block_optin;
    uint64_t l2_bytes, dram_bytes;
    double sm_clock_mhz, dram_peak_gbs, dram_copy_gbs, l2_gbs;
    double tensor_fp16_tflops; /* dense, fp32 sums */
};

/* Blocks of a kernel that fit one SM. */
int ptx_occupancy(const struct ptx_device *d, uint32_t registers, uint32_t shared_bytes,
                  uint32_t block_threads);

#endif
