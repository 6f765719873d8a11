/* ptx: a simulator of PTX. A device (executes, warp by warp), a sanitizer (what a GPU would not say), a
 * profiler (counters per instruction and source line) and a clock (modelled time on a named GPU).
 * docs/simulator.md says what the model is and what it leaves out. One launch, one thread; different memories
 * may be used by different threads. */
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
/* Says of such a byte who stored an undefined value there, or (line 0) that nobody stored; false: no
 * allocation. */
bool ptx_mem_explain(struct ptx_mem *m, uint64_t addr, struct ptx_finding *f);

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
/* Bytes of a module-scope variable (initial or left by launches), for "state survives" checks; false when
 * absent. */
size_t ptx_module_globals_size(const struct ptx_module *m);
/* Their names, as in the PTX. */
size_t ptx_module_globals(const struct ptx_module *m, struct arena *a, const char ***names);
uint64_t ptx_module_globals_hash(const struct ptx_module *m, struct ptx_mem *mem);

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
    PTX_MBARRIER, /* an mbarrier used against its rules */
    PTX_PROXY,    /* an asynchronous copy of what threads wrote, without a proxy fence */
    PTX_EXIT,     /* a block may end while its shared memory is in use */
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
    struct str *printed; /* printf output, capped; NULL when none */
};

struct ptx_launch {
    const char *kernel; /* mangled */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;   /* dynamic */
    const void *const *args; /* one pointer a parameter, to a value of the parameter's size */
    size_t n_args;
    bool cooperative;
    uint32_t cluster[3];       /* blocks of a thread block cluster; 0: what the kernel requires, or none */
    bool non_portable_cluster; /* cudaFuncAttributeNonPortableClusterSizeAllowed: up to 16 blocks */
};

enum ptx_checks { /* bounds, alignment and launch limits are always checked */
                  PTX_CHECK_INIT = 1,
                  PTX_CHECK_RACE_SHARED = 2,
                  PTX_CHECK_RACE_GLOBAL = 4,
                  PTX_CHECK_NC = 8,
                  PTX_CHECK_ALL = 15,
};

struct ptx_device;  /* a named GPU, below */
struct ptx_shadow;  /* exact values, below */
struct ptx_profile; /* counters, below */

struct ptx_options {
    const struct ptx_device *device; /* limits; never NULL */
    unsigned checks;                 /* enum ptx_checks */
    uint64_t seed;                   /* permutes the order of warps and blocks; 0: natural order */
    uint64_t max_warp_insns;         /* 0: a large default */
    uint32_t registers;              /* a thread, as ptxas reported; 0: unknown */
    struct ptx_profile *profile;     /* NULL: none */
    struct ptx_shadow *shadow;       /* NULL: none; else checks must be 0 and profile NULL */
    uint64_t stochastic; /* floating results round up or down by chance, from this seed; 0: to the nearest; the
                            same */
    const uint64_t *blocks; /* run only these linear block ids (ascending); NULL: all */
    size_t n_blocks;
};

/* False only for errors of the caller (unknown kernel name, argument count); all else is in the report. */
bool ptx_run(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *l, const struct ptx_options *o,
             struct ptx_report *r, struct err *err);
void ptx_report_clear(struct ptx_report *r);
const char *ptx_end_name(enum ptx_end e);
const char *ptx_finding_name(enum ptx_finding_kind k);

/* ---- the shadow: what a launch's floating values would be in double (docs/simulator.md) ---- */

/* Of one memory, from launch to launch. With it, calls of the undefined functions astra_f32_NAME and
 * astra_f64_NAME (share/shadow.cuh) are mathematics. */
struct ptx_shadow *ptx_shadow_open(void);
void ptx_shadow_close(struct ptx_shadow *s); /* takes NULL */
enum ptx_real { PTX_F16, PTX_BF16, PTX_F32, PTX_F64 };
/* n elements at addr, in one allocation whose bytes were read before: in double; lost: an integer instruction
 * made the value, or one it came from, and the double starts from its bits there. */
void ptx_shadow_read(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t addr, enum ptx_real type, size_t n,
                     double *to, bool *lost);
