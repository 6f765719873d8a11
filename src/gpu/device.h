/* What the files of a real GPU share: the context and its owner's book-keeping. */
#ifndef GPU_DEVICE_H
#define GPU_DEVICE_H

#include "driver.h"
#include "gpu.h"

struct nvml;

/* NULL when there is no NVML: clocks and neighbours are then unknown, nothing else is missing. */
struct nvml *nvml_open(const char *uuid);
void nvml_close(struct nvml *n); /* takes NULL */
void nvml_clocks(const struct nvml *n, struct cuda_clocks *k);
int nvml_processes(const struct nvml *n); /* -1: not told */
bool nvml_driver(const struct nvml *n, char *version, unsigned size);

struct helpers { /* share/cuda/helpers.ptx */
    CUmodule module;
    CUfunction gate, canary_fill, canary_check, hash, poison;
};

struct cuda {
    const struct driver *driver;
    struct nvml *nvml;
    struct arena *arena;
    struct cuda_info info;
    int device;
    CUcontext context;
    CUstream stream;
    CUevent done;       /* without a time: to poll */
    CUevent begin, end; /* of an interval */
    struct helpers helpers;
    /* Memory of the host that the device sees: [0] the ticket let through the gate, [1] tickets that gave up
     * waiting. */
    volatile uint32_t *flags;
    uint64_t flags_addr;
    uint32_t ticket;
    uint64_t scratch, scratch_bytes; /* written through to flush the L2 */
    uint64_t found;                  /* three words for canary_check and hash */
    struct cuda_buffers *spaces;
    void *staging; /* pinned memory of the host, 4 MiB; NULL until it is needed */
    bool spoilt;
    char why[256]; /* spoilt */
    int lock_fd;   /* -1: none */
    char lock_path[128];
};

/* Every status goes through here: true for CUDA_OK; else err is set, and the context counts as spoilt when the
 * code says so. */
bool cuda_check(struct cuda *c, int code, struct err *err, const char *what);
/* False with the reason when nothing may be called any more. */
bool cuda_usable(const struct cuda *c, struct err *err);
void cuda_spoil(struct cuda *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a status that came out of a kernel means: true and a finding in r, or false and err when it is the
 * machine's fault. kernel and addresses are for the words. */
bool cuda_fault(struct cuda *c, int code, const struct ptx_launch *l, struct ptx_report *r, struct err *err);
/* One finding; always true, since a finding is no error. l may be NULL. */
bool cuda_finding(struct ptx_report *r, enum ptx_end end, enum ptx_finding_kind kind,
                  const struct ptx_launch *l, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Waits until all that was put into the stream has ended. *ended false: the GPU had limit_s for it, and was
 * asked once more after that, so that a process that waited for a core takes nothing from its time. *code: what
 * the driver said at the end. */
void cuda_wait(struct cuda *c, double limit_s, bool *ended, int *code);

bool helpers_open(struct cuda *c, struct err *err);
/* One of the helpers over n elements or so. */
bool helper_launch(struct cuda *c, CUfunction f, unsigned blocks, unsigned threads, unsigned shared_bytes,
                   void **params, struct err *err);
bool cuda_sync(struct cuda *c, struct err *err); /* after helpers and copies, which always end */

/* Called before launches: read-only buffers that were written since are hashed again. */
bool spaces_hash(struct cuda *c, struct err *err);
/* The host writes there: a hash that was taken is old. */
void spaces_written(struct cuda *c, uint64_t addr, size_t n);

/* graph.c: what somebody else puts into our stream, recorded: `call` does that. It begins when all before it
 * has ended. name: of its first kernel, for findings. */
bool graph_capture(struct cuda_graph *t, const char *name, bool (*call)(void *context, struct err *err),
                   void *context, struct err *err);

struct cuda_module {
    struct cuda *cuda;
    CUmodule module;
    struct map functions; /* names to CUfunction */
};

bool module_variable(struct cuda_module *m, const char *name, uint64_t *addr,
                     struct err *err); /* 0: it has none */
bool module_function(struct cuda_module *m, const char *kernel, CUfunction *f, struct err *err);
/* Whether the device takes the launch, as far as can be said beforehand; else a finding in r. Also allows the
 * dynamic shared memory and the cluster that it asks for. */
bool launch_prepare(struct cuda_module *m, const struct ptx_launch *l, CUfunction f, struct ptx_report *r,
                    struct err *err);

#endif
