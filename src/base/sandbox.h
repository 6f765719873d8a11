/* sandbox: a process gives up what it does not need, for good and for its children: files (Landlock), the
 * network, other processes and most of the kernel (seccomp). What the kernel lacks is left out and said. */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

enum sandbox_use { /* of a file, or of all below a folder */
                   SANDBOX_READ = 1,
                   SANDBOX_WRITE = 2,  /* also made, renamed and removed */
                   SANDBOX_RUN = 4,    /* as a program, where the rules allow programs at all */
                   SANDBOX_DEVICE = 8, /* ioctl */
};

struct sandbox_path {
    const char *path; /* one that is not there is passed over */
    unsigned use;
};

struct sandbox_rules {
    const struct sandbox_path *paths;
    size_t n_paths;
    bool programs;      /* may start programs: those with SANDBOX_RUN */
    bool local_sockets; /* may make sockets of this machine (AF_UNIX), as GPU drivers do */
};

struct sandbox_kernel { /* what this machine's kernel has */
    int landlock;       /* its ABI; 0: none, or turned off */
    bool seccomp;
};
void sandbox_kernel(struct sandbox_kernel *k);

/* Of the whole process for system calls; for files of the calling thread and what it starts from now on. Gives
 * what could not be had, for people; NULL: nothing is missing. */
const char *sandbox_enter(struct arena *a, const struct sandbox_rules *rules);

#endif