/* What others do to the memory between launches: bytes copied, bytes set. */
void ptx_shadow_copy(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, uint64_t from, size_t bytes);
void ptx_shadow_set(struct ptx_shadow *s, struct ptx_mem *mem, uint64_t to, size_t bytes);

/* ---- devices: share/devices/NAME.yaml, compiled in ---- */

struct ptx_device {
    const char *name; /* "h200" */
    const char *full_name, *source;
    bool validated;
    int cc_major, cc_minor, sm_count, max_threads_per_sm, max_blocks_per_sm, max_threads_per_block,
        schedulers_per_sm;
    uint32_t registers_per_sm, shared_per_sm, shared_per_block, shared_per_block_optin;
    uint64_t l2_bytes, dram_bytes;
    double sm_clock_mhz, dram_peak_gbs, dram_copy_gbs, l2_gbs;
    double tensor_fp16_tflops; /* dense, fp32 sums */
    /* model parameters of the clock live in ptx/internal.h beside the code that uses them */
};

const struct ptx_device *ptx_device_find(const char *name); /* NULL when unknown */
size_t ptx_device_list(const struct ptx_device **list);
/* Floating-point operations a second at the device's clock: what its lanes and tensor cores can do at most. */
struct ptx_peaks {
    double fp64, fp32, fp16, tensor_fp16;
};
struct ptx_peaks ptx_device_peaks(const struct ptx_device *d);
/* Blocks of a kernel that fit one SM. */
int ptx_occupancy(const struct ptx_device *d, uint32_t registers, uint32_t shared_bytes,
                  uint32_t block_threads);

/* ---- profiler and clock ---- */

struct ptx_sass_line { /* machine instructions per source line, from the CUBIN */
    int line, count;
};

struct ptx_resources { /* of one kernel, from ptxas; 0 or NULL: unknown */
    uint32_t registers, shared_bytes, stack_bytes, spill_load_bytes, spill_store_bytes;
    const struct ptx_sass_line *sass;
    size_t n_sass;
};

enum ptx_bound {
    PTX_BOUND_DRAM,
    PTX_BOUND_L2,
    PTX_BOUND_ISSUE,
    PTX_BOUND_LATENCY,
    PTX_BOUND_LAUNCH,
    PTX_BOUND_SYNC
};
const char *ptx_bound_name(enum ptx_bound b); /* "dram", "l2", "issue", "latency", "launch", "sync" */

struct ptx_line_stats { /* of one source line, scaled to the whole launch */
    int line;
    double warp_insns, lanes_active; /* mean 0..32 */
    double global_requests, global_sectors, ideal_sectors, bytes_used, bytes_moved;
    double shared_requests, bank_conflicts, atomics, atomic_conflicts, local_bytes;
    double stall_share; /* of the modelled time */
};

struct ptx_time { /* one launch, modelled */
    double us;
    enum ptx_bound bound;
    double dram_us, l2_us, issue_us, latency_us, launch_us, sync_us; /* each resource's own time */
    double dram_bytes, l2_bytes;
    double flops;     /* floating-point operations: fma counts two, packed and tensor ones by element;
                         conversions and comparisons are none */
    double occupancy; /* resident warps over the maximum */
    double waves;
    uint64_t sampled_blocks, blocks;
    bool extrapolated;            /* control flow depends on atomics or spins: from a smaller shape */
    struct ptx_line_stats *lines; /* sorted by stall_share; in the arena given */
    size_t n_lines;
};

/* State of the L2 carried from launch to launch of one plan, and between runs when hot. */
struct ptx_cache;
struct ptx_cache *ptx_cache_open(const struct ptx_device *d);
void ptx_cache_close(struct ptx_cache *c);

/* Modelled time of one launch: runs a sample of its blocks on mem (contents change). */
bool ptx_time_launch(struct ptx_module *m, struct ptx_mem *mem, const struct ptx_launch *l,
                     const struct ptx_options *o, const struct ptx_resources *res, struct ptx_cache *cache,
                     struct arena *a, struct ptx_time *t, struct ptx_report *r, struct err *err);
/* Modelled time of the plain copy of bytes (half read, half written): 16 bytes a thread, blocks of 128. */
double ptx_copy_us(const struct ptx_device *d, double bytes, bool hot);

#endif
