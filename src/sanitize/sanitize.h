/* sanitize: what a GPU would not say. An observer of launches that finds races, undefined values, misused
 * barriers and copies nobody waits for. docs/sanitizer.md says what is a finding. */
#ifndef SANITIZE_SANITIZE_H
#define SANITIZE_SANITIZE_H

#include "ptx/ptx.h"

enum sanitize_checks { /* bounds, alignment and launch limits are always checked */
                       SANITIZE_INIT = 1,
                       SANITIZE_RACE_SHARED = 2,
                       SANITIZE_RACE_GLOBAL = 4,
                       SANITIZE_NC = 8,
                       SANITIZE_ALL = 15,
};

struct sanitizer {
    struct ptx_observer observer;
    unsigned checks;
};
/* For ptx_options; s stays the caller's and serves any number of launches. NULL when checks is 0. */
struct ptx_observer *sanitizer_on(struct sanitizer *s, unsigned checks);

/* Says of such a byte who stored an undefined value there, or (line 0) that nobody stored; false: no
 * allocation. */
bool ptx_mem_explain(struct ptx_mem *m, uint64_t addr, struct ptx_finding *f);

#endif
