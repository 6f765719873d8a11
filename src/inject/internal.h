/* What the files of the library share. Codes are the driver's: 0 is success. Nothing here waits for the device.
 */
#ifndef INJECT_INTERNAL_H
#define INJECT_INTERNAL_H

#include "inject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* A launch comes in the middle of the program's own work, and finds little of ours in the caches: what it reads
 * each time stands together. */
#define A_LINE       __attribute__((aligned(64)))
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec"))) /* the library is preloaded */
enum { NOT_INITIALIZED = 3, NO_RECORD = UINT32_MAX };
enum { RELAXED = 2 }; /* a mode of calls while a stream is captured: they do not end that */

/* ---- hooks.c: the driver's functions ---- */

struct node_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};

struct calls {
#define CALL(member, symbol, args) int(*member) args;
#include "call.def"
#undef CALL
};
const struct calls *driver_calls(void); /* NULL until the program has asked for a function of the driver */

/* A message on stderr, once a process. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
uint64_t now_ns(void);
uint64_t now_coarse_ns(void); /* of the same clock, some ms behind, at a few ns */
/* The driver launches functions of modules and kernels of libraries by one call, but asks after them by two. */
void kernel_seen(void *kernel); /* it is of a library */
bool is_kernel(void *function);
const char *driver_name(void *function); /* its symbol; NULL */
bool stream_captures(void *stream);      /* into a graph, now */

/* ---- table.c: the counts, in the mapped file ---- */

struct shape {
    uint32_t grid[3], block[3], dynamic_bytes, device, in_graph;
};

struct capture_file *table(void); /* made when first asked, at the latest for the first launch; NULL: nothing is
                                     to be counted, or cannot be */
struct capture_file *table_made(void); /* NULL: nobody has asked for it */
/* The record of a kernel by its name, or by the driver's handle; NO_RECORD when there is no room. */
uint32_t table_named(const char *name, const struct shape *s);
uint32_t table_function(void *function, const struct shape *s);
void table_functions_gone(void);                             /* handles may be used anew */
void table_count(uint32_t record, uint64_t n, uint64_t now); /* launches; now_coarse_ns() */
void table_time(uint32_t record, uint64_t ns, bool first);
void table_note(uint64_t *counter, uint64_t n); /* one of the file's own */
void table_window(void);                        /* a window of times has ended */
uint64_t table_new_launches(void);              /* since then, of what has no time yet */

/* ---- sample.c: one launch in N between two events ---- */

struct sample {
    void *from, *to; /* events; NULL: this launch is not timed */
    uint32_t record;
    bool first;
    uint64_t began_ns;
};
/* Before and after the launch. nth: which launch of its record this is, from 1. */
void sample_begin(struct sample *s, uint32_t record, uint64_t nth, void *stream);
void sample_end(struct sample *s, void *stream, bool launched);
void sample_last(void);   /* what has ended by now, at the end of the process */
void sample_forget(void); /* in the child of a fork */

/* ---- graph.c: what a launch of a graph launches ---- */

void graph_made(void *exec, void *graph);
void graph_gone(void *exec);
void graph_launched(void *exec);

/* ---- keep.c: launches of chosen kernels, with their parameters and their code ---- */

bool keep_active(void);
struct keep_call {
    void *function, *stream;
    const struct shape *shape;
    void **params, **extra;
    bool cooperative;
};
void keep_launch(const struct keep_call *c);                   /* when it is new */
bool keep_write(const char *path, const void *data, size_t n); /* a fresh file; says why it cannot be */
/* Pointers are what lies in memory that the driver gave out. */
bool keep_is_pointer(uint64_t at, uint64_t *offset, uint64_t *extent);
void keep_image(void *handle, const void *image); /* what a module or library was loaded from */
void keep_gone(void *handle);
void keep_forget(void); /* in the child of a fork */

/* ---- contents.c: what buffers hold just before a launch; one at a time ---- */

struct contents {
    bool active, exchanged;
    int mode;
    void *stream, *event;
};
struct kept_bytes {
    char name[CAPTURE_CONTENT_NAME]; /* of the file */
    uint64_t n;
};
/* Waits for the launch's stream. NULL, or why nothing is copied. contents_end in any case. */
const char *contents_begin(struct contents *b, const char *name, void *stream, bool cooperative);
void contents_end(struct contents *b);
/* Keeps up to extent bytes at an address; they are given back, to be freed. NULL: none. */
void *contents_keep(struct contents *b, uint64_t at, uint64_t extent, struct kept_bytes *k);
void contents_capture(int change);       /* a stream's capture begins (1), has ended (-1) */
bool contents_captured(void);            /* some stream is being captured */
void contents_forget(void);              /* in the child of a fork */
bool waits_for_others(const char *name); /* by it processes or GPUs may wait for each other in such a kernel */

/* ---- replace.c: launches of a kernel answered by prepared ones ---- */

struct replace_call {
    void *function, *stream;
    const struct shape *shape;
    void **params, **extra;
    bool plain; /* without attributes that a launch in its place would lack */
};
bool replace_active(void);
/* True when it was replaced: the code is that of the launch in its place. */
bool replace_launch(const struct replace_call *c, int *code);
void replace_gone(bool contexts); /* code was unloaded, or a context ended */

/* ---- cupti.c: kernels' times by NVIDIA's library, all of them or those of some windows of time ---- */

bool cupti_start(void);
bool cupti_counts(void);        /* its records are what is counted; false when they only time */
void cupti_enter(uint64_t now); /* around a launch; before it a window may begin or end. now_coarse_ns() */
void cupti_leave(void);
void cupti_context(void *context); /* launches go to it, too */
void cupti_hold(void); /* a stream's capture begins, and counts: no window begins or ends until none is left */
void cupti_gently(void);                      /* kernels may wait for each other: launches wait a moment only */
void cupti_context_gone(const void *context); /* NULL: any of them may be */
void cupti_last(void);
void cupti_forget(void); /* in the child of a fork */

#endif
