/* gpu: compile with NVRTC, run on a real GPU; both libraries are found at run time, never linked. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include "base/base.h"
#include "clock/clock.h"
#include "ptx/ptx.h"

struct nvrtc;

/* Looks at ASTRA_NVRTC, the toolkit beside nvcc, CUDA_HOME, versioned sonames newest first, NVIDIA's Python
 * wheels. */
bool nvrtc_open(struct nvrtc **out, struct err *err);
void nvrtc_close(struct nvrtc *n);
/* Headers are precompiled where it pays, unless this says no. Takes NULL. */
void nvrtc_set_precompiling(struct nvrtc *n, bool wanted);
void nvrtc_version(const struct nvrtc *n, int *major, int *minor, const char **path, const char **include_dir);

/* The architectures it compiles for, as 10 x major + minor; 0 when it does not tell. */
size_t nvrtc_archs(const struct nvrtc *n, int *archs, size_t most);

struct gpu_header {
    const char *name, *text;
};

struct compile_request {
    const char *path, *text;  /* the device part; path stands in messages and line information */
    const char *arch;         /* "sm_90" */
    const char *const *flags; /* the task's, checked against an allow-list */
    size_t n_flags;
    const struct gpu_header *headers;
    size_t n_headers;
    const char *const *kernels; /* name expressions to instantiate */
    size_t n_kernels;
    const bool
        *shared_names; /* of kernels, n_kernels: called as a function of the headers is; NULL: none known */
    bool
        shadow; /* for the exact answer: calls of undefined functions stay, nothing is approximate on purpose */
    bool ptx_alone; /* no CUBIN, and nothing of what ptxas says: enough for the simulator, in less time */
};

struct image_kernel {
    const char *expression, *mangled;
    struct ptx_resources resources;
};

struct image {
    const char *ptx;
    size_t ptx_len;
    const void *cubin;
    size_t cubin_len;
    const char *log;
    const struct image_kernel *kernels; /* in the request's order */
    size_t n_kernels;
};

enum compile_end {
    COMPILE_DONE,
    COMPILE_FAILED,
    COMPILE_CHEAT,   /* deny-listed PTX or macro tests; words say which */
    COMPILE_TOO_SLOW /* nvcc, on this machine: says nothing of the file */
};

struct compile_result {
    enum compile_end end;
    struct image image;
    const char *words; /* the compiler's first errors, for people */
    int line;          /* in the user's file; 0 unknown */
    const int *lines;  /* of the file, in which it found errors, in its order */
    size_t n_lines;
};

/* One compile flag of a task: *option is what NVRTC is given for it, NULL when it has no meaning for device
 * code. An error for a flag that is not allowed. */
bool gpu_flag_check(struct arena *a, const char *flag, const char **option, struct err *err);

/* What it is compiled for: q->arch, and sm_90a in the place of sm_90 where the text or a header has
 * instructions that are Hopper's alone (wgmma, setmaxnreg). */
const char *gpu_arch_of(struct arena *a, const struct compile_request *q);
/* False only when the compiler itself cannot be used. */
bool gpu_compile(struct nvrtc *n, struct arena *a, const struct compile_request *q, struct compile_result *r,
                 struct err *err);

/* nvcc, where there is one: ASTRA_NVCC, PATH, CUDA_HOME, beside NVRTC; NULL when there is none. */
char *gpu_nvcc_path(struct arena *a, const struct nvrtc *n);
/* The PTX that nvcc makes of the whole file (q->text with its host code; q->kernels is not used), or its
 * refusal. */
bool gpu_nvcc_ptx(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                  struct compile_result *r, struct err *err);

/* The whole file compiled as it would be shipped. Of the result the PTX counts; close removes the folder. */
struct gpu_text {
    const char *text;
    size_t len;
};
struct gpu_build {
    struct compile_result result;
    const char *dir, *path; /* where it was compiled, and the file there */
    struct gpu_text host;   /* what the host compiler's preprocessor made of the file at path */
    const void *object;
    size_t object_len;
    const char *understood_path; /* the same of kernel_understood_text, at this path */
    struct gpu_text understood;
};
bool gpu_nvcc_build(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                    const char *understood, struct gpu_build *b, struct err *err);
/* What nvcc's device code is made of, where q->text is the device part: as preprocessed at *path, which lies
 * beside the build's file. */
bool gpu_nvcc_device_pass(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                          const struct gpu_build *b, struct gpu_text *made, const char **path, struct err *err);
void gpu_build_close(struct gpu_build *b); /* takes an empty one */
/* Looks at an object of nvcc's, whose bytes may be anything: is all that it calls known, is it made of what C++
 * is made of, and what runs before it is asked? */
