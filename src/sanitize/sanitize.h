/* sanitize: what a GPU would not say. An observer of launches that finds races, undefined values, misused
 * barriers and copies nobody waits for. docs/integrity.md says what is a finding. */
#ifndef SANITIZE_SANITIZE_H
#define SANITIZE_SANITIZE_H

#include "ptx/ptx.h"

enum sanitize_checks { /* bounds, alignment and launch limits are always checked */
                       SANITIZE_INIT = 1,
                       SANITIZE_RACE_SHARED = 2,
                       SANITIZE_RACE_GLOBAL = 4,
                       SANITIZE_NC = 8,
                       SANITIZE_ALL = 15,
                       /* Volatile, relaxed and acquiring reads find, once for each thread and write, what was
                        * there before a write of another block, where nothing orders it before the read. */
                       SANITIZE_EARLIER = 16,
};

/* Traffic of one instruction that changes nothing, in bytes, over the launches that were given the record.
 * Plain accesses only, not atomics. */
struct sanitize_waste {
    uint64_t stored; /* to global memory */
    uint64_t again;  /* of these, where the same launch had stored already */
    uint64_t equal;  /* of these, by a thread that nothing orders behind the first, with the same value */
    uint64_t staged; /* to shared memory */
    uint64_t unread; /* of these, overwritten or left by the block before anybody read them */
    uint32_t after;  /* pc of a store that `again` came after */
};
struct sanitize_line { /* the same of a source line */
    const char *file;
    int line, after; /* 0: unknown */
    struct sanitize_waste waste;
};
size_t sanitize_waste_bytes(const struct ptx_module *m); /* of a record: zeros at first */
/* Lines that store; how many. */
size_t sanitize_waste_lines(const struct ptx_module *m, const struct sanitize_waste *waste, struct arena *a,
                            const struct sanitize_line **lines);

/* Who is told of everything that a launch writes to global memory, in pieces; and of what it reads there. */
struct sanitize_stores {
    void *context;
    void (*stored)(void *context, uint64_t addr, uint64_t bytes, bool atomic);
    void (*loaded)(void *context, uint64_t addr, uint64_t bytes); /* NULL: nobody asks */
};

/* What may still run when a launch with the attribute programmatic stream serialization begins. */
struct sanitize_ahead {
    bool unknown; /* a kernel that reads everything, and writes all that is not stable, */
    void *context;
    bool (*written)(void *context, uint64_t addr,
                    uint64_t bytes); /* and those that write some of these bytes */
};

/* A read that a launch with SANITIZE_EARLIER gave what was there before a write that nothing orders before it.
 */
struct sanitize_earlier {
    bool loose; /* there were reads of the kind; set by any launch that looks for races in global memory */
    bool given; /* words and line say of one that was given it, and whose thread did not read the place again */
    const char *file;
    int line;
    char words[400];
};

struct sanitizer {
    struct ptx_observer observer;
    unsigned checks;
    struct sanitize_earlier *earlier;     /* NULL: nobody asks */
    const struct sanitize_stores *stores; /* NULL: nobody asks */
    struct sanitize_waste *waste;       /* launches add to it, where races are looked for; NULL: nobody asks */
    const struct sanitize_ahead *ahead; /* of programmatic launches; NULL: all ahead has ended */
};
/* For ptx_options; s stays the caller's and serves any number of launches. NULL when checks is 0. */
struct ptx_observer *sanitizer_on(struct sanitizer *s, unsigned checks);

/* What launches touch of some allocations (footprint.c), for tasks whose shapes nobody has said. */
struct sanitize_extent {
    uint64_t addr, bytes; /* the allocation */
    uint64_t end;         /* bytes up to the last one touched */
    uint64_t written;     /* bytes that were written, each once; of the first 4 MB */
    bool read, wrote, atomic;
    bool read_first; /* a byte that none of the launches had written */
    uint8_t *seen;   /* by byte, of the first n_seen */
    size_t n_seen;
};
struct sanitize_footprint {
    struct ptx_observer observer;
    struct sanitize_extent *v;
    size_t n;
};
struct ptx_observer *sanitize_footprint_on(struct sanitize_footprint *f);
void sanitize_extent_set(struct sanitize_footprint *f, uint64_t addr, uint64_t bytes); /* by a memset */
void sanitize_footprint_close(struct sanitize_footprint *f); /* what it followed; v stays the caller's */

/* Says of such a byte who stored an undefined value there, or (line 0) that nobody stored; false: no
 * allocation. */
bool ptx_mem_explain(struct ptx_mem *m, uint64_t addr, struct ptx_finding *f);

#endif
