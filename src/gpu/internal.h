/* What the files of gpu/ share: the compiler's entry points, and the two judges of text. */
#ifndef GPU_INTERNAL_H
#define GPU_INTERNAL_H

#include "gpu.h"

#define SHIMS "shims/" /* folder of share/ with the stand-ins for host headers */

typedef struct nvrtc_program_ *nvrtc_program; /* the library's handle */

struct nvrtc {
    void *library;
    int major, minor;
    size_t compiled;                  /* files, shadows not counted */
    bool alone;                       /* nothing is precompiled */
    char path[512], include_dir[512]; /* include_dir "" when no toolkit headers were found */
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int code);
    int (*create)(nvrtc_program *p, const char *text, const char *name, int n_headers,
                  const char *const *headers, const char *const *names);
    int (*destroy)(nvrtc_program *p);
    int (*add_name)(nvrtc_program p, const char *expression);
    int (*compile)(nvrtc_program p, int n, const char *const *options);
    int (*lowered_name)(nvrtc_program p, const char *expression, const char **lowered);
    int (*log_size)(nvrtc_program p, size_t *size), (*log)(nvrtc_program p, char *log);
    int (*ptx_size)(nvrtc_program p, size_t *size), (*ptx)(nvrtc_program p, char *ptx);
    int (*n_archs)(int *n), (*archs)(int *archs); /* NULL before CUDA 11.2 */
    int (*cubin_size)(nvrtc_program p, size_t *size), (*cubin)(nvrtc_program p, char *cubin);
};

/* What a kernel file's text may not do before it is compiled: includes beyond the toolkit, the shims and the
 * task's headers (COMPILE_FAILED), questions about the compiler or the build (COMPILE_CHEAT). COMPILE_DONE when
 * clean. */
enum compile_end guard_text(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                            const char **words, int *line);
/* Instructions and registers in the PTX that only serve to sense or fool the judge; *line is of the CUDA
 * source. */
enum compile_end guard_ptx(struct arena *a, const char *ptx, size_t len, const char **words, int *line);

/* A program of the toolkit: what the variable names (also a way to say: none), else on PATH, below CUDA_HOME,
 * in /usr/local/cuda/bin, or last in the newest folder that a glob pattern finds (NULL: nowhere else). NULL
 * when absent.
 */
char *tool_path(struct arena *a, const char *variable, const char *name, const char *elsewhere);

/* The first errors of a compiler's log: r->words and, of the first in q's file, r->line. */
void compile_errors(struct arena *a, const char *log, const char *path, struct compile_result *r);

#endif