struct gpu_object {
    const char *words;  /* what is wrong; NULL: nothing */
    const char **calls; /* names that no launcher needs: of what headers bring, or of the file itself */
    size_t n_calls;
    size_t constructors; /* that run by themselves; one registers the kernels */
};
void gpu_object_check(struct arena *a, const void *data, size_t len, struct gpu_object *found);

/* Whether that nvcc can compile anything: without a host compiler it refuses every file, which says nothing of
 * it. */
bool gpu_nvcc_works(const struct nvrtc *n, struct arena *a);

struct cubin_lines {
    const struct ptx_sass_line *lines; /* instructions per source line */
    size_t n_lines;
    const struct ptx_machine *code; /* by instruction, 16 bytes each */
    const int *line_of; /* by instruction, 16 bytes each: the line it comes from, 0 when none of the file */
    size_t n_insns;
};
/* Source lines of one kernel's SASS, out of a CUBIN's .text and .debug_line sections; false when they are not
 * there. file: only lines of the file with this base name. */
bool cubin_lines(struct arena *a, const void *cubin, size_t len, const char *mangled, const char *file,
                 struct cubin_lines *found, struct err *err);

/* ---- a real GPU: driver API and NVML by dlopen, never linked; one context, one thread ---- */

struct cuda;         /* an opened GPU: a context of its own */
struct cuda_module;  /* a CUBIN loaded into it */
struct cuda_buffers; /* buffers that live and die together, with what surrounds them */
struct cuda_graph;   /* launches, sets and copies recorded once and replayed as one graph */

struct cuda_clocks { /* what NVML says at one moment; 0 or false where it says nothing */
    unsigned sm_mhz, memory_mhz, temperature_c, power_w;
    uint64_t throttle_reasons; /* nvmlClocksEventReasons bits, without idle and application clocks */
    bool known;
};

struct cuda_info {
    int index;
    const char *name, *uuid, *driver; /* driver: "580.159.04", NULL unknown */
    int driver_cuda;                  /* the CUDA version that the driver speaks: 13000 */
    const char *arch;                 /* "sm_90": what NVRTC is asked for */
    struct ptx_device limits;         /* the model nearest to it (full_name, counts, sizes from the driver) */
    const char *model;                /* that model's name, "h200": the simulator's device in a measured run */
    bool same_model;                  /* it is that GPU, not just the nearest */
    uint64_t free_bytes, total_bytes;
    bool vmm;            /* ends can be flush with unmapped pages */
    int other_processes; /* computing on it now; -1: not told */
};

/* How many GPUs the driver shows; 0 with the reason in words (NULL allowed): no driver, no GPU, no permission.
 */
int cuda_count(struct arena *a, const char **words);
/* Errors say what to do: driver missing or older than the toolkit, GPU lost, taken or unknown to NVRTC, ... */
bool cuda_open(struct cuda **out, int index, struct err *err);
void cuda_close(struct cuda *c); /* takes NULL */
const struct cuda_info *cuda_info(const struct cuda *c);

struct cuda_target {   /* what a GPU is given */
    const char *arch;  /* for NVRTC */
    bool ptx;          /* cuda_module_open gets the image's PTX, not its CUBIN: the driver compiles it */
    const char *words; /* what does not fit well, and the cure; NULL: nothing */
};
/* ptx: when ASTRA_CUDA_PTX is set, or the GPU is newer than NVRTC. An error when nothing can be made for it. */
bool cuda_target_find(const struct cuda *c, const struct nvrtc *n, struct arena *a, struct cuda_target *t,
                      struct err *err);

void cuda_clocks(const struct cuda *c, struct cuda_clocks *k);
/* One process measures or verifies on a GPU at a time: a lock file by UUID. wait_s < 0: for ever. */
bool cuda_lock(struct cuda *c, double wait_s, struct err *err);
void cuda_unlock(struct cuda *c);
const char *cuda_lock_path(struct cuda *c); /* the file that is locked; there from now on, if it can be made */

/* An illegal access, a trap, a lost device or a kernel that does not end leaves a context nobody can use: then
 * this says so and the process must end; every call after it is an error. */
bool cuda_spoilt(const struct cuda *c);

/* The CUBIN (or, where it is PTX text, what the driver's own compiler makes of it). A module the driver refuses
 * is false with the driver's words. */
bool cuda_module_open(struct cuda_module **out, struct cuda *c, const void *image, size_t len, struct err *err);
void cuda_module_close(struct cuda_module *m);
/* The mangled kernel's blocks on one SM, as the driver counts them. */
bool cuda_module_occupancy(struct cuda_module *m, const char *kernel, int block_threads, uint32_t shared_bytes,
                           int *blocks, struct err *err);
/* Hash of the bytes of all module-scope variables named (from the PTX), for "state survives". */
/* Bytes into a variable, by its name in the PTX; one that nothing uses may not be there. */
bool cuda_module_write(struct cuda_module *m, const char *name, uint64_t offset_bytes, const void *from,
                       size_t n, struct err *err);
