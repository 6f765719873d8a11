/* gpu: compile with NVRTC (found at run time, never linked) and run launch plans on a device. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include "base/base.h"
#include "ptx/ptx.h"

struct nvrtc;

/* Looks at ASTRA_NVRTC, the toolkit beside nvcc, CUDA_HOME, versioned sonames newest first, NVIDIA's Python
 * wheels. */
bool nvrtc_open(struct nvrtc **out, struct err *err);
void nvrtc_close(struct nvrtc *n);
void nvrtc_version(const struct nvrtc *n, int *major, int *minor, const char **path, const char **include_dir);

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
    COMPILE_CHEAT /* deny-listed PTX or macro tests; words say which */
};

struct compile_result {
    enum compile_end end;
    struct image image;
    const char *words; /* the compiler's first error, for people */
    int line;          /* in the user's file; 0 unknown */
};

/* One compile flag of a task: *option is what NVRTC is given for it, NULL when it has no meaning for device
 * code. An error for a flag that is not allowed. */
bool gpu_flag_check(struct arena *a, const char *flag, const char **option, struct err *err);

/* False only when the compiler itself cannot be used. */
bool gpu_compile(struct nvrtc *n, struct arena *a, const struct compile_request *q, struct compile_result *r,
                 struct err *err);

/* nvcc, where there is one: ASTRA_NVCC, PATH, CUDA_HOME, beside NVRTC; NULL when there is none. */
char *gpu_nvcc_path(struct arena *a, const struct nvrtc *n);
/* The PTX that nvcc makes of the whole file (q->text with its host code; q->kernels is not used), or its
 * refusal. */
bool gpu_nvcc_ptx(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                  struct compile_result *r, struct err *err);

/* Whether that nvcc can compile anything: without a host compiler it refuses every file, which says nothing of
 * it. */
bool gpu_nvcc_works(const struct nvrtc *n, struct arena *a);

/* SASS instructions per source line of one kernel, out of a CUBIN's .text and .debug_line sections; false when
 * they are not there. file: only lines of the file with this base name. */
bool cubin_sass_lines(struct arena *a, const void *cubin, size_t len, const char *mangled, const char *file,
                      const struct ptx_sass_line **lines, size_t *n, struct err *err);

#endif
