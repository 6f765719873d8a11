/* inject: libastra_capture.so, which `astra capture` has the loader put into a program. It stands on the C
 * library alone: whatever goes wrong in it, the program goes on. This header is what the library and its reader
 * share.
 *
 * The library answers the program's questions for the driver's functions (dlsym, cuGetProcAddress, and as an
 * ordinary symbol) with functions of its own, which count and call the driver's. What it counts lies in a file
 * that is mapped into memory: a crash loses nothing, and nothing is written while the program runs.
 *
 * Its environment: ASTRA_CAPTURE_DIR (where files go; without it the library does nothing), ASTRA_CAPTURE_TIMES
 * (auto, cupti, events, none), ASTRA_CAPTURE_CUPTI (a path to libcupti), ASTRA_CAPTURE_BUDGET (what windows
 * of times may cost: a share of the program's time, 0.02), ASTRA_CAPTURE_KEEP (parts of the symbols of kernels
 * whose launches are kept), ASTRA_CAPTURE_CONTENTS (the same of those whose buffers are
 * kept, too) and ASTRA_CAPTURE_CONTENTS_MB (how much of them a process keeps at most). */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAPTURE_MAGIC    "astracap"
#define CAPTURE_LIBRARY  "libastra_capture.so"
#define CAPTURE_SUFFIX   ".counts"
#define CAPTURE_KEPT     ".launches" /* a line of JSON for each launch that is kept */
#define CAPTURE_CONTENTS "contents"  /* a folder: what buffers held, each file named by a hash of it */
enum { CAPTURE_VERSION = 2, CAPTURE_RECORDS = 8192, CAPTURE_NAMES = 2 << 20 };

/* WINDOWS: the hooks count, CUPTI times what is launched in some windows of time. */
enum capture_times { CAPTURE_NONE, CAPTURE_EVENTS, CAPTURE_CUPTI, CAPTURE_WINDOWS };

struct capture_record { /* a kernel with a shape, on a device, inside graphs or outside */
    uint32_t name;      /* its place in names[] */
    uint32_t grid[3], block[3];
    uint32_t dynamic_bytes; /* of shared memory */
    uint32_t device, in_graph;
    uint64_t launches;
    uint64_t timed, time_ns; /* of so many of them, without the first, their sum */
    uint64_t min_ns, max_ns;
    uint64_t first_ns; /* the first one's, which may have waited for its code; 0: not known */
    double square_ns;  /* sum of the squares, for the spread */
    /* WINDOWS: what was timed since the last window ended, and the time of all launches until then, those
     * between two windows taken as long as those of the second. */
    uint64_t window_timed, window_ns, told_launches;
    double told_ns;
};

/* The name of a file of CAPTURE_CONTENTS, and of an image: 32 hexadecimal digits. */
enum { CAPTURE_CONTENT_NAME = 40 };
#define CAPTURE_CONTENT_MOST ((size_t)4 << 30) /* bytes of one */
static inline uint64_t capture_hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h ^ h >> 31;
}
static inline void capture_content_name(char name[CAPTURE_CONTENT_NAME], const void *data, size_t n)
{
    snprintf(name, CAPTURE_CONTENT_NAME, "%016llx%016llx",
             (unsigned long long)capture_hash(0xcbf29ce484222325, data, n),
             (unsigned long long)capture_hash(0x9e3779b97f4a7c15, data, n));
}

struct capture_file {
    char magic[8];
    uint32_t version, bytes; /* of this struct */
    uint32_t pid, parent;
    uint32_t times;     /* enum capture_times */
    uint32_t n_records; /* written behind the record it counts */
    uint32_t n_names;   /* bytes of names[] in use */
    uint32_t ended;     /* the process came to its end by itself */
    uint64_t wall_ns;   /* from the first launch to the last one seen */
    uint64_t spent_ns;  /* host time in the timing of launches */
    uint64_t every;     /* one launch in so many is timed at the end */
    /* What was seen and has no record, or no time: */
    uint64_t lost;          /* launches for which the table had no room */
    uint64_t recorded;      /* launches into a graph under construction: nodes, not launches */
    uint64_t graphs;        /* launches of graphs */
    uint64_t unknown_graph; /* of them of graphs whose nodes were not seen */
    uint64_t nameless;      /* launches whose kernel's name the driver would not say */
    uint64_t dropped;       /* records that CUPTI had no room for */
    uint64_t unfinished;    /* timed launches whose end nobody asked for */
    uint64_t hooked;        /* launches that came by the hooks, when CUPTI counts */
    uint64_t windows;       /* that have ended */
    char program[256];
    char words[256]; /* why there are no better times; "" */
    struct capture_record records[CAPTURE_RECORDS];
    char names[CAPTURE_NAMES];
};

#endif