bool cuda_module_globals_hash(struct cuda_module *m, const char *const *names, size_t n, uint64_t *hash,
                              struct err *err);

/* ---- buffers: see docs/measuring.md for what surrounds them ---- */

struct cuda_buffer {
    const char *name;
    uint64_t size_bytes;
    uint32_t align_bytes; /* of the base; 0: 256 */
    bool read_only;       /* its bytes are hashed before and compared by cuda_buffers_damage */
};
/* Seeds of guarded spaces: even ones let every buffer end, rounded up to its alignment, where its pages end;
 * odd ones move it back by up to 64 x 256 bytes. A verification wants both. Read-only buffers are compared in
 * guarded spaces only. */
enum cuda_guard {
    CUDA_PLAIN,   /* pieces of large allocations: for timing */
    CUDA_GUARDED, /* canaries before and behind every buffer and, where VMM is there, an end flush with unmapped
                     pages: for verification */
    CUDA_EXACT,   /* an allocation of exactly its size for each: for a sanitizer that knows allocations */
};
/* seed moves the bases by multiples of 256 bytes, but for exact ones. */
bool cuda_buffers_open(struct cuda_buffers **out, struct cuda *c, enum cuda_guard guard, uint64_t seed,
                       struct err *err);
void cuda_buffers_close(struct cuda_buffers *s); /* takes NULL */
/* ERR_WORLD when out of device memory; err then says how much was asked and how much is free. */
uint64_t cuda_buffers_alloc(struct cuda_buffers *s, const struct cuda_buffer *b,
                            struct err *err); /* 0 on failure */
void cuda_buffers_free(struct cuda_buffers *s, uint64_t addr);
bool cuda_write(struct cuda *c, uint64_t addr, const void *from, size_t n, struct err *err);
bool cuda_read(struct cuda *c, uint64_t addr, void *to, size_t n, struct err *err);
bool cuda_set(struct cuda *c, uint64_t addr, int byte, size_t n, struct err *err);
bool cuda_copy(struct cuda *c, uint64_t to, uint64_t from, size_t n, struct err *err); /* on the device */
/* After launches: *words NULL when nothing around the buffers changed, and no read-only buffer; else who did.
 */
bool cuda_buffers_damage(struct cuda_buffers *s, struct arena *a, const char **words, struct err *err);

/* ---- launches ---- */

/* One launch, to its end; a finding is in the report (PTX_BAD_LAUNCH, PTX_UNSAFE, PTX_CRASHED, PTX_HUNG), never
 * an error. limit_s: after it the kernel counts as endless. File and line are unknown here. */
bool cuda_launch(struct cuda_module *m, const struct ptx_launch *l, double limit_s, struct ptx_report *r,
                 struct err *err);
/* What the driver makes of a tensor map: as a kernel takes it. */
struct tensor_map;
bool cuda_tensor_map(struct cuda *c, const struct tensor_map *m, unsigned char to[128], struct err *err);
/* Fills the shared memory of every SM with this byte, so that a kernel that reads what it did not write shows.
 */
bool cuda_poison_shared(struct cuda *c, int byte, struct err *err);
/* What is launched between on and off is what a profiler looks at; nothing happens without one. */
void cuda_profiled(struct cuda *c, bool on);
/* Lines of the L2 that a kernel marked as staying (evict_last) are like all others again. */
void cuda_reset_lines(struct cuda *c);
/* Writes through more than the L2 and resets such lines. */
bool cuda_flush(struct cuda *c, struct err *err);

bool cuda_graph_open(struct cuda_graph **out, struct cuda *c, struct err *err);
void cuda_graph_close(struct cuda_graph *t); /* takes NULL */
/* In order, one after the other. A launch that the driver refuses is false. */
bool cuda_graph_launch(struct cuda_graph *t, struct cuda_module *m, const struct ptx_launch *l,
                       struct err *err);
bool cuda_graph_set(struct cuda_graph *t, uint64_t addr, int byte, size_t n, struct err *err);
/* As cuda_module_write; `from` stays until the graph is closed. */
bool cuda_graph_write(struct cuda_graph *t, struct cuda_module *m, const char *name, uint64_t offset_bytes,
                      const void *from, size_t n, struct err *err);
bool cuda_graph_copy(struct cuda_graph *t, uint64_t to, uint64_t from, size_t n, struct err *err);
bool cuda_graph_seal(struct cuda_graph *t, struct err *err); /* made executable; nothing may be added */
/* Device time of `times` replays between two events, queued behind a kernel that waits for the host, so that
 * nothing of launching is in it. What the events themselves take, about 2 us an interval, is in it, and about 1
 * us from one replay to the next: record a hundred launches and more. Replays that could
 * not be queued in time are run again. A finding goes to the report as in
 * cuda_launch. */
bool cuda_graph_time(struct cuda_graph *t, int times, double limit_s, double *us, struct ptx_report *r,
                     struct err *err);

/* ---- cuBLAS by dlopen, never linked: a product of matrices, to be timed beside ours ---- */

struct cublas;
enum { /* cudaDataType and cublasComputeType_t, those that we ask for */
       CUBLAS_F32 = 0,
       CUBLAS_F64 = 1,
       CUBLAS_F16 = 2,
       CUBLAS_I8 = 3,
       CUBLAS_I32 = 10,
       CUBLAS_BF16 = 14,
       CUBLAS_COMPUTE_F32 = 68,
       CUBLAS_COMPUTE_F64 = 70,
       CUBLAS_COMPUTE_I32 = 72
};
struct cublas_matrix { /* by columns, `lead` elements apart */
    int type;
    bool turned; /* its transpose is what is multiplied */
    int lead;
    long long stride; /* between the matrices of a batch, in elements */
};
struct cublas_product { /* the third matrix, m x n, is the first, m x k, times the second, k x n */
    int m, n, k, batch, compute;
    double scale; /* of the result */
    struct cublas_matrix matrix[3];
};
/* Looks at ASTRA_CUBLAS, where the loader looks, the toolkits, NVIDIA's Python wheels; starts it in the context
 * of c. The error says where it looked and what to install. */
bool cublas_open(struct cublas **out, struct cuda *c, struct err *err);
/* It is there, and where (NULL allowed); nothing is started. */
bool cublas_look(struct arena *a, const char **path, struct err *err);
void cublas_close(struct cublas *b); /* takes NULL; before the GPU */
const char *cublas_path(const struct cublas *b);
char *cublas_version(const struct cublas *b, struct arena *a); /* "12.6.4" */
/* To its end. addr: where the three matrices begin. */
bool cublas_run(struct cublas *b, const struct cublas_product *p, const uint64_t addr[3], struct err *err);
/* Recorded as its own launches; it begins when what is ahead has ended. */
bool cuda_graph_product(struct cuda_graph *t, struct cublas *b, const struct cublas_product *p,
                        const uint64_t addr[3], struct err *err);

/* ---- counters: NVIDIA's profiler, where there is one that may read them (docs/measuring.md) ---- */

enum counter {
#define COUNTER(name, metric, what) COUNTER_##name,
#include "counter.def"
#undef COUNTER
    N_COUNTERS
};

struct counted_insn { /* one machine instruction of a launch, in order of address; 0 where it does not apply */
    double samples;   /* warps found waiting or issuing here */
    double warps, threads;                   /* executions */
    double requests, sectors, ideal_sectors; /* to global memory */
    double shared_ways;                      /* of bank conflicts */
};

struct counted_launch {
    const char *kernel;   /* mangled */
    double v[N_COUNTERS]; /* NAN: not told */
    const struct counted_insn *insns;
    size_t n_insns;
};

/* ASTRA_NCU, PATH, the toolkit's bin, /opt/nvidia/nsight-compute; NULL when there is none. */
char *ncu_path(struct arena *a);
struct counted_run {
    const struct counted_launch *launches;
    size_t n_launches;
    const char *why_not; /* no profiler, no permission, or the program's failure, with the cure: no launches */
};
/* Runs argv (NULL-terminated) under the profiler and gives every launch it made while it asked to be profiled
 * (cuda_profiled). scratch: a folder for its report. False only when no process could be started. */
bool ncu_run(struct arena *a, const char *const *argv, const char *scratch, double limit_s,
             struct counted_run *r, struct err *err);
/* The two pages it prints, read apart: for tests and fuzzing. Any bytes may come. */
bool ncu_read(struct arena *a, const char *raw, size_t raw_len, const char *source, size_t source_len,
              struct counted_run *r, struct err *err);

/* ---- NVIDIA's compute-sanitizer, where there is one: a last gate beside our own checks ---- */

char *memcheck_path(
    struct arena *a); /* ASTRA_COMPUTE_SANITIZER, PATH, the toolkit's bin; NULL when there is none */
struct memcheck_result {
    const char *found;   /* what it says first, one line; NULL: nothing */
    const char *printed; /* the last line the program printed before that; NULL: none */
    int line;            /* in `file`; 0: unknown */
    const char *why_not; /* it could not be run; then nothing was checked */
};
/* tool: "memcheck", "racecheck", "initcheck", "synccheck". False only when no process could be started. */
bool memcheck_run(struct arena *a, const char *tool, const char *const *argv, const char *file, double limit_s,
                  struct memcheck_result *r, struct err *err);
/* What it printed, read apart: for tests. */
void memcheck_read(struct arena *a, const char *text, const char *file, struct memcheck_result *r);

#endif
